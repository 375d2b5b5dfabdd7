/**
 * Reads GitLab and Gitee calls, whose events are called hooks. GitLab's system hooks and integrations send pushes under another header;
 * their bodies name the event.
 */
import { type Host, type Members, otherEvent, type Payload, pushed, released } from '../parts.ts'

export const gitlab: Host = {
  name: 'GitLab',
  shown: {
    authentication: '`x-gitlab-token`, or `webhook-signature`',
    event: '`X-Gitlab-Event`, `object_kind`',
    read: 'push, tag push, created release',
  },
  event(headers, body) {
    const header = headers['x-gitlab-event']
    const kind = body['object_kind'] ?? (header === undefined ? undefined : body['event_name'])
    if (typeof kind === 'string') return kind.toLowerCase()
    return header?.toLowerCase()
  },
  read,
}

export const gitee: Host = {
  name: 'Gitee',
  shown: { authentication: '`x-gitee-token`', event: '`X-Gitee-Event`', read: 'push, tag push' },
  event: (headers) => headers['x-gitee-event']?.toLowerCase(),
  read,
}

function read(event: string, body: Members): Payload {
  if (event === 'push' || event === 'tag_push' || event === 'push hook' || event === 'tag push hook') return pushed(body)
  return event === 'release' || event === 'release hook' ? released(body, 'create') : otherEvent
}
