/**
 * Defines the actions of the status page: which are offered in each state of a GatewaySync, and what each writes. Pure.
 */
import { Fault } from '../../platform/fault.ts'
import { followRefPatch, pausePatch, refRequestPatch, type Change, confirmCommit, specRefOf, type Who } from '../../fleet/request-patch.ts'
import { captureAnnotationsFor } from '../../fleet/capture-action.ts'
import type { SyncFacts } from '../../fleet/facts.ts'
import { rolloutActionRequest } from '../../fleet/rollout-action.ts'
import type { GatewayView } from '../../fleet/view.ts'
import { desiredRef } from '../../reconcile/decide/request.ts'
import { isDigest } from '../../api/artifact-revision.ts'
import { defaultBranch, isFollowedRef } from '../../api/followed-ref.ts'
import { confirmDeletionsAnnotation, confirmOverwritesAnnotation } from '../../api/names.ts'
import { isUnderWay, type RolloutStatus } from '../../api/schema/rollout-status.ts'
import { isCommitHash, shortCommit } from '../../api/values.ts'

export const actionNames = [
  'sync',
  'pause',
  'resume',
  'rollback',
  'confirm-deletions',
  'confirm-overwrites',
  'approve',
  'abort',
  'capture',
] as const
export type ActionName = (typeof actionNames)[number]

/**
 * `of`: what the user confirmed: the commit or ref to go back to, the commit whose deletions are expected, or the commit that may overwrite local
 * changes; for a rollout its id, its commit and the stage to approve, separated by spaces; otherwise empty.
 */
export type Action = { name: ActionName; of: string }

/** The id of a request, with the requesting user and the time. */
export type RequestOrigin = Who & { id: string }

const maxOf = 255

/** Returns undefined for an unknown action. */
export function parseAction(name: string, of: string | undefined): Action | undefined {
  const known = actionNames.find((one) => one === name)
  return known === undefined || (of ?? '').length > maxOf ? undefined : { name: known, of: of ?? '' }
}

/** The actions that apply now, in display order. `hasLocalChanges`: files were changed on a gateway. */
export function offeredActions(sync: SyncFacts, gateways: readonly Pick<GatewayView, 'reason'>[], hasLocalChanges: boolean): Action[] {
  const { published, rollout } = sync.status
  const isPaused = pausedBySpec(sync.spec)
  const isOver = rollout?.state === 'Stopped' || rollout?.state === 'RolledBack'
  const deletes = gateways.some(({ reason }) => reason === 'MassDeletion' || reason === 'ModeRemoved')
  const keeps = gateways.some(({ reason }) => reason === 'LocalChanges')
  const plain = (name: ActionName, is: boolean): Action[] => (is ? [{ name, of: '' }] : [])
  return [
    ...plain('sync', isFollowedRef(specRefOf(sync.spec))),
    ...plain('pause', !isPaused),
    ...(isPaused || isOver ? [{ name: 'resume' as const, of: isOver ? looked(rollout) : '' }] : []),
    ...(rollout?.waitsFor === 'Approval' && rollout.stage !== undefined
      ? [{ name: 'approve' as const, of: `${looked(rollout)} ${rollout.stage}` }]
      : []),
    ...(isUnderWay(rollout) ? [{ name: 'abort' as const, of: looked(rollout) }] : []),
    ...(deletes && published !== undefined ? [{ name: 'confirm-deletions' as const, of: published.commit }] : []),
    ...(keeps && published !== undefined ? [{ name: 'confirm-overwrites' as const, of: published.commit }] : []),
    ...plain('capture', captures(sync) && (hasLocalChanges || keeps)),
    ...placesToGoBackTo(sync).map((of) => ({ name: 'rollback' as const, of })),
  ]
}

/** Throws InvalidConfiguration if the state of the GatewaySync no longer allows the action. */
export function changeOf({ name, of }: Action, sync: SyncFacts, origin: RequestOrigin): Change {
  const who = { by: origin.by, at: origin.at }
  if (name === 'sync') {
    const followed = specRefOf(sync.spec)
    const { ref } = desiredRef(followed === '' ? defaultBranch : followed, sync.annotations, sync.status)
    return refRequestPatch(sync, { ref, id: origin.id }, who)
  }
  if (name === 'pause') return pausePatch(sync, true, who).change
  if (name === 'resume') {
    const { change, resumed } = pausePatch(sync, false, who)
    if (resumed !== undefined || of !== '') requireConfirmedRollout(sync, of)
    return change
  }
  if (name === 'confirm-deletions') return confirmCommit(sync, confirmDeletionsAnnotation, of)
  if (name === 'confirm-overwrites') return confirmCommit(sync, confirmOverwritesAnnotation, of)
  if (name === 'approve' || name === 'abort') {
    const { stage } = partsOfRollout(of)
    const { annotations } = rolloutActionRequest(sync, { verb: name, stage: name === 'approve' ? stage : undefined }, who)
    requireConfirmedRollout(sync, of)
    return { metadata: { annotations } }
  }
  if (name === 'capture') {
    const id = `${origin.at}/${origin.id.slice(0, 8)}`
    return { metadata: { annotations: captureAnnotationsFor(sync, { id, gateway: undefined }, origin.by) } }
  }
  if (!placesToGoBackTo(sync).includes(of)) {
    const what = isCommitHash(of) ? `commit ${shortCommit(of)}` : `"${of}"`
    const message = `${what} is nothing that GatewaySync "${sync.name}" in namespace "${sync.namespace}" published before, or it follows it already`
    throw new Fault('InvalidConfiguration', message)
  }
  return followRefPatch(sync, of).change
}

function looked({ id, commit }: RolloutStatus): string {
  return `${id} ${commit}`
}

/** The parts of `of` for a rollout; each is empty if missing. */
export function partsOfRollout(of: string): Record<'id' | 'commit' | 'stage', string> {
  const [id = '', commit = '', stage = ''] = of.split(' ')
  return { id, commit, stage }
}

/** Throws InvalidConfiguration if the current rollout is not the one that the user saw, because the current one is unconfirmed. */
function requireConfirmedRollout({ namespace, name, status: { rollout } }: SyncFacts, of: string): void {
  const { id, commit } = partsOfRollout(of)
  if (rollout?.id === id && rollout.commit === commit) return
  const now =
    rollout === undefined ? 'there is no rollout anymore' : `another rollout has started, of commit ${shortCommit(rollout.commit)}`
  throw new Fault('InvalidConfiguration', `GatewaySync "${name}" in namespace "${namespace}": ${now}; review it first`)
}

/** Commits that were published earlier; if a commit is followed, also the branch or tag that was followed last. */
function placesToGoBackTo({ spec, status: { history = [], published } }: SyncFacts): string[] {
  const followed = specRefOf(spec)
  const done = history.filter(({ outcome }) => outcome === 'Published')
  const before = done.map(({ commit }) => commit).filter((commit) => commit !== published?.commit && commit !== followed)
  const isFixed = (ref: string): boolean => isCommitHash(ref) || isDigest(ref)
  const [named] = isFixed(followed) ? done.map(({ ref, specRef }) => specRef ?? ref).filter((ref) => !isFixed(ref)) : []
  return [...new Set([...(named === undefined ? [] : [named]), ...before])]
}

function pausedBySpec(spec: unknown): boolean {
  return (spec as { paused?: unknown } | undefined)?.paused === true
}

function captures({ spec }: SyncFacts): boolean {
  const { capture } = (spec ?? {}) as { capture?: { enabled?: unknown } }
  return capture !== undefined && capture.enabled !== false
}
