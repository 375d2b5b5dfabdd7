/**
 * Tests rate limits: which calls wait, which do not, and which share a write.
 */
import t from 'tap'
import { type Clock, systemClock } from '../../../runtime/platform/clock.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import { requestAnnotations } from '../../../runtime/api/names.ts'
import type { ReceiverOutcome } from '../../../runtime/receiver/answers.ts'
import { matchObject } from '../../support/assertions.ts'
import { indexOf, serveReceiver } from '../../support/receiver-app.ts'

/** A tenth of the real speed: on a busy machine a test must not outlast the ten seconds for which failures are counted. */
const slowClock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() / 10 }

void t.test('repeated failures limit only the failing peer, not authenticated calls or other peers', async (t) => {
  const limits = { failuresPerPeer: 3, perSecond: 1_000 }
  const { post, bearer, outcomes } = await serveReceiver(t, {
    more: { clock: slowClock, limits, trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] },
  })
  const from = (forwarded: string) => ({ 'x-forwarded-for': forwarded })
  const statuses = async (forwarded: string): Promise<number[]> => {
    const seen = []
    for (let call = 0; call < 5; call += 1) seen.push((await post('{"ref":"main"}', from(forwarded))).status)
    return seen
  }
  t.strictSame(await statuses('203.0.113.7'), [401, 401, 401, 429, 429])
  matchObject(t, await post('{"ref":"main"}', from('203.0.113.7')), {
    status: 429,
    retryAfter: /^(10|[1-9])$/,
    body: { reason: 'TooManyRequests' },
  })
  matchObject(
    t,
    await post('{"ref":"main"}', from('198.51.100.1, 203.0.113.7, 10.1.2.3')),
    { status: 429 },
    'what it writes before itself says nothing',
  )
  t.equal((await post('{"ref":"main"}', { ...bearer, ...from('203.0.113.7') })).status, 202)
  t.strictSame(await statuses('203.0.113.8'), [401, 401, 401, 429, 429])
  const count = (desired: ReceiverOutcome): number => outcomes.filter((outcome) => outcome === desired).length
  t.strictSame([count('refused'), count('limited'), count('accepted')], [6, outcomes.length - 7, 1])
  const untrusting = await serveReceiver(t, { more: { clock: slowClock, limits } })
  const seen = []
  for (let call = 0; call < 5; call += 1) seen.push((await untrusting.post('{"ref":"main"}', from(`203.0.113.${call}`))).status)
  t.strictSame(seen, [401, 401, 401, 429, 429], 'without a trusted proxy the header counts for nothing')
})

void t.test('a peer that floods the receiver with invalid calls does not affect others', async (t) => {
  const limits = { failuresPerPeer: 3, perSecond: 10 }
  const { post, bearer } = await serveReceiver(t, { more: { clock: slowClock, limits, trustedProxies: ['127.0.0.0/8'] } })
  const wrong = { 'x-forwarded-for': '203.0.113.7' }
  for (let call = 0; call < 4; call += 1) await post('{"ref":"main"}', wrong)
  const flood = await Promise.all(Array.from({ length: 60 }, () => post('{"ref":"main"}', wrong)))
  t.ok(flood.every(({ status }) => status === 429))
  t.equal((await post('{"ref":"main"}', { ...bearer, 'x-forwarded-for': '203.0.113.8' })).status, 202)
})

void t.test('calls over the rate limit get Retry-After and are accepted later', async (t) => {
  const { post, bearer, requests } = await serveReceiver(t, { more: { limits: { perSecond: 5 } } })
  const startMs = systemClock.monotonicMs()
  const answers = await Promise.all(Array.from({ length: 40 }, () => post('{"ref":"main"}', bearer)))
  const seconds = Math.ceil((systemClock.monotonicMs() - startMs) / 1_000)
  const accepted = answers.filter(({ status }) => status === 202).length
  t.ok(accepted >= 5 && accepted <= 5 * (seconds + 1), `${accepted} in ${seconds} s`)
  t.equal(answers.filter(({ status, retryAfter }) => status === 429 && retryAfter === '1').length, 40 - accepted)
  const before = requests.length
  const deadlineMs = systemClock.monotonicMs() + 60_000
  while ((await post('{"ref":"main"}', bearer)).status !== 202 && systemClock.monotonicMs() < deadlineMs) await systemClock.wait(50)
  t.ok(requests.length > before)
})

void t.test('a repeated delivery is one request, and a failed one may be sent again', async (t) => {
  let fails = true
  const { post, bearer, requests } = await serveReceiver(t, {
    async request() {
      if (fails) throw new Fault('ApiUnavailable', 'the API server is away')
    },
  })
  const headers = { ...bearer, 'x-github-delivery': 'd-1' }
  const failed = await post('{"ref":"main"}', headers)
  matchObject(t, failed, { status: 503, body: { reason: 'ApiUnavailable' } })
  fails = false
  const first = await post('{"ref":"main"}', headers)
  const second = await post('{"ref":"main"}', headers)
  matchObject(t, first, { status: 202, body: { accepted: true } })
  matchObject(t, second, { status: 202, body: { accepted: true, duplicate: true, requestId: first.body['requestId'] } })
  t.equal(requests.length, 1)
  await post('{"ref":"main"}', { ...bearer, 'x-github-delivery': 'd-2' })
  t.equal(requests.length, 2, 'the ref tells no two requests apart')
})

void t.test('CloudEvents with one id are one delivery only if they have the same source', async (t) => {
  const { post, bearer, requests } = await serveReceiver(t)
  const send = async (source: string, id: string) =>
    (await post('{"ref":"main"}', { ...bearer, 'ce-source': source, 'ce-id': id })).body['duplicate']
  t.strictSame([await send('/ci/a', '1'), await send('/ci/b', '1'), await send('/ci/a', '2')], [undefined, undefined, undefined])
  t.equal(await send('/ci/a', '1'), true)
  t.equal(requests.length, 3)
})

void t.test('a namespace call reads each key source once, at most 64 sources, and tries at most 64 keys', async (t) => {
  const all = Array.from({ length: 100 }, (_, index) => `line-${String(index).padStart(3, '0')}`)
  const read: string[] = []
  const serveWith = async (keySource: (name: string) => string, keysOf: (name: string) => readonly string[]) =>
    await serveReceiver(t, {
      more: {
        lookup: () => ({ specRef: 'main', desiredRef: 'main', resolvedRef: undefined, allowedRefs: undefined }),
        syncs: () => indexOf(all, (name) => ({ keySource: keySource(name) })),
        async keys(_namespace, name) {
          read.push(name)
          return { hmac: undefined, tokens: keysOf(name) }
        },
      },
    })
  const body = JSON.stringify({ ref: 'main', repository: { clone_url: 'https://git.example/plant.git' } })
  const push = async ({ post }: Awaited<ReturnType<typeof serveWith>>, token: string) => {
    const answer = await post(body, { authorization: `Bearer ${token}` }, '/webhook/default')
    return { status: answer.status, names: ((answer.body['results'] ?? []) as { name: string }[]).map(({ name }) => name) }
  }
  const apart = await serveWith(
    (name) => name,
    (name) => [name],
  )
  t.strictSame(await push(apart, 'line-063'), { status: 202, names: ['line-063'] })
  t.equal(read.length, 64)
  t.strictSame(await push(apart, 'line-064'), { status: 401, names: [] })
  read.length = 0
  const shared = await serveWith(
    (name) => (name < 'line-050' ? 'a' : 'b'),
    (name) => (name < 'line-050' ? ['first'] : ['second']),
  )
  t.strictSame(await push(shared, 'second'), { status: 202, names: all.slice(50) })
  t.equal(read.length, 2)
  const many = await serveWith(
    (name) => name,
    (name) => Array.from({ length: 16 }, (_, index) => `${name}-${index}`),
  )
  t.strictSame(await push(many, 'line-003-15'), { status: 202, names: ['line-003'] })
  t.strictSame(await push(many, 'line-004-0'), { status: 401, names: [] })
})

void t.test('a burst of calls for one ref causes few requests, and each call gets the ID of a later request', async (t) => {
  let arrived = 0
  let all = Promise.withResolvers<void>()
  const begins: number[] = []
  const { post, bearer, requests } = await serveReceiver(t, {
    // Nothing is awaited between this lookup and joining the queue.
    more: {
      // Two bursts may come within one second.
      limits: { perSecond: 5_000 },
      lookup() {
        arrived += 1
        if (arrived === 200) all.resolve()
        return { specRef: 'main', desiredRef: 'main', allowedRefs: undefined }
      },
    },
    async request() {
      begins.push(arrived)
      await all.promise
    },
  })
  const burst = (delivery: (index: number) => string) =>
    Promise.all(Array.from({ length: 200 }, (_, index) => post('{"ref":"main"}', { ...bearer, 'x-github-delivery': delivery(index) })))
  const same = await burst(() => 'd-1')
  t.equal(requests.length, 1)
  t.equal(new Set(same.map(({ body }) => body['requestId'])).size, 1)
  arrived = 0
  all = Promise.withResolvers<void>()
  const many = await burst((index) => `e-${index}`)
  // The queue also calls lookup, so the first write may end before the last few calls arrive.
  t.ok(requests.length <= 5, `${requests.length} requests`)
  t.ok((begins.at(-1) ?? 0) >= 200, 'the last began when all were there')
  const ids = new Set(requests.map((annotations) => annotations[requestAnnotations.id]))
  t.ok(many.every(({ status, body }) => status === 202 && ids.has(String(body['requestId']))))
})

void t.test('calls over the write budget of a resource share writes, and all get an ID that is written', async (t) => {
  const superseded: string[] = []
  const requests: string[] = []
  const { post, bearer } = await serveReceiver(t, {
    more: {
      budget: { perSecond: 10, burst: 2 },
      async request(_namespace, _name, annotations, more) {
        requests.push(annotations[requestAnnotations.id] ?? '')
        superseded.push(...more.map(({ id }) => id))
      },
    },
  })
  const startMs = systemClock.monotonicMs()
  const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => post(`{"ref":"v${index % 4}"}`, bearer)))
  const maxWrites = 3 + (systemClock.monotonicMs() - startMs) / 100
  t.ok(answers.every(({ status }) => status === 202))
  const written = new Set([...requests, ...superseded])
  t.ok(answers.every(({ body }) => written.has(String(body['requestId']))))
  t.ok(requests.length <= maxWrites, `${requests.length} writes`)
})
