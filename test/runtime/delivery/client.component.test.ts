/**
 * How an agent's client waits for a controller that has no connection left for it. Real server, real TLS; only time is the test's.
 */
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { type Clock, systemClock } from '../../../runtime/clock.ts'
import { deliveryClient } from '../../../runtime/delivery/client.ts'
import { asFault } from '../../../runtime/fault.ts'
import type { FileSink } from '../../../runtime/delivery/protocol.ts'
import { parseCommitHash } from '../../../runtime/gatewaysync/values.ts'
import { failed } from '../../../runtime/sync/outcome.ts'
import { overMirror, serveDelivery, type ServedDelivery } from '../../support/delivery-server.ts'
import { requires } from '../../support/requires.ts'

const signal = AbortSignal.timeout(60_000)

/** A clock whose waits are over at once and move it; `waitedMs` is how far. */
function shortClock(): { clock: Clock; waitedMs: () => number } {
  let elapsedMs = 0
  const wait: Clock['wait'] = async (ms, own) => {
    own?.throwIfAborted()
    elapsedMs += ms
  }
  return { clock: { ...systemClock, wait, monotonicMs: () => elapsedMs, random: () => 0.5 }, waitedMs: () => elapsedMs }
}

/** A port in front of delivery that closes connections unread while `isFull` says so, as delivery does beyond its bound. */
async function inFront(t: Test, { served }: ServedDelivery, isFull: () => boolean): Promise<{ url: string; closed: () => number }> {
  let closed = 0
  const server: Server = createServer((socket) => {
    if (isFull()) {
      closed += 1
      return void socket.resetAndDestroy()
    }
    const inner = connect(served.port, '127.0.0.1')
    for (const [from, to] of [
      [socket, inner],
      [inner, socket],
    ] as const) {
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
    }
    return undefined
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void server.close())
  return { url: `https://localhost:${(server.address() as AddressInfo).port}`, closed: () => closed }
}

void t.test('an agent whose connections are closed for a minute and a half is served after it', async (t) => {
  if (!requires(t, 'git')) return
  const { clock, waitedMs } = shortClock()
  const delivery = await serveDelivery(t, overMirror(t), { access: async () => ({ apiKey: 'key' }) })
  const { url, closed } = await inFront(t, delivery, () => waitedMs() < 90_000)
  const { caBundle } = delivery
  const client = deliveryClient({ url, caBundle, token: async () => 'good', namespace: 'default', name: 'plant', clock })
  t.same(await client.gateway(signal), { apiKey: 'key' })
  t.equal(closed(), 24, 'after waits of one to four seconds')
})

void t.test('an agent that others kept out for five minutes waits; it has not failed', async (t) => {
  if (!requires(t, 'git')) return
  const { clock, waitedMs } = shortClock()
  const delivery = await serveDelivery(t, overMirror(t))
  const { url } = await inFront(t, delivery, () => true)
  const { caBundle } = delivery
  const client = deliveryClient({ url, caBundle, token: async () => 'good', namespace: 'default', name: 'plant', clock })
  const fault = asFault(await client.gateway(signal).catch((error: unknown) => error))
  t.equal(fault.reason, 'TooManyRequests')
  t.match(fault.message, `${url} closed every connection for 5 minutes`)
  t.ok(waitedMs() >= 300_000 && waitedMs() < 310_000, `after ${waitedMs()} ms`)
  const wanted = { commit: 'c', profile: { designerSessionPolicy: 'proceed' } } as unknown as Parameters<typeof failed>[2]
  t.match(failed(fault, undefined, wanted), { phase: 'Pending', reason: 'TooManyRequests' })
})

void t.test('what was read of an answer is not held by the connection that is kept after it', async (t) => {
  if (!requires(t, 'git')) return
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const mirror = overMirror(t)
  const delivery = await serveDelivery(t, mirror)
  const commit = mirror.repository.commit({ 'projects/a/project.json': '{}' })
  await delivery.publish(commit)
  const client = delivery.client('good')
  const read = async (): Promise<WeakRef<FileSink>> => {
    const sink: FileSink = { begin() {}, data() {}, end() {} }
    await client.files({ commit: parseCommitHash(commit), profile: 'default' }, sink, signal)
    return new WeakRef(sink)
  }
  const sink = await read()
  // A reference is held to the end of the turn that made it.
  await setImmediate()
  collect()
  t.equal(sink.deref(), undefined)
})
