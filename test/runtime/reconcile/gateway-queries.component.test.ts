/**
 * Tests gateway queries against a real Prometheus and against servers that misbehave.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { GatewayQueries } from '../../../runtime/reconcile/gateway-queries.ts'
import type { SyncKey } from '../../../runtime/reconcile/store/records.ts'
import { openNetwork, createResolveHost } from '../../../runtime/git/remote/network.ts'
import { matchObject } from '../../support/assertions.ts'
import { startPrometheus } from '../../support/prometheus.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { requires } from '../../support/requires.ts'
import { until } from '../../support/world.ts'

const key = 'plant/line' as SyncKey
const question = (url: string, pod: string, query: string) => ({ pod, about: `${url} ${query}`, url, query, values: {} })

/** Queries that run until the test ends; `changes` counts the reported changes. */
function start(t: Pick<Test, 'teardown'>, { network = openNetwork, allowedHosts = [] as readonly string[] } = {}) {
  const stop = new AbortController()
  const told = { changes: 0 }
  const queries = new GatewayQueries({
    clock: systemClock,
    log: silentLog,
    network,
    allowedHosts,
    changed: () => void (told.changes += 1),
  })
  const running = queries.run(stop.signal)
  t.teardown(async () => {
    stop.abort()
    await running
  })
  const known = (pod: string) => queries.answers(key).get(pod)?.record
  return { queries, told, known, answered: async (pod: string) => await until(async () => known(pod), `${pod} is answered`) }
}

async function serve(t: Pick<Test, 'teardown'>, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

void t.test('a real Prometheus answers for each gateway', async (t) => {
  if (!requires(t, 'prometheus')) return
  const { url } = await startPrometheus(t, { folder: temporaryFolder(t, 'queries'), scrapeConfigs: [] })
  const { queries, told, known, answered } = start(t)
  const texts = {
    right: 'vector(1) > 0',
    empty: 'vector(1) > 1',
    zero: 'vector(0)',
    scalar: 'scalar(vector(2))',
    matrix: 'vector(1)[5m:1m]',
    bad: 'vector(',
  }
  queries.setQueries(
    key,
    Object.entries(texts).map(([pod, query]) => question(url, pod, query)),
  )
  for (const pod of Object.keys(texts)) await answered(pod)
  matchObject(t, known('right'), { state: 'Passed' })
  matchObject(t, known('scalar'), { state: 'Passed' })
  matchObject(t, known('empty'), { state: 'Unknown', why: 'the query has no result', wrongSinceMs: known('empty')?.sinceMs })
  matchObject(t, known('zero'), { state: 'Unknown', why: '1 of 1 samples are 0 or NaN', wrongSinceMs: known('zero')?.sinceMs })
  matchObject(t, known('matrix'), { state: 'Unknown', why: /not a Prometheus vector/, answeredMs: undefined })
  matchObject(t, known('bad'), { state: 'Unknown', why: 'Prometheus answered 400', answeredMs: undefined })
  t.equal(told.changes, 2, 'those that have passed')
  queries.setQueries(key, [question(url, 'right', texts.right), question(url, 'zero', 'vector(3)')])
  matchObject(t, known('right'), { state: 'Passed' }, 'it is asked the same')
  t.equal(known('empty'), undefined, 'nobody asks any more')
  t.equal(known('zero'), undefined, 'another question')
  matchObject(t, await answered('zero'), { state: 'Passed' })
  queries.setQueries(key, [])
  t.equal(queries.answers(key).size, 0)
})

void t.test('a query is one GET of the Prometheus HTTP API, and redirects are not followed', async (t) => {
  const asked: { method: string | undefined; path: string; query: string | null; credentials: string | undefined }[] = []
  const url = await serve(t, ({ method, url: target = '', headers }, response) => {
    const { pathname, searchParams } = new URL(target, 'http://x')
    asked.push({ method, path: pathname, query: searchParams.get('query'), credentials: headers.authorization })
    response.writeHead(302, { location: '/elsewhere' }).end()
  })
  const { queries, answered } = start(t)
  queries.setQueries(key, [question(`${url}/base/`, 'gw', 'up{a="1"} == 1')])
  matchObject(t, await answered('gw'), { state: 'Unknown', why: 'Prometheus answered 302' })
  t.strictSame(asked, [{ method: 'GET', path: '/base/api/v1/query', query: 'up{a="1"} == 1', credentials: undefined }])
})

void t.test('an endless or missing response is not an answer', async (t) => {
  const large = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const more = (): void => {
      while (!response.destroyed && response.write(' '.repeat(65_536)));
      response.once('drain', more)
    }
    more()
  })
  const silent = await serve(t, () => {})
  const { queries, answered } = start(t)
  queries.setQueries(key, [question(large, 'large', 'up'), question(silent, 'silent', 'up')])
  matchObject(t, await answered('large'), { state: 'Unknown', why: /64 KiB/ })
  matchObject(t, await answered('silent'), { state: 'Unknown', why: /no answer/ })
})

void t.test('only permitted addresses and hosts are queried', async (t) => {
  let calls = 0
  const url = await serve(t, (_request, response) => {
    calls += 1
    response.end()
  })
  const resolve = createResolveHost({ allowPrivate: true, allowed: [], refused: [] })
  const guarded = start(t, { network: { resolve, proxy: undefined } })
  const named = url.replace('127.0.0.1', 'localhost')
  const numbered = url.replace('127.0.0.1', '2130706433')
  guarded.queries.setQueries(
    key,
    [url, named, numbered, 'http://169.254.169.254'].map((one) => question(one, one, 'up')),
  )
  for (const one of [url, named, numbered, 'http://169.254.169.254']) {
    matchObject(t, await guarded.answered(one), { state: 'Unknown', why: /source\.allowedAddresses/ }, one)
  }
  const listed = start(t, { allowedHosts: ['git.example'] })
  listed.queries.setQueries(key, [question(url, 'gw', 'up')])
  matchObject(t, await listed.answered('gw'), { why: /permits hosts git\.example/ })
  const proxied = start(t, {
    network: { resolve: undefined, proxy: { https: 'http://proxy.example:3128', http: 'http://proxy.example:3128', noProxy: '' } },
  })
  proxied.queries.setQueries(key, [question(url, 'gw', 'up')])
  matchObject(t, await proxied.answered('gw'), { why: /noProxy/ })
  t.equal(calls, 0)
})

void t.test('a slow server delays only the GatewaySyncs that query it', async (t) => {
  const slow = await serve(t, () => undefined)
  const quick = await serve(t, (_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"status":"success","data":{"resultType":"scalar","result":[0,"1"]}}')
  })
  const { queries } = start(t)
  queries.setQueries(
    'other/fleet',
    Array.from({ length: 200 }, (_, index) => question(slow, `gw-${index}`, 'vector(1)')),
  )
  queries.setQueries(key, [question(quick, 'gw', 'vector(1)')])
  const record = await until(async () => queries.answers(key).get('gw')?.record, 'the other one is answered')
  t.equal(record.state, 'Passed')
  t.equal(queries.answers('other/fleet').size, 0, 'before any of the slow ones')
})

const answer = '{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}'

void t.test('of more gateways than are queried at a time, each has its turn', async (t) => {
  const server = await serve(t, (_request, response) => response.end(answer))
  const { queries } = start(t)
  const keys = ['plant/a', 'plant/b'] as SyncKey[]
  const pods = Array.from({ length: 500 }, (_, index) => `gateway-${index}`)
  for (const key of keys)
    queries.setQueries(
      key,
      pods.map((pod) => question(server, pod, 'up')),
    )
  await until(() => keys.every((key) => queries.answers(key).size === pods.length) || undefined, 'all are answered')
})

void t.test('a server that one namespace cannot reach is still queried for another', async (t) => {
  const server = await serve(t, ({ url = '' }, response) => {
    if (url.includes('slow')) response.destroy()
    else response.end(answer)
  })
  const { queries } = start(t)
  const other = 'other/line' as SyncKey
  queries.setQueries(key, [question(server, 'gateway', 'slow')])
  await until(() => queries.answers(key).get('gateway'), 'the first namespace has no answer')
  queries.setQueries(other, [question(server, 'gateway', 'up')])
  const { record } = await until(() => queries.answers(other).get('gateway'), 'the second namespace has an answer')
  t.equal(record.state, 'Passed')
})
