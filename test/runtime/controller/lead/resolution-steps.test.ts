import t from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { loggedSteps } from '../../../../runtime/controller/lead/resolution-steps.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { requestAnnotations } from '../../../../runtime/api/names.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import type { ReconcileDeps } from '../../../../runtime/reconcile/reconcile.ts'
import { matchObject, rejectsWith } from '../../../support/assertions.ts'

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
    verify: outcome<Awaited<ReturnType<ReconcileDeps['verify']>>>({ kind: 'notAsked' }, { kind: 'refused', why: 'nobody signed' }),
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
