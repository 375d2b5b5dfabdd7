/**
 * Tests the health check of a gateway during a rollout, with the gateway simulator over HTTP.
 */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { startSimulator } from '../../../examples/simulator/simulator.ts'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { connectGateway, type Gateway } from '../../../runtime/gateway/gateway.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { type CycleResult, type EngineMemory, runCycle } from '../../../runtime/sync/cycle.ts'
import { Temporal } from '../../../runtime/platform/temporal.ts'
import { matchObject, rejectsWith } from '../../support/assertions.ts'
import { memorySource, profileOf, desiredOf } from '../../support/memory-source.ts'
import { temporaryFolder } from '../../support/repository.ts'

const signal = AbortSignal.timeout(60_000)
const profile = profileOf([{ source: 'projects', destination: 'projects' }])
const page = { path: '/system/webdev/line/health', status: 200 }
const api = { path: '/data/api/v1/gateway-info', status: 200 }

/** The folder of a gateway, and a cycle in it with a clock controlled by the test. */
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
      return await runCycle({ source, gateway, clock, log: silentLog, memory }, desiredOf(dataDir, commit, profile, { check }), signal)
    },
  }
}

async function simulated(t: Pick<Test, 'teardown'>, dataDir: string) {
  const simulator = await startSimulator({ dataDir, name: 'gw', apiKey: 'gw:hush' })
  t.teardown(async () => simulator.stop())
  const connect = (apiKey: string) => connectGateway({ url: simulator.url, apiKey: async () => apiKey, clock: systemClock, log: silentLog })
  return { simulator, connect }
}

/** Answers each path with its own status, and records the requests. */
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

void t.test('a check runs after the scan and in each cycle, and only if requested', async (t) => {
  const { dataDir, sync, wait } = setUp(t)
  const { simulator, connect } = await simulated(t, dataDir)
  const gateway = connect('gw:hush')
  matchObject(t, await sync(gateway, 'one'), { phase: 'Synced', healthCheck: undefined })
  const first = await sync(gateway, 'two', api)
  matchObject(t, first, { phase: 'Synced', healthCheck: { state: 'Passed', since: '2026-03-02T12:00:00Z' } })
  const called = simulator.requests.map(({ method, path }) => `${method} ${path}`)
  t.equal(called.lastIndexOf(`GET ${api.path}`), called.length - 1, 'last of all')
  wait(30)
  matchObject(t, await sync(gateway, 'two', api), { healthCheck: first.healthCheck }, 'nothing new is said while nothing changes')
  simulator.failNext({ path: api.path, status: 500, times: 3 })
  wait(30)
  matchObject(t, await sync(gateway, 'two', api), { phase: 'Synced', healthCheck: { state: 'Passed' } }, 'one wrong answer is no failure')
  wait(30)
  matchObject(t, await sync(gateway, 'two', api), {
    phase: 'Synced',
    healthCheck: { state: 'Failed', since: '2026-03-02T12:01:30Z', message: `${api.path}: the gateway answered 500, not 200` },
  })
  matchObject(t, await sync(gateway, 'three', api), { healthCheck: { state: 'Unknown' } }, 'another commit begins anew')
  matchObject(t, await sync(gateway, 'three'), { healthCheck: undefined })
})

void t.test('a gateway that is not running is not checked, and a missing one gives an unknown result', async (t) => {
  const { dataDir, sync } = setUp(t)
  const { simulator, connect } = await simulated(t, dataDir)
  const gateway = connect('gw:hush')
  await simulator.stop()
  matchObject(t, await sync(gateway, 'one', api), { phase: 'Pending', reason: 'GatewayUnreachable', healthCheck: undefined })
  matchObject(t, await sync(undefined, 'two', api), {
    phase: 'Synced',
    healthCheck: { state: 'Unknown', message: 'there is no gateway to check' },
  })
})

void t.test('a redirect is an answer and is not followed, and the key is sent to the API only', async (t) => {
  const { asked, gateway } = await pages(t, (url, response) => {
    response.writeHead(url.startsWith('/moved') ? 302 : 200, { location: '/elsewhere' }).end('ok')
  })
  t.equal(await gateway.statusOf('/moved', signal), 302)
  t.equal(await gateway.statusOf(page.path, signal), 200)
  t.equal(await gateway.statusOf('/data/api/../../system/webdev/line', signal), 200)
  t.equal(await gateway.statusOf('//elsewhere.example/data/api/x', signal), 200)
  t.equal(await gateway.statusOf('/data/api/v1/x', signal), 200)
  t.strictSame(
    asked.map(({ url, key }) => `${url} ${key ?? '-'}`),
    ['/moved -', `${page.path} -`, '/system/webdev/line -', '//elsewhere.example/data/api/x -', '/data/api/v1/x gw:hush'],
  )
})

void t.test('a page of any length is checked by its status, and a missing response is an error', async (t) => {
  const { gateway } = await pages(t, (url, response) => {
    if (url === '/silent') return
    response.writeHead(200).end('x'.repeat(2 * 1024 * 1024))
  })
  t.equal(await gateway.statusOf('/flood', signal), 200)
  await rejectsWith(t, gateway.statusOf('/silent', signal), { reason: 'GatewayUnreachable', message: /no answer within 5 s/ })
})
