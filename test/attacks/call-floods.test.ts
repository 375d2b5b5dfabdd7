/**
 * Callers that flood a port or keep streams open do not lock out others.
 */
import { Hono } from 'hono'
import t from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { createPeers } from '../../runtime/http/client-address.ts'
import { createLimits, guard } from '../../runtime/http/limits.ts'
import { admissionLimits } from '../../runtime/injection/app.ts'
import { statusPageApp } from '../../runtime/statuspage/app.ts'
import { style } from '../../runtime/statuspage/client/assets.ts'
import { addServerSentEvents, createViewers } from '../../runtime/statuspage/routes/server-sent-events.ts'
import type { Env } from '../../runtime/statuspage/views/page-auth.ts'
import { twoLines } from '../support/status-page.ts'

void t.test('six pods that flood admission do not lock out the API server', async (t) => {
  const limits = createLimits(admissionLimits)
  const pods = Array.from({ length: 6 }, (_, index) => `10.0.0.${index}`)
  let refused = 0
  for (let call = 0; call < 200; call += 1) {
    for (const pod of pods) if ((await limits.call(pod)).kind === 'over') refused += 1
  }
  t.ok(refused > 0, 'they flood it')
  for (let call = 0; call < 10; call += 1) t.strictSame(await limits.call('10.1.0.1'), { kind: 'within' })
})

void t.test('nor do pods that share what the limit leaves to clients with few calls', async (t) => {
  const limits = createLimits(admissionLimits)
  const floodFrom = async (pod: string, calls: number): Promise<void> => {
    for (let call = 0; call < calls; call += 1) await limits.call(pod)
  }
  for (const pod of ['10.0.0.1', '10.0.0.2']) await floodFrom(pod, 200)
  for (let index = 3; index < 40; index += 1) await floodFrom(`10.0.0.${index}`, 10)
  for (let call = 0; call < 10; call += 1) t.strictSame(await limits.call('10.1.0.1'), { kind: 'within' })
})

void t.test('calls without login do not lock out authenticated users behind the same proxy', async (t) => {
  const app = new Hono()
  const settings = { perSecond: 40, failuresPerPeer: 5 }
  app.use(guard(settings, { settings, nameOf: async (context) => context.req.header('x-person') }))
  app.get('/', (context) => context.text('', context.req.header('x-person') === undefined ? 401 : 200))
  const env = { incoming: { socket: { remoteAddress: '10.0.0.1' } } }
  const call = async (headers: Record<string, string>): Promise<number> => (await app.request('/', { headers }, env)).status
  const statuses: number[] = []
  for (let index = 0; index < 200; index += 1) statuses.push(await call({}))
  t.ok(statuses.includes(429), 'the flood is refused')
  t.strictSame(await call({ 'x-person': 'alice' }), 200)
})

void t.test('clients of the status page count by their own address behind a trusted proxy only', async (t) => {
  const statusOfOther = async (trustedProxies: readonly string[], claimed: string): Promise<number | undefined> => {
    const stop = new AbortController()
    t.teardown(() => stop.abort())
    const signal = stop.signal
    const deps = { facts: () => twoLines, subscribe: () => () => undefined, hosts: undefined, isOpen: true, clock: systemClock, signal }
    const app = statusPageApp({ ...deps, trustedProxies })
    const env = { incoming: { socket: { remoteAddress: '10.0.0.1' } } }
    const call = async (forwarded: string): Promise<number> =>
      (await app.request(style.path, { headers: { 'x-forwarded-for': forwarded } }, env)).status
    const statuses = await Promise.all([...Array.from({ length: 600 }, () => call('203.0.113.7')), call(claimed)])
    t.ok(statuses.slice(0, -1).includes(429), 'the flood is refused')
    return statuses.at(-1)
  }
  t.equal(await statusOfOther(['10.0.0.0/8'], '203.0.113.8'), 200)
  t.equal(await statusOfOther(['10.0.0.0/8'], '203.0.113.8, 203.0.113.7'), 429, 'a client cannot claim another address')
  t.equal(await statusOfOther([], '203.0.113.8'), 429, 'the header of a proxy that is not trusted does not count')
})

void t.test('a user at the limit of open streams does not lock out other users', async (t) => {
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const app = new Hono<Env>()
  app.use(async (context, next) => {
    context.set('person', { name: context.req.header('x-person') ?? '', groups: [] })
    await next()
  })
  const viewers = createViewers({ everyMs: 500, wait: async () => {} })
  const auth = { identify: async () => undefined }
  addServerSentEvents(app, { viewers, auth, peers: createPeers([]), clock: systemClock, signal: stop.signal })
  const open = async (person: string): Promise<Response> => await app.request('/events', { headers: { 'x-person': person } })
  const statuses: number[] = []
  for (let index = 0; index < 17; index += 1) statuses.push((await open('mallory')).status)
  t.strictSame(statuses, [...Array.from({ length: 16 }, () => 200), 429])
  const other = await open('alice')
  t.equal(other.status, 200)
  t.equal(viewers.count(), 17)
})

void t.test('a client without login that keeps streams open does not lock out other addresses', async (t) => {
  const statusesOf = async (trustedProxies: readonly string[], last: string): Promise<number[]> => {
    const stop = new AbortController()
    t.teardown(() => stop.abort())
    const app = new Hono<Env>()
    const viewers = createViewers({ everyMs: 500, wait: async () => {} })
    const peers = createPeers(trustedProxies)
    addServerSentEvents(app, { viewers, auth: undefined, peers, clock: systemClock, signal: stop.signal })
    const env = { incoming: { socket: { remoteAddress: '10.0.0.1' } } }
    const open = async (forwarded: string): Promise<number> =>
      (await app.request('/events', { headers: { 'x-forwarded-for': forwarded } }, env)).status
    const statuses: number[] = []
    for (let index = 0; index < 51; index += 1) statuses.push(await open('203.0.113.7'))
    return [statuses.filter((status) => status === 200).length, statuses.at(-1) ?? 0, await open(last)]
  }
  t.strictSame(await statusesOf(['10.0.0.0/8'], '203.0.113.8'), [50, 429, 200])
  t.strictSame(await statusesOf([], '203.0.113.8'), [50, 429, 429], 'the header of a proxy that is not trusted does not count')
})
