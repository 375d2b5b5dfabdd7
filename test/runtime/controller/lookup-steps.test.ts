import t from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import { toldSteps } from '../../../runtime/controller/lead/lookup-steps.ts'
import { Fault } from '../../../runtime/fault.ts'
import { requestAnnotations } from '../../../runtime/gatewaysync/names.ts'
import { silentLog } from '../../../runtime/log.ts'
import type { ReconcileDeps } from '../../../runtime/reconcile/reconcile.ts'

const commit = 'a'.repeat(40)
const annotations = { [requestAnnotations.id]: 'r1', [requestAnnotations.ref]: 'main', [requestAnnotations.at]: '2026-01-01T08:00:00Z' }

type Verify = Parameters<ReconcileDeps['verify']>
type Check = Parameters<ReconcileDeps['check']>

function setUp({ asked = true, verdict = 'ok' }: { asked?: boolean; verdict?: 'ok' | 'refused' | 'thrown' }) {
  const lines: unknown[] = []
  const spans: unknown[] = []
  const outcome =
    <Result>(good: Result, bad: Result) =>
    async (): Promise<Result> => {
      if (verdict === 'thrown') throw new Fault('GitOutOfMemory', 'too large')
      return verdict === 'ok' ? good : bad
    }
  const steps = toldSteps({
    verify: outcome<Awaited<ReturnType<ReconcileDeps['verify']>>>({ kind: 'notAsked' }, { kind: 'refused', why: 'nobody signed' }),
    check: outcome<Awaited<ReturnType<ReconcileDeps['check']>>>(
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
    check: async () => await steps.check(...([record, spec, commit, signal] as unknown as Check)),
  }
}

void t.test('each check is one line and one span with the id of the request', async (t) => {
  const { lines, spans, verify, check } = setUp({})
  await verify()
  await check()
  const about = { namespace: 'plant', name: 'line', commit }
  t.same(lines, [
    ['signatures checked', { ...about, requestId: 'r1', reason: 'ok', durationMs: 0 }],
    ['commit checked', { ...about, requestId: 'r1', reason: 'ok', durationMs: 0 }],
  ])
  t.match(spans, [
    ['r1', { name: 'signatures checked', reason: 'ok', attributes: about }],
    ['r1', { name: 'commit checked', reason: 'ok', attributes: about }],
  ])
})

void t.test('a check that refuses or ends with a fault says why', async (t) => {
  const refused = setUp({ verdict: 'refused' })
  await refused.verify()
  await refused.check()
  t.match(refused.spans, [
    ['r1', { reason: 'NotVerified' }],
    ['r1', { reason: 'CollectionsInvalid' }],
  ])
  const thrown = setUp({ verdict: 'thrown' })
  await t.rejects(thrown.check(), { message: 'too large' })
  t.match(thrown.lines, [['commit checked', { reason: 'GitOutOfMemory' }]])
})

void t.test('what nobody asked for has a line without a request, and no span', async (t) => {
  const { lines, spans, check } = setUp({ asked: false })
  await check()
  t.match(lines, [['commit checked', { commit }]])
  t.notMatch(lines, [['commit checked', { requestId: String }]])
  t.same(spans, [])
})
