/**
 * Azure DevOps: no event header; the service hook names its event in the body.
 */
import { type Host, isZero, listAt, movesOf, otherEvent, pushOf, textAt } from '../parts.ts'
import { isObject } from '../../../json.ts'

export const azureDevops: Host = {
  name: 'Azure DevOps',
  shown: { page: 'azure-devops.md', proof: '`authorization: Bearer`', event: '`eventType`', read: '`resource.refUpdates`' },
  event: (_headers, body) => (textAt(body, ['publisherId']) === undefined ? undefined : textAt(body, ['eventType'])?.toLowerCase()),
  read(event, body) {
    if (event !== 'git.push') return otherEvent
    return movesOf(
      listAt(body, ['resource', 'refUpdates']).map((update) => {
        const ref = textAt(update, ['name'])
        return ref === undefined ? undefined : { ref, event: pushOf(ref), deleted: isObject(update) && isZero(update['newObjectId']) }
      }),
    )
  },
}
