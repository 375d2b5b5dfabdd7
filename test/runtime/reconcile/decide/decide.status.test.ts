/**
 * Tests that the status has a member exactly while there is something to say, and an event for each change of Ready.
 */
import t from 'tap'
import { followedRef } from '../../../../runtime/api/followed-ref.ts'
import { captureAnnotations, requestAnnotations } from '../../../../runtime/api/names.ts'
import type { GatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'
import { parseCommitHash } from '../../../../runtime/api/values.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { decide } from '../../../../runtime/reconcile/decide/decide.ts'
import type { Observation, SourceObservation } from '../../../../runtime/reconcile/decide/observation.ts'
import { desiredRef } from '../../../../runtime/reconcile/decide/request.ts'
import { podWith, reportWith, specWith } from '../../../support/gatewaysync.ts'

const commit = parseCommitHash('a'.repeat(40))
const at = '2026-01-01T00:00:00Z'
const unasked = { kind: 'unchanged', lastFault: undefined } as const

function decideWith({ spec = specWith(), annotations = {}, status = {}, ...more }: Partial<Observation> & { source: SourceObservation }) {
  const desired = desiredRef(followedRef(spec.git), annotations, status)
  const base = { generation: 7, pods: [], reports: new Map(), delivery: undefined, now: Temporal.Instant.from(at) }
  return decide({ ...base, spec, annotations, status, desired, ...more })
}

const none = { total: 0, synced: 0, pending: 0, failed: 0, blocked: 0, drifted: 0, dryRun: 0, paused: 0, missingAgent: 0 }

void t.test('the first status has counts and conditions, and nothing that is not known', async (t) => {
  const { status, ...decision } = decideWith({ source: { kind: 'pending' } })
  const { conditions, ...others } = status
  t.strictSame(others, { observedGeneration: 7, requests: [], gateways: none, history: [] })
  t.strictSame([...new Set(conditions?.map(({ observedGeneration }) => observedGeneration))], [7])
  const note = 'not yet reconciled'
  t.strictSame(decision, { events: [{ type: 'Normal', reason: 'Pending', note }], wakeAt: undefined, questions: [] })
})

void t.test('the status has all that is known', async (t) => {
  const capture = { auth: { token: { secretRef: { name: 'push', key: 'token' } } } }
  const spec = specWith({ capture, rollout: { stages: [{ name: 'all' }] } })
  const annotations = {
    [requestAnnotations.ref]: 'v2',
    [requestAnnotations.id]: 'r2',
    [requestAnnotations.specRef]: 'main',
    [requestAnnotations.superseded]: 'r1=v1 r2=v2',
    [captureAnnotations.at]: 'now',
  }
  const source: SourceObservation = {
    kind: 'resolved',
    commit,
    committedAt: undefined,
    fetchedAt: at,
    verified: undefined,
    verdict: { kind: 'checked', errors: 0, warnings: 1, items: [] },
    durationMs: 1,
  }
  const delivery = { url: 'https://delivery:9445', caBundle: '' }
  const pods = ['new', 'old'].map((name) => podWith(name))
  const reports = new Map([reportWith('old', { phase: 'Blocked', reason: 'InvalidSpec' })])
  const { status, questions } = decideWith({ spec, annotations, source, delivery, pods, reports, throttled: 'it waits' })
  const { conditions, rollout, requestDigest, history, ...others } = status
  t.match(requestDigest, /^[0-9a-f]{32}$/)
  t.strictSame([rollout?.state, rollout?.commit, history?.length], ['Done', commit, 1])
  t.ok(conditions?.some(({ type, message }) => type === 'Throttled' && message === 'it waits'))
  t.strictSame(questions, [])
  t.strictSame(others, {
    observedGeneration: 7,
    requests: [
      { id: 'r1', ref: 'v1', outcome: 'Superseded', at, message: 'a later request arrived before this one was handled' },
      { id: 'r2', ref: 'v2', outcome: 'Handled', at },
    ],
    lastHandledRequest: 'r2',
    gateways: { ...none, total: 2, pending: 1, blocked: 1 },
    unreported: ['new'],
    outdatedAgents: 1,
    source: { ref: 'v2', commit, checkedAt: at, fetchedAt: at, requested: { ref: 'v2', id: 'r2', specRef: 'main' } },
    published: { commit, ref: 'v2', repo: spec.git.repo, at },
    findings: { errors: 0, warnings: 1, items: [] },
    delivery,
    capture: { repo: spec.git.repo, request: 'now', at, answered: 0 },
  })
  const next = decideWith({ spec, annotations, source: unasked, delivery, pods, reports, throttled: 'it waits', status })
  t.strictSame([next.status, next.events], [status, []], 'the same observation changes nothing')
})

void t.test('only a final outcome is the last handled request', async (t) => {
  const status: GatewaySyncStatus = {
    requests: [
      { id: 'r1', ref: 'v1', outcome: 'Handled', at },
      { id: 'r2', ref: 'v2', outcome: 'Pending', at },
    ],
  }
  t.equal(decideWith({ source: unasked, status }).status.lastHandledRequest, 'r1')
})

void t.test('an event is recorded each time that the status or reason of Ready changes, with the meaning of the reason', async (t) => {
  const ready = (is: 'True' | 'False' | 'Unknown', reason: string): GatewaySyncStatus => ({
    source: { ref: 'main', commit },
    published: { commit, ref: 'main', at },
    conditions: [
      { type: 'SourceReady', status: 'True', reason: 'Fetched', message: 'm', lastTransitionTime: at, observedGeneration: 7 },
      { type: 'Ready', status: is, reason, message: 'm', lastTransitionTime: at, observedGeneration: 7 },
    ],
  })
  const after = (before: GatewaySyncStatus, paused = false) =>
    decideWith({ source: unasked, status: before, spec: specWith({ paused }) }).events
  const isReady = { type: 'Normal', reason: 'NoGateways', note: 'a commit is published and no gateway follows this GatewaySync yet' }
  t.strictSame(after(ready('True', 'NoGateways')), [])
  t.strictSame(after(ready('True', 'Synced')), [isReady], 'another reason')
  t.strictSame(after(ready('False', 'NoGateways')), [isReady], 'another status')
  t.strictSame(after({ ...ready('True', 'NoGateways'), conditions: [] }), [isReady], 'it is new')
  t.strictSame(after(ready('True', 'NoGateways'), true), [{ type: 'Normal', reason: 'Paused', note: 'paused: nothing is written' }])
})
