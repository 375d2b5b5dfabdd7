/**
 * A replica gets calls of admission as soon as it is ready, so it is not before the API server knows which certificate to trust.
 */
import t from 'tap'
import { createReadiness } from '../../../runtime/controller/process/readiness.ts'

const unlisted = 'the objects of the cluster have not been listed yet'
const untrusted = 'the API server has not been told yet which certificate to trust'
const leaving = 'the controller is shutting down'

void t.test('a replica is ready once everything is listed and the API server trusts its certificate, whichever comes first', async (t) => {
  for (const first of ['listed', 'trusted']) {
    let isTrusted = false
    const { notReady, notListed, listed, trustedWhen } = createReadiness(new AbortController().signal)
    trustedWhen(() => isTrusted)
    t.same(notReady(), [unlisted, untrusted])
    if (first === 'listed') listed()
    else isTrusted = true
    t.same(notReady(), [first === 'listed' ? untrusted : unlisted], `with only ${first}`)
    listed()
    isTrusted = true
    t.same([notReady(), notListed()], [[], []])
  }
})

void t.test('a replica that has no certificate yet is not ready', async (t) => {
  const { notReady, listed } = createReadiness(new AbortController().signal)
  listed()
  t.same(notReady(), [untrusted])
})

void t.test('a replica that shuts down is not ready, and answers about the cluster all the same', async (t) => {
  const end = new AbortController()
  const { notReady, notListed, listed, trustedWhen } = createReadiness(end.signal)
  trustedWhen(() => true)
  listed()
  end.abort()
  t.same([notReady(), notListed()], [[leaving], []])
})

void t.test('who waits for the list is told of it, and goes on with the signal where it never comes', async (t) => {
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
