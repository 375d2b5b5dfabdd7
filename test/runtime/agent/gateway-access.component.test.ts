/**
 * Access to a simulated gateway while its API key and its CA are rotated.
 */
import t from 'tap'
import { startSimulator } from '../../../examples/simulator/simulator.ts'
import { createAccessKeeper } from '../../../runtime/agent/gateway-access.ts'
import { nextCertificates } from '../../../runtime/certificates/rotation.ts'
import { systemClock } from '../../../runtime/platform/clock.ts'
import type { GatewayAccess } from '../../../runtime/content/protocol/protocol.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import { connectGateway } from '../../../runtime/gateway/gateway.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { reasonOf } from '../../contract/gateway.ts'
import { temporaryFolder } from '../../support/repository.ts'

const signal = AbortSignal.timeout(60_000)

void t.test('a rotated key and a rotated CA are fetched as soon as the gateway rejects the old ones', async (t) => {
  const make = async () => nextCertificates(undefined, { dnsNames: ['localhost'], now: systemClock.now() })
  const [one, other] = [await make(), await make()]
  const given = { access: { apiKey: 'gw:old', caBundle: one.caBundle } as GatewayAccess, asked: 0 }
  const ahead = { ms: 0 }
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + ahead.ms }
  const start = async (made: typeof one, apiKey: string) => {
    const tls = { cert: made.leaf.certificate, key: made.leaf.key }
    const simulator = await startSimulator({ dataDir: temporaryFolder(t, 'gateway'), name: 'gw', apiKey, tls, host: 'localhost' })
    t.teardown(async () => simulator.stop())
    return simulator
  }
  const first = await start(one, 'gw:old')
  const second = await start(other, 'gw:new')
  const keeper = createAccessKeeper({
    clock,
    async fetchAccess() {
      given.asked += 1
      return given.access
    },
  })
  const at = (url: string) =>
    connectGateway({
      url,
      apiKey: async () => (await keeper.get()).apiKey,
      ca: async () => (await keeper.get()).caBundle,
      renew: () => keeper.renew(),
      clock,
      log: silentLog,
    })
  t.equal((await at(first.url).info(signal)).name, 'gw')
  await at(first.url).info(signal)
  t.equal(given.asked, 1, 'what is known is not asked for again')
  first.setApiKey('gw:new')
  given.access = { apiKey: 'gw:new', caBundle: one.caBundle }
  ahead.ms += 10_000
  t.equal((await at(first.url).info(signal)).name, 'gw', 'another key')
  given.access = { apiKey: 'gw:new', caBundle: other.caBundle }
  ahead.ms += 10_000
  t.equal((await at(second.url).info(signal)).name, 'gw', 'another authority')
  second.setApiKey('gw:newest')
  const before = given.asked
  for (let count = 0; count < 20; count++) t.equal(await reasonOf(at(second.url).info(signal)), 'GatewayUnauthorized')
  t.ok(given.asked - before <= 1, 'a key that is wrong for good is no stream of requests')
})

void t.test('known credentials stay in use while the controller is down; without any, the fault says it is unreachable', async (t) => {
  let away = false
  const ahead = { ms: 0 }
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + ahead.ms }
  const fetchAccess = async (): Promise<GatewayAccess> => {
    if (away) throw new Fault('DeliveryUnreachable', 'no route')
    return { apiKey: 'k' }
  }
  const keeper = createAccessKeeper({ clock, fetchAccess })
  t.strictSame(await keeper.get(), { apiKey: 'k' })
  away = true
  ahead.ms = 3_600_000
  t.strictSame(await keeper.get(), { apiKey: 'k' })
  t.equal(await keeper.renew(), false)
  t.equal(await reasonOf(createAccessKeeper({ clock, fetchAccess }).get()), 'DeliveryUnreachable')
})
