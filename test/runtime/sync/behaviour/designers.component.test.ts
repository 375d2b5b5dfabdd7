/**
 * An open Designer holds back what would change files under it, against the simulator over HTTP.
 */
import t from 'tap'
import { systemClock } from '../../../../runtime/clock.ts'
import { connectGateway, type Gateway, type GatewayStatus } from '../../../../runtime/gateway/gateway.ts'
import { silentLog } from '../../../../runtime/log.ts'
import { apiKey, base, both, gatewayToSync } from '../../../support/gateway-to-sync.ts'
import { memorySource } from '../../../support/memory-source.ts'

void t.test('an open Designer holds back every write, and neither lock nor file is touched while it waits', async (t) => {
  const { sync, simulator, posts, read, write } = await gatewayToSync(t)
  const wait = { ...both, designerSessionPolicy: 'wait' as const }
  t.equal((await sync(base, wait)).phase, 'Synced')
  posts()
  simulator.setDesigners([{ user: 'ann', project: 'line' }])
  t.match(await sync({ ...base, 'config/a': '2' }, wait), { phase: 'Pending', reason: 'DesignerOpen', designers: ['ann in line'] })
  write('config/a', 'local')
  t.match(await sync(base, { ...wait, drift: 'restore' }), { phase: 'Pending', reason: 'DesignerOpen' }, 'a repair waits as well')
  t.same([read('config/a'), ...posts()], ['local'])
  t.match(await sync(base, { ...both, designerSessionPolicy: 'fail', drift: 'restore' }), { phase: 'Blocked', reason: 'DesignerOpen' })
  t.match(await sync(base, wait), { phase: 'Drifted' }, 'a cycle that writes nothing is not held back')
  simulator.setDesigners([])
  t.equal((await sync({ ...base, 'config/a': '2' }, wait)).phase, 'Synced')
  t.equal(read('config/a'), '2')
})

void t.test('a gateway that says nothing of its Designers counts as occupied', async (t) => {
  const { sync, simulator } = await gatewayToSync(t)
  simulator.failNext({ path: '/data/api/v1/designers', status: 403, times: 1 })
  const result = await sync(base, { ...both, designerSessionPolicy: 'wait' })
  t.match(result, { phase: 'Failed', reason: 'GatewayForbidden', message: /does not say whether a Designer is open/ })
})

void t.test('a Designer that opens while content is fetched holds the write back too', async (t) => {
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
  t.match(await sync(base, { ...both, designerSessionPolicy: 'wait' }, { deps }), { phase: 'Pending', reason: 'DesignerOpen' })
  t.same(posts(), [])
})
