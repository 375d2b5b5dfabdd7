/**
 * A staged rollout as a person reads of it. Pure.
 */
import { heldWords } from '../gatewaysync/rollout/held-words.ts'
import type { RolloutStatus, StageStatus } from '../gatewaysync/schema/rollout-status.ts'
import { shortCommit } from '../gatewaysync/values.ts'
import type { Level } from './level.ts'
import type { RolloutView } from './view.ts'

/** Undefined without a rollout. */
export function rolloutView(rollout: RolloutStatus | undefined): RolloutView | undefined {
  if (rollout === undefined) return undefined
  const { state, commit, stage, waitsFor, startedAt, finishedAt, message, stages = [] } = rollout
  return {
    state,
    commit,
    stage,
    waitsFor,
    startedAt,
    finishedAt,
    message,
    level: levels[state],
    summary: summaryOf(rollout),
    stages: stages.map((one) => ({ ...one, level: levelOfStage(one, state) })),
  }
}

const levels: Readonly<Record<RolloutStatus['state'], Level>> = {
  Progressing: 'working',
  Stopped: 'error',
  RolledBack: 'error',
  Done: 'ok',
}

function levelOfStage({ failed, silent = 0, finishedAt, startedAt }: StageStatus, state: RolloutStatus['state']): Level {
  if (failed > 0) return 'error'
  // Once the rollout is done or rolled back nobody counts any more: they may long have taken what all others have.
  if (silent > 0 && state !== 'Done' && state !== 'RolledBack') return 'warning'
  if (finishedAt !== undefined) return 'ok'
  return startedAt === undefined ? 'warning' : 'working'
}

const waits: Readonly<Record<NonNullable<RolloutStatus['waitsFor']>, string>> = {
  Gateways: 'gateways take the commit',
  Soak: 'its gateways are healthy and are watched for a while',
  Approval: 'waits for somebody to approve it',
  Window: 'waits for the next window',
  Pause: 'is paused',
}

function summaryOf({ state, commit, stage = '', stages = [], waitsFor = 'Gateways', refused }: RolloutStatus): string {
  const of = shortCommit(commit)
  if (state === 'Done') return `commit ${of} has passed every stage`
  if (state === 'Stopped') return `commit ${of} goes no further than stage ${stage}`
  if (state === 'RolledBack') return `gateways went back from commit ${shortCommit(refused?.commit ?? commit)} to ${of}`
  const held = stages.find(({ name }) => name === stage)?.held ?? 0
  return `commit ${of}, stage ${stage}: ${waitsFor === 'Gateways' && held > 0 ? heldWords(held) : waits[waitsFor]}`
}
