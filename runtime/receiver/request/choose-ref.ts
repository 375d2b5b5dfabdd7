/**
 * Chooses which ref of a call is requested. Pure.
 */
import { isRefAllowed } from '../../reconcile/decide/allowed-refs.ts'
import { type Annotations, isSameRef, isTagEvent, resolvedRefOf, desiredRef as wantedRefOf } from '../../reconcile/decide/request.ts'
import { defaultBranch, followedRef, isTagSelector, newestTag, selects } from '../../api/followed-ref.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import type { GatewaySyncStatus } from '../../api/schema/status.ts'
import { type FullRef, isFullRef, parseRefName, shortRef } from '../../api/values.ts'
import type { NamedRef } from '../payload/parts.ts'
import { isRepository } from '../payload/repository.ts'

/** What the receiver stores about a GatewaySync. */
export type ReceiverTarget = {
  /** The spec's ref. */
  specRef: string
  /** The desired ref: the spec's, or that of an open request. */
  desiredRef: string
  /** The full name that `desiredRef` resolved to; undefined while unknown. */
  resolvedRef?: FullRef | undefined
  allowedRefs: readonly string[] | undefined
  /** URL of the repository whose events count: `spec.webhook.repo`, else `spec.git.repo`. */
  repository?: string
}

export function targetOf(
  {
    git,
    webhook,
  }: { git: Pick<GatewaySyncSpec['git'], 'repo' | 'ref' | 'semver' | 'tagPattern' | 'allowedRefs'>; webhook?: GatewaySyncSpec['webhook'] },
  annotations: Annotations,
  status: GatewaySyncStatus,
): ReceiverTarget {
  const specRef = followedRef(git)
  const { ref } = wantedRefOf(specRef, annotations, status)
  return {
    specRef,
    desiredRef: ref,
    resolvedRef: resolvedRefOf(ref, status),
    allowedRefs: git.allowedRefs,
    repository: webhook?.repo ?? git.repo,
  }
}

/** Why a ref is not requested. */
export type NotRequested = 'OtherRepository' | 'OtherBranch' | 'OtherTag' | 'RefNotAllowed'

/** Maximum number of refs of one call that are compared with `allowedRefs`, if none is the desired one: each may take a millisecond. */
const maxComparedRefs = 100

/** Chooses among all refs that one call moved: the desired one, else the first that may be requested, else why the first may not. */
export function chooseRef(
  { others = [], ...first }: NamedRef & { others?: readonly NamedRef[] },
  target: ReceiverTarget,
): NamedRef | { why: NotRequested } {
  const isOwn = target.repository === undefined ? () => true : isRepository(target.repository)
  // A body may name none.
  const all = [first, ...others].filter(({ repository }) => repository === undefined || isOwn(repository))
  const [own] = all
  if (own === undefined) return { why: 'OtherRepository' }
  const relevant = all.filter((named) => isRelevant(named, target))
  const chosen =
    relevant.length === 0 ? undefined : relevant.reduce((best, one) => (byPriority(best.ref, one.ref, target) < 0 ? one : best))
  if (chosen !== undefined) return { ...withKnownMove(chosen, target), ref: requestedName(chosen.ref, target) }
  const asked = all.slice(0, maxComparedRefs).find((named) => whyNotRequested(named, target) === undefined)
  return asked ?? { why: whyNotRequested(own, target) ?? 'OtherBranch' }
}

/** A branch `v1` is not the desired ref if `v1` resolved to a tag; otherwise anyone who may push branches could replace a protected tag. */
function isRelevant({ ref, event, repository }: NamedRef, { desiredRef, resolvedRef }: ReceiverTarget): boolean {
  if (ref === defaultBranch) return true
  if (isTagSelector(desiredRef)) return isTagEvent(event) && selects(desiredRef, ref)
  if (desiredRef === defaultBranch && event === 'push' && ref.startsWith('refs/heads/'))
    return canBeDefault(ref, repository?.defaultBranch, resolvedRef)
  return ref === desiredRef || isSameRef(ref, resolvedRef ?? desiredRef)
}

/**
 * Whether a pushed branch can be the default branch, which the body may have named. `resolvedRef` rules out no branch: it may be out of
 * date, because no event reports a new default branch. A needless request for HEAD costs one query to the git host.
 */
function canBeDefault(ref: NamedRef['ref'], named: string | undefined, resolvedRef: FullRef | undefined): boolean {
  return named === undefined || ref === resolvedRef || shortRef(ref) === shortRef(named)
}

/** Removes the hashes of a branch that may not be the default one: if both point to one commit, the git host would seem to lag. */
function withKnownMove(named: NamedRef, { desiredRef, resolvedRef }: ReceiverTarget): NamedRef {
  const branch = named.repository?.defaultBranch
  const isDefault = branch === undefined ? named.ref === resolvedRef : shortRef(named.ref) === shortRef(branch)
  if (desiredRef !== defaultBranch || isDefault) return named
  const { move: _move, ...more } = named
  return more
}

/** Orders refs that were pushed together: the known default branch first, and the newest of the tags that a selector matches. */
function byPriority(a: string, b: string, { desiredRef, resolvedRef }: ReceiverTarget): number {
  if (desiredRef === defaultBranch) return Number(a === resolvedRef) - Number(b === resolvedRef)
  return a === b || !isTagSelector(desiredRef) ? 0 : newestTag(desiredRef, [a, b]) === a ? 1 : -1
}

/**
 * Returns the ref as the sender names it, except for the default branch, which may change. While a short desired ref is not resolved,
 * returns that short name: git finds out whether it is ambiguous.
 */
function requestedName(ref: NamedRef['ref'], { desiredRef, resolvedRef }: ReceiverTarget): NamedRef['ref'] {
  if (isTagSelector(desiredRef)) return ref === defaultBranch ? desiredRef : ref
  if (ref === defaultBranch) return parseRefName(desiredRef)
  return desiredRef === defaultBranch || (resolvedRef === undefined && !isFullRef(desiredRef)) ? parseRefName(desiredRef) : ref
}

/** Returns undefined if the ref may be requested: the desired branch, and other refs that `allowedRefs` permits. */
function whyNotRequested(named: NamedRef, target: ReceiverTarget): NotRequested | undefined {
  if (isRelevant(named, target)) return undefined
  if (named.event === 'push') return 'OtherBranch'
  // A tag that the spec's selector does not match must not be released.
  if (isTagEvent(named.event) && isTagSelector(target.specRef) && !selects(target.specRef, named.ref)) return 'OtherTag'
  if (named.event === 'tag-push' && target.allowedRefs === undefined) return 'OtherTag'
  return isRefAllowed(named.ref, target.allowedRefs) ? undefined : 'RefNotAllowed'
}
