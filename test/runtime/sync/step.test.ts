import t from 'tap'
import { Fault } from '../../../runtime/fault.ts'
import { silentLog } from '../../../runtime/log.ts'
import { doStep } from '../../../runtime/sync/step.ts'
import { systemClock } from '../../../runtime/clock.ts'

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

void t.test('a step is timed and told in one line of the level debug', async (t) => {
  const { deps, lines, timed, pass } = setup()
  t.equal(await doStep(deps, 'plan', commit, () => pass(12.4)), 12.4)
  t.same(timed, [['plan', 12.4]])
  t.same(lines, [['step of a cycle ended', { component: 'plan', commit, reason: 'ok', durationMs: 12 }]])
})

void t.test('a step that fails is timed too, tells its reason, and throws what it threw', async (t) => {
  const { deps, lines, timed, pass } = setup()
  const fault = new Fault('DiskFull', 'no room')
  const work = async (): Promise<void> => {
    pass(3)
    throw fault
  }
  await t.rejects(doStep(deps, 'publish', commit, work), fault)
  t.same(timed, [['publish', 3]])
  t.match(lines, [['step of a cycle ended', { reason: 'DiskFull' }]])
})
