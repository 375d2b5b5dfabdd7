import t from 'tap'
import {
  countGateways,
  type GatewayPod,
  type GatewayReport,
  gatewaySyncOfPod,
  isOutdated,
  isUnreported,
  observeGateways,
  parseReport,
} from '../../../runtime/gatewaysync/decide/gateways.ts'
import { podAnnotations } from '../../../runtime/gatewaysync/names.ts'
import { startedWithoutCommitRule, type SyncReportStatus } from '../../../runtime/gatewaysync/schema/report.ts'
import { podWith, reportWith, specWith } from '../../support/gatewaysync.ts'

const commit = 'a'.repeat(40)
const spec = specWith()

function observe(pod: GatewayPod, report?: [string, GatewayReport], published: { commit?: string } = { commit }) {
  const [gateway] = observeGateways(spec, published.commit, [pod], new Map(report === undefined ? [] : [report]))
  return gateway
}

/** The state of a gateway that reports the published commit but for `status`. */
function stateOf(status: Partial<SyncReportStatus>) {
  return observe(podWith('gw-0'), reportWith('gw-0', { phase: 'Synced', commit, ...status }))
}

void t.test('a gateway is in the state that its report says, once commit and configuration are the wanted ones', async (t) => {
  const rows: [string, Partial<SyncReportStatus>, object][] = [
    ['synced', {}, { state: 'synced', reason: undefined }],
    ['drifted', { phase: 'Drifted', message: '2 files' }, { state: 'drifted', reason: 'Drifted', message: '2 files' }],
    ['a dry run', { phase: 'DryRun' }, { state: 'dryRun', reason: 'DryRun' }],
    ['under way', { phase: 'Syncing' }, { state: 'pending', reason: 'Syncing' }],
    ['another commit', { commit: 'b'.repeat(40) }, { state: 'pending', reason: 'OldCommit' }],
    ['a dry run of another commit', { phase: 'DryRun', commit: 'b'.repeat(40) }, { state: 'dryRun' }],
    ['another configuration', { syncHash: `v1-${'f'.repeat(64)}` }, { state: 'pending', reason: 'OldConfiguration' }],
    ['a hash of another rule', { syncHash: `v2-${'f'.repeat(64)}` }, { state: 'blocked', reason: 'AgentOutdated' }],
  ]
  for (const [name, status, expected] of rows) t.match(stateOf(status), expected, name)
})

void t.test('a failure, a block and a pause count whatever commit and configuration the report is about', async (t) => {
  const old = { commit: 'b'.repeat(40), syncHash: `v1-${'f'.repeat(64)}` }
  t.match(stateOf({ ...old, phase: 'Failed', reason: 'DiskFull', message: 'no space' }), { state: 'failed', reason: 'DiskFull' })
  t.match(stateOf({ ...old, phase: 'Blocked', reason: 'MassDeletion' }), { state: 'blocked', reason: 'MassDeletion' })
  t.match(stateOf({ ...old, phase: 'Paused' }), { state: 'paused', reason: 'Paused' })
})

void t.test('a gateway without a word of its agent is pending, failed or without an agent, and says why', async (t) => {
  t.match(observe(podWith('gw-0')), { state: 'pending', reason: 'NoReport' })
  t.match(observe(podWith('gw-0', { agentDown: 'the agent ended: OOMKilled 137' })), {
    state: 'failed',
    reason: 'AgentDown',
    message: /OOM/,
  })
  t.match(observe(podWith('gw-0', { injected: false })), { state: 'missingAgent', reason: 'MissingAgent' })
  t.match(observe(podWith('gw-0'), ['gw-0', parseReport('uid-gw-0', 'nonsense')]), { state: 'failed', reason: 'MalformedReport' })
  t.match(observe(podWith('gw-0'), reportWith('gw-0', { phase: 'Synced', commit }), {}), {
    state: 'pending',
    reason: 'NothingPublished',
  })
})

void t.test('a report counts for the pod of its uid only, not for one that took its name', async (t) => {
  const report = reportWith('gw-0', { phase: 'Synced', commit })
  t.match(observe(podWith('gw-0'), report), { state: 'synced' })
  t.match(observe(podWith('gw-0', { uid: 'another' }), report), { state: 'pending', reason: 'NoReport' })
})

void t.test('an agent that ignores a field which the spec sets is outdated, and one that ignores an unset one is not', async (t) => {
  const status = { phase: 'Synced', commit, syncHash: `v1-${'f'.repeat(64)}`, agentVersion: '0.0.9' } as const
  const set = stateOf({ ...status, ignoredFields: ['sync.profiles.default.mappings'] })
  t.match(set, { state: 'blocked', message: /version 0\.0\.9.*does not know spec\.sync\.profiles\.default\.mappings.*recreate the pod/ })
  t.equal(set !== undefined && isOutdated(set), true)
  t.match(stateOf({ ...status, ignoredFields: ['sync.defaults.drift'] }), { state: 'pending', reason: 'OldConfiguration' })
})

void t.test('gateways come in the order of their names, without those that terminate', async (t) => {
  const pods = [podWith('gw-2'), podWith('gw-0'), podWith('gw-1', { terminating: true })]
  const gateways = observeGateways(spec, commit, pods, new Map())
  t.same(
    gateways.map(({ pod }) => pod),
    ['gw-0', 'gw-2'],
  )
  t.ok(gateways.every(isUnreported))
  t.match(countGateways(gateways), { total: 2, pending: 2, synced: 0 })
})

void t.test('a pod follows the GatewaySync that it names, else the only one of its namespace', async (t) => {
  t.equal(gatewaySyncOfPod({ [podAnnotations.gatewaySync]: 'named' }, 'only'), 'named')
  t.equal(gatewaySyncOfPod({ [podAnnotations.gatewaySync]: '' }, 'only'), 'only')
  t.equal(gatewaySyncOfPod({}, 'only'), 'only')
  t.equal(gatewaySyncOfPod({}, undefined), undefined)
})

void t.test('of a report only what decisions need is kept', async (t) => {
  const findings = [{ rule: startedWithoutCommitRule, path: '', message: 'm' }]
  t.same(parseReport('u', { phase: 'Synced', commit, projects: ['line'], findings }), {
    podUid: 'u',
    malformed: false,
    status: { phase: 'Synced', commit, startedWithoutCommit: true },
  })
  t.same(parseReport('u', undefined), { podUid: 'u', status: undefined, malformed: false })
  t.same(parseReport(undefined, { phase: 'Synced' }), { podUid: '', status: undefined, malformed: true })
})
