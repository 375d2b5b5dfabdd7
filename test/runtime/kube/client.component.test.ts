/**
 * Tests how the client handles responses that a healthy API server rarely sends. The integration tests cover everything else on a real API
 * server.
 */
import { KubeConfig } from '@kubernetes/client-node'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { type Clock, systemClock } from '../../../runtime/platform/clock.ts'
import { asFault } from '../../../runtime/platform/fault.ts'
import { createKube } from '../../../runtime/kube/client.ts'
import { podType } from '../../../runtime/kube/types.ts'
import { matchObject, rejectsWith } from '../../support/assertions.ts'

type Answer = { status: number; retryAfter?: string }

const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'plant', uid: 'u', resourceVersion: '1' } }
const key = { namespace: 'plant', name: 'a' }

/**
 * Starts a server that sends the given responses in order and then repeats the last one. Waits of the client return at once and are
 * recorded.
 */
async function setUp(t: Test, answers: readonly Answer[]) {
  const waits: number[] = []
  let calls = 0
  const server = createServer((request, response) => {
    const { status, retryAfter } = answers[Math.min(calls, answers.length - 1)] ?? { status: 500 }
    calls += 1
    request.resume()
    response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter })
    response.end(JSON.stringify(status === 200 ? pod : { kind: 'Status', message: 'busy' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as AddressInfo
  const config = new KubeConfig()
  config.loadFromClusterAndUser({ name: 'c', server: `http://127.0.0.1:${port}`, skipTLSVerify: true }, { name: 'u' })
  const clock: Clock = {
    ...systemClock,
    random: () => 0,
    async wait(ms, signal) {
      waits.push(ms)
      signal?.throwIfAborted()
    },
  }
  const kube = createKube(config, { clock, userAgent: 'test' })
  t.teardown(async () => {
    kube.close()
    server.closeAllConnections()
    server.close()
  })
  return { kube, waits, calls: () => calls }
}

void t.test('the client retries after the delay in Retry-After', async (t) => {
  for (const status of [429, 503]) {
    const { kube, waits } = await setUp(t, [{ status, retryAfter: '1' }, { status, retryAfter: '2' }, { status: 200 }])
    matchObject(t, await kube.get(podType, key, AbortSignal.timeout(60_000)), { metadata: { name: 'a' } }, String(status))
    t.strictSame(waits, [1_000, 2_000], String(status))
  }
})

void t.test('a missing, invalid or excessive Retry-After and repeated failures return ApiUnavailable', async (t) => {
  const rows: [string, Answer, number][] = [
    ['no word of when', { status: 503 }, 1],
    ['longer than anyone should hold', { status: 429, retryAfter: '3600' }, 1],
    ['not a number', { status: 429, retryAfter: 'soon' }, 1],
    ['a fault that waiting does not mend', { status: 500, retryAfter: '1' }, 1],
    ['busy each time', { status: 429, retryAfter: '1' }, 5],
  ]
  for (const [name, answer, expected] of rows) {
    const { kube, calls } = await setUp(t, [answer])
    const error: unknown = await kube.get(podType, key, AbortSignal.timeout(60_000)).catch((thrown: unknown) => thrown)
    matchObject(t, error, { reason: 'ApiUnavailable', message: `GET /api/v1/namespaces/plant/pods/a: ${answer.status} busy` }, name)
    t.equal(calls(), expected, name)
  }
})

void t.test('an aborted signal ends the wait for a retry', async (t) => {
  const { kube, calls } = await setUp(t, [{ status: 429, retryAfter: '1' }])
  const stop = new AbortController()
  const asked = kube.get(podType, key, stop.signal)
  stop.abort(new Error('stopped by the caller'))
  await rejectsWith(t, asked, { message: 'stopped by the caller' })
  t.ok(calls() <= 1)
})

void t.test('a deadline set by the caller is reported as Timeout', async (t) => {
  const { kube } = await setUp(t, [{ status: 429, retryAfter: '1' }])
  const error: unknown = await kube.get(podType, key, AbortSignal.timeout(0)).catch((thrown: unknown) => thrown)
  matchObject(t, asFault(error), { reason: 'Timeout' })
})

void t.test('at most two list pages are read concurrently', async (t) => {
  let [open, most] = [0, 0]
  const server = createServer((_request, response) => {
    open += 1
    most = Math.max(most, open)
    // The delay is long enough for every permitted request to arrive.
    setTimeout(() => {
      open -= 1
      response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items: [pod] }))
    }, 50)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as AddressInfo
  const config = new KubeConfig()
  config.loadFromClusterAndUser({ name: 'c', server: `http://127.0.0.1:${port}`, skipTLSVerify: true }, { name: 'u' })
  const kube = createKube(config, { clock: systemClock, userAgent: 'test' })
  t.teardown(() => {
    kube.close()
    server.closeAllConnections()
    server.close()
  })
  const stop = AbortSignal.timeout(60_000)
  const list = async (): Promise<number> => {
    let count = 0
    for await (const { items } of kube.listPages(podType, {}, stop)) count += items.length
    return count
  }
  t.strictSame(await Promise.all(Array.from({ length: 5 }, list)), [1, 1, 1, 1, 1])
  t.equal(most, 2)
})
