/**
 * The push receiver over real HTTP: what is let in, what is asked for, what is answered.
 */
import { createHmac } from 'node:crypto'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import { Fault } from '../../../runtime/fault.ts'
import { requestAnnotations } from '../../../runtime/gatewaysync/names.ts'
import { silentLog } from '../../../runtime/log.ts'
import type { ReceiverOutcome } from '../../../runtime/receiver/answers.ts'
import { receiverApp, type ReceiverDeps, type ReceiverNotice, type ReceiverTarget } from '../../../runtime/receiver/app.ts'
import type { Keys } from '../../../runtime/receiver/authenticate.ts'
import { type ConnectionBounds, serve } from '../../../runtime/serve.ts'

type SetUp = {
  bounds?: Partial<ConnectionBounds>
  keys?: Keys
  target?: Partial<ReceiverTarget>
  request?: () => Promise<void>
  more?: Partial<ReceiverDeps>
}

async function setUp(
  t: Pick<Test, 'teardown'>,
  { keys = { hmac: ['key'], tokens: ['token'] }, target = {}, request, more = {}, bounds = {} }: SetUp = {},
) {
  const requests: Record<string, string>[] = []
  const outcomes: ReceiverOutcome[] = []
  const notices: ReceiverNotice[] = []
  const app = receiverApp({
    lookup: (_namespace, name) =>
      name === 'plant' ? { specRef: 'main', wantedRef: 'main', allowedRefs: undefined, ...target } : undefined,
    keys: async () => keys,
    async request(_namespace, _name, annotations) {
      await request?.()
      requests.push(annotations)
    },
    notify: (_namespace, _name, notice) => notices.push(notice),
    observe: (outcome) => outcomes.push(outcome),
    clock: systemClock,
    log: silentLog,
    ...more,
  })
  const stop = new AbortController()
  const served = await serve({ app, port: 0, host: '127.0.0.1', bounds, log: silentLog }, stop.signal)
  t.teardown(async () => {
    stop.abort()
    await served.closed
  })
  const post = async (
    body: string,
    headers: Record<string, string> = {},
    path = '/webhook/default/plant',
  ): Promise<{ status: number; retryAfter: string | null; body: Record<string, unknown> }> => {
    const answer = await fetch(served.url + path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', connection: 'close', ...headers },
    })
    const text = await answer.text()
    return {
      status: answer.status,
      retryAfter: answer.headers.get('retry-after'),
      body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
    }
  }
  const bearer = { authorization: 'Bearer token' }
  return { served, requests, outcomes, notices, post, bearer }
}

void t.test('a refusal takes the same time whether a Secret had to be read for it or not', async (t) => {
  let nowMs = 0
  const waits: number[] = []
  const clock = { ...systemClock, monotonicMs: () => nowMs, wait: async (forMs: number) => void waits.push(forMs) }
  const { post } = await setUp(t, {
    more: {
      clock,
      async keys(_namespace, name) {
        if (name === 'plant') nowMs += 50
        return { hmac: ['key'], tokens: undefined }
      },
    },
  })
  for (const name of ['plant', 'none']) t.equal((await post('{}', {}, `/webhook/default/${name}`)).status, 401)
  t.same(waits, [150, 200])
})

void t.test('either method lets a call in, neither or a wrong one does not, whether the resource exists or not', async (t) => {
  let looked = 0
  const { post, requests } = await setUp(t, {
    more: {
      lookup(_namespace, name) {
        looked += 1
        return name === 'plant' ? { specRef: 'main', wantedRef: 'main', allowedRefs: undefined } : undefined
      },
    },
  })
  const body = '{"ref":"main"}'
  const mac = (key: string): string => createHmac('sha256', key).update(body).digest('hex')
  const rows: [Record<string, string>, number][] = [
    [{ authorization: 'Bearer token' }, 202],
    [{ 'x-hub-signature-256': `sha256=${mac('key')}` }, 202],
    [{ 'x-gitea-signature': mac('key') }, 202],
    [{ 'x-gitlab-token': 'token' }, 202],
    [{ 'x-hub-signature-256': `sha256=${mac('wrong')}`, authorization: 'Bearer token' }, 202],
    [{}, 401],
    [{ authorization: 'Bearer tokens' }, 401],
    [{ authorization: 'Basic token' }, 401],
    [{ 'x-hub-signature-256': `sha256=${mac('wrong')}` }, 401],
    [{ 'x-hub-signature-256': 'sha256=' }, 401],
    [{ 'x-hub-signature-256': mac('key').slice(1) }, 401],
  ]
  for (const [headers, status] of rows) t.equal((await post(body, headers)).status, status, JSON.stringify(headers))
  t.equal(requests.length, 5)
  looked = 0
  const [here, nowhere] = [await post(body), await post(body, {}, '/webhook/default/none')]
  t.same(here, nowhere, 'who may not ask learns nothing')
  t.equal(looked, 0, 'nor from the time that it takes: nobody looks')
  t.equal((await post(body, { authorization: 'Bearer token' }, '/webhook/default/none')).status, 404)
})

void t.test('with nothing configured it is open; with a key that cannot be had it is not', async (t) => {
  const open = await setUp(t, { keys: { hmac: undefined, tokens: undefined } })
  t.equal((await open.post('{"ref":"main"}')).status, 202)
  t.same(open.notices, ['Unproved'])
  const fault = new Fault('AuthNotReady', 'the Secret is empty')
  const broken = await setUp(t, { keys: { hmac: undefined, tokens: ['token'], fault } })
  t.match(await broken.post('{"ref":"main"}'), { status: 503, body: { reason: 'AuthNotReady' } })
  t.equal(broken.requests.length, 0)
  t.equal((await broken.post('{"ref":"main"}', broken.bearer)).status, 202, 'the other method still counts')
})

void t.test('each of the four formats asks for its ref, in the written order', async (t) => {
  const { post, requests, bearer } = await setUp(t)
  const rows: [object, string, string][] = [
    [{ action: 'published', release: { tag_name: 'v1' } }, 'v1', 'release'],
    [{ app: { metadata: { annotations: { 'git.ref': 'v2' } } } }, 'v2', 'notification'],
    [{ freight: { commits: [{}, { tag: '' }, { tag: 'v3' }, { tag: 'v4' }] } }, 'v3', 'promotion'],
    [{ ref: 'refs/heads/main' }, 'main', 'generic'],
    [{ ref: 'v9', freight: { commits: [{ tag: 'v3' }] }, action: 'published', release: { tag_name: 'v1' } }, 'v1', 'release'],
    [{ ref: 'v9', freight: { commits: [] }, app: { metadata: {} } }, 'v9', 'generic'],
  ]
  for (const [body, ref, by] of rows) {
    const answer = await post(JSON.stringify(body), bearer)
    t.match(answer, { status: 202, body: { accepted: true, ref, source: by } }, JSON.stringify(body))
    t.match(requests.at(-1), { [requestAnnotations.ref]: ref, [requestAnnotations.by]: by, [requestAnnotations.specRef]: 'main' })
    t.equal(requests.at(-1)?.[requestAnnotations.id], answer.body['requestId'])
  }
})

void t.test('what is understood and asks for nothing changes nothing, and is answered 2xx', async (t) => {
  const { post, requests, notices, bearer } = await setUp(t, { target: { allowedRefs: ['main', 'v*'] } })
  const push = (ref: string, after = 'a'.repeat(40)) => ({ ref, before: 'b'.repeat(40), after })
  const rows: [object, Record<string, string>, string][] = [
    [{ zen: 'x' }, { 'x-github-event': 'ping' }, 'Ping'],
    [push('refs/heads/other'), {}, 'OtherBranch'],
    [push('refs/heads/main', '0'.repeat(40)), {}, 'Deletion'],
    [{ ...push('refs/heads/main'), deleted: true }, { 'x-github-event': 'push' }, 'Deletion'],
    [{ ref: 'main', ref_type: 'branch' }, { 'x-github-event': 'delete' }, 'OtherEvent'],
    [{ action: 'deleted', release: { tag_name: 'v1' } }, {}, 'OtherAction'],
    [{ action: 'published', release: { tag_name: 'v1', draft: true } }, {}, 'Draft'],
    [{ ref: 'x1' }, {}, 'RefNotAllowed'],
    [{ ref: 'refs/pull/7/merge' }, { 'x-github-event': 'code_scanning_alert' }, 'OtherEvent'],
  ]
  for (const [body, headers, reason] of rows) {
    const answer = await post(JSON.stringify(body), { ...bearer, ...headers })
    t.ok(answer.status === 200 || answer.status === 202, reason)
    t.match(answer.body, { accepted: false, reason })
  }
  t.equal(requests.length, 0)
  t.same(notices, ['RefNotAllowed'])
  t.equal((await post(JSON.stringify(push('refs/tags/v2')), bearer)).body['accepted'], true, 'a pushed tag under a written pattern')
  const plain = await setUp(t)
  t.match((await plain.post(JSON.stringify(push('refs/tags/v2')), plain.bearer)).body, { accepted: false, reason: 'OtherTag' })
})

void t.test('of several refs in one delivery the wanted one is asked for, else the first that may be', async (t) => {
  const push = (...refs: [string, string][]) =>
    JSON.stringify({ push: { changes: refs.map(([type, name]) => ({ new: { type, name }, old: null })) } })
  const headers = { 'x-event-key': 'repo:push' }
  const plain = await setUp(t)
  t.match(await plain.post(push(['tag', 'v1'], ['branch', 'main']), { ...plain.bearer, ...headers }), {
    status: 202,
    body: { accepted: true, ref: 'main', source: 'push' },
  })
  t.match((await plain.post(push(['branch', 'x'], ['tag', 'v1']), { ...plain.bearer, ...headers })).body, { reason: 'OtherBranch' })
  const allowed = await setUp(t, { target: { allowedRefs: ['v*'] } })
  t.match((await allowed.post(push(['branch', 'x'], ['tag', 'v1'], ['tag', 'v2']), { ...allowed.bearer, ...headers })).body, {
    accepted: true,
    ref: 'v1',
    source: 'tag-push',
  })
  t.match((await allowed.post(push(['tag', 'v1'], ['branch', 'main']), { ...allowed.bearer, ...headers })).body, { ref: 'main' })
})

void t.test('what nobody can act on is refused with its own status', async (t) => {
  const { post, bearer, served, requests } = await setUp(t)
  const deep = '['.repeat(100) + ']'.repeat(100)
  const rows: [string, Record<string, string>, number][] = [
    ['{', {}, 400],
    ['{"ref":"a..b"}', {}, 400],
    ['[]', {}, 422],
    ['{"x":1}', {}, 422],
    ['{"ref":{}}', {}, 422],
    [`{"ref":${deep}}`, {}, 422],
    ['{"ref":"main"}', { 'content-type': 'text/plain' }, 415],
    ['x'.repeat(1024 * 1024 + 1), {}, 413],
  ]
  for (const [body, headers, status] of rows) t.equal((await post(body, { ...bearer, ...headers })).status, status, body.slice(0, 30))
  const get = await fetch(`${served.url}/webhook/default/plant`, { headers: { connection: 'close' } })
  t.equal(get.status, 405)
  t.equal(get.headers.get('allow'), 'POST')
  t.equal((await post('{"ref":"main"}', bearer, '/other')).status, 404)
  t.equal(
    (await post(`payload=${encodeURIComponent('{"ref":"main"}')}`, { ...bearer, 'content-type': 'application/x-www-form-urlencoded' }))
      .status,
    202,
  )
  t.equal(requests.length, 1)
})

void t.test('who fails too often waits, and nobody else: not who proves itself, not another peer', async (t) => {
  const limits = { failuresPerPeer: 3, perSecond: 1_000 }
  const { post, bearer, outcomes } = await setUp(t, { more: { limits, trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] } })
  const from = (forwarded: string) => ({ 'x-forwarded-for': forwarded })
  const statuses = async (forwarded: string): Promise<number[]> => {
    const seen = []
    for (let call = 0; call < 5; call += 1) seen.push((await post('{"ref":"main"}', from(forwarded))).status)
    return seen
  }
  t.same(await statuses('203.0.113.7'), [401, 401, 401, 429, 429])
  t.match(await post('{"ref":"main"}', from('203.0.113.7')), {
    status: 429,
    retryAfter: /^(10|[1-9])$/,
    body: { reason: 'TooManyRequests' },
  })
  t.match(
    await post('{"ref":"main"}', from('198.51.100.1, 203.0.113.7, 10.1.2.3')),
    { status: 429 },
    'what it writes before itself says nothing',
  )
  t.equal((await post('{"ref":"main"}', { ...bearer, ...from('203.0.113.7') })).status, 202)
  t.same(await statuses('203.0.113.8'), [401, 401, 401, 429, 429])
  const count = (wanted: ReceiverOutcome): number => outcomes.filter((outcome) => outcome === wanted).length
  t.same([count('refused'), count('limited'), count('accepted')], [6, outcomes.length - 7, 1])
  const untrusting = await setUp(t, { more: { limits } })
  const seen = []
  for (let call = 0; call < 5; call += 1) seen.push((await untrusting.post('{"ref":"main"}', from(`203.0.113.${call}`))).status)
  t.same(seen, [401, 401, 401, 429, 429], 'without a trusted proxy the header counts for nothing')
})

void t.test('a peer that floods with wrong calls takes nothing from the others', async (t) => {
  const limits = { failuresPerPeer: 3, perSecond: 10 }
  const { post, bearer } = await setUp(t, { more: { limits, trustedProxies: ['127.0.0.0/8'] } })
  const wrong = { 'x-forwarded-for': '203.0.113.7' }
  for (let call = 0; call < 4; call += 1) await post('{"ref":"main"}', wrong)
  const flood = await Promise.all(Array.from({ length: 60 }, () => post('{"ref":"main"}', wrong)))
  t.ok(flood.every(({ status }) => status === 429))
  t.equal((await post('{"ref":"main"}', { ...bearer, 'x-forwarded-for': '203.0.113.8' })).status, 202)
})

void t.test('too many calls a second are told when to come again, then let in', async (t) => {
  const { post, bearer, requests } = await setUp(t, { more: { limits: { perSecond: 5 } } })
  const startMs = systemClock.monotonicMs()
  const answers = await Promise.all(Array.from({ length: 40 }, () => post('{"ref":"main"}', bearer)))
  const seconds = Math.ceil((systemClock.monotonicMs() - startMs) / 1_000)
  const accepted = answers.filter(({ status }) => status === 202).length
  t.ok(accepted >= 5 && accepted <= 5 * (seconds + 1), `${accepted} in ${seconds} s`)
  t.equal(answers.filter(({ status, retryAfter }) => status === 429 && retryAfter === '1').length, 40 - accepted)
  const before = requests.length
  const deadlineMs = systemClock.monotonicMs() + 5_000
  while ((await post('{"ref":"main"}', bearer)).status !== 202 && systemClock.monotonicMs() < deadlineMs) await systemClock.wait(50)
  t.ok(requests.length > before)
})

void t.test('a body without a length is cut off at a megabyte, not read to its end', async (t) => {
  const { served } = await setUp(t)
  const sent = await new Promise<{ bytes: number; answer: string }>((resolve) => {
    let bytes = 0
    let answer = ''
    const socket = connect(served.port, '127.0.0.1', () => {
      socket.write(
        'POST /webhook/default/plant HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nauthorization: Bearer token\r\ntransfer-encoding: chunked\r\n\r\n',
      )
      const chunk = 'x'.repeat(65_536)
      const write = (): void => {
        if (socket.destroyed || answer !== '' || bytes > 50_000_000) return
        bytes += chunk.length
        if (socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`)) setImmediate(write)
        else socket.once('drain', write)
      }
      write()
    })
    socket.on('data', (data: Buffer) => (answer += data.toString('latin1')))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve({ bytes, answer }))
  })
  t.match(sent.answer, /^HTTP\/1\.1 413 /)
  t.ok(sent.bytes < 20_000_000, `${sent.bytes} bytes were taken`)
})

void t.test('a body in chunks is one body, wherever it is cut', async (t) => {
  const { served, requests } = await setUp(t)
  const body = Buffer.from('{"ref":"release/größe"}')
  for (const size of [1, 3, body.length]) {
    const chunks: Buffer[] = []
    for (let at = 0; at < body.length; at += size) {
      const piece = body.subarray(at, at + size)
      chunks.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
    }
    const head =
      'POST /webhook/default/plant HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer token\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n'
    const answer = await new Promise<string>((resolve) => {
      let text = ''
      const socket = connect(served.port, '127.0.0.1', () => {
        socket.write(head)
        for (const chunk of chunks) socket.write(chunk)
        socket.write('0\r\n\r\n')
      })
      socket.on('data', (data: Buffer) => (text += data.toString('utf8')))
      socket.on('error', () => undefined)
      socket.on('close', () => resolve(text))
    })
    t.match(answer, /^HTTP\/1\.1 202 /, `chunks of ${size}`)
    t.equal(requests.at(-1)?.[requestAnnotations.ref], 'release/größe')
  }
  t.equal(requests.length, 3)
})

void t.test('a sender that is too slow or goes away is let go, and nothing of what it sent counts', async (t) => {
  const { served, requests, outcomes, post, bearer } = await setUp(t, { bounds: { headersTimeoutMs: 500, requestTimeoutMs: 1_500 } })
  const begun = (head: string): Promise<string> =>
    new Promise((resolve) => {
      let answer = ''
      const socket = connect(served.port, '127.0.0.1', () => socket.write(head))
      socket.on('data', (data: Buffer) => (answer += data.toString('latin1')))
      socket.on('error', () => undefined)
      socket.on('close', () => resolve(answer))
    })
  const head = 'POST /webhook/default/plant HTTP/1.1\r\nhost: x\r\nauthorization: Bearer token\r\ncontent-type: application/json\r\n'
  const answers = await Promise.all([
    begun('POST /webhook'),
    begun(`${head}content-length: 30\r\n\r\n{"ref":"main"}`),
    begun(`${head}transfer-encoding: chunked\r\n\r\ne\r\n{"ref":"main"}\r\n`),
  ])
  t.notOk(answers.some((answer) => answer.includes(' 202 ') || answer.includes(' 5')))
  t.equal(requests.length, 0)
  while (outcomes.length < 2) await new Promise(setImmediate)
  t.same(outcomes, ['malformed', 'malformed'])
  t.equal((await post('{"ref":"main"}', bearer)).status, 202, 'everybody else is answered')
})

void t.test('pipelined calls are answered in turn, and nothing of a body that is too long is taken for a call', async (t) => {
  const { served, requests } = await setUp(t)
  const call = (body: string, length = body.length): string =>
    `POST /webhook/default/plant HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nauthorization: Bearer token\r\ncontent-length: ${length}\r\n\r\n${body}`
  const answersTo = (sent: string, count: number): Promise<string[]> =>
    new Promise((resolve) => {
      let text = ''
      const statuses = (): string[] => text.match(/HTTP\/1\.1 \d{3}/g) ?? []
      const socket = connect(served.port, '127.0.0.1', () => socket.write(sent))
      socket.on('data', (data: Buffer) => {
        text += data.toString('latin1')
        if (statuses().length >= count) socket.destroy()
      })
      socket.on('error', () => undefined)
      socket.on('close', () => resolve(statuses()))
    })
  t.same(await answersTo(call('{"ref":"a"}') + call('{"x":1}') + call('{"ref":"b"}'), 3), ['HTTP/1.1 202', 'HTTP/1.1 422', 'HTTP/1.1 202'])
  t.same(
    requests.map((annotations) => annotations[requestAnnotations.ref]),
    ['a', 'b'],
  )
  t.same(await answersTo(call(call('{"ref":"smuggled"}'), 2_000_000), 2), ['HTTP/1.1 413'])
  t.equal(requests.length, 2)
})

void t.test('the same delivery is one request, a failed one may come again', async (t) => {
  let fails = true
  const { post, bearer, requests } = await setUp(t, {
    async request() {
      if (fails) throw new Fault('ApiUnavailable', 'the API server is away')
    },
  })
  const headers = { ...bearer, 'x-github-delivery': 'd-1' }
  const failed = await post('{"ref":"main"}', headers)
  t.match(failed, { status: 503, body: { reason: 'ApiUnavailable' } })
  fails = false
  const first = await post('{"ref":"main"}', headers)
  const second = await post('{"ref":"main"}', headers)
  t.match(first, { status: 202, body: { accepted: true } })
  t.match(second, { status: 202, body: { accepted: true, duplicate: true, requestId: first.body['requestId'] } })
  t.equal(requests.length, 1)
  await post('{"ref":"main"}', { ...bearer, 'x-github-delivery': 'd-2' })
  t.equal(requests.length, 2, 'the ref tells no two requests apart')
})

void t.test('a burst of calls for one ref is few requests, and each call gets the id of one that began after it', async (t) => {
  let arrived = 0
  let all = Promise.withResolvers<void>()
  const begins: number[] = []
  const { post, bearer, requests } = await setUp(t, {
    // Nothing is awaited between this and the place in the line.
    more: {
      lookup() {
        arrived += 1
        if (arrived === 200) all.resolve()
        return { specRef: 'main', wantedRef: 'main', allowedRefs: undefined }
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
  // The line looks up too, so the first write may end when the last few calls are still to come.
  t.ok(requests.length <= 5, `${requests.length} requests`)
  t.ok((begins.at(-1) ?? 0) >= 200, 'the last began when all were there')
  const ids = new Set(requests.map((annotations) => annotations[requestAnnotations.id]))
  t.ok(many.every(({ status, body }) => status === 202 && ids.has(String(body['requestId']))))
})

void t.test('calls over the budget of a resource share writes and are all accepted, each with an id that is written', async (t) => {
  const overtaken: string[] = []
  const requests: string[] = []
  const { post, bearer } = await setUp(t, {
    more: {
      budget: { perSecond: 10, burst: 2 },
      async request(_namespace, _name, annotations, earlier) {
        requests.push(annotations[requestAnnotations.id] ?? '')
        overtaken.push(...earlier.map(({ id }) => id))
      },
    },
  })
  const startMs = systemClock.monotonicMs()
  const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => post(`{"ref":"v${index % 4}"}`, bearer)))
  const mostWrites = 3 + (systemClock.monotonicMs() - startMs) / 100
  t.ok(answers.every(({ status }) => status === 202))
  const written = new Set([...requests, ...overtaken])
  t.ok(answers.every(({ body }) => written.has(String(body['requestId']))))
  t.ok(requests.length <= mostWrites, `${requests.length} writes`)
})
