/**
 * Tests that an open Designer holds back changes, with the gateway simulator over HTTP.
 */
import t from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { connectGateway, type Gateway, type GatewayStatus } from '../../../../runtime/gateway/gateway.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { matchObject } from '../../../support/assertions.ts'
import { apiKey, base, both, gatewayToSync } from '../../../support/gateway-to-sync.ts'
import { memorySource } from '../../../support/memory-source.ts'

void t.test('an open Designer holds back every write, and neither lock nor files change while it waits', async (t) => {
  const { sync, simulator, posts, read, write } = await gatewayToSync(t)
  const wait = { ...both, designerSessionPolicy: 'Wait' as const }
  t.equal((await sync(base, wait)).phase, 'Synced')
  posts()
  simulator.setDesigners([{ user: 'ann', project: 'line' }])
  matchObject(t, await sync({ ...base, 'config/a': '2' }, wait), { phase: 'Pending', reason: 'DesignerOpen', designers: ['ann in line'] })
  write('config/a', 'local')
  matchObject(t, await sync(base, { ...wait, drift: 'Restore' }), { phase: 'Pending', reason: 'DesignerOpen' }, 'a repair waits as well')
  t.strictSame([read('config/a'), ...posts()], ['local'])
  matchObject(t, await sync(base, { ...both, designerSessionPolicy: 'Fail', drift: 'Restore' }), {
    phase: 'Blocked',
    reason: 'DesignerOpen',
  })
  matchObject(t, await sync(base, wait), { phase: 'Drifted' }, 'a cycle that writes nothing is not held back')
  simulator.setDesigners([])
  t.equal((await sync({ ...base, 'config/a': '2' }, wait)).phase, 'Synced')
  t.equal(read('config/a'), '2')
})

void t.test('a gateway that does not report its Designers counts as having one open', async (t) => {
  const { sync, simulator } = await gatewayToSync(t)
  simulator.failNext({ path: '/data/api/v1/designers', status: 403, times: 1 })
  const result = await sync(base, { ...both, designerSessionPolicy: 'Wait' })
  matchObject(t, result, { phase: 'Failed', reason: 'GatewayForbidden', message: /does not report whether a Designer is open/ })
})

void t.test('a Designer that opens during the fetch also holds back the write', async (t) => {
  const { sync, simulator, posts } = await gatewayToSync(t)
  let status: GatewayStatus = 'unreachable'
  const source = memorySource()
  const opening = (gateway: Gateway): Gateway => ({ ...gateway, status: async () => status })
  const connected = connectGateway({ url: simulator.url, apiKey: async () => apiKey, clock: systemClock, log: silentLog })
  source.commit(base)
  const files: typeof source.files = async (request, sink, own) => {
    await source.files(request, sink, own)
    status = 'running'
    simulator.setDesigners([{ user: 'ann', project: '' }])
  }
  const deps = { gateway: opening(connected), source: { ...source, files } }
  matchObject(t, await sync(base, { ...both, designerSessionPolicy: 'Wait' }, { deps }), { phase: 'Pending', reason: 'DesignerOpen' })
  t.strictSame(posts(), [])
})
