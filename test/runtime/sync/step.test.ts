import t from 'tap'
import { Fault } from '../../../runtime/platform/fault.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { doStep } from '../../../runtime/sync/step.ts'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { matchObject } from '../../support/assertions.ts'

const commit = 'a'.repeat(40)

function setup() {
  let nowMs = 0
  const lines: unknown[] = []
  const timed: unknown[] = []
  const deps = {
    clock: { ...systemClock, monotonicMs: () => nowMs },
    log: { ...silentLog, debug: (fields: object, message: string) => lines.push([message, fields]) },
    stepped: (step: string, ms: number) => timed.push([step, ms]),
  }
  return { deps, lines, timed, pass: (ms: number) => (nowMs += ms) }
}

void t.test('a step is timed and logged in one line of level debug', async (t) => {
  const { deps, lines, timed, pass } = setup()
  t.equal(await doStep(deps, 'plan', commit, () => pass(12.4)), 12.4)
  t.strictSame(timed, [['plan', 12.4]])
  t.strictSame(lines, [['cycle step ended', { step: 'plan', commit, reason: 'ok', durationMs: 12 }]])
})

void t.test('a failing step is timed too, logs its reason, and rethrows its error', async (t) => {
  const { deps, lines, timed, pass } = setup()
  const fault = new Fault('DiskFull', 'no room')
  const work = async (): Promise<void> => {
    pass(3)
    throw fault
  }
  await t.rejects(doStep(deps, 'publish', commit, work), fault)
  t.strictSame(timed, [['publish', 3]])
  matchObject(t, lines, [['cycle step ended', { reason: 'DiskFull' }]])
})
