/**
 * GitHub, and the hosts that began as its copies. Gitea and Forgejo send the header families of Gogs and GitHub besides their own, Gogs
 * that of GitHub: whoever asks for their own first knows who sends.
 */
import type { Headers } from '../call.ts'
import { type Host, type Members, otherEvent, type Payload, pushed, refOf, released } from '../event.ts'

export const forgejo = copy('Forgejo', 'x-forgejo-event')
export const gitea = copy('Gitea', 'x-gitea-event')
export const github = copy('GitHub', 'x-github-event')

/** Gogs sends no push for a tag: its creation is all that tells of it. */
export const gogs: Host = {
  ...copy('Gogs', 'x-gogs-event'),
  read: (event, body) => (event === 'create' && body['ref_type'] === 'tag' ? createdTag(body) : read(event, body)),
}

function copy(name: string, header: string): Host {
  return { name, event: (headers: Headers) => headers[header]?.toLowerCase(), read }
}

/** A `create` or `delete` stands beside a push that says the same. */
function read(event: string, body: Members): Payload {
  if (event === 'ping') return { kind: 'ping' }
  if (event === 'push') return pushed(body)
  return event === 'release' ? released(body) : otherEvent
}

function createdTag({ ref }: Members): Payload {
  return typeof ref === 'string' && ref !== '' ? refOf(ref, 'tag-push') : { kind: 'unrecognised' }
}
