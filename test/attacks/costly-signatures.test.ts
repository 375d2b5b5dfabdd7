/**
 * A registry may offer other signatures at each poll, and a Secret may hold slow keys: verification neither takes the processor, nor makes
 * other namespaces wait.
 */
import t from 'tap'
import { VerificationShare } from '../../runtime/git/verify/verification-share.ts'
import { asFault } from '../../runtime/platform/fault.ts'
import { rejectsWith } from '../support/assertions.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

const never = new AbortController().signal
/** 32 keys on P-521, on a busy machine. */
const slowMs = 200
const quickMs = 1
const lifeMs = 120_000

void t.test('namespaces with costly signatures use a tenth of a thread each, and delay another one by one of them', async (t) => {
  const clock = new SimulatedClock()
  const share = new VerificationShare(clock)
  const usedMs = new Map<string, number>()
  let [running, most] = [0, 0]
  const verify = async (namespace: string, ms: number): Promise<void> =>
    await share.run(
      namespace,
      async () => {
        running += 1
        most = Math.max(most, running)
        await clock.wait(ms)
        running -= 1
        usedMs.set(namespace, (usedMs.get(namespace) ?? 0) + ms)
      },
      never,
    )
  const faults = new Set<string>()
  const poll = async (namespace: string): Promise<void> => {
    while (clock.monotonicMs() < lifeMs) {
      await verify(namespace, slowMs).catch((error: unknown) => faults.add(`${asFault(error).reason}: ${asFault(error).message}`))
    }
  }
  const hostile = ['a', 'b', 'c'].flatMap((name) => Array.from({ length: 20 }, () => poll(name)))
  const waits: number[] = []
  const usual = async (): Promise<void> => {
    while (clock.monotonicMs() < lifeMs) {
      await clock.wait(5_000)
      const beginMs = clock.monotonicMs()
      await verify('plant', quickMs)
      waits.push(clock.monotonicMs() - beginMs)
    }
  }
  await clock.runUntil(Promise.all([...hostile, usual()]))
  t.ok(most <= 2, `${most} threads`)
  for (const name of ['a', 'b', 'c']) t.ok((usedMs.get(name) ?? 0) <= 0.12 * lifeMs, `${name} used ${usedMs.get(name)} ms`)
  t.ok((usedMs.get('a') ?? 0) > 0.05 * lifeMs, 'it is verified nevertheless')
  t.ok(Math.max(...waits) <= slowMs + quickMs, `another namespace waited ${Math.max(...waits)} ms`)
  const late = 'a signature was not verified within 20 s, because namespace "a" has many to verify'
  t.ok(faults.has(`GitTimeout: ${late}; remove keys and signatures that are not needed`), [...faults].join())
})

void t.test('a fault of a verification is thrown, and an aborted one does not wait', async (t) => {
  const clock = new SimulatedClock()
  const share = new VerificationShare(clock)
  const slow = share.run('a', async () => await clock.wait(slowMs).then(() => Promise.reject(new Error('damaged'))), never)
  await rejectsWith(t, clock.runUntil(slow), { message: 'damaged' })
  const stop = new AbortController()
  const waiting = share.run('a', async () => 'verified', stop.signal)
  stop.abort(new Error('stopped'))
  await rejectsWith(t, waiting, { message: 'stopped' })
})
