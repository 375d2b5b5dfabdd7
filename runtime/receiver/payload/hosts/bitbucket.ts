/**
 * Bitbucket: Cloud and the push plugin of Server list `push.changes`, Server and Data Center themselves `changes`.
 */
import { type Host, listAt, type Members, type Move, movesOf, otherEvent, type Payload, pushOf, textAt } from '../parts.ts'
import { isObject } from '../../../json.ts'

export const bitbucket: Host = {
  name: 'Bitbucket',
  shown: { page: 'bitbucket.md', proof: '`x-hub-signature`', event: '`X-Event-Key`', read: '`push.changes`; Data Center: `changes`' },
  event(headers, body) {
    const key = headers['x-event-key'] ?? textAt(body, ['eventKey'])
    return key?.toLowerCase()
  },
  read,
}

function read(event: string, body: Members): Payload {
  if (event === 'diagnostics:ping') return { kind: 'ping' }
  if (event === 'repo:push') return movesOf(listAt(body, ['push', 'changes']).map(moveOfCloud))
  // `mirror:repo_synchronized`: a mirror has caught up; whoever fetches from a mirror must not look earlier.
  if (event === 'repo:refs_changed' || event === 'mirror:repo_synchronized') return movesOf(listAt(body, ['changes']).map(moveOfServer))
  return otherEvent
}

/** `new` is null when the branch or tag was deleted; names come without `refs/`. */
function moveOfCloud(change: unknown): Move | undefined {
  const [after, before] = [textAt(change, ['new', 'name']), textAt(change, ['old', 'name'])]
  const event = (textAt(change, ['new', 'type']) ?? '').includes('tag') ? 'tag-push' : 'push'
  if (after !== undefined) return { ref: after, event, deleted: false }
  return before === undefined ? undefined : { ref: before, event, deleted: true }
}

function moveOfServer(change: unknown): Move | undefined {
  const ref = textAt(change, ['ref', 'id']) ?? textAt(change, ['refId'])
  return ref === undefined ? undefined : { ref, event: pushOf(ref), deleted: isObject(change) && change['type'] === 'DELETE' }
}
