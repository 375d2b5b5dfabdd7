/**
 * Reads GitHub calls, and those of hosts that copied its format. Gitea and Forgejo also send the headers of Gogs and GitHub, and Gogs those
 * of GitHub, so the order in payload.ts matters: Forgejo, Gitea, Gogs, GitHub.
 */
import type { Headers } from '../headers.ts'
import { type Host, type Members, otherEvent, type Payload, pushed, refOf, released } from '../parts.ts'

export const forgejo = copy('Forgejo', 'X-Forgejo-Event', 'x-forgejo-signature')
export const gitea = copy('Gitea', 'X-Gitea-Event', 'x-gitea-signature')
export const github = copy('GitHub', 'X-GitHub-Event', 'x-hub-signature-256')
const copiedByGogs = copy('Gogs', 'X-Gogs-Event', 'x-gogs-signature')

/** Gogs sends no push for a tag, only the event that creates it. */
export const gogs: Host = {
  ...copiedByGogs,
  shown: { ...copiedByGogs.shown, read: 'push, created tag, published release' },
  read: (event, body) => (event === 'create' && body['ref_type'] === 'tag' ? createdTag(body) : read(event, body)),
}

function copy(name: string, header: string, signature: string): Host {
  const shown = { authentication: `\`${signature}\``, event: `\`${header}\``, read: 'push, published release' }
  return { name, shown, event: (headers: Headers) => headers[header.toLowerCase()]?.toLowerCase(), read }
}

/** `create` and `delete` are ignored: the host also sends a push for them. */
function read(event: string, body: Members): Payload {
  if (event === 'ping') return { kind: 'ping' }
  if (event === 'push') return pushed(body)
  return event === 'release' ? released(body) : otherEvent
}

function createdTag({ ref }: Members): Payload {
  return typeof ref === 'string' && ref !== '' ? refOf(ref, 'tag-push') : { kind: 'unrecognized' }
}
