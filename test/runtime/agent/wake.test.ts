import t from 'tap'
import { createWake } from '../../../runtime/agent/wake.ts'
import { systemClock } from '../../../runtime/platform/clock.ts'

void t.test('calls before a wait end it at once, and only once', async (t) => {
  const wake = createWake(systemClock)
  wake.call()
  wake.call()
  await wake.wait(undefined, new AbortController().signal)
  let ended = false
  const second = wake.wait(60_000, new AbortController().signal).then(() => (ended = true))
  await new Promise(setImmediate)
  t.equal(ended, false)
  wake.call()
  await second
})

void t.test('a wait without a call ends at its timeout and returns false', async (t) => {
  const timeUp = Promise.withResolvers<void>()
  const asked: number[] = []
  const wait = (ms: number): Promise<void> => {
    asked.push(ms)
    return timeUp.promise
  }
  const wake = createWake({ ...systemClock, wait })
  let hasEnded = false
  const waiting = wake.wait(1_000, new AbortController().signal).finally(() => (hasEnded = true))
  await new Promise(setImmediate)
  t.equal(hasEnded, false)
  timeUp.resolve()
  t.equal(await waiting, false)
  t.strictSame(asked, [1_000])
})

void t.test('a wait ends when its signal aborts, and a later call ends the next wait', async (t) => {
  const wake = createWake(systemClock)
  const stop = new AbortController()
  let hasEnded = false
  const waiting = wake.wait(undefined, stop.signal).finally(() => (hasEnded = true))
  await new Promise(setImmediate)
  t.equal(hasEnded, false)
  stop.abort()
  t.equal(await waiting, false)
  t.equal(await wake.wait(undefined, AbortSignal.abort()), false)
  wake.call()
  t.equal(await wake.wait(undefined, new AbortController().signal), true)
})
