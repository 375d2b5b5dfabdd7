/**
 * Tests what the conditions say about gateways: how many are synced, and which are not and why.
 */
import t from 'tap'
import type { Gateway, GatewayState } from '../../../../runtime/reconcile/decide/gateways.ts'
import type { GatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'
import { matchObject } from '../../../support/assertions.ts'
import { gateway, gatewaysIn, type Given, rollout, shown, summary } from '../../../support/summarized.ts'

void t.test('at most five gateways are named, and the others are counted', async (t) => {
  const gateways = Array.from({ length: 8 }, (_, index) => gateway(`gw-${index}`, 'failed', 'DiskFull', 'no space'))
  const message = summary({ gateways })['GatewaysSynced']?.message ?? ''
  t.match(message, /^8 of 8 gateways: gw-0: DiskFull, no space; gw-1: .*; and 3 more$/)
  t.notMatch(message, /gw-5/)
})

void t.test('of several gateway states the most severe is reported', async (t) => {
  const gravest: GatewayState[] = ['failed', 'blocked', 'missingAgent', 'pending', 'waiting', 'paused', 'dryRun']
  const reasons = ['GatewaysFailed', 'GatewaysBlocked', 'MissingAgent', 'GatewaysPending', 'GatewaysWaiting', 'Paused', 'DryRun']
  for (const [index, reason] of reasons.entries()) {
    const gateways = [gateway('ok', 'synced'), ...gravest.slice(index).map((state) => gateway(state, state))]
    matchObject(t, summary({ gateways })['GatewaysSynced'], { status: 'False', reason }, reason)
  }
})

void t.test('GatewaysSynced counts the gateways, and names a stopped rollout or a pause only where one matters', async (t) => {
  const stopped = (message?: string): GatewaySyncStatus['rollout'] => ({
    ...rollout,
    state: 'Stopped',
    reason: 'RolloutAborted',
    ...(message === undefined ? {} : { message }),
  })
  const failed = '1 of 1 gateways: gw-0: Reason, message'
  const paused = { spec: { paused: true } }
  const rows: [string, Given, [string, string]][] = [
    ['none, a commit is published', {}, ['True NoGateways', 'no gateway follows this GatewaySync yet']],
    ['none, no commit is published', { lacks: ['published'] }, ['Unknown NothingPublished', 'no commit is published yet']],
    ['not counted', { lacks: ['gateways'] }, ['True NoGateways', 'no gateway follows this GatewaySync yet']],
    ['all synced', { gateways: gatewaysIn('synced', 'synced') }, ['True Synced', '2 of 2 gateways run the published commit']],
    [
      'some with local changes',
      { gateways: gatewaysIn('synced', 'drifted', 'drifted') },
      ['True Synced', '3 of 3 gateways run the published commit, 2 of them with local changes'],
    ],
    ['all synced, paused', { ...paused, gateways: gatewaysIn('synced') }, ['False Paused', 'spec.paused is true']],
    ['one failed, paused', { ...paused, gateways: gatewaysIn('failed') }, ['False GatewaysFailed', failed]],
    ['one waits', { gateways: gatewaysIn('waiting') }, ['False GatewaysWaiting', failed]],
    [
      'one failed in a stopped rollout',
      { gateways: gatewaysIn('failed'), status: { rollout: stopped('stop') } },
      ['False RolloutAborted', 'stop'],
    ],
    [
      'a stopped rollout without a message',
      { gateways: gatewaysIn('pending'), status: { rollout: stopped() } },
      ['False RolloutAborted', ''],
    ],
    [
      'all synced in a stopped rollout',
      { gateways: gatewaysIn('synced'), status: { rollout: stopped('stop') } },
      ['True Synced', '1 of 1 gateways run the published commit'],
    ],
    [
      'one failed after a rollback',
      { gateways: gatewaysIn('failed'), status: { rollout: { ...rollout, state: 'RolledBack' } } },
      ['False GatewaysFailed', failed],
    ],
  ]
  for (const [name, given, expected] of rows) t.strictSame(shown(summary(given)['GatewaysSynced']), expected, name)
})

void t.test('a gateway is named with its reason and message if it has them, and one more than five is counted', async (t) => {
  const message = (gateways: Gateway[]) => summary({ gateways })['GatewaysSynced']?.message
  t.equal(
    message([gateway('a', 'failed'), gateway('b', 'failed', 'Why'), gateway('c', 'failed', undefined, 'how')]),
    '3 of 3 gateways: a; b: Why; c: how',
  )
  const named = (count: number) => Array.from({ length: count }, (_, index) => `gw-${index}: Reason, message`).join('; ')
  t.equal(message(gatewaysIn(...Array<GatewayState>(5).fill('failed'))), `5 of 5 gateways: ${named(5)}`)
  t.equal(message(gatewaysIn(...Array<GatewayState>(6).fill('failed'))), `6 of 6 gateways: ${named(5)}; and 1 more`)
  t.equal(message([...gatewaysIn('failed'), gateway('ok', 'synced')]), `1 of 2 gateways: ${named(1)}`)
})

void t.test('AgentsInjected names the gateways without an agent, else those with an outdated one', async (t) => {
  const outdated = gateway('old', 'blocked', 'AgentOutdated', 'recreate the pod')
  const agents = (gateways: Gateway[], status: GatewaySyncStatus = {}) => shown(summary({ gateways, status })['AgentsInjected'])
  t.strictSame(agents(gatewaysIn('failed')), ['True Injected', 'every pod that requests an agent has one'])
  t.strictSame(agents([outdated, ...gatewaysIn('missingAgent')], { outdatedAgents: 1 }), [
    'False MissingAgent',
    '1 of 2 gateways: gw-0: Reason, message',
  ])
  t.strictSame(agents([outdated, gateway('ok', 'synced')], { outdatedAgents: 1 }), [
    'False AgentOutdated',
    '1 of 2 gateways: old: AgentOutdated, recreate the pod',
  ])
  t.strictSame(agents([outdated], { outdatedAgents: 0 }), ['True Injected', 'every pod that requests an agent has one'])
})
