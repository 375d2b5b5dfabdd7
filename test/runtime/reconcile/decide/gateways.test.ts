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
} from '../../../../runtime/reconcile/decide/gateways.ts'
import { podAnnotations } from '../../../../runtime/api/names.ts'
import { folderUnverifiedRule, startedWithoutCommitRule, type SyncReportStatus } from '../../../../runtime/api/schema/report.ts'
import { matchObject } from '../../../support/assertions.ts'
import { podWith, reportWith, specWith } from '../../../support/gatewaysync.ts'

const commit = 'a'.repeat(40)
const spec = specWith()

function observe(pod: GatewayPod, report?: [string, GatewayReport], published: { commit?: string } = { commit }) {
  const [gateway] = observeGateways(spec, published.commit, [pod], new Map(report === undefined ? [] : [report]))
  return gateway
}

/** Returns the state of a gateway that reports the published commit, changed by `status`. */
function stateOf(status: Partial<SyncReportStatus>) {
  return observe(podWith('gw-0'), reportWith('gw-0', { phase: 'Synced', commit, ...status }))
}

void t.test('a gateway with the desired commit and configuration has the state of its report', async (t) => {
  const rows: [string, Partial<SyncReportStatus>, object][] = [
    ['synced', {}, { state: 'synced', reason: undefined }],
    ['drifted', { phase: 'Drifted', message: '2 files' }, { state: 'drifted', reason: 'Drifted', message: '2 files' }],
    ['a dry run', { phase: 'DryRun' }, { state: 'dryRun', reason: 'DryRun' }],
    ['under way', { phase: 'Syncing' }, { state: 'pending', reason: 'Syncing' }],
    ['another commit', { commit: 'b'.repeat(40) }, { state: 'pending', reason: 'OldCommit' }],
    ['a dry run of another commit', { phase: 'DryRun', commit: 'b'.repeat(40) }, { state: 'dryRun' }],
    [
      'refused for now, with an older commit',
      { phase: 'Pending', reason: 'TooManyRequests', message: 'later', commit: 'b'.repeat(40) },
      { state: 'pending', reason: 'TooManyRequests', message: 'later' },
    ],
    [
      'waiting for another reason',
      { phase: 'Pending', reason: 'GatewayStarting', commit: 'b'.repeat(40) },
      { state: 'pending', reason: 'OldCommit' },
    ],
    [
      'an older commit and an earlier refusal',
      { phase: 'Synced', reason: 'TooManyRequests', commit: 'b'.repeat(40) },
      { state: 'pending', reason: 'OldCommit' },
    ],
    ['another configuration', { syncHash: `v1-${'f'.repeat(64)}` }, { state: 'pending', reason: 'OldConfiguration' }],
    ['a hash of another rule', { syncHash: `v2-${'f'.repeat(64)}` }, { state: 'blocked', reason: 'AgentOutdated' }],
  ]
  for (const [name, status, expected] of rows) matchObject(t, stateOf(status), expected, name)
})

void t.test('a failure, block or pause counts for any reported commit and configuration', async (t) => {
  const old = { commit: 'b'.repeat(40), syncHash: `v1-${'f'.repeat(64)}` }
  matchObject(t, stateOf({ ...old, phase: 'Failed', reason: 'DiskFull', message: 'no space' }), { state: 'failed', reason: 'DiskFull' })
  matchObject(t, stateOf({ ...old, phase: 'Blocked', reason: 'MassDeletion' }), { state: 'blocked', reason: 'MassDeletion' })
  matchObject(t, stateOf({ ...old, phase: 'Paused' }), { state: 'paused', reason: 'Paused' })
})

void t.test('an unverified folder is known with its cause, only while the report has the finding', async (t) => {
  const finding = { rule: folderUnverifiedRule, path: '', message: 'a sync was interrupted' }
  const failed = { phase: 'Failed', reason: 'DiskFull', message: 'no space' } as const
  matchObject(t, stateOf({ ...failed, findings: [finding] }), { state: 'failed', unverified: 'a sync was interrupted' })
  t.equal(stateOf({ ...failed, findings: [{ ...finding, rule: 'local-change' }] })?.unverified, undefined)
})

void t.test('a gateway without a usable report is pending, failed or without an agent, with a reason', async (t) => {
  matchObject(t, observe(podWith('gw-0')), { state: 'pending', reason: 'NoReport' })
  matchObject(t, observe(podWith('gw-0', { agentDown: 'the agent ended: OOMKilled 137' })), {
    state: 'failed',
    reason: 'AgentDown',
    message: /OOM/,
  })
  matchObject(t, observe(podWith('gw-0', { injected: false })), { state: 'missingAgent', reason: 'MissingAgent' })
  matchObject(t, observe(podWith('gw-0'), ['gw-0', parseReport('uid-gw-0', 'nonsense')]), { state: 'failed', reason: 'MalformedReport' })
  matchObject(t, observe(podWith('gw-0'), reportWith('gw-0', { phase: 'Synced', commit }), {}), {
    state: 'pending',
    reason: 'NothingPublished',
  })
})

void t.test('a report counts only for the pod with its UID, not for a later pod of the same name', async (t) => {
  const report = reportWith('gw-0', { phase: 'Synced', commit })
  matchObject(t, observe(podWith('gw-0'), report), { state: 'synced' })
  matchObject(t, observe(podWith('gw-0', { uid: 'another' }), report), { state: 'pending', reason: 'NoReport' })
})

void t.test('an agent is outdated if it ignores a field that the spec sets, not if the field is unset', async (t) => {
  const status = { phase: 'Synced', commit, syncHash: `v1-${'f'.repeat(64)}`, agentVersion: '0.0.9' } as const
  const set = stateOf({ ...status, ignoredFields: ['sync.profiles.default.mappings'] })
  matchObject(t, set, {
    state: 'blocked',
    message: /version 0\.0\.9.*does not support spec\.sync\.profiles\.default\.mappings.*recreate the pod/,
  })
  t.equal(set !== undefined && isOutdated(set), true)
  for (const [path, reason] of [
    ['sync.defaults.drift', 'OldConfiguration'],
    ['sync.profiles.default.mappings[0].source', 'AgentOutdated'],
    ['sync.profiles.default.mappings[0].unknown', 'OldConfiguration'],
    ['sync.profiles.default.mappings[0].source.deeper', 'OldConfiguration'],
    ['sync.profiles.default.mappings[9].source', 'OldConfiguration'],
    ['sync.unknown.deeper.still', 'OldConfiguration'],
  ] as const)
    matchObject(t, stateOf({ ...status, ignoredFields: [path] }), { reason }, path)
})

void t.test('gateways are sorted by name, without terminating ones', async (t) => {
  const pods = [podWith('gw-2'), podWith('gw-0'), podWith('gw-1', { terminating: true })]
  const gateways = observeGateways(spec, commit, pods, new Map())
  t.strictSame(
    gateways.map(({ pod }) => pod),
    ['gw-0', 'gw-2'],
  )
  t.ok(gateways.every(isUnreported))
  matchObject(t, countGateways(gateways), { total: 2, pending: 2, synced: 0 })
})

void t.test('a pod follows the GatewaySync that it names, else the only one of its namespace', async (t) => {
  t.equal(gatewaySyncOfPod({ [podAnnotations.gatewaySync]: 'named' }, 'only'), 'named')
  t.equal(gatewaySyncOfPod({ [podAnnotations.gatewaySync]: '' }, 'only'), 'only')
  t.equal(gatewaySyncOfPod({}, 'only'), 'only')
  t.equal(gatewaySyncOfPod({}, undefined), undefined)
})

void t.test('only the report fields that decisions need are kept', async (t) => {
  const findings = [{ rule: startedWithoutCommitRule, path: '', message: 'm' }]
  t.strictSame(parseReport('u', { phase: 'Synced', commit, projects: ['line'], findings }), {
    podUid: 'u',
    malformed: false,
    status: { phase: 'Synced', commit, startedWithoutCommit: true },
  })
  const other = [{ rule: 'a-rule', path: '', message: 'm' }]
  t.equal(parseReport('u', { phase: 'Synced', findings: [...other, ...findings] }).status?.startedWithoutCommit, true)
  t.equal(parseReport('u', { phase: 'Synced', findings: other }).status?.startedWithoutCommit, false)
  t.equal(parseReport('u', { phase: 'Synced' }).status?.startedWithoutCommit, false)
  t.strictSame(parseReport('u', undefined), { podUid: 'u', status: undefined, malformed: false })
  t.strictSame(parseReport(undefined, { phase: 'Synced' }), { podUid: '', status: undefined, malformed: true })
})
