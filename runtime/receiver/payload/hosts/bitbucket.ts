/**
 * Reads Bitbucket calls: Cloud and the push plugin of Server list `push.changes`, Server and Data Center list `changes`.
 */
import { type Host, listAt, type Members, type Move, movesOf, otherEvent, type Payload, pushOf, textAt } from '../parts.ts'

export const bitbucket: Host = {
  name: 'Bitbucket',
  shown: { authentication: '`x-hub-signature`', event: '`X-Event-Key`', read: '`push.changes`; Data Center: `changes`' },
  event(headers, body) {
    const key = headers['x-event-key'] ?? textAt(body, ['eventKey'])
    return key?.toLowerCase()
  },
  read,
}

function read(event: string, body: Members): Payload {
  if (event === 'diagnostics:ping') return { kind: 'ping' }
  if (event === 'repo:push') return movesOf(listAt(body, ['push', 'changes']).map(moveOfCloud))
  // `mirror:repo_synchronized`: a mirror has caught up; anyone fetching from a mirror must not fetch earlier.
  if (event === 'repo:refs_changed' || event === 'mirror:repo_synchronized') return movesOf(listAt(body, ['changes']).map(moveOfServer))
  return otherEvent
}

/** `new` is null when the branch or tag was deleted; names come without `refs/`. */
function moveOfCloud(change: unknown): Move | undefined {
  const [after, before] = [textAt(change, ['new', 'name']), textAt(change, ['old', 'name'])]
  const event = (textAt(change, ['new', 'type']) ?? '').includes('tag') ? 'tag-push' : 'push'
  const hashes = { before: textAt(change, ['old', 'target', 'hash']), after: textAt(change, ['new', 'target', 'hash']) }
  if (after !== undefined) return { ref: after, event, deleted: false, ...hashes }
  return before === undefined ? undefined : { ref: before, event, deleted: true }
}

function moveOfServer(change: unknown): Move | undefined {
  const ref = textAt(change, ['ref', 'id']) ?? textAt(change, ['refId'])
  const [before, after] = [textAt(change, ['fromHash']), textAt(change, ['toHash'])]
  return ref === undefined ? undefined : { ref, event: pushOf(ref), deleted: textAt(change, ['type']) === 'DELETE', before, after }
}
