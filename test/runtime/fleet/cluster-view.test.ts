/**
 * What the page of a hub keeps of the GatewaySyncs of another cluster, whose content may be anything.
 */
import t from 'tap'
import { clusterSync, clusterView } from '../../../runtime/fleet/cluster-view.ts'
import type { GatewaySyncStatus } from '../../../runtime/api/schema/status.ts'
import { commit, condition, counts, syncFacts } from '../../support/fleet-facts.ts'

const gateways = counts({ total: 3, synced: 2, failed: 1 })

void t.test('a GatewaySync keeps readiness, published commit and counts, and nothing of its spec', async (t) => {
  const conditions = [condition('Ready', 'False', 'GatewaysFailed', `1 of 3 failed at ${commit}`)]
  const { published, ...row } = clusterSync(syncFacts('line-1', { gateways, conditions }))
  t.strictSame(row, {
    namespace: 'plant-a',
    name: 'line-1',
    level: 'error',
    ready: 'False',
    reason: 'GatewaysFailed',
    message: '1 of 3 failed at 1a2b3c4d',
    counts: { total: 3 },
    upToDate: 2,
  })
  t.strictSame({ ...published, at: '' }, { commit, ref: 'main', at: '' })
})

void t.test('texts are cut, and a status of an unknown form is shown as unknown', async (t) => {
  const long = { conditions: [condition('Ready', 'False', 'R'.repeat(9_000), 'm'.repeat(9_000))] }
  const row = clusterSync(syncFacts('n'.repeat(9_000), long))
  t.strictSame(
    [row.name, row.reason, row.message].map(({ length }) => length),
    [253, 64, 300],
  )
  for (const strange of [
    { conditions: 'none' },
    { conditions: [{ ...condition('Ready', 'True', 'Synced', ''), status: 'Perhaps' }] },
    { gateways: { total: '<script>' } },
    { published: { commit: { toString: 'x' }, ref: 'main', at: '' } },
  ]) {
    const { reason, ready, level, name } = clusterSync(syncFacts('line-1', strange as unknown as GatewaySyncStatus))
    t.strictSame({ reason, ready, level, name }, { reason: 'Unexpected', ready: 'Unknown', level: 'warning', name: 'line-1' })
  }
})

void t.test('problems come first, and a cluster that cannot be read needs attention', async (t) => {
  const row = (name: string, reason: string) =>
    clusterSync(syncFacts(name, { conditions: [condition('Ready', reason === 'Synced' ? 'True' : 'False', reason, '')] }))
  const cluster = { name: 'b', url: undefined, truncated: false, seenAt: '2026-03-01T12:00:00Z', failure: undefined }
  const syncs = [row('z', 'Synced'), row('a', 'Synced'), row('m', 'GatewaysFailed'), row('k', 'Paused')]
  const view = clusterView({ ...cluster, syncs })
  t.strictSame(
    view.syncs.map(({ name }) => name),
    ['m', 'k', 'a', 'z'],
  )
  t.equal(view.level, 'error')
  const ready = [row('a', 'Synced')]
  t.equal(clusterView({ ...cluster, syncs: ready }).level, 'ok')
  t.equal(clusterView({ ...cluster, syncs: [], seenAt: undefined }).level, 'working')
  t.equal(clusterView({ ...cluster, syncs: ready, failure: { reason: 'ApiUnavailable', message: '' } }).level, 'error')
})
