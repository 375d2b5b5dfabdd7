import t from 'tap'
import {
  countGateways,
  type Gateway,
  type GatewayPod,
  type GatewayReport,
  type GatewayState,
  gatewaySyncOfPod,
  isOutdated,
  isUnreported,
  observeGateways,
  parseReport,
  withWaiting,
} from '../../../../runtime/reconcile/decide/gateways.ts'
import { podAnnotations } from '../../../../runtime/api/names.ts'
import { folderUnverifiedRule, startedWithoutCommitRule, type SyncReportStatus } from '../../../../runtime/api/schema/report.ts'
import { podHash } from '../../../../runtime/reconcile/rollout/stage-admission.ts'
import { keptReport } from '../../../../runtime/reconcile/decide/report-details.ts'
import type { RolloutStatus } from '../../../../runtime/api/schema/rollout-status.ts'
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
  matchObject(t, observe(podWith('gw-0', { agentDown: 'the agent exited: OOMKilled 137' })), {
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

void t.test('every field that decisions need is kept, and texts are cut', async (t) => {
  const known = {
    phase: 'Blocked',
    commit,
    syncHash: `v1-${'f'.repeat(64)}`,
    mode: { name: 'prod', from: 'IgnitionConf' },
    attempt: { commit, syncHash: `v1-${'e'.repeat(64)}` },
    reason: 'LocalChanges',
    message: 'a.json',
    agentVersion: '1.0.0',
    ignoredFields: ['sync.defaults.drift'],
  }
  const since = '2026-01-01T00:00:00Z'
  const unverified = { rule: folderUnverifiedRule, path: '', message: 'u'.repeat(257) }
  const more = { healthCheck: { state: 'Failed', since }, findings: [unverified], health: { since, newProblems: ['p'.repeat(257), 'q'] } }
  t.strictSame(parseReport('u', { ...known, ...more }).status, {
    ...known,
    health: { since, newProblem: 'p'.repeat(256) },
    healthCheck: 'Failed',
    unverified: 'u'.repeat(256),
    startedWithoutCommit: false,
  })
  for (const newProblems of [undefined, []]) {
    const health = newProblems === undefined ? { since } : { since, newProblems }
    t.strictSame(parseReport('u', { phase: 'Synced', health }).status?.health, { since })
  }
})

void t.test('details are kept only within bounds that are given', async (t) => {
  const status = { phase: 'Synced', gateway: 'press' }
  t.equal('details' in parseReport('u', status), false)
  t.strictSame(parseReport('u', status, keptReport).details, { gateway: 'press', remarks: [] })
  t.strictSame(parseReport('u', 'nonsense', keptReport), { podUid: 'u', status: undefined, malformed: true })
})

void t.test('a gateway has the commit, mode and folder of its report, and says why it is not synced', async (t) => {
  const outdated = (why: string, version = 'unknown') =>
    `the agent (version ${version}) does not match the controller: ${why}; recreate the pod`
  const [old, hash] = ['b'.repeat(40), `v1-${'f'.repeat(64)}`]
  const rows: [Partial<SyncReportStatus>, state: GatewayState, reason?: string, message?: string][] = [
    [{}, 'synced'],
    [{ phase: 'Paused', message: 'by hand', commit: old, reason: 'DiskFull' }, 'paused', 'Paused', 'by hand'],
    [{ phase: 'Failed', reason: 'InvalidSpec', message: 'bad' }, 'failed', 'InvalidSpec', 'bad'],
    [{ phase: 'Blocked', reason: 'InvalidSpec', message: 'bad' }, 'blocked', 'AgentOutdated', outdated('bad')],
    [{ phase: 'Pending', reason: 'InvalidSpec', agentVersion: '0.1' }, 'blocked', 'AgentOutdated', outdated('it refuses the spec', '0.1')],
    [{ phase: 'Blocked', reason: 'MassDeletion', message: '9 files', commit: old }, 'blocked', 'MassDeletion', '9 files'],
    [{ syncHash: hash }, 'pending', 'OldConfiguration', 'the agent has not applied the current spec yet'],
    [{ syncHash: `v2-${'f'.repeat(64)}` }, 'blocked', 'AgentOutdated', outdated('its report has a different format')],
    [{ commit: old }, 'pending', 'OldCommit', 'the agent has not applied the published commit yet'],
    [{ phase: 'DryRun', message: '3 files', commit: old }, 'dryRun', 'DryRun', '3 files'],
    [{ phase: 'Pending', reason: 'GatewayStarting', message: 'soon' }, 'pending', 'GatewayStarting', 'soon'],
    [{ phase: 'Syncing', message: 'soon' }, 'pending', 'Syncing', 'soon'],
    [
      { phase: 'Syncing', reason: 'TooManyRequests', message: 'soon', commit: old },
      'pending',
      'OldCommit',
      'the agent has not applied the published commit yet',
    ],
  ]
  for (const [status, state, reason, message] of rows) {
    const expected = { pod: 'gw-0', commit: status.commit ?? commit, mode: 'prod', state, reason, message }
    t.strictSame(stateOf({ mode: { name: 'prod', from: 'IgnitionConf' }, ...status }), expected, JSON.stringify(status))
  }
  t.equal(stateOf({ commit: undefined })?.reason, 'OldCommit', 'a report without a commit')
})

void t.test('without a report that can be read, a gateway says what is wrong with its agent', async (t) => {
  const nothing = { pod: 'gw-0', commit: undefined, mode: undefined }
  const malformed: [string, GatewayReport] = ['gw-0', parseReport('uid-gw-0', 'nonsense')]
  const missing = 'the pod requests an agent but has no working one; recreate the pod'
  t.strictSame(observe(podWith('gw-0', { injected: false, agentDown: 'ended' }), malformed), {
    ...nothing,
    state: 'missingAgent',
    reason: 'MissingAgent',
    message: missing,
  })
  t.strictSame(observe(podWith('gw-0', { agentDown: 'ended' }), malformed), {
    ...nothing,
    state: 'failed',
    reason: 'MalformedReport',
    message: 'the SyncReport is invalid',
  })
  t.strictSame(observe(podWith('gw-0', { agentDown: 'ended' })), { ...nothing, state: 'failed', reason: 'AgentDown', message: 'ended' })
  t.strictSame(observe(podWith('gw-0')), { ...nothing, state: 'pending', reason: 'NoReport', message: 'the agent has not reported yet' })
  t.strictSame(observe(podWith('gw-0'), reportWith('gw-0', { phase: 'Synced', commit }), {}), {
    ...nothing,
    commit,
    state: 'pending',
    reason: 'NothingPublished',
    message: 'no commit is published yet',
  })
})

void t.test('a gateway runs the configuration of the profile that its pod names', async (t) => {
  const of = (profile: string, status: Partial<SyncReportStatus> = {}) =>
    observe(
      podWith('gw-0', { annotations: { [podAnnotations.profile]: profile } }),
      reportWith('gw-0', { phase: 'Synced', commit, ...status }),
    )
  t.equal(of('default')?.state, 'synced')
  for (const unknown of ['line', 'toString']) {
    t.equal(of(unknown)?.reason, 'OldConfiguration', unknown)
    t.equal(of(unknown, { syncHash: `v2-${'f'.repeat(64)}` })?.reason, 'OldConfiguration', `${unknown}: nothing to compare`)
  }
  const { status } = parseReport('uid-gw-0', { phase: 'Synced', commit })
  t.equal(observe(podWith('gw-0'), ['gw-0', { podUid: 'uid-gw-0', status, malformed: false }])?.reason, 'OldConfiguration', 'no hash')
})

void t.test('a gateway that is behind waits for its stage until the rollout admits it', async (t) => {
  const behind = (pod: string, reason: string | undefined, state: GatewayState = 'pending'): Gateway => ({
    pod,
    state,
    reason,
    message: undefined,
    commit,
    mode: undefined,
  })
  const at = '2026-01-01T00:00:00Z'
  const rollout: RolloutStatus = { state: 'Progressing', id: at, commit, configurations: {}, startedAt: at, allowed: [podHash('admitted')] }
  const message = 'it keeps its commit until its stage starts'
  for (const reason of ['OldCommit', 'OldConfiguration', 'WaitsForStage']) {
    const gateway = behind('gw', reason)
    t.strictSame(withWaiting([gateway], rollout), [{ ...gateway, state: 'waiting', reason: 'WaitsForStage', message }], reason)
    const staged = withWaiting([gateway], { ...rollout, stage: 'test' })
    t.strictSame(staged, [{ ...gateway, state: 'waiting', reason: 'WaitsForStage', message: `${message}; stage test is in progress` }])
    const kept = [behind('admitted', reason), behind('gw', reason, 'failed')]
    t.strictSame(withWaiting(kept, rollout), kept)
    for (const other of [undefined, { ...rollout, state: 'Done' } as const]) t.strictSame(withWaiting([gateway], other), [gateway])
  }
  const others = ['NoReport', undefined].map((reason) => behind('gw', reason))
  t.strictSame(withWaiting(others, rollout), others)
})

void t.test('each state has its counter', async (t) => {
  const none = { synced: 0, pending: 0, failed: 0, blocked: 0, drifted: 0, dryRun: 0, paused: 0, missingAgent: 0 }
  const gateway = (state: GatewayState): Gateway => ({ pod: state, state, reason: undefined, message: undefined, commit, mode: undefined })
  t.strictSame(countGateways([]), { total: 0, ...none })
  for (const state of [...(Object.keys(none) as GatewayState[]), 'waiting'] satisfies GatewayState[])
    t.strictSame(countGateways([gateway(state), gateway(state)]), { total: 2, ...none, [state]: 2 }, state)
  t.strictSame([isUnreported(gateway('pending')), isOutdated(gateway('blocked'))], [false, false])
})
