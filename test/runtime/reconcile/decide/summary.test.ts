import t from 'tap'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { describeErrors, summarize, summarizeInvalid } from '../../../../runtime/reconcile/decide/summary.ts'
import type { GatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'
import { matchObject } from '../../../support/assertions.ts'
import { specWith } from '../../../support/gatewaysync.ts'
import {
  at,
  commit,
  followed,
  gateway,
  gatewaysIn,
  type Given,
  older,
  rollout,
  shown,
  summary,
  words,
} from '../../../support/summarized.ts'

const well = {
  Ready: 'True NoGateways',
  SourceReady: 'True Fetched',
  CollectionsValid: 'True NotValidated',
  GatewaysSynced: 'True NoGateways',
  AgentsInjected: 'True Injected',
}

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
  for (const { type, message } of first) {
    const isOfSpec = ['Ready', 'SourceReady', 'Stalled'].includes(type)
    t.equal(message, isOfSpec ? 'spec.git.ref: is missing' : 'no valid spec has been reconciled yet', type)
  }
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
    `v2 is commit ${commit}; requested instead of main; pushes to main are ignored until another request is made or the annotation clustersync.io/requested-ref is removed`,
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

void t.test('Progressing says what the rollout does, what waiting for, or why it ended', (t) => {
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
    [moving('plant', 'Approval'), 'True WaitsForApproval', 'stage plant: waiting for approval'],
    [moving('plant', 'Window'), 'True WaitsForWindow', 'stage plant: waiting for the next window'],
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

void t.test('Ready says which commit is not published, and why', async (t) => {
  const ready = (given: Given) => shown(summary(given)['Ready'])
  const previous = { commit: older, ref: 'main', at }
  const differs = `commit ${commit} is desired, ${older} is published`
  t.strictSame(ready({ status: { published: previous } }), ['False NotPublished', differs])
  const rolledBack = (reason?: string): Given => ({
    status: { published: previous, rollout: { ...rollout, state: 'RolledBack', ...(reason === undefined ? {} : { reason }) } },
  })
  t.strictSame(ready(rolledBack()), ['False RolloutFailed', differs])
  t.strictSame(ready(rolledBack('RolloutAborted')), ['False RolloutAborted', differs])
  const stopped: Given = { status: { published: previous, rollout: { ...rollout, state: 'Stopped', reason: 'RolloutAborted' } } }
  t.strictSame(ready(stopped), ['False NotPublished', differs], 'only a rollback publishes another commit')
  t.strictSame(ready({ spec: { paused: true } }), ['False Paused', 'spec.paused is true'])
  t.strictSame(ready({}), ['True NoGateways', 'no gateway follows this GatewaySync yet'])
  const fault = new Fault('GitUnreachable', 'no route')
  t.strictSame(ready({ fault, gateways: gatewaysIn('failed') }), ['False GitUnreachable', 'no route'], 'git comes before gateways')
})

void t.test('Stalled and Reconciling say the same as Ready; a source that is not resolved yet is never stalled', async (t) => {
  const of = (given: Given) => {
    const { Ready: ready, Stalled: stalled, Reconciling: reconciling } = summary(given)
    for (const condition of [stalled, reconciling])
      if (condition !== undefined) t.strictSame([condition.status, shown(condition)[1]], ['True', ready?.message])
    return [stalled, reconciling].map((condition) => condition?.reason)
  }
  const [away, gone] = [new Fault('GitUnreachable', 'away'), new Fault('RefNotFound', 'gone')]
  const stopped: GatewaySyncStatus = { rollout: { ...rollout, state: 'Stopped', message: 'stop' } }
  const held: GatewaySyncStatus = { source: { ref: 'main', commit, held: 'RolloutFailed' }, published: { commit: older, ref: 'main', at } }
  const rows: [string, Given, (string | undefined)[]][] = [
    ['all is well', {}, [undefined, undefined]],
    ['a temporary fault', { fault: away }, [undefined, undefined]],
    ['a lasting fault', { fault: gone }, ['RefNotFound', undefined]],
    ['a lasting fault of an earlier spec', { fault: gone, pending: true }, [undefined, 'RefNotFound']],
    ['a held commit', { status: held }, ['NotPublished', undefined]],
    ['a held commit of an earlier spec', { status: held, pending: true }, [undefined, 'Pending']],
    ['a stopped rollout', { gateways: gatewaysIn('failed'), status: stopped }, ['RolloutFailed', undefined]],
    ['a stopped rollout that every gateway took', { gateways: gatewaysIn('synced'), status: stopped }, [undefined, undefined]],
    ['a gateway is on its way', { gateways: gatewaysIn('synced', 'pending') }, [undefined, 'GatewaysPending']],
    ['a gateway waits', { gateways: gatewaysIn('synced', 'waiting') }, [undefined, 'GatewaysWaiting']],
    ['a gateway failed', { gateways: gatewaysIn('failed') }, [undefined, undefined]],
    ['one failed and one is on its way', { gateways: gatewaysIn('failed', 'pending') }, [undefined, 'GatewaysFailed']],
  ]
  for (const [name, given, expected] of rows) t.strictSame(of(given), expected, name)
})

void t.test('the first commit is not published yet while the source is resolved', async (t) => {
  t.strictSame(words(summary({ lacks: ['published'] })), {
    ...well,
    Ready: 'Unknown NothingPublished',
    GatewaysSynced: 'Unknown NothingPublished',
    Reconciling: 'True NothingPublished',
  })
  const ready = summary({ lacks: ['published'], gateways: gatewaysIn('synced') })['Ready']
  t.strictSame(shown(ready), ['False NothingPublished', 'no commit is published yet'])
})

void t.test('before a commit is known, or for one that is not verified, the conditions say what is missing', async (t) => {
  const of = (given: Given) => ['SourceReady', 'CollectionsValid'].map((type) => shown(summary(given)[type]))
  const unknown = [
    ['Unknown Pending', 'the git host has not been contacted for this spec yet'],
    ['Unknown Pending', 'no commit to validate yet'],
  ]
  t.strictSame(of({ pending: true }), unknown)
  t.strictSame(of({ status: { source: { ref: 'main' } } }), unknown)
  t.strictSame(of({ status: { source: { ref: 'main', commit, held: 'NotVerified' } } }), [
    ['True Fetched', `main is commit ${commit}`],
    ['Unknown Pending', 'an unverified commit is not validated'],
  ])
  const paused = summary({ spec: { paused: true } })['Paused']
  t.strictSame(shown(paused), ['True Paused', 'spec.paused is true: nothing is written to any gateway'])
})

void t.test('errors are counted, and the first error is named with its place', async (t) => {
  const [warning, error] = [
    { rule: 'w', severity: 'warning', path: 'a', message: 'odd' },
    { rule: 'r', severity: 'error', path: 'p', line: 3, message: 'm' },
  ] as const
  t.equal(describeErrors({ errors: 1, items: [warning, error] }), '1 error: p:3: m (r)')
  t.equal(describeErrors({ errors: 2, items: [warning, error, { ...error, path: 'q' }] }), '2 errors, first: p:3: m (r)')
  t.equal(describeErrors({ errors: 2, items: [warning] }), '2 errors')
})
