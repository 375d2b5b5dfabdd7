/**
 * What somebody asks of a GatewaySync, as a merge patch says it: the same from the command line and from the status page. Pure.
 */
import { Fault } from '../fault.ts'
import { supersededBy } from '../gatewaysync/decide/request.ts'
import { type confirmDeletionsAnnotation, type confirmOverwritesAnnotation, requestAnnotations } from '../gatewaysync/names.ts'
import { shortCommit } from '../gatewaysync/values.ts'
import type { SyncFacts } from './facts.ts'
import { askRollout, type RolloutAsked } from './rollout-action.ts'

/** A merge patch (RFC 7386); null removes an annotation. */
export type Change = {
  spec?: { paused?: boolean; git?: { ref: string } }
  metadata?: { annotations: Record<string, string | null> }
}

/** `by`: at most 128 characters; `at`: a time of RFC 3339. */
export type Who = { by: string; at: string }

/** A request for a ref, under an id by which its outcome is found. */
export function askRef(sync: SyncFacts, { ref, id }: { ref: string; id: string }, { by, at }: Who): Change {
  const asked = {
    [requestAnnotations.ref]: ref,
    [requestAnnotations.at]: at,
    [requestAnnotations.by]: by,
    [requestAnnotations.id]: id,
    [requestAnnotations.specRef]: specRefOf(sync.spec),
  }
  const superseded = supersededBy(asked, sync.annotations, sync.status, [])
  return { metadata: { annotations: { ...asked, [requestAnnotations.superseded]: superseded } } }
}

/** Whoever resumes a GatewaySync also has a rollout go on that has stopped; `resumed` tells it. */
export function askPause(sync: SyncFacts, paused: boolean, who: Who): { change: Change; resumed: RolloutAsked | undefined } {
  const { state } = sync.status.rollout ?? {}
  const isOver = state !== 'Stopped' && state !== 'RolledBack'
  const resumed = paused || isOver ? undefined : askRollout(sync, { verb: 'resume' }, who)
  return { change: { spec: { paused }, ...(resumed === undefined ? {} : { metadata: { annotations: resumed.annotations } }) }, resumed }
}

/** Lets gateways take a commit that they hold back. Throws InvalidConfiguration where another commit is published: what somebody looked at and agreed to is no longer what would happen. */
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

/** `spec.git.ref` as it is stored; empty where there is none. */
export function specRefOf(spec: unknown): string {
  const { git } = (spec ?? {}) as { git?: { ref?: unknown } }
  return typeof git?.ref === 'string' ? git.ref : ''
}
