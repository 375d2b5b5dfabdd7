/**
 * The contract of a gateway's HTTP API on which the product relies; runs against the simulator, and later against a real gateway.
 */
import type { Test } from 'tap'
import type { Simulator } from '../../examples/simulator/simulator.ts'
import { type Clock, systemClock } from '../../runtime/platform/clock.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { connectGateway, type Gateway } from '../../runtime/gateway/gateway.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { matchObject } from '../support/assertions.ts'

export type GatewayUnderTest = { simulator: Simulator; apiKey: string; ca?: string }

const signal = AbortSignal.timeout(60_000)

/** A clock with waits that take no time. */
const impatient: Clock = { ...systemClock, wait: async () => {} }

function clientOf({ simulator, ca }: GatewayUnderTest, apiKey: string | undefined, clock: Clock = systemClock): Gateway {
  return connectGateway({ url: simulator.url, apiKey: async () => apiKey, ca: () => ca, clock, log: silentLog })
}

export async function reasonOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.catch((thrown: unknown) => thrown)
  if (error instanceof Fault) return error.reason
  return error instanceof Error ? `${error.name}, which is no Fault` : 'nothing was thrown'
}

export async function gatewayContract(
  t: Test,
  make: (t: Test, options: { commissioning?: boolean; lockRoute?: boolean }) => Promise<GatewayUnderTest>,
): Promise<void> {
  await t.test('a running gateway reports its state without a key', async (t) => {
    const under = await make(t, {})
    t.equal(await clientOf(under, undefined).status(signal), 'running')
    matchObject(t, await clientOf(under, under.apiKey).info(signal), { name: 'gw', deploymentMode: 'dev' })
  })
  await t.test('a scan ends when the gateway reports it, projects before config', async (t) => {
    const under = await make(t, {})
    const gateway = clientOf(under, under.apiKey)
    const done = await gateway.scan(['config', 'projects'], signal)
    t.ok(done.projects !== undefined && done.config !== undefined)
    const posted = under.simulator.requests
      .filter(({ method, path }) => method === 'POST' && path.includes('/scan/'))
      .map(({ path }) => path.split('/').at(-1))
    t.strictSame(posted, ['projects', 'config'])
    const again = await gateway.scan(['config'], signal)
    t.ok((again.config?.epochMilliseconds ?? 0) > (done.config?.epochMilliseconds ?? 0), 'each scan has its own time')
  })
  await t.test('a gateway reports problems and quarantined modules, but not to an unauthorized key', async (t) => {
    const under = await make(t, {})
    const gateway = clientOf(under, under.apiKey)
    t.strictSame(await gateway.problems(signal), [])
    under.simulator.setProblems(['connection "db" is faulted'])
    under.simulator.setQuarantined(['Vision'])
    t.strictSame(await gateway.problems(signal), ['connection "db" is faulted', 'module Vision is quarantined'])
    t.equal(await clientOf(under, 'gw:other').problems(signal), undefined)
  })
  await t.test('the lock is held until the scan, and an older gateway has none', async (t) => {
    const under = await make(t, {})
    const gateway = clientOf(under, under.apiKey)
    t.equal(await gateway.lock(['projects'], signal), 'held')
    t.equal(await reasonOf(clientOf(under, under.apiKey, impatient).lock(['projects'], signal)), 'GatewayNotReady', 'a second one gives up')
    const waitingForScan: Clock = { ...systemClock, wait: async () => void (await gateway.scan(['projects'], signal)) }
    t.equal(await clientOf(under, under.apiKey, waitingForScan).lock(['projects'], signal), 'held', 'a scan gives it back')
    t.equal(await clientOf(await make(t, { lockRoute: false }), under.apiKey).lock(['projects'], signal), 'unsupported')
  })
  await t.test('a lock that timed out is requested again', async (t) => {
    const under = await make(t, {})
    under.simulator.failNext({ path: '/data/api/v1/scan-lock/config', status: 408, times: 2 })
    t.equal(await clientOf(under, under.apiKey, impatient).lock(['config'], signal), 'held')
    t.strictSame(
      under.simulator.requests.map(({ status }) => status),
      [408, 408, 200],
    )
  })
  await t.test('a wrong key is distinguished from a gateway that is not ready', async (t) => {
    const under = await make(t, {})
    t.equal(await reasonOf(clientOf(under, undefined).scan(['config'], signal)), 'GatewayUnauthorized')
    t.equal(await reasonOf(clientOf(under, 'gw:wrong').scan(['config'], signal)), 'GatewayUnauthorized')
    under.simulator.failNext({ path: '/data/api/v1/scan/config', status: 403, times: 1 })
    t.equal(await reasonOf(clientOf(under, under.apiKey).scan(['config'], signal)), 'GatewayForbidden')
    under.simulator.failNext({ path: '/data/api/v1/scan/config', status: 500, times: 1 })
    t.equal(await reasonOf(clientOf(under, under.apiKey).scan(['config'], signal)), 'GatewayNotReady')
  })
  await t.test('a commissioning gateway is not ready', async (t) => {
    const under = await make(t, { commissioning: true })
    const gateway = clientOf(under, under.apiKey)
    t.equal(await gateway.status(signal), 'commissioning')
    t.equal(await reasonOf(gateway.scan(['config'], signal)), 'GatewayNotReady')
    t.equal(await reasonOf(gateway.info(signal)), 'GatewayNotReady')
    under.simulator.finishCommissioning()
    t.equal(await gateway.status(signal), 'running')
  })
  await t.test('Designer sessions are read to the last page', async (t) => {
    const under = await make(t, {})
    under.simulator.setDesigners(Array.from({ length: 250 }, (_, index) => ({ user: `u${index}`, project: 'line' })))
    t.equal((await clientOf(under, under.apiKey).designers(signal)).length, 250)
  })
}
