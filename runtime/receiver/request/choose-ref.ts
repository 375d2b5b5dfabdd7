/**
 * Which of the refs in a call is requested. Pure.
 */
import { isRefAllowed } from '../../gatewaysync/decide/allowed-refs.ts'
import { shortRef } from '../../gatewaysync/values.ts'
import type { NamedRef } from '../payload/parts.ts'

/** What the receiver must know about a GatewaySync. */
export type ReceiverTarget = {
  /** `spec.git.ref` as it stands. */
  specRef: string
  /** The ref that is followed now: the spec's, or that of an open request. */
  wantedRef: string
  allowedRefs: readonly string[] | undefined
}

/** Why a ref is not requested. */
export type NotAsked = 'OtherBranch' | 'OtherTag' | 'RefNotAllowed'

/** Chooses among all refs that one call moved: the wanted one, else the first that may be requested, else why the first may not. */
export function chooseRef(
  { others = [], ...first }: NamedRef & { others?: readonly NamedRef[] },
  target: ReceiverTarget,
): NamedRef | { why: NotAsked } {
  const all = [first, ...others]
  const wanted = all.find(({ ref }) => ref === shortRef(target.wantedRef))
  const permitted = wanted ?? all.find((named) => whyNotAsked(named, target) === undefined)
  return permitted ?? { why: whyNotAsked(first, target) ?? 'OtherBranch' }
}

/** Undefined: the ref may be requested. Of branches only the wanted one may; of other refs those that `allowedRefs` permits. */
function whyNotAsked({ ref, event }: NamedRef, { wantedRef, allowedRefs }: ReceiverTarget): NotAsked | undefined {
  const isWanted = shortRef(wantedRef) === ref
  if (event === 'push') return isWanted ? undefined : 'OtherBranch'
  if (isWanted) return undefined
  if (event === 'tag-push' && allowedRefs === undefined) return 'OtherTag'
  return isRefAllowed(ref, allowedRefs) ? undefined : 'RefNotAllowed'
}
