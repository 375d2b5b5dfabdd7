/**
 * What a gateway is asked for a rollout, against the simulator over HTTP.
 */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { startSimulator } from '../../../examples/simulator/simulator.ts'
import { systemClock } from '../../../runtime/clock.ts'
import { connectGateway, type Gateway } from '../../../runtime/gateway/gateway.ts'
import { silentLog } from '../../../runtime/log.ts'
import { type CycleResult, type EngineMemory, runCycle } from '../../../runtime/sync/cycle.ts'
import { memorySource, profileOf, wantedOf } from '../../support/memory-source.ts'
import { temporaryFolder } from '../../support/repository.ts'

const signal = AbortSignal.timeout(60_000)
const profile = profileOf([{ source: 'projects', destination: 'projects' }])
const page = { path: '/system/webdev/line/health', status: 200 }
const api = { path: '/data/api/v1/gateway-info', status: 200 }

/** A gateway's folder, and a cycle in it whose clock says what the test says. */
function setUp(t: Pick<Test, 'teardown'>) {
  const dataDir = path.join(temporaryFolder(t, 'check'), 'data')
  mkdirSync(dataDir)
  const source = memorySource()
  const memory: EngineMemory = { manifest: undefined }
  let nowMs = Date.parse('2026-03-02T12:00:00Z')
  const clock = { ...systemClock, now: () => Temporal.Instant.fromEpochMilliseconds(nowMs) }
  return {
    dataDir,
    wait: (seconds: number) => (nowMs += seconds * 1000),
    sync: async (gateway: Gateway | undefined, text: string, check?: { path: string; status: number }): Promise<CycleResult> => {
      const commit = source.commit({ 'projects/line/project.json': '{"title":"Line"}', 'projects/line/a.txt': text })
      return await runCycle({ source, gateway, clock, log: silentLog, memory }, wantedOf(dataDir, commit, profile, { check }), signal)
    },
  }
}

async function simulated(t: Pick<Test, 'teardown'>, dataDir: string) {
  const simulator = await startSimulator({ dataDir, name: 'gw', apiKey: 'gw:hush' })
  t.teardown(async () => simulator.stop())
  const connect = (apiKey: string) => connectGateway({ url: simulator.url, apiKey: async () => apiKey, clock: systemClock, log: silentLog })
  return { simulator, connect }
}

/** Answers each path with a status of its own, and keeps what it was sent. */
async function pages(t: Pick<Test, 'teardown'>, answer: (url: string, response: http.ServerResponse) => void) {
  const asked: { url: string; key: string | undefined }[] = []
  const server = http.createServer((request, response) => {
    const key = request.headers['x-ignition-api-token']
    asked.push({ url: request.url ?? '', key: typeof key === 'string' ? key : undefined })
    answer(request.url ?? '', response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { asked, gateway: connectGateway({ url, apiKey: async () => 'gw:hush', clock: systemClock, log: silentLog }) }
}

void t.test('a check is asked after the scan and in each cycle, and only where somebody waits for it', async (t) => {
  const { dataDir, sync, wait } = setUp(t)
  const { simulator, connect } = await simulated(t, dataDir)
  const gateway = connect('gw:hush')
  t.match(await sync(gateway, 'one'), { phase: 'Synced', check: undefined })
  const first = await sync(gateway, 'two', api)
  t.match(first, { phase: 'Synced', check: { state: 'Passed', since: '2026-03-02T12:00:00Z' } })
  const called = simulator.requests.map(({ method, path }) => `${method} ${path}`)
  t.equal(called.lastIndexOf(`GET ${api.path}`), called.length - 1, 'last of all')
  wait(30)
  t.match(await sync(gateway, 'two', api), { check: first.check }, 'nothing new is said while nothing changes')
  simulator.failNext({ path: api.path, status: 500, times: 3 })
  wait(30)
  t.match(await sync(gateway, 'two', api), { phase: 'Synced', check: { state: 'Passed' } }, 'one wrong answer is no failure')
  wait(30)
  t.match(await sync(gateway, 'two', api), {
    phase: 'Synced',
    check: { state: 'Failed', since: '2026-03-02T12:01:30Z', message: `${api.path}: the gateway answered 500, not 200` },
  })
  t.match(await sync(gateway, 'three', api), { check: { state: 'Unknown' } }, 'another commit begins anew')
  t.match(await sync(gateway, 'three'), { check: undefined })
})

void t.test('a gateway that does not run is not asked, and one that is not there answers nothing', async (t) => {
  const { dataDir, sync } = setUp(t)
  const { simulator, connect } = await simulated(t, dataDir)
  const gateway = connect('gw:hush')
  await simulator.stop()
  t.match(await sync(gateway, 'one', api), { phase: 'Pending', reason: 'GatewayUnreachable', check: undefined })
  t.match(await sync(undefined, 'two', api), { phase: 'Synced', check: { state: 'Unknown', message: 'there is no gateway to ask' } })
})

void t.test('a redirect is an answer and is not followed, and the key is sent to the API alone', async (t) => {
  const { asked, gateway } = await pages(t, (url, response) => {
    response.writeHead(url.startsWith('/moved') ? 302 : 200, { location: '/elsewhere' }).end('ok')
  })
  t.equal(await gateway.statusOf('/moved', signal), 302)
  t.equal(await gateway.statusOf(page.path, signal), 200)
  t.equal(await gateway.statusOf('/data/api/../../system/webdev/line', signal), 200)
  t.equal(await gateway.statusOf('//elsewhere.example/data/api/x', signal), 200)
  t.equal(await gateway.statusOf('/data/api/v1/x', signal), 200)
  t.same(
    asked.map(({ url, key }) => `${url} ${key ?? '-'}`),
    ['/moved -', `${page.path} -`, '/system/webdev/line -', '//elsewhere.example/data/api/x -', '/data/api/v1/x gw:hush'],
  )
})

void t.test('a page is judged by its status however long it is, and an answer that never begins is none', async (t) => {
  const { gateway } = await pages(t, (url, response) => {
    if (url === '/silent') return
    response.writeHead(200).end('x'.repeat(2 * 1024 * 1024))
  })
  t.equal(await gateway.statusOf('/flood', signal), 200)
  await t.rejects(gateway.statusOf('/silent', signal), { reason: 'GatewayUnreachable', message: /no answer within 5 s/ })
})
