/**
 * Reads Azure DevOps calls: no event header; the service hook names its event in the body.
 */
import { type Host, isZero, listAt, movesOf, otherEvent, pushOf, textAt } from '../parts.ts'

export const azureDevops: Host = {
  name: 'Azure DevOps',
  shown: { authentication: '`authorization: Bearer`', event: '`eventType`', read: '`resource.refUpdates`' },
  event: (_headers, body) => (textAt(body, ['publisherId']) === undefined ? undefined : textAt(body, ['eventType'])?.toLowerCase()),
  read(event, body) {
    if (event !== 'git.push') return otherEvent
    return movesOf(
      listAt(body, ['resource', 'refUpdates']).map((update) => {
        const ref = textAt(update, ['name'])
        const [before, after] = [textAt(update, ['oldObjectId']), textAt(update, ['newObjectId'])]
        return ref === undefined ? undefined : { ref, event: pushOf(ref), deleted: isZero(after), before, after }
      }),
    )
  },
}
