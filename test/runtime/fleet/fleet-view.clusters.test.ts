/**
 * The merged view of several clusters, and the commands that it suggests for each.
 */
import t from 'tap'
import { fleetView, clustersView } from '../../../runtime/fleet/fleet-view.ts'
import { fleetText, syncText } from '../../../runtime/fleet/status-text.ts'
import type { ClusterFailure } from '../../../runtime/fleet/view.ts'
import { matchObject } from '../../support/assertions.ts'
import { condition, fleetFacts, now, pod, syncFacts } from '../../support/fleet-facts.ts'
import { named } from '../../../runtime/fleet/steps.ts'

const plain = { width: 120, color: false, symbols: false }
const answer = (context: string, facts: Parameters<typeof fleetFacts>[0]) => ({
  context,
  view: fleetView(fleetFacts({ ...facts, context }), now),
})
const failure: ClusterFailure = { context: 'north', reason: 'ApiUnavailable', message: 'no answer', next: 'Check the network.' }

void t.test('a failure is a row and a paragraph, and nothing is ready', async (t) => {
  const view = clustersView([failure, answer('south', { syncs: [syncFacts('line-1')] })], now)
  matchObject(t, view, { allReady: false, level: 'error', failures: [failure] })
  const explanation = ['north cannot be read (ApiUnavailable)', '  no answer', '  -> Check the network.']
  t.strictSame(fleetText(view, now, plain), [
    'CONTEXT  NAMESPACE  NAME    READY    REF   COMMIT    GATEWAYS  PUBLISHED  WHY',
    'south    plant-a    line-1  yes      main  1a2b3c4d  1/1       3m         Synced',
    'north    -          -       unknown  -     -         -         -          ApiUnavailable',
    '',
    ...explanation,
    '',
    '1 of 1 GatewaySync is ready; 1 of 1 gateways run the published commit. 1 of 2 clusters cannot be read.',
  ])
  const none = clustersView([failure], now)
  t.equal(none.summary, '1 of 1 clusters cannot be read.')
  t.strictSame(syncText(none, now, plain), explanation)
})

void t.test('without a failure the view is that of all GatewaySyncs, and notes name their cluster', async (t) => {
  const [north, south] = [answer('north', { notes: ['no pods'] }), answer('south', { syncs: [syncFacts('line-1')] })]
  const view = clustersView([north, south], now)
  matchObject(t, view, { allReady: true, level: 'ok', notes: ['north: no pods'], syncs: [{ context: 'south', name: 'line-1' }] })
  t.notOk('failures' in view)
})

void t.test('each suggested command names the context', async (t) => {
  const conditions = [condition('Ready', 'False', 'GatewaysFailed', '1 of 1')]
  const pods = [pod('gw-0', 'line-1', { injected: false })]
  const [failed] = answer('plant b', { syncs: [syncFacts('line-1', { conditions })], pods }).view.syncs
  t.match(failed?.next.join('\n'), /: kubectl --context 'plant b' -n plant-a delete pod gw-0$/m)
  const place = { namespace: 'plant-a', name: 'line-1' }
  t.equal(named(place), 'line-1 -n plant-a')
  t.equal(named({ ...place, context: 'admin@plant' }), 'line-1 -n plant-a --context admin@plant')
})
