/**
 * Builds the merge patches of requests to a GatewaySync, for the CLI and the status page. Pure.
 */
import { Fault } from '../platform/fault.ts'
import { supersededBy } from '../reconcile/decide/request.ts'
import { type FollowedRef, followedRef, type membersFor } from '../api/followed-ref.ts'
import { type confirmDeletionsAnnotation, type confirmOverwritesAnnotation, requestAnnotations } from '../api/names.ts'
import { shortCommit } from '../api/values.ts'
import type { SyncFacts } from './facts.ts'
import { askRollout, type RolloutAsked } from './rollout-action.ts'

/** A merge patch (RFC 7386); null removes an annotation. */
export type Change = {
  spec?: { paused?: boolean; git?: ReturnType<typeof membersFor> }
  metadata?: { annotations: Record<string, string | null> }
}

/** `by`: at most 128 characters; `at`: RFC 3339. */
export type Who = { by: string; at: string }

/** Requests a ref; `id` identifies the outcome. */
export function askRef(sync: SyncFacts, { ref, id }: { ref: string; id: string }, { by, at }: Who): Change {
  const asked = {
    [requestAnnotations.ref]: ref,
    [requestAnnotations.at]: at,
    [requestAnnotations.by]: by,
    [requestAnnotations.id]: id,
    [requestAnnotations.specRef]: specRefOf(sync.spec),
  }
  const superseded = supersededBy(asked, sync.annotations, sync.status, [])
  return { metadata: { annotations: { ...asked, [requestAnnotations.superseded]: superseded, [requestAnnotations.move]: null } } }
}

/** Pauses or resumes a GatewaySync. Resuming also resumes a stopped rollout; `resumed` describes that request. */
export function askPause(sync: SyncFacts, paused: boolean, who: Who): { change: Change; resumed: RolloutAsked | undefined } {
  const { state } = sync.status.rollout ?? {}
  const isOver = state !== 'Stopped' && state !== 'RolledBack'
  const resumed = paused || isOver ? undefined : askRollout(sync, { verb: 'resume' }, who)
  return { change: { spec: { paused }, ...(resumed === undefined ? {} : { metadata: { annotations: resumed.annotations } }) }, resumed }
}

/**
 * Lets gateways apply a commit that they hold back. Throws InvalidConfiguration if another commit is published meanwhile, because the user confirmed
 * different changes.
 */
export function confirmCommit(
  { namespace, name, status: { published } }: Omit<SyncFacts, 'spec'>,
  annotation: typeof confirmDeletionsAnnotation | typeof confirmOverwritesAnnotation,
  commit: string,
): Change {
  if (published?.commit !== commit) {
    const now = published === undefined ? 'nothing is published' : `commit ${shortCommit(published.commit)} is published`
    throw new Fault('InvalidConfiguration', `GatewaySync "${name}" in namespace "${namespace}": ${now}, and not ${shortCommit(commit)}`)
  }
  return { metadata: { annotations: { [annotation]: commit } } }
}

/** The ref that a stored spec follows; empty if the spec has no `git`. */
export function specRefOf(spec: unknown): FollowedRef | '' {
  const { git } = (spec ?? {}) as { git?: Record<string, unknown> }
  if (git === undefined) return ''
  const text = (name: string): string | undefined => (typeof git[name] === 'string' ? git[name] : undefined)
  return followedRef({ ref: text('ref'), semver: text('semver'), tagPattern: text('tagPattern') })
}
