import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { startSimulator } from '../../../examples/simulator/simulator.ts'
import { nextCertificates } from '../../../runtime/certificates/rotation.ts'
import { type Clock, systemClock } from '../../../runtime/platform/clock.ts'
import { connectGateway } from '../../../runtime/gateway/gateway.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { Temporal } from '../../../runtime/platform/temporal.ts'
import { gatewayContract, reasonOf } from '../../contract/gateway.ts'
import { matchObject, rejectsWith } from '../../support/assertions.ts'
import { temporaryFolder } from '../../support/repository.ts'

const apiKey = 'gw:secret'

async function simulated(t: Test, options: object, tls?: { cert: string; key: string }) {
  const dataDir = temporaryFolder(t, 'gateway')
  const simulator = await startSimulator({
    dataDir,
    name: 'gw',
    mode: 'dev',
    apiKey,
    ...(tls === undefined ? {} : { tls, host: 'localhost' }),
    ...options,
  })
  t.teardown(async () => simulator.stop())
  return simulator
}

void t.test('the client fulfills the gateway contract over HTTP', async (t) =>
  gatewayContract(t, async (t, options) => ({ simulator: await simulated(t, options), apiKey })),
)

void t.test('the client fulfills the gateway contract over TLS with a private CA', async (t) => {
  const { leaf, caBundle } = await nextCertificates(undefined, { dnsNames: ['localhost'], now: systemClock.now() })
  const tls = { cert: leaf.certificate, key: leaf.key }
  await gatewayContract(t, async (t, options) => ({ simulator: await simulated(t, options, tls), apiKey, ca: caBundle }))
  const simulator = await simulated(t, {}, tls)
  const strange = connectGateway({ url: simulator.url, apiKey: async () => apiKey, clock: systemClock, log: silentLog })
  t.equal(await strange.status(AbortSignal.timeout(30_000)), 'unreachable', 'an unknown authority is not trusted')
})

void t.test('the CA and the API key are read at each use, so that both can be rotated', async (t) => {
  const make = async () => nextCertificates(undefined, { dnsNames: ['localhost'], now: systemClock.now() })
  const [one, other] = [await make(), await make()]
  const simulator = await simulated(t, {}, { cert: one.leaf.certificate, key: one.leaf.key })
  const mounted = { ca: other.caBundle, apiKey: 'gw:old' }
  const gateway = connectGateway({
    url: simulator.url,
    apiKey: async () => mounted.apiKey,
    ca: () => mounted.ca,
    clock: systemClock,
    log: silentLog,
  })
  const info = () => gateway.info(AbortSignal.timeout(20_000))
  t.equal(await reasonOf(info()), 'GatewayUnreachable', 'another authority')
  mounted.ca = one.caBundle
  t.equal(await reasonOf(info()), 'GatewayUnauthorized')
  mounted.apiKey = apiKey
  t.equal((await info()).name, 'gw')
})

void t.test('any server at the address gives a reason and is read up to one megabyte', async (t) => {
  const answers: [string, RequestListener][] = [
    ['nothing but noise', (_request, response) => response.end('<html>')],
    ['an endless body', (_request, response) => void setInterval(() => response.write('x'.repeat(200_000)), 1).unref()],
    ['a redirect', (_request, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end()],
    ['an error', (_request, response) => response.writeHead(500).end()],
  ]
  for (const [name, listener] of answers) {
    const url = await listening(t, listener)
    const gateway = connectGateway({ url, apiKey: async () => apiKey, clock: systemClock, log: silentLog })
    t.equal(await gateway.status(AbortSignal.timeout(30_000)), 'unreachable', name)
    t.match(
      await reasonOf(gateway.scan(['config'], AbortSignal.timeout(30_000))),
      /^(?:ScanFailed|GatewayUnreachable|GatewayNotReady)$/,
      name,
    )
  }
})

void t.test('a gateway that supports only POST scan/config can be scanned', async (t) => {
  for (const missing of [404, 405, 501]) {
    const asked: string[] = []
    const url = await listening(t, (request, response) => {
      const call = `${request.method} ${request.url}`
      asked.push(call)
      response.writeHead(call === 'POST /data/api/v1/scan/config' ? 200 : missing).end()
    })
    const gateway = connectGateway({ url, apiKey: async () => apiKey, clock: systemClock, log: silentLog })
    const signal = AbortSignal.timeout(30_000)
    t.equal(await gateway.status(signal), 'running')
    t.strictSame(await gateway.designers(signal), [])
    for (const kinds of [['projects'], ['config'], ['projects', 'config']] as const) {
      const { projects, config } = await gateway.scan(kinds, signal)
      t.strictSame([projects, config instanceof Temporal.Instant], [undefined, true])
    }
    t.equal(asked.filter((call) => call === 'POST /data/api/v1/scan/config').length, 3)
  }
})

void t.test('a scan of a gateway without the route fails and names the route', async (t) => {
  const url = await listening(t, (_request, response) => response.writeHead(404).end())
  const gateway = connectGateway({ url, apiKey: async () => apiKey, clock: systemClock, log: silentLog })
  const fault = await gateway.scan(['projects'], AbortSignal.timeout(30_000)).catch((error: unknown) => error)
  matchObject(t, fault, { reason: 'ScanFailed', message: /^the gateway has no route \/data\/api\/v1\/scan\/config: / })
})

void t.test('a check page counts by its status only, and only paths below the API get the API key', async (t) => {
  const asked = new Map<string, unknown>()
  const url = await listening(t, (request, response) => {
    asked.set(request.url ?? '', request.headers['x-ignition-api-token'])
    response.write('x'.repeat(2 * 1024 * 1024))
  })
  const gateway = connectGateway({ url, apiKey: async () => apiKey, clock: systemClock, log: silentLog })
  const withKey = ['/data/api/v1/gateway-info', '/data/api/v1/modules/com.vendor_x~1?limit=5']
  const without = [
    '/data/api/..%2f..%2fsystem/webdev/x',
    '/data/api/..;/..;/x',
    '/data/api/%252e%252e/x',
    '/data/api/../x',
    '/system/webdev/x',
  ]
  for (const path of [...withKey, ...without]) t.equal(await gateway.statusOf(path, AbortSignal.timeout(30_000)), 200, path)
  t.strictSame([...asked.values()], [apiKey, apiKey, ...without.map(() => undefined)])
})

void t.test('a redirect is not followed', async (t) => {
  let followed = 0
  const elsewhere = await listening(t, (_request, response) => {
    followed += 1
    response.end('{"state":"RUNNING"}')
  })
  const url = await listening(t, (_request, response) => response.writeHead(302, { location: elsewhere }).end())
  const gateway = connectGateway({ url, apiKey: async () => apiKey, clock: systemClock, log: silentLog })
  t.equal(await reasonOf(gateway.scan(['config'], AbortSignal.timeout(30_000))), 'GatewayNotReady')
  t.equal(followed, 0, 'the key stays here')
})

void t.test('a stalled gateway is unreachable at the deadline, and a call ends at once when it is aborted', async (t) => {
  const url = await listening(t, (_request, response) => {
    response.write('{')
  })
  const gateway = connectGateway({ url, apiKey: async () => apiKey, clock: systemClock, log: silentLog })
  t.equal(await gateway.status(AbortSignal.timeout(30_000)), 'unreachable')
  const stop = new AbortController()
  const asked = gateway.info(stop.signal)
  stop.abort(new Error('stopped by the caller'))
  await rejectsWith(t, asked, { message: 'stopped by the caller' })
})

void t.test('a scan that has not started or is still running does not count as finished', async (t) => {
  const states = [
    { scanActive: false, lastScanTimestamp: 1 },
    { scanActive: false, lastScanTimestamp: 1 },
    { scanActive: false, lastScanTimestamp: 1 },
    { scanActive: true, lastScanTimestamp: 1 },
    { scanActive: true, lastScanTimestamp: 2 },
    { scanActive: false, lastScanTimestamp: 3 },
  ]
  const url = await listening(t, (_request, response) => response.end(JSON.stringify(states.shift() ?? { items: [] })))
  const clock: Clock = { ...systemClock, wait: async () => {} }
  const gateway = connectGateway({ url, apiKey: async () => apiKey, clock, log: silentLog })
  const { config } = await gateway.scan(['config'], AbortSignal.timeout(30_000))
  t.equal(config?.epochMilliseconds, 3)
})

void t.test("a scan finishes even if the gateway's clock was set back by an hour meanwhile", async (t) => {
  const hourMs = 3_600_000
  const states = [
    { scanActive: false, lastScanTimestamp: 2 * hourMs },
    { scanActive: true, lastScanTimestamp: 2 * hourMs },
    { scanActive: false, lastScanTimestamp: 2 * hourMs },
    { scanActive: true, lastScanTimestamp: 2 * hourMs },
    { scanActive: false, lastScanTimestamp: hourMs },
  ]
  const url = await listening(t, (_request, response) => response.end(JSON.stringify(states.shift() ?? { items: [] })))
  let nowMs = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => nowMs, wait: async () => void (nowMs += 10_000) }
  const gateway = connectGateway({ url, apiKey: async () => apiKey, clock, log: silentLog })
  const { config } = await gateway.scan(['config'], AbortSignal.timeout(30_000))
  t.equal(config?.epochMilliseconds, hourMs)
})

void t.test('only an unusable answer to a scan is ScanFailed; other calls give GatewayNotReady', async (t) => {
  let answer = { status: 200, body: '' }
  const url = await listening(t, (_request, response) => response.writeHead(answer.status).end(answer.body))
  const gateway = connectGateway({ url, apiKey: async () => apiKey, clock: systemClock, log: silentLog })
  const within = AbortSignal.timeout(30_000)
  const rows: [number, string, string][] = [
    [406, '', 'ScanFailed'],
    [410, '{}', 'ScanFailed'],
    [200, '<html>', 'ScanFailed'],
    [200, '{"items":1}', 'ScanFailed'],
    [429, '', 'GatewayNotReady'],
    [400, '', 'GatewayNotReady'],
  ]
  for (const [status, body, scanned] of rows) {
    answer = { status, body }
    const name = `${status} ${body}`
    t.equal(await reasonOf(gateway.scan(['config'], within)), scanned, name)
    t.equal(await reasonOf(gateway.designers(within)), 'GatewayNotReady', name)
    if (status === 200) continue
    t.equal(await reasonOf(gateway.info(within)), 'GatewayNotReady', name)
    t.equal(await reasonOf(gateway.lock(['config'], within)), 'GatewayNotReady', name)
  }
})

void t.test('a gateway without support for the scan lock has none', async (t) => {
  const simulator = await simulated(t, {})
  const gateway = connectGateway({ url: simulator.url, apiKey: async () => apiKey, clock: systemClock, log: silentLog })
  for (const status of [404, 405, 501]) {
    simulator.failNext({ path: '/data/api/v1/scan-lock/projects', status, times: 1 })
    t.equal(await gateway.lock(['projects', 'config'], AbortSignal.timeout(30_000)), 'unsupported', String(status))
  }
  simulator.failNext({ path: '/data/api/v1/scan-lock/config', status: 404, times: 1 })
  t.equal(await gateway.lock(['projects', 'config'], AbortSignal.timeout(30_000)), 'held', 'where it has one of two')
})

void t.test('a partially acquired lock is released, and the lock of another client is kept', async (t) => {
  const simulator = await simulated(t, {})
  const clock: Clock = { ...systemClock, wait: async () => {} }
  const make = (own: Clock) => connectGateway({ url: simulator.url, apiKey: async () => apiKey, clock: own, log: silentLog })
  const gateway = make(clock)
  const within = AbortSignal.timeout(30_000)
  const posts = (): string[] =>
    simulator.requests
      .splice(0)
      .filter(({ method }) => method === 'POST')
      .map(({ path, status }) => `${path.replace('/data/api/v1/', '')} ${status}`)
  simulator.failNext({ path: '/data/api/v1/scan-lock/config', status: 500, times: 1 })
  t.equal(await reasonOf(gateway.lock(['projects', 'config'], within)), 'GatewayNotReady')
  t.strictSame(posts(), ['scan-lock/projects 200', 'scan-lock/config 500', 'scan/projects 200'])

  t.equal(await make(systemClock).lock(['config'], within), 'held', 'somebody else')
  t.equal(await reasonOf(gateway.lock(['projects', 'config'], within)), 'GatewayNotReady')
  const tried = Array.from({ length: 5 }, () => 'scan-lock/config 409')
  t.strictSame(posts(), ['scan-lock/config 200', 'scan-lock/projects 200', ...tried, 'scan/projects 200'])

  const stop = new AbortController()
  const stopping: Clock = { ...systemClock, wait: async () => stop.abort(new Error('stopped by the caller')) }
  await rejectsWith(t, make(stopping).lock(['projects', 'config'], stop.signal), { message: 'stopped by the caller' })
  t.strictSame(posts(), ['scan-lock/projects 200', 'scan-lock/config 409', 'scan/projects 200'])

  await gateway.scan(['config'], within)
  t.equal(await gateway.lock(['projects', 'config'], within), 'held')
})

void t.test('a scan that never ends fails after two minutes', async (t) => {
  const url = await listening(t, (_request, response) => response.end('{"scanActive":true,"lastScanTimestamp":1}'))
  let nowMs = 0
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    wait: async () => {
      nowMs += 10_000
    },
  }
  const gateway = connectGateway({ url, apiKey: async () => apiKey, clock, log: silentLog })
  t.equal(await reasonOf(gateway.scan(['config'], AbortSignal.timeout(30_000))), 'ScanFailed')
  t.equal(nowMs, 130_000)
})

void t.test('no error message contains the API key', async (t) => {
  const simulator = await simulated(t, {})
  const gateway = connectGateway({ url: simulator.url, apiKey: async () => 'gw:hush', clock: systemClock, log: silentLog })
  const error: unknown = await gateway.scan(['config'], AbortSignal.timeout(30_000)).catch((thrown: unknown) => thrown)
  t.match(String(error), /401/)
  t.notMatch(String(error), /hush/)
})

async function listening(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
