import t from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { loggedSteps, logChanges } from '../../../../runtime/controller/lead/leader-log.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { requestAnnotations } from '../../../../runtime/api/names.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import type { ReconcileDeps } from '../../../../runtime/reconcile/reconcile.ts'
import { matchObject, rejectsWith } from '../../../support/assertions.ts'
import type { GatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'

const commit = 'a'.repeat(40)
const annotations = { [requestAnnotations.id]: 'r1', [requestAnnotations.ref]: 'main', [requestAnnotations.at]: '2026-01-01T08:00:00Z' }

type Verify = Parameters<ReconcileDeps['verify']>
type Check = Parameters<ReconcileDeps['validate']>

function setUp({ asked = true, verdict = 'ok' }: { asked?: boolean; verdict?: 'ok' | 'refused' | 'thrown' }) {
  const lines: unknown[] = []
  const spans: unknown[] = []
  const outcome =
    <Result>(good: Result, bad: Result) =>
    async (): Promise<Result> => {
      if (verdict === 'thrown') throw new Fault('GitOutOfMemory', 'too large')
      return verdict === 'ok' ? good : bad
    }
  const steps = loggedSteps({
    verify: outcome<Awaited<ReturnType<ReconcileDeps['verify']>>>({ kind: 'notRequired' }, { kind: 'refused', why: 'nobody signed' }),
    validate: outcome<Awaited<ReturnType<ReconcileDeps['validate']>>>(
      { kind: 'notChecked' },
      { kind: 'checked', errors: 1, warnings: 0, items: [] },
    ),
    tracing: { ended: (...told) => void spans.push(told) },
    clock: { ...systemClock, monotonicMs: () => 0 },
    log: { ...silentLog, debug: (fields, message) => void lines.push([message, fields]) },
  })
  const record = { namespace: 'plant', name: 'line', annotations: asked ? annotations : {}, status: {} }
  const spec = { git: { ref: 'main', verify: {} } }
  const signal = new AbortController().signal
  return {
    lines,
    spans,
    verify: async () => await steps.verify(...([record, spec, { commit }, signal] as unknown as Verify)),
    validate: async () => await steps.validate(...([record, spec, commit, signal] as unknown as Check)),
  }
}

void t.test('each check has one log line and one span with the request ID', async (t) => {
  const { lines, spans, verify, validate } = setUp({})
  await verify()
  await validate()
  const about = { namespace: 'plant', name: 'line', commit }
  t.strictSame(lines, [
    ['signatures checked', { ...about, requestId: 'r1', reason: 'ok', durationMs: 0 }],
    ['commit checked', { ...about, requestId: 'r1', reason: 'ok', durationMs: 0 }],
  ])
  matchObject(t, spans, [
    ['r1', { name: 'signatures checked', reason: 'ok', attributes: about }],
    ['r1', { name: 'commit checked', reason: 'ok', attributes: about }],
  ])
})

void t.test('a check that refuses or fails records the reason', async (t) => {
  const refused = setUp({ verdict: 'refused' })
  await refused.verify()
  await refused.validate()
  matchObject(t, refused.spans, [
    ['r1', { reason: 'NotVerified' }],
    ['r1', { reason: 'CollectionsInvalid' }],
  ])
  const thrown = setUp({ verdict: 'thrown' })
  await rejectsWith(t, thrown.validate(), { message: 'too large' })
  matchObject(t, thrown.lines, [['commit checked', { reason: 'GitOutOfMemory' }]])
})

void t.test('a check without a request has a log line without a request ID, and no span', async (t) => {
  const { lines, spans, validate } = setUp({ asked: false })
  await validate()
  matchObject(t, lines, [['commit checked', { commit }]])
  t.equal(JSON.stringify(lines).includes('requestId'), false)
  t.strictSame(spans, [])
})

const [one, two] = ['a'.repeat(40), 'b'.repeat(40)]
const at = '2026-01-01T12:00:00Z'

function status(commit: string | undefined, ready: 'True' | 'False', reason: string, requestId?: string): GatewaySyncStatus {
  const requested = requestId === undefined ? {} : { requested: { ref: 'main', id: requestId, specRef: 'main' } }
  return {
    conditions: [{ type: 'Ready', status: ready, reason, message: 'm', lastTransitionTime: at }],
    ...(commit === undefined ? {} : { published: { commit, ref: 'main', at } }),
    source: { ref: 'main', ...requested },
  }
}

function told(before: GatewaySyncStatus, after: GatewaySyncStatus): unknown[] {
  const lines: unknown[] = []
  logChanges({ info: (fields, message) => lines.push([message, fields]) }, { namespace: 'plant', name: 'line', status: before }, after)
  return lines
}

void t.test('a published commit and a change of Ready are logged with the request', async (t) => {
  const about = { namespace: 'plant', name: 'line', requestId: 'r-1' }
  t.strictSame(told({}, status(undefined, 'False', 'NothingPublished', 'r-1')), [
    ['not ready', { ...about, reason: 'NothingPublished', message: 'm' }],
  ])
  t.strictSame(told(status(one, 'True', 'Synced'), status(two, 'False', 'GatewaysPending', 'r-1')), [
    ['commit published', { ...about, ref: 'main', commit: two }],
    ['not ready', { ...about, commit: two, reason: 'GatewaysPending', message: 'm' }],
  ])
  t.strictSame(told(status(two, 'False', 'GatewaysPending', 'r-1'), status(two, 'True', 'Synced', 'r-1')), [
    ['ready', { ...about, commit: two, reason: 'Synced', message: 'm' }],
  ])
})

void t.test('a change without a request is logged without an ID, and an unchanged status is not logged', async (t) => {
  t.strictSame(told(status(undefined, 'False', 'NothingPublished'), status(one, 'False', 'NothingPublished')), [
    ['commit published', { namespace: 'plant', name: 'line', ref: 'main', commit: one }],
  ])
  t.strictSame(told(status(one, 'True', 'Synced', 'r-1'), status(one, 'True', 'Synced', 'r-2')), [])
})
