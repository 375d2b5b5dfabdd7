/**
 * A call about the Lease that leads nowhere, as one over a connection whose other end is gone, is given up early enough for another one.
 */
import t from 'tap'
import { systemClock } from '../../../../runtime/clock.ts'
import { Fault } from '../../../../runtime/fault.ts'
import type { Kube } from '../../../../runtime/kube/client.ts'
import { runWithLease } from '../../../../runtime/kube/lease/run.ts'
import type { KubeObject } from '../../../../runtime/kube/types.ts'
import { silentLog } from '../../../../runtime/log.ts'

/** One Lease; `answers` says of each call by its number, from 1, whether anything comes back. */
function leaseServer(answers: (call: number) => boolean) {
  let lease: KubeObject | undefined
  let [version, calls] = [0, 0]
  const called = new Map<number, PromiseWithResolvers<void>>()
  const isCalled = (call: number): PromiseWithResolvers<void> => {
    const known = called.get(call) ?? Promise.withResolvers<void>()
    called.set(call, known)
    return known
  }
  const call = async <Answer>(signal: AbortSignal, answer: () => Answer): Promise<Answer> => {
    const number = (calls += 1)
    isCalled(number).resolve()
    if (!answers(number)) await silence(signal)
    return answer()
  }
  const write = (object: object): KubeObject => {
    const { metadata, spec, ...rest } = object as KubeObject & { spec: object }
    const before = (lease ?? {}) as { metadata?: object; spec?: object }
    const resourceVersion = String((version += 1))
    lease = { ...rest, metadata: { ...before.metadata, ...metadata, resourceVersion }, spec: { ...before.spec, ...spec } }
    return lease
  }
  const kube = {
    get: (_type, _key, signal) => call(signal, () => lease),
    create: (_type, object, signal) => call(signal, () => write(object)),
    mergePatch: (_type, _key, patch, _options, signal) => call(signal, () => write(patch)),
    async *listPages() {
      yield { items: [], resourceVersion: '0' }
    },
    async *watch(_type, _options, signal) {
      await silence(signal)
      yield { type: 'BOOKMARK', object: { metadata: {} } as KubeObject }
    },
  } satisfies Partial<Kube>
  return { kube: kube as unknown as Kube, isCalled: (number: number) => isCalled(number).promise }
}

/** Until the caller gives up. */
async function silence(signal: AbortSignal): Promise<never> {
  return await new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Fault('ApiUnavailable', 'given up')), { once: true })
  })
}

void t.test('a leader whose renewal is never answered renews by another call, and leads on', async (t) => {
  // The first call reads the Lease, the second takes it, the third renews.
  const { kube, isCalled } = leaseServer((call) => call !== 3)
  const stop = new AbortController()
  let lost = false
  const running = runWithLease(
    { kube, clock: systemClock, log: silentLog },
    { namespace: 'plant', name: 'leader', identity: 'a', renewEveryMs: 100 },
    async (signal) => {
      await isCalled(5)
      lost = signal.aborted
      stop.abort(new Error('enough was seen'))
    },
    stop.signal,
  )
  await running
  t.notOk(lost, 'the Lease was never lost, although others would have taken it after a silence of 10 s')
})

void t.test('a replica whose look at the Lease is never answered looks again, and takes it', async (t) => {
  const { kube } = leaseServer((call) => call !== 1)
  const stop = new AbortController()
  // The deadline of a call keeps no process alive, which a connection does.
  const connection = setInterval(() => undefined, 1_000)
  t.teardown(() => clearInterval(connection))
  let led = false
  await runWithLease(
    { kube, clock: systemClock, log: silentLog },
    { namespace: 'plant', name: 'leader', identity: 'a' },
    async () => {
      led = true
      stop.abort(new Error('enough was seen'))
    },
    stop.signal,
  )
  t.ok(led)
})
