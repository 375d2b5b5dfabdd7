/**
 * Tests the status page over HTTP: its content, escaping of hostile text, browser security headers and live updates.
 */
import { createHash } from 'node:crypto'
import * as http from 'node:http'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { systemClock } from '../../../runtime/platform/clock.ts'
import type { SyncReportStatus } from '../../../runtime/api/schema/report.ts'
import { containsText, lacksText, matchObject } from '../../support/assertions.ts'
import { commit, condition, fleetFacts, now, pod, report, syncFacts } from '../../support/fleet-facts.ts'
import { openStatusPage, thousandGateways, twoLines } from '../../support/status-page.ts'
import { until } from '../../support/world.ts'

void t.test('the overview has a tile per gateway with its reason, and a GatewaySync page says what to do', async (t) => {
  const { get } = await openStatusPage(t)
  const overview = await get('/')
  t.equal(overview.status, 200)
  for (const text of ['gw-0', 'gw-1', 'plant-a/line-1', 'services/core/a.json', 'CollectionsInvalid', commit.slice(0, 8)])
    containsText(t, overview.text, text)
  const one = await get('/gatewaysyncs/plant-a/line-2')
  containsText(t, one.text, 'Fix the findings in the repository')
  lacksText(t, one.text, 'gw-0')
  lacksText(t, (await get('/?q=line-2')).text, 'gw-0')
  containsText(t, (await get('/', { 'accept-language': 'de' })).text, 'lang="de"')
  const unknown = await get('/gatewaysyncs/plant-a/nobody')
  t.equal(unknown.status, 404)
})

void t.test('installation warnings are shown at the top of the page and in /status.json', async (t) => {
  const warnings = [{ kind: 'openReceiver' as const }, { kind: 'certificate' as const, until: '2026-03-02' }]
  const { get } = await openStatusPage(t, { ...twoLines, warnings })
  const { text } = await get('/')
  for (const sentence of ['The webhook receiver has no secret', 'expires on 2026-03-02 and has not been renewed'])
    containsText(t, text, sentence)
  containsText(t, (await get('/', { 'accept-language': 'de' })).text, 'läuft am 2026-03-02 ab')
  matchObject(t, JSON.parse((await get('/status.json')).text), { warnings })
  lacksText(t, (await (await openStatusPage(t)).get('/')).text, 'class="banner warning"')
})

void t.test('/status.json is the view of "cluster-sync status --format json"', async (t) => {
  const { get } = await openStatusPage(t)
  const { headers, text } = await get('/status.json')
  containsText(t, headers.get('content-type'), 'application/json')
  matchObject(t, JSON.parse(text), {
    syncs: [
      { name: 'line-1', gateways: [{ pod: 'gw-0' }] },
      { name: 'line-2', ready: 'False' },
    ],
  })
})

void t.test('a requested ref is shown with the ref whose pushes it stops, in each language', async (t) => {
  const requested = { ref: 'v2', by: 'manual', at: '2026-03-01T11:00:00Z', id: 'r1', specRef: 'main' }
  const { get } = await openStatusPage(t, fleetFacts({ syncs: [syncFacts('line-1', { source: { ref: 'v2', commit, requested } })] }))
  const page = '/gatewaysyncs/plant-a/line-1'
  containsText(
    t,
    (await get(page)).text,
    'instead of main; pushes to main are ignored until another request is made or the annotation clustersync.io/requested-ref is removed',
  )
  containsText(
    t,
    (await get(page, { 'accept-language': 'de' })).text,
    'statt main, dessen Pushes ignoriert werden, bis eine andere Anfrage folgt',
  )
  matchObject(t, JSON.parse((await get('/status.json')).text), { syncs: [{ desired: { ref: 'v2', insteadOf: 'main' } }] })
})

void t.test('text from repositories, gateways and callers is escaped', async (t) => {
  const evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
  const { get } = await openStatusPage(
    t,
    fleetFacts({
      syncs: [
        syncFacts('line-1', {
          conditions: [condition('Ready', 'False', evil, evil)],
          source: { ref: evil, commit, requested: { ref: evil, by: evil, at: evil, id: evil, specRef: 'main' } },
          findings: { errors: 1, warnings: 0, items: [{ severity: 'error', path: evil, message: evil, rule: evil }] },
          requests: [{ id: evil, ref: evil, at: '2026-03-01T11:00:00Z', outcome: 'Refused', reason: evil, message: evil }],
        }),
      ],
      pods: [pod('gw-0', 'line-1')],
      reports: [
        report('gw-0', 'line-1', {
          designers: [evil],
          drift: { count: 1, paths: [evil] },
          gateway: evil,
          mode: { name: evil, from: 'Gateway' },
          message: evil,
          reason: evil,
          phase: 'Failed',
        }),
      ],
      notes: [evil],
    }),
  )
  const one = '/gatewaysyncs/plant-a/line-1'
  for (const path of ['/', one, `${one}/gateways/gw-0`, `/?q=${encodeURIComponent(evil)}`]) {
    const { text } = await get(path)
    lacksText(t, text, '<script>alert', path)
    lacksText(t, text, '<img', path)
    containsText(t, text, '&lt;script&gt;alert', path)
  }
})

void t.test('the security headers permit only own scripts, no framing and no caching except for assets', async (t) => {
  const { get } = await openStatusPage(t)
  const { headers, text } = await get('/')
  t.strictSame((headers.get('content-security-policy') ?? '').split('; '), [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ])
  t.equal(headers.get('x-content-type-options'), 'nosniff')
  t.equal(headers.get('cache-control'), 'no-store')
  t.equal(headers.get('referrer-policy'), 'same-origin')
  t.notMatch(text, /<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=/)
  const assets = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
  t.equal(assets.length, 3)
  for (const asset of assets) {
    const answer = await get(asset)
    t.equal(answer.status, 200, asset)
    containsText(t, answer.headers.get('cache-control'), 'immutable', asset)
  }
  t.notMatch(text, /(?:href|src)="(?:https?:)?\/\//)
})

void t.test('the page is read-only: other methods are refused', async (t) => {
  const { url } = await openStatusPage(t)
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const answer = await fetch(`${url}/gatewaysyncs/plant-a/line-1`, { method })
    t.equal(answer.status, 404, method)
  }
})

void t.test('without a login every page says so', async (t) => {
  const { get } = await openStatusPage(t, twoLines, { isOpen: true })
  for (const path of ['/', '/gatewaysyncs/plant-a/line-1', '/nothing'])
    containsText(t, (await get(path)).text, 'Login is not enabled', path)
  const { get: ofRun } = await openStatusPage(t)
  lacksText(t, (await ofRun('/')).text, 'Login is not enabled')
})

void t.test('each page of a thousand gateways is below 60 KB compressed, and each gateway is on one of them', async (t) => {
  const { url, get } = await openStatusPage(t, thousandGateways(worstStatus), { clock: { ...systemClock, now: () => now } })
  const seen = new Set<string>()
  for (const path of ['/', '/gatewaysyncs/plant-a/line-1']) {
    seen.clear()
    for (let page = 1; page <= 5; page += 1) {
      const { text, headers } = await get(`${path}?page=${page}`, { 'accept-encoding': 'identity' })
      t.equal(headers.get('content-encoding'), null)
      for (const [, name = ''] of text.matchAll(/>(gateway-\d+)<\/a/g)) seen.add(name)
      const wire = await wireOf(`${url}${path}?page=${page}`)
      t.equal(wire.encoding, 'gzip')
      t.ok(wire.bytes.length < 60_000, `${path} page ${page}: ${wire.bytes.length} bytes`)
      t.equal(gunzipSync(wire.bytes).toString('utf8'), text, 'compressed and plain are the same')
    }
    t.equal(seen.size, 1000, path)
  }
})

/** A failed gateway with many problems whose texts are unique, so that compression cannot remove them. */
function worstStatus(name: string): Partial<SyncReportStatus> {
  const sentence = (number: number): string => {
    const halves = [1, 2, 3].map((part) => createHash('sha512').update(`${name} ${number} ${part}`).digest('base64'))
    return halves.join('').slice(0, 230)
  }
  return { phase: 'Failed', reason: 'ScanFailed', message: sentence(0), scan: { problems: [1, 2, 3, 4].map(sentence) } }
}

/** Fetches the response as sent over the wire. */
async function wireOf(url: string): Promise<{ encoding: string | undefined; bytes: Buffer }> {
  const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
    http.get(url, { headers: { 'accept-encoding': 'gzip' } }, resolve).on('error', reject)
  })
  return { encoding: answer.headers['content-encoding'], bytes: Buffer.concat(await answer.toArray()) }
}

void t.test('a request for an unexpected host name is refused', async (t) => {
  const { url, get } = await openStatusPage(t, twoLines, { hosts: ['127.0.0.1', 'localhost'] })
  t.equal((await get('/')).status, 200)
  const byName = await new Promise<http.IncomingMessage>((resolve) => {
    http.get(url, { headers: { host: 'evil.example' } }, resolve)
  })
  byName.resume()
  t.equal(byName.statusCode, 421)
})

void t.test('an open page is notified of a change and then shows it', async (t) => {
  const { url, get, change } = await openStatusPage(t)
  const leave = new AbortController()
  const stream = await fetch(`${url}/events`, { signal: leave.signal })
  containsText(t, stream.headers.get('content-type'), 'text/event-stream')
  let heard = ''
  const listening = (async () => {
    for await (const chunk of stream.body ?? []) heard += Buffer.from(chunk).toString('utf8')
  })().catch(() => undefined)
  change(fleetFacts({ syncs: [syncFacts('line-9')], pods: [], reports: [] }))
  await until(() => (heard.includes('event: changed') ? true : undefined), 'the viewer is notified')
  containsText(t, (await get('/')).text, 'line-9')
  leave.abort()
  await listening
})

void t.test('viewers are notified at most every half second, and a page is rendered at most once a second', async (t) => {
  let [passedMs, at] = [0, now]
  const waits: { ms: number; end(): void }[] = []
  const clock = {
    ...systemClock,
    now: () => at,
    monotonicMs: () => passedMs,
    wait: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        waits.push({ ms, end: resolve })
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      }),
  }
  const { url, get, change } = await openStatusPage(t, twoLines, { clock })
  const asOf = async (): Promise<string | undefined> => /<time id="as-of"[^>]*>([^<]*)/.exec((await get('/')).text)?.[1]
  const leave = new AbortController()
  const stream = await fetch(`${url}/events`, { signal: leave.signal })
  let told = 0
  const listening = (async () => {
    for await (const chunk of stream.body ?? []) told += Buffer.from(chunk).toString('utf8').split('event: changed').length - 1
  })().catch(() => undefined)
  const first = await asOf()
  at = at.add({ seconds: 5 })
  passedMs += 1_000
  t.equal(await asOf(), first, 'a second is shared by all who look')
  passedMs += 1
  t.not(await asOf(), first)
  change(twoLines)
  await until(() => (told === 1 ? true : undefined), 'the first change is told at once')
  const rest = waits.findLast(({ ms }) => ms < 15_000)
  t.equal(rest?.ms, 500)
  change(twoLines)
  change(twoLines)
  t.equal(told, 1)
  rest?.end()
  await until(() => (told === 2 ? true : undefined), 'the others are told together')
  leave.abort()
  await listening
})

void t.test('up to two hundred viewers are connected, and a closed connection frees its slot', async (t) => {
  const { url } = await openStatusPage(t, undefined, { trustedProxies: ['127.0.0.0/8'] })
  const leaving = Array.from({ length: 200 }, () => new AbortController())
  const open = async (index: number, { signal }: AbortController): Promise<Response> =>
    await fetch(`${url}/events`, { signal, headers: { 'x-forwarded-for': `203.0.113.${index % 4}` } })
  const streams = await Promise.all(leaving.map(async (one, index) => await open(index, one)))
  t.ok(streams.every(({ status }) => status === 200))
  const refused = await fetch(`${url}/events`)
  t.equal(refused.status, 503)
  await refused.text()
  for (const one of leaving) one.abort()
  await until(
    async () => {
      const own = new AbortController()
      const { status } = await fetch(`${url}/events`, { signal: own.signal })
      own.abort()
      return status === 200 ? true : undefined
    },
    'a place is free',
    60_000,
  )
})
