/**
 * Tests one step of a stage: which gateways it admits, and what it waits for until when.
 */
import t from 'tap'
import type { RolloutStatus } from '../../../../runtime/api/schema/rollout-status.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import type { GatewayProgress, RolloutFacts } from '../../../../runtime/reconcile/rollout/facts.ts'
import { runStage } from '../../../../runtime/reconcile/rollout/run-stage.ts'
import { podHash } from '../../../../runtime/reconcile/rollout/stage-admission.ts'
import { specWith } from '../../../support/gatewaysync.ts'

const { rollout: spec } = specWith({
  rollout: {
    stages: [{ name: 'all', maxConcurrent: 1 }],
    failureThreshold: 2,
    progressDeadline: '2h',
    windows: [{ days: ['Mon'], from: '08:00', to: '18:00', timeZone: 'UTC' }],
  },
})
const [stage] = spec?.stages ?? []
if (spec === undefined || stage === undefined) throw new Error('there is no stage')

/** A Monday, within and before the window. */
const [open, closed] = ['2026-01-05T12:00:00Z', '2026-01-05T07:00:00Z']
const opening = '2026-01-05T08:00:00Z'
const nextOpening = '2026-01-12T08:00:00Z'
const commit = 'a'.repeat(40)

const gateway = (pod: string, progress: 'moving' | 'held' | 'updated' | 'excluded' | 'failed' = 'moving'): GatewayProgress => {
  const common = { pod, name: pod, labels: {} }
  return progress === 'failed' ? { ...common, progress, reason: 'Broken' } : { ...common, progress }
}

/** The step at a time, with some gateways admitted before; names in place of their marks. */
function step(at: string, members: readonly GatewayProgress[], admitted: readonly string[] = []) {
  const rollout: RolloutStatus = {
    state: 'Progressing',
    id: 'r1',
    commit,
    configurations: {},
    startedAt: at,
    progressAt: at,
    stages: [{ name: 'all', gateways: members.length, updated: 0, failed: 0, startedAt: at }],
    allowed: admitted.map(podHash),
  }
  const facts: RolloutFacts = {
    spec: spec as RolloutFacts['spec'],
    target: { version: { commit, ref: 'main' }, configurations: {} },
    before: undefined,
    previous: rollout,
    gateways: members,
    action: undefined,
    skip: undefined,
    paused: false,
    now: Temporal.Instant.from(at),
  }
  const made = runStage(rollout, stage as NonNullable<typeof stage>, members, facts)
  const { allowed = [], waitsFor } = made.rollout
  const names = members.filter(({ pod }) => allowed.includes(podHash(pod))).map(({ pod }) => pod)
  return [made.kind, waitsFor, names, made.kind === 'waits' ? made.wakeAt?.toString() : undefined]
}

void t.test('gateways begin within a window only, as many at a time as the stage permits', async (t) => {
  const [a, b] = [gateway('a'), gateway('b')]
  const deadline = '2026-01-05T14:00:00Z'
  t.strictSame(step(closed, [a, b]), ['waits', 'Window', [], opening])
  t.strictSame(step(open, [a, b]), ['waits', 'Gateways', ['a'], deadline])
  t.strictSame(step(open, [a, b], ['b']), ['waits', 'Gateways', ['b'], deadline])
  t.strictSame(step(open, [a], ['a']), ['waits', 'Gateways', ['a'], deadline])
  t.strictSame(step(closed, [a, b], ['a']), ['waits', 'Gateways', ['a'], opening], 'one is at work; the other may begin when it opens')
  t.strictSame(step(closed, [a], ['a']), ['waits', 'Gateways', ['a'], '2026-01-05T09:00:00Z'], 'the only one is at work')
})

void t.test('a gateway with local changes keeps its place without a deadline', async (t) => {
  const [held, b] = [gateway('a', 'held'), gateway('b')]
  t.strictSame(step(open, [held, b], ['a']), ['waits', 'Gateways', ['a'], nextOpening])
  t.strictSame(step(open, [held], ['a']), ['waits', 'Gateways', ['a'], undefined])
})

void t.test('updated gateways need no place, and failed and excluded ones take none', async (t) => {
  const b = gateway('b')
  t.strictSame(step(closed, [gateway('a', 'updated'), b]), ['waits', 'Window', ['a'], opening])
  t.strictSame(step(open, [gateway('a', 'updated'), b]), ['waits', 'Gateways', ['a', 'b'], '2026-01-05T14:00:00Z'])
  t.strictSame(step(open, [gateway('a', 'failed'), b], ['a']), ['waits', 'Gateways', ['a', 'b'], '2026-01-05T14:00:00Z'])
  t.strictSame(step(open, [gateway('a', 'excluded'), b]), ['waits', 'Gateways', ['b'], '2026-01-05T14:00:00Z'])
  t.strictSame(step(open, [gateway('a', 'failed'), gateway('b', 'failed')], ['a', 'b'])[0], 'failed')
})

void t.test('a pod without an agent is not admitted, and the stage waits for it until its deadline', async (t) => {
  const bare: GatewayProgress = { ...gateway('a'), progress: 'moving', hasNoAgent: true }
  t.strictSame(step(open, [bare, gateway('b')]), ['waits', 'Gateways', ['b'], '2026-01-05T14:00:00Z'])
  t.strictSame(step(open, [bare]), ['waits', 'Gateways', [], '2026-01-05T14:00:00Z'])
  t.strictSame(step(closed, [bare]), ['waits', 'Window', [], opening])
})
