import t from 'tap'
import { createWake } from '../../../runtime/agent/wake.ts'
import { systemClock } from '../../../runtime/clock.ts'

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

void t.test('a wait ends when its time is up or its signal fires', async (t) => {
  const wake = createWake(systemClock)
  await wake.wait(1, new AbortController().signal)
  const stop = new AbortController()
  const waiting = wake.wait(undefined, stop.signal)
  stop.abort()
  await waiting
  await wake.wait(undefined, AbortSignal.abort())
  t.pass('every wait ended')
})
