/**
 * Readiness of a replica: a ready replica receives admission calls, so the API server must trust its certificate first.
 */
import t from 'tap'
import { createReadiness, createEnding } from '../../../runtime/controller/lifecycle.ts'

const unlisted = 'the objects of the cluster have not been listed yet'
const untrusted = 'the API server does not have the CA bundle of the webhook yet'
const leaving = 'the controller is shutting down'

void t.test('a replica is ready once everything is listed and its certificate is trusted, in either order', async (t) => {
  for (const first of ['listed', 'trusted']) {
    let isTrusted = false
    const { notReady, notListed, listed, trustedWhen } = createReadiness(new AbortController().signal)
    trustedWhen(() => isTrusted)
    t.strictSame(notReady(), [unlisted, untrusted])
    if (first === 'listed') listed()
    else isTrusted = true
    t.strictSame(notReady(), [first === 'listed' ? untrusted : unlisted], `with only ${first}`)
    listed()
    isTrusted = true
    t.strictSame([notReady(), notListed()], [[], []])
  }
})

void t.test('a replica without a certificate is not ready', async (t) => {
  const { notReady, listed } = createReadiness(new AbortController().signal)
  listed()
  t.strictSame(notReady(), [untrusted])
})

void t.test('a replica that shuts down is not ready, but still reports the cluster as listed', async (t) => {
  const end = new AbortController()
  const { notReady, notListed, listed, trustedWhen } = createReadiness(end.signal)
  trustedWhen(() => true)
  listed()
  end.abort()
  t.strictSame([notReady(), notListed()], [[leaving], []])
})

void t.test('a wait for the list ends when the list is complete or the signal aborts', async (t) => {
  const complete = createReadiness(new AbortController().signal)
  const waiting = complete.whenListed(new AbortController().signal)
  complete.listed()
  await waiting
  t.ok(complete.isListed())

  const stop = new AbortController()
  const never = createReadiness(stop.signal)
  const given = never.whenListed(stop.signal)
  stop.abort()
  await given
  t.notOk(never.isListed())
})

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
