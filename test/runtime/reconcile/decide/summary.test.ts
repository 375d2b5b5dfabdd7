import t from 'tap'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { countGateways, type Gateway, type GatewayState } from '../../../../runtime/reconcile/decide/gateways.ts'
import { summarize, summarizeInvalid } from '../../../../runtime/reconcile/decide/summary.ts'
import type { GatewaySyncSpecInput } from '../../../../runtime/api/schema/spec.ts'
import type { Condition, GatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'
import { matchObject } from '../../../support/assertions.ts'
import { specWith } from '../../../support/gatewaysync.ts'

const at = '2026-01-01T00:00:00Z'
const [commit, older] = ['a'.repeat(40), 'b'.repeat(40)]
const followed: GatewaySyncStatus = { source: { ref: 'main', commit }, published: { commit, ref: 'main', at } }

type Given = {
  spec?: Partial<GatewaySyncSpecInput>
  status?: GatewaySyncStatus
  gateways?: Gateway[]
  fault?: Fault
  pending?: boolean
}

/** Returns the conditions by type for a healthy GatewaySync with the given changes. */
function summary({ spec = {}, status = {}, gateways = [], fault, pending = false }: Given): Record<string, Condition> {
  const whole = { ...followed, gateways: countGateways(gateways), ...status }
  const conditions = summarize({ generation: 1, spec: specWith(spec), gateways, fault, pending, status: whole, at }, [])
  return Object.fromEntries(conditions.map((condition) => [condition.type, condition]))
}

function gateway(pod: string, state: GatewayState, reason?: string, message?: string): Gateway {
  return { pod, state, reason, message, commit: undefined, mode: undefined }
}

const words = (conditions: Record<string, Condition>): Record<string, string> =>
  Object.fromEntries(Object.entries(conditions).map(([type, { status, reason }]) => [type, `${status} ${reason}`]))

const well = {
  Ready: 'True NoGateways',
  SourceReady: 'True Fetched',
  CollectionsValid: 'True NotValidated',
  GatewaysSynced: 'True NoGateways',
  AgentsInjected: 'True Injected',
}

const rollout = { id: at, commit, configurations: {}, startedAt: at }

void t.test('conditions follow from the observation, and Ready repeats the first one that is not true', async (t) => {
  const held: GatewaySyncStatus = {
    source: { ref: 'main', commit, held: 'CollectionsInvalid' },
    published: { commit: older, ref: 'main', at },
    findings: { errors: 1, warnings: 0, items: [{ rule: 'r', severity: 'error', path: 'p', message: 'm' }] },
  }
  const rows: [string, Given, Record<string, string>][] = [
    ['all is well', {}, {}],
    ['one gateway', { gateways: [gateway('gw', 'synced')] }, { Ready: 'True Synced', GatewaysSynced: 'True Synced' }],
    [
      'the spec is new',
      { pending: true },
      {
        Ready: 'Unknown Pending',
        SourceReady: 'Unknown Pending',
        CollectionsValid: 'Unknown Pending',
        Reconciling: 'True Pending',
      },
    ],
    [
      'the git host is away',
      { fault: new Fault('GitUnreachable', 'no route') },
      { Ready: 'False GitUnreachable', SourceReady: 'False GitUnreachable' },
    ],
    [
      'the ref is gone',
      { fault: new Fault('RefNotFound', 'no such ref') },
      { Ready: 'False RefNotFound', SourceReady: 'False RefNotFound', Stalled: 'True RefNotFound' },
    ],
    [
      'the commit is held back by the checks',
      { status: held },
      { Ready: 'False CollectionsInvalid', CollectionsValid: 'False CollectionsInvalid', Stalled: 'True CollectionsInvalid' },
    ],
    [
      'an error is let through under Warn',
      { spec: { validation: { policy: 'Warn' } }, status: { ...held, ...followed } },
      { CollectionsValid: 'False CollectionsInvalid' },
    ],
    [
      'an error was held before the policy became Warn',
      { spec: { validation: { policy: 'Warn' } }, status: held },
      { Ready: 'False CollectionsInvalid', CollectionsValid: 'False CollectionsInvalid', Stalled: 'True CollectionsInvalid' },
    ],
    [
      'an error was let through before the policy became Enforce',
      { spec: { validation: { policy: 'Enforce' } }, status: { ...held, ...followed } },
      { Ready: 'False CollectionsInvalid', CollectionsValid: 'False CollectionsInvalid' },
    ],
    ['warnings only', { status: { findings: { errors: 0, warnings: 2, items: [] } } }, { CollectionsValid: 'True HasWarnings' }],
    ['no error was found', { status: { findings: { errors: 0, warnings: 0, items: [] } } }, { CollectionsValid: 'True Valid' }],
    ['the desired commit is not published', { status: { published: { commit: older, ref: 'main', at } } }, { Ready: 'False NotPublished' }],
    ['the GatewaySync is paused', { spec: { paused: true } }, { Ready: 'False Paused', Paused: 'True Paused' }],
    [
      'a gateway is on its way',
      { gateways: [gateway('gw', 'pending', 'OldCommit')] },
      { Ready: 'False GatewaysPending', GatewaysSynced: 'False GatewaysPending', Reconciling: 'True GatewaysPending' },
    ],
    [
      'a gateway has no agent',
      { gateways: [gateway('gw', 'missingAgent', 'MissingAgent')] },
      { Ready: 'False MissingAgent', GatewaysSynced: 'False MissingAgent', AgentsInjected: 'False MissingAgent' },
    ],
    [
      'an agent is outdated',
      { gateways: [gateway('gw', 'blocked', 'AgentOutdated')], status: { outdatedAgents: 1 } },
      { Ready: 'False GatewaysBlocked', GatewaysSynced: 'False GatewaysBlocked', AgentsInjected: 'False AgentOutdated' },
    ],
    ...(['RolloutFailed', 'RolloutAborted'] as const).map((reason): [string, Given, Record<string, string>] => [
      `a rollout is stopped: ${reason}`,
      { status: { rollout: { ...rollout, state: 'Stopped', reason } } },
      { Progressing: `False ${reason}` },
    ]),
    ['drift alone', { gateways: [gateway('gw', 'drifted')] }, { Ready: 'True Synced', GatewaysSynced: 'True Synced' }],
  ]
  for (const [name, given, differs] of rows) t.strictSame(words(summary(given)), { ...well, ...differs }, name)
})

void t.test('of several gateway states the most severe is reported', async (t) => {
  const gravest: GatewayState[] = ['failed', 'blocked', 'missingAgent', 'pending', 'paused', 'dryRun']
  const reasons = ['GatewaysFailed', 'GatewaysBlocked', 'MissingAgent', 'GatewaysPending', 'Paused', 'DryRun']
  for (const [index, reason] of reasons.entries()) {
    const gateways = [gateway('ok', 'synced'), ...gravest.slice(index).map((state) => gateway(state, state))]
    matchObject(t, summary({ gateways })['GatewaysSynced'], { status: 'False', reason }, reason)
  }
})

void t.test('at most five gateways are named, and the others are counted', async (t) => {
  const gateways = Array.from({ length: 8 }, (_, index) => gateway(`gw-${index}`, 'failed', 'DiskFull', 'no space'))
  const message = summary({ gateways })['GatewaysSynced']?.message ?? ''
  t.match(message, /^8 of 8 gateways: gw-0: DiskFull, no space; gw-1: .*; and 3 more$/)
  t.notMatch(message, /gw-5/)
})

void t.test('an invalid spec stalls and keeps the earlier conditions except Reconciling', async (t) => {
  const before = summarize(
    { generation: 1, spec: specWith(), gateways: [], fault: undefined, pending: true, throttled: 'it waits', status: followed, at },
    [],
  )
  const after = summarizeInvalid(new Fault('InvalidSpec', 'spec.git.ref: is missing'), before, 2, at)
  t.strictSame(words(Object.fromEntries(after.map((condition) => [condition.type, condition]))), {
    Ready: 'False InvalidSpec',
    SourceReady: 'False InvalidSpec',
    Stalled: 'True InvalidSpec',
    CollectionsValid: 'Unknown Pending',
    GatewaysSynced: 'True NoGateways',
    AgentsInjected: 'True Injected',
  })
})

void t.test('with an invalid first spec, the conditions that are always present are unknown', async (t) => {
  const first = summarizeInvalid(new Fault('InvalidSpec', 'spec.git.ref: is missing'), [], 1, at)
  t.strictSame(words(Object.fromEntries(first.map((condition) => [condition.type, condition]))), {
    Ready: 'False InvalidSpec',
    SourceReady: 'False InvalidSpec',
    Stalled: 'True InvalidSpec',
    CollectionsValid: 'Unknown Pending',
    GatewaysSynced: 'Unknown Pending',
    AgentsInjected: 'Unknown Pending',
  })
})

const secret = (key: string) => ({ secretRef: { name: 'git', key } })

function sourceReady(sshKey: Record<string, unknown>) {
  const auth = { sshKey: { ...secret('identity'), ...sshKey } }
  return summary({ spec: { git: { repo: 'git@git.example:plant.git', ref: 'main', auth } } })['SourceReady']
}

void t.test('SourceReady reports that the host key is not verified while that is configured', async (t) => {
  const checked = { status: 'True', reason: 'Fetched', message: `main is commit ${commit}` }
  matchObject(t, sourceReady({ knownHosts: secret('known_hosts') }), checked)
  matchObject(t, sourceReady({ knownHosts: secret('known_hosts'), insecureIgnoreHostKey: false }), checked)
  const message = `${checked.message}; the host key of the git host was not checked (insecureIgnoreHostKey)`
  matchObject(t, sourceReady({ insecureIgnoreHostKey: true }), { ...checked, message })
  matchObject(t, sourceReady({ knownHosts: secret('known_hosts'), insecureIgnoreHostKey: true }), { ...checked, message })
})

void t.test('SourceReady names the ref of the spec while a requested one is followed, and how to return to it', async (t) => {
  const request = { by: 'manual', at, id: 'r1', specRef: 'main' }
  const message = (ref: string) => summary({ status: { source: { ref, commit, requested: { ...request, ref } } } })['SourceReady']?.message
  t.equal(
    message('v2'),
    `v2 is commit ${commit}; requested in place of main, whose pushes are ignored until another request replaces it or the annotation clustersync.io/requested-ref is removed`,
  )
  t.equal(message('refs/heads/main'), `main is commit ${commit}`, 'a request for the ref of the spec holds nothing')
})

void t.test('CollectionsValid says how many findings there are, and which kind of fault they are', (t) => {
  const of = (status: GatewaySyncStatus, policy: 'Enforce' | 'Off' = 'Enforce') =>
    summary({ status, spec: { validation: { policy } } })['CollectionsValid']
  const found = (errors: number, warnings: number): GatewaySyncStatus => ({
    ...followed,
    findings: { errors, warnings, items: [{ rule: 'r', severity: errors > 0 ? 'error' : 'warning', path: 'p', message: 'm' }] },
  })
  matchObject(t, of(found(0, 0), 'Off'), { reason: 'NotValidated', message: 'no validation applies to this commit' })
  matchObject(t, of(found(0, 2)), { status: 'True', reason: 'HasWarnings', message: `no errors and 2 warnings in commit ${commit}` })
  matchObject(t, of(found(0, 0)), { status: 'True', reason: 'Valid', message: `no errors and 0 warnings in commit ${commit}` })
  const unfinished = { ...found(1, 0), source: { ref: 'main', commit, unfinishedValidation: 'the validation ran out of time' } }
  matchObject(t, of(unfinished), { status: 'False', reason: 'ValidationFailed' })
  matchObject(t, of(found(1, 0)), { status: 'False', reason: 'CollectionsInvalid' })
  t.end()
})

void t.test('Progressing says what the rollout does, what it waits for, or why it ended', (t) => {
  const stages = [
    { name: 'line', held: 0 },
    { name: 'plant', held: 2 },
  ].map((stage) => ({ ...stage, gateways: 2, updated: 0, failed: 0 }))
  const moving = (stage: string, waitsFor?: 'Gateways' | 'Soak' | 'Approval' | 'Window' | 'Pause') =>
    ({ state: 'Progressing', stage, stages, ...(waitsFor && { waitsFor }) }) as const
  const held = 'stage plant: 2 gateways wait until their local changes are captured or discarded'
  const rows: [Partial<NonNullable<GatewaySyncStatus['rollout']>>, string, string][] = [
    [moving('line'), 'True RollingOut', 'stage line: gateways are applying the commit'],
    [moving('line', 'Gateways'), 'True RollingOut', 'stage line: gateways are applying the commit'],
    [moving('plant'), 'True LocalChanges', held],
    [moving('plant', 'Gateways'), 'True LocalChanges', held],
    [moving('plant', 'Soak'), 'True Soaking', 'stage plant: its gateways are healthy; the soak time is running'],
    [moving('plant', 'Approval'), 'True WaitsForApproval', 'stage plant: it waits for approval'],
    [moving('plant', 'Window'), 'True WaitsForWindow', 'stage plant: it waits for the next window'],
    [moving('plant', 'Pause'), 'True Paused', 'stage plant: spec.paused is true'],
    [{ state: 'Progressing' }, 'True RollingOut', 'stage : gateways are applying the commit'],
    [{ state: 'Done' }, 'True RolledOut', `every stage has commit ${commit}`],
    [{ state: 'Stopped', message: 'gw-0 failed' }, 'False RolloutFailed', 'gw-0 failed'],
    [{ state: 'Stopped', reason: 'RolloutAborted' }, 'False RolloutAborted', ''],
    [{ state: 'RolledBack', message: 'gw-0 failed' }, 'False RolledBack', 'gw-0 failed'],
  ]
  for (const [change, expected, message] of rows) {
    const { Progressing: condition } = summary({ status: { rollout: { ...rollout, ...change } as GatewaySyncStatus['rollout'] } })
    t.strictSame([`${condition?.status} ${condition?.reason}`, condition?.message], [expected, message], expected)
  }
  t.equal(summary({})['Progressing'], undefined)
  t.end()
})
