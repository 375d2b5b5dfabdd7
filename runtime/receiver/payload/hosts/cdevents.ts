/**
 * Reads CDEvents (https://cdevents.dev), alone or in a CloudEvent. Only branch events name a ref: a merged change requests the followed
 * ref.
 */
import { defaultBranch } from '../../../api/followed-ref.ts'
import { isObject } from '../../../platform/text/json.ts'
import { type Host, type Members, type NamedRepository, otherEvent, type Payload, pushOf, refOf, textAt } from '../parts.ts'

export const cdEvents: Host = {
  name: 'CDEvents',
  shown: {
    authentication: '`authorization: Bearer`',
    event: '`context.type`',
    read: 'merged change, created branch; `customData.ref`',
  },
  event: (_headers, body) => /^dev\.cdevents\.([a-z]+\.[a-z]+)(?:\.|$)/.exec(textAt(eventIn(body), ['context', 'type']) ?? '')?.[1],
  read(event, body) {
    const payload = readEvent(event, eventIn(body))
    const repository = repositoryOf(eventIn(body))
    return payload.kind !== 'ref' || repository === undefined ? payload : { ...payload, repository }
  },
}

function readEvent(event: string, body: Members): Payload {
  if (event === 'branch.deleted') return { kind: 'ignored', reason: 'Deletion' }
  if (event === 'branch.created')
    return refOf(`refs/heads/${(textAt(body, ['subject', 'id']) ?? '').replace(/^refs\/heads\//, '')}`, 'push')
  if (event !== 'change.merged') return otherEvent
  const ref = textAt(body, ['customData', 'ref'])
  return ref === undefined ? { kind: 'ref', ref: defaultBranch, event: 'push' } : refOf(ref, pushOf(ref))
}

/** A CloudEvent in structured mode holds the event as `data`; in binary mode the body is the event. */
function eventIn(body: Members): Members {
  const { data } = body
  return isObject(data) ? data : body
}

/** The id of a repository is a URL, `host/owner/name` or `owner/name`; its source may be any system that reports the event. */
function repositoryOf(body: Members): NamedRepository | undefined {
  const id = textAt(body, ['subject', 'content', 'repository', 'id'])
  if (id === undefined || !id.includes('/')) return undefined
  const url = /^[^/:]+\.[^/:]+\//.test(id) ? `https://${id}` : id
  return { urls: URL.canParse(url) ? [url] : [], path: id, ignoresCase: true }
}
