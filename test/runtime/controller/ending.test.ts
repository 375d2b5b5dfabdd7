import t from 'tap'
import { createEnding } from '../../../runtime/controller/process/ending.ts'

void t.test('an end begins with leaving, and closes after the delay', async (t) => {
  const delay = Promise.withResolvers<void>()
  const waits: number[] = []
  const wait = async (ms: number): Promise<void> => {
    waits.push(ms)
    await delay.promise
  }
  const ending = createEnding({ wait }, 10_000)
  ending.begin('SIGTERM')
  t.same([ending.leaving.aborted, ending.closing.aborted, waits], [true, false, [10_000]])
  delay.resolve()
  await new Promise(setImmediate)
  t.equal(ending.closing.aborted, true)
})

void t.test('an end that must be at once is, also after it has begun', async (t) => {
  const ending = createEnding({ wait: () => new Promise(() => undefined) }, 10_000)
  ending.begin('SIGTERM')
  ending.now('SIGINT')
  t.same([ending.leaving.aborted, ending.closing.aborted], [true, true])
})
