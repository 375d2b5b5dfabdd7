import t from 'tap'
import { createCycleTraces } from '../../../runtime/agent/cycle-traces.ts'
import { systemClock } from '../../../runtime/platform/clock.ts'
import type { CycleResult } from '../../../runtime/sync/cycle.ts'
import type { EndedSpan } from '../../../runtime/telemetry/tracing/trace.ts'
import { matchObject } from '../../support/assertions.ts'

const [first, second] = ['a'.repeat(40), 'b'.repeat(40)]

function setUp(inPlace?: string) {
  const told: [string, EndedSpan][] = []
  const steps: string[] = []
  const tracing = { ended: (requestId: string, span: EndedSpan) => void told.push([requestId, span]) }
  const trace = createCycleTraces({ clock: systemClock, tracing }, { pod: 'gw-0' }, inPlace)
  const cycle = async (commit: string, requestId: string | undefined, result: Partial<CycleResult>) =>
    await trace(
      { commit, requestId },
      (step) => void steps.push(step),
      async (stepped) => {
        stepped('plan', 2, 'ok')
        return { phase: 'Synced', ...result }
      },
    )
  return { told, steps, cycle }
}

void t.test('each cycle of a commit is traced with its steps until one applies the commit', async (t) => {
  const { told, steps, cycle } = setUp()
  await cycle(first, 'r1', { phase: 'Failed', reason: 'ScanFailed' })
  await cycle(first, 'r1', { phase: 'Synced' })
  await cycle(first, 'r1', { phase: 'Synced' })
  matchObject(t, told, [
    ['r1', { name: 'sync', reason: 'ScanFailed', attributes: { pod: 'gw-0', commit: first, phase: 'Failed' } }],
    ['r1', { name: 'sync', reason: 'ok', attributes: { phase: 'Synced' }, parts: [{ name: 'plan', durationMs: 2, reason: 'ok' }] }],
  ])
  t.equal(told.length, 2)
  t.strictSame(steps, ['plan', 'plan', 'plan'], 'every step is counted')
  await cycle(second, 'r2', { phase: 'Drifted' })
  t.strictSame(told.at(-1)?.[0], 'r2')
})

void t.test('a commit applied before the process started, or published without a request, is not traced', async (t) => {
  const { told, cycle } = setUp(first)
  await cycle(first, 'r1', {})
  await cycle(second, undefined, {})
  t.strictSame(told, [])
  await cycle(first, 'r3', {})
  t.equal(told.length, 1)
})

void t.test('at most ten cycles of a commit that keeps failing are traced', async (t) => {
  const { told, cycle } = setUp()
  for (let index = 0; index < 12; index += 1) await cycle(first, 'r1', { phase: 'Pending', reason: 'GatewayNotReady' })
  t.equal(told.length, 10)
  t.equal(told[0]?.[1].reason, 'GatewayNotReady')
})
