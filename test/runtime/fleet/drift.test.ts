/**
 * Drift as agents report it, by gateway: changed gateways with their files, and gateways without a report.
 */
import t from 'tap'
import { driftText, fleetDrift } from '../../../runtime/fleet/drift.ts'
import { matchObject } from '../../support/assertions.ts'
import { commit, fleetFacts, now, pod, report, syncFacts } from '../../support/fleet-facts.ts'

const style = { width: 120, color: false, symbols: false }
const drift = { count: 3, paths: ['projects/line/a.txt', 'projects/line/b.txt'] }

void t.test('changed gateways are listed with their files, unchanged ones are counted, silent ones are named', async (t) => {
  const facts = fleetFacts({
    syncs: [syncFacts('plant')],
    pods: ['gw-0', 'gw-1', 'gw-2'].map((name) => pod(name, 'plant')),
    reports: [report('gw-0', 'plant', { phase: 'Drifted', gateway: 'press', drift }), report('gw-1', 'plant')],
  })
  const rows = fleetDrift(facts, now)
  t.strictSame(
    rows.map(({ pod, gateway, count, paths }) => ({ pod, gateway, count, paths })),
    [
      { pod: 'gw-0', gateway: 'press', ...drift },
      { pod: 'gw-1', gateway: 'gw-1', count: 0, paths: [] },
      { pod: 'gw-2', gateway: undefined, count: undefined, paths: [] },
    ],
  )
  t.strictSame(driftText(rows, style), [
    `plant-a/gw-0 (press): 3 files changed or deleted since commit ${commit.slice(0, 8)}`,
    '  projects/line/a.txt',
    '  projects/line/b.txt',
    '  … 1 more',
    'plant-a/gw-2: unknown, its agent has not reported',
    '1 of 3 gateways with local changes, 1 without, 1 unknown',
  ])
})

void t.test('a report for another GatewaySync does not count', async (t) => {
  const facts = fleetFacts({ syncs: [syncFacts('plant')], pods: [pod('gw-0', 'plant')], reports: [report('gw-0', 'other', { drift })] })
  matchObject(t, fleetDrift(facts, now), [{ pod: 'gw-0', count: undefined, paths: [] }])
})
