/**
 * How the content client waits for a server that has no free connections, with a real server over real TLS and a simulated clock.
 */
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { type Clock, systemClock } from '../../../../runtime/platform/clock.ts'
import { ContentClient } from '../../../../runtime/content/client/client.ts'
import { asFault } from '../../../../runtime/platform/fault.ts'
import type { FileSink } from '../../../../runtime/content/protocol/protocol.ts'
import { parseCommitHash } from '../../../../runtime/api/values.ts'
import { failed } from '../../../../runtime/sync/outcome.ts'
import { containsText, matchObject } from '../../../support/assertions.ts'
import { overMirror, serveDelivery, type ServedDelivery } from '../../../support/delivery-server.ts'
import { requires } from '../../../support/requires.ts'

const signal = AbortSignal.timeout(60_000)

/** A clock whose waits end at once and advance it; `waitedMs` is the total. */
function shortClock(): { clock: Clock; waitedMs: () => number } {
  let elapsedMs = 0
  const wait: Clock['wait'] = async (ms, own) => {
    own?.throwIfAborted()
    elapsedMs += ms
  }
  return { clock: { ...systemClock, wait, monotonicMs: () => elapsedMs, random: () => 0.5 }, waitedMs: () => elapsedMs }
}

/** A proxy to the content server that closes connections unread while `isFull` returns true, as the server does beyond its limit. */
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

void t.test('an agent whose connections are closed for 90 seconds is served afterwards', async (t) => {
  if (!requires(t, 'git')) return
  const { clock, waitedMs } = shortClock()
  const delivery = await serveDelivery(t, overMirror(t), { access: async () => ({ apiKey: 'key' }) })
  const { url, closed } = await inFront(t, delivery, () => waitedMs() < 90_000)
  const { caBundle } = delivery
  const client = new ContentClient({ url, caBundle, token: async () => 'good', namespace: 'default', name: 'plant', clock })
  t.strictSame(await client.gateway(signal), { apiKey: 'key' })
  t.equal(closed(), 24, 'after waits of one to four seconds')
})

void t.test('an agent that gets no connection for five minutes is Pending, not Failed', async (t) => {
  if (!requires(t, 'git')) return
  const { clock, waitedMs } = shortClock()
  const delivery = await serveDelivery(t, overMirror(t))
  const { url } = await inFront(t, delivery, () => true)
  const { caBundle } = delivery
  const client = new ContentClient({ url, caBundle, token: async () => 'good', namespace: 'default', name: 'plant', clock })
  const fault = asFault(await client.gateway(signal).catch((error: unknown) => error))
  t.equal(fault.reason, 'TooManyRequests')
  containsText(t, fault.message, `${url} closed every connection for 5 minutes`)
  t.ok(waitedMs() >= 300_000 && waitedMs() < 310_000, `after ${waitedMs()} ms`)
  const target = { commit: 'c', profile: { designerSessionPolicy: 'Proceed' } } as unknown as Parameters<typeof failed>[2]
  matchObject(t, failed(fault, undefined, target), { phase: 'Pending', reason: 'TooManyRequests' })
})

void t.test('a kept-alive connection does not retain the sink of an earlier answer', async (t) => {
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
  // A weak reference keeps its target alive until the end of the current turn.
  await setImmediate()
  collect()
  t.equal(sink.deref(), undefined)
})
