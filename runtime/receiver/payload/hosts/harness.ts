/**
 * Reads Harness calls: `ref` is an object, and the trigger's name shows whether it was created, updated or deleted.
 */
import { type Host, movesOf, otherEvent, pushOf, textAt } from '../parts.ts'

export const harness: Host = {
  name: 'Harness',
  shown: { authentication: '`x-harness-signature`', event: '`X-Harness-Trigger`', read: '`ref.name`' },
  event: (headers) => headers['x-harness-trigger']?.toLowerCase(),
  read(event, body) {
    const [, , what] = /^(branch|tag)_(created|updated|deleted)$/.exec(event) ?? []
    const ref = textAt(body, ['ref', 'name'])
    if (what === undefined || ref === undefined) return otherEvent
    return movesOf([
      { ref, event: pushOf(ref), deleted: what === 'deleted', before: textAt(body, ['old_sha']), after: textAt(body, ['sha']) },
    ])
  },
}
