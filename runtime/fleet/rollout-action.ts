/**
 * Requests an action on a staged rollout by annotations, and determines its outcome. Pure.
 */
import { Fault } from '../platform/fault.ts'
import { rolloutAnnotations } from '../api/names.ts'
import { actionText, parseAction, type RolloutVerb } from '../reconcile/rollout/action.ts'
import type { RolloutStatus } from '../api/schema/rollout-status.ts'
import { shortCommit, shortHashes } from '../api/values.ts'
import { type RequestedSync, explained, type Outcome, statusCommand, type RequestProgress } from './action.ts'

/** `digest` identifies the action; the controller records it once it has acted. */
export type RolloutActionRequest = { verb: RolloutVerb; id: string; digest: string; annotations: Record<string, string> }

/**
 * The annotations for an action on the current rollout. `stage` is the stage to approve, by default the one that waits for approval. Throws
 * InvalidConfiguration if the rollout is not in a state that allows the action.
 */
export function rolloutActionRequest(
  { namespace, name, status: { rollout } }: Pick<RequestedSync, 'namespace' | 'name' | 'status'>,
  action: { verb: RolloutVerb; stage?: string | undefined },
  { by, at }: { by: string; at: string },
): RolloutActionRequest {
  const object = `GatewaySync "${name}" in namespace "${namespace}"`
  if (rollout === undefined)
    throw new Fault('InvalidConfiguration', `${object} has no rollout: it has no spec.rollout, or nothing is published`)
  const stage = action.verb === 'approve' ? stageToApprove(rollout, action.stage, object) : undefined
  if (action.verb === 'abort' && rollout.state !== 'Progressing' && rollout.state !== 'Stopped')
    throw new Fault('InvalidConfiguration', `the rollout of ${object} has already ended (${rollout.state})`)
  const annotations = {
    [rolloutAnnotations.action]: actionText(action.verb, rollout.id, stage),
    [rolloutAnnotations.by]: by,
    [rolloutAnnotations.at]: at,
  }
  return { verb: action.verb, id: rollout.id, digest: parseAction(annotations)?.digest ?? '', annotations }
}

function stageToApprove({ state, stage, waitsFor, stages = [] }: RolloutStatus, named: string | undefined, object: string): string {
  if (state !== 'Progressing' && state !== 'Stopped')
    throw new Fault('InvalidConfiguration', `the rollout of ${object} has already ended (${state})`)
  if (named === undefined && waitsFor === 'Approval' && stage !== undefined) return stage
  const known = stages.map(({ name }) => name)
  if (named !== undefined && known.includes(named)) return named
  const there = `its stages are ${known.join(', ')}`
  const problem = named === undefined ? 'no stage waits for approval; name one with --stage' : `--stage: there is no stage "${named}"`
  throw new Fault('InvalidConfiguration', `${problem}; ${there}`)
}

/** Determines whether the controller has acted, and the resulting state of the rollout. */
export function actionProgress({ status, ...sync }: RequestedSync, { verb, digest }: RolloutActionRequest): RequestProgress {
  const { rollout, published } = status
  if (rollout?.lastAction !== digest) return { kind: 'waiting', sentence: 'the controller has not responded yet' }
  const commit = published === undefined ? {} : { commit: published.commit }
  const next = [statusCommand(sync)]
  const ended = (outcome: Omit<Outcome, 'next'>): RequestProgress => ({ kind: 'ended', outcome: { ...outcome, ...commit, next } })
  const why = rollout.message === undefined ? '' : `: ${shortHashes(rollout.message)}`
  if (verb === 'abort') {
    if (rollout.state === 'RolledBack')
      return ended({ done: true, outcome: 'Aborted', message: `its gateways return to commit ${shortCommit(rollout.commit)}` })
    if (rollout.state === 'Stopped')
      return ended({
        done: true,
        outcome: 'Aborted',
        message: 'the rollout is stopped; there is no previous commit to return to, so correct the spec',
      })
  } else if (rollout.state === 'Progressing' || rollout.state === 'Done') {
    const what = `the rollout of commit ${shortCommit(rollout.commit)} continues`
    return ended({ done: true, outcome: verb === 'approve' ? 'Approved' : 'Resumed', message: what })
  }
  const message = `the rollout is ${rollout.state}${why}`
  return ended({ done: false, outcome: 'Stuck', message, ...explained(rollout.reason) })
}
