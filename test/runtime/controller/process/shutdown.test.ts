import t from 'tap'
import { createEnding } from '../../../../runtime/controller/process/shutdown.ts'

void t.test('a shutdown starts with leaving, and closes after the delay', async (t) => {
  const delay = Promise.withResolvers<void>()
  const waits: number[] = []
  const wait = async (ms: number): Promise<void> => {
    waits.push(ms)
    await delay.promise
  }
  const ending = createEnding({ wait }, 10_000)
  ending.begin('SIGTERM')
  t.strictSame([ending.leaving.aborted, ending.closing.aborted, waits], [true, false, [10_000]])
  delay.resolve()
  await new Promise(setImmediate)
  t.equal(ending.closing.aborted, true)
})

void t.test('an immediate shutdown skips the delay, even after a shutdown has started', async (t) => {
  const ending = createEnding({ wait: () => new Promise(() => undefined) }, 10_000)
  ending.begin('SIGTERM')
  ending.now('SIGINT')
  t.strictSame([ending.leaving.aborted, ending.closing.aborted], [true, true])
})
