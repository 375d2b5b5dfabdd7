import t from 'tap'
import { Fault } from '../../../runtime/fault.ts'
import { decide } from '../../../runtime/gatewaysync/decide/decide.ts'
import type { Observation, SourceObservation, Verdict } from '../../../runtime/gatewaysync/decide/observation.ts'
import type { GatewayReport } from '../../../runtime/gatewaysync/decide/gateways.ts'
import { requestAnnotations } from '../../../runtime/gatewaysync/names.ts'
import type { SyncReportStatus } from '../../../runtime/gatewaysync/schema/report.ts'
import { wantedRef } from '../../../runtime/gatewaysync/decide/request.ts'
import type { GatewaySyncStatus } from '../../../runtime/gatewaysync/schema/status.ts'
import { parseCommitHash, parseRefName } from '../../../runtime/gatewaysync/values.ts'
import { podWith, reportWith, specWith } from '../../support/gatewaysync.ts'

const commitA = parseCommitHash('a'.repeat(40))
const commitB = parseCommitHash('b'.repeat(40))
const now = Temporal.Instant.from('2026-01-01T00:00:00Z')

function resolved(commit = commitA, verdict: Verdict = { kind: 'notChecked' }): SourceObservation {
  return {
    kind: 'resolved',
    commit,
    committedAt: undefined,
    fetchedAt: '2026-01-01T00:00:00Z',
    verified: undefined,
    verdict,
    durationMs: 12,
  }
}

function pass(changes: Partial<Observation> & { source: SourceObservation }) {
  const spec = changes.spec ?? specWith()
  const annotations = changes.annotations ?? {}
  const status = changes.status ?? {}
  return decide({
    generation: 1,
    spec,
    annotations,
    status,
    wanted: wantedRef(parseRefName(spec.git.ref), annotations, status),
    pods: [],
    reports: new Map(),
    delivery: undefined,
    now,
    ...changes,
  })
}

function report(name: string, status: Partial<SyncReportStatus>): [string, GatewayReport] {
  return reportWith(name, { phase: 'Synced', commit: commitA, ...status })
}

const condition = (status: GatewaySyncStatus, type: string) => status.conditions?.find((one) => one.type === type)
const invalid: Verdict = { kind: 'checked', errors: 1, warnings: 0, items: [{ rule: 'r', severity: 'error', path: 'p', message: 'm' }] }

void t.test('a resolved commit is published and Ready says that no gateway follows yet', async (t) => {
  const { status, events } = pass({ source: resolved() })
  t.match(status.published, { commit: commitA, ref: 'main' })
  t.match(condition(status, 'Ready'), { status: 'True', reason: 'NoGateways' })
  t.match(events[0], { reason: 'Published' })
  t.match(status.history, [{ commit: commitA, by: 'spec', outcome: 'Published' }])
})

void t.test('Ready is true only when every gateway reports the published commit and the wanted configuration', async (t) => {
  const first = pass({ source: resolved() }).status
  const rows: [string, Partial<SyncReportStatus>, string, string][] = [
    ['the published commit', {}, 'True', 'Synced'],
    ['drift under report', { phase: 'Drifted' }, 'True', 'Synced'],
    ['an older commit', { commit: commitB }, 'False', 'GatewaysPending'],
    ['another configuration', { syncHash: `v1-${'f'.repeat(64)}` }, 'False', 'GatewaysPending'],
    ['a failure', { phase: 'Failed', reason: 'DiskFull', message: 'no space' }, 'False', 'GatewaysFailed'],
    ['a dry run', { phase: 'DryRun' }, 'False', 'DryRun'],
    ['a pause', { phase: 'Paused' }, 'False', 'Paused'],
    ['a block', { phase: 'Blocked', reason: 'MassDeletion' }, 'False', 'GatewaysBlocked'],
  ]
  for (const [name, status, ready, reason] of rows) {
    const observed = { pods: [podWith('gw-0'), podWith('gw-1')], reports: new Map([report('gw-0', {}), report('gw-1', status)]) }
    const next = pass({ source: { kind: 'unasked', lastFault: undefined }, status: first, ...observed }).status
    t.match(condition(next, 'Ready'), { status: ready, reason }, name)
    const { total = 0, ...buckets } = next.gateways ?? {}
    t.equal(
      Object.values(buckets).reduce<number>((sum, count = 0) => sum + count, 0),
      total,
      `${name}: the buckets add up`,
    )
  }
})

void t.test('a report of an earlier pod of the same name does not count', async (t) => {
  const first = pass({ source: resolved() }).status
  const [name, old] = report('gw-0', {})
  const { status } = pass({
    source: { kind: 'unasked', lastFault: undefined },
    status: first,
    pods: [podWith('gw-0')],
    reports: new Map([[name, { ...old, podUid: 'earlier' }]]),
  })
  t.match(status.gateways, { total: 1, synced: 0, pending: 1 })
  t.same(status.unreported, ['gw-0'])
})

void t.test('the gateways that have no report are named, as many as fit', async (t) => {
  const names = Array.from({ length: 25 }, (_, index) => `gw-${String(index).padStart(2, '0')}`)
  const pods = [
    ...names.map((name) => podWith(name)),
    podWith('hand-made', { injected: false }),
    podWith('crashed', { agentDown: 'the agent ended' }),
  ]
  const { status } = pass({ source: resolved(), pods })
  t.same(status.unreported, names.slice(0, 20))
  const some = new Map(names.slice(1).map((name) => report(name, {})))
  t.same(pass({ source: resolved(), status, pods, reports: some }).status.unreported, ['gw-00'])
  t.equal(
    pass({ source: resolved(), status, pods: [podWith('gw-00')], reports: new Map([report('gw-00', {})]) }).status.unreported,
    undefined,
  )
})

void t.test('a pod without its agent makes AgentsInjected and Ready false', async (t) => {
  const { status } = pass({ source: resolved(), pods: [podWith('gw-0', { injected: false })] })
  t.match(condition(status, 'AgentsInjected'), { status: 'False', reason: 'MissingAgent' })
  t.match(condition(status, 'Ready'), { status: 'False' })
})

void t.test('what is published names its repository; the time of publication stays while the commit does', async (t) => {
  const { repo } = specWith().git
  const { published } = pass({ source: resolved() }).status
  t.match(published, { commit: commitA, ref: 'main', repo })
  const told = { published: { commit: commitA, ref: 'main', at: '2020-01-01T00:00:00Z' } }
  t.same(pass({ source: resolved(), status: told }).status.published, { ...told.published, repo }, 'as an earlier version left it')
})

void t.test('a failing git host makes Ready false at once and keeps what is published', async (t) => {
  const first = pass({ source: resolved() }).status
  const fault = new Fault('GitUnreachable', 'git.example refused the connection')
  const failing = pass({ source: { kind: 'fault', fault }, status: first }).status
  t.match(condition(failing, 'Ready'), { status: 'False', reason: 'GitUnreachable' })
  t.match(failing.published, { commit: commitA })
  const still = pass({ source: { kind: 'unasked', lastFault: fault }, status: failing }).status
  t.match(condition(still, 'SourceReady'), { status: 'False', reason: 'GitUnreachable' }, 'a pass that did not ask lets it stand')
  t.match(condition(pass({ source: resolved(), status: still }).status, 'Ready'), { status: 'True' })
})

void t.test('a request that cannot be resolved is refused and changes nothing', async (t) => {
  const first = pass({ source: resolved() }).status
  const annotations = { [requestAnnotations.ref]: 'typo', [requestAnnotations.id]: 'r1', [requestAnnotations.specRef]: 'main' }
  const { status } = pass({
    annotations,
    status: first,
    source: { kind: 'fault', fault: new Fault('RefNotFound', 'no such ref') },
  })
  t.match(status.requests, [{ id: 'r1', outcome: 'Refused', reason: 'RefNotFound' }])
  t.equal(status.lastHandledRequest, 'r1')
  t.match(status.source, { ref: 'main', commit: commitA })
  t.match(status.published, { commit: commitA })
})

void t.test('a push of the wanted ref whose commit is refused is told by the source at once', async (t) => {
  const first = pass({ source: resolved() }).status
  for (const ref of ['main', 'refs/heads/main']) {
    const annotations = { [requestAnnotations.ref]: ref, [requestAnnotations.id]: 'r1', [requestAnnotations.specRef]: 'main' }
    const { status, events } = pass({ annotations, status: first, source: resolved(commitB, invalid) })
    t.match(status.requests, [{ id: 'r1', outcome: 'Refused', reason: 'CollectionsInvalid' }], ref)
    t.match(status.source, { commit: commitB, held: 'CollectionsInvalid' }, ref)
    t.match(status.findings, { errors: 1 }, ref)
    t.match(status.published, { commit: commitA }, ref)
    for (const [type, is] of [
      ['Ready', 'False'],
      ['CollectionsValid', 'False'],
      ['Stalled', 'True'],
    ] as const)
      t.match(condition(status, type), { status: is, reason: 'CollectionsInvalid' }, `${ref}: ${type}`)
    t.match(events, [{ type: 'Warning', reason: 'CollectionsInvalid' }], ref)
    t.match(wantedRef(parseRefName('main'), annotations, status), { ref: 'main', undecided: false }, ref)
  }
})

void t.test('a request for another ref whose commit is refused changes nothing but its own outcome', async (t) => {
  const first = pass({ source: resolved() }).status
  const annotations = { [requestAnnotations.ref]: 'v2', [requestAnnotations.id]: 'r1', [requestAnnotations.specRef]: 'main' }
  const { status, events } = pass({ annotations, status: first, source: resolved(commitB, invalid) })
  const { requests, lastHandledRequest: _id, ...others } = status
  t.match(requests, [{ id: 'r1', ref: 'v2', outcome: 'Refused', reason: 'CollectionsInvalid' }])
  t.match({ ...others, requests: [] }, first)
  t.match(events, [{ type: 'Warning', reason: 'RequestRefused' }])
})

void t.test('a look at the ref that is wanted after a request by release is a look too', async (t) => {
  const by = (id: string) => ({ [requestAnnotations.ref]: 'v2', [requestAnnotations.id]: id, [requestAnnotations.specRef]: 'main' })
  const first = pass({ annotations: by('r1'), source: resolved() }).status
  const { status } = pass({ annotations: by('r2'), status: first, source: resolved(commitB, invalid) })
  t.match(status.source, { ref: 'v2', commit: commitB, held: 'CollectionsInvalid', requested: { id: 'r1' } })
})

void t.test('a push of the wanted ref that is gone is told by the source, and keeps what is published', async (t) => {
  const first = pass({ source: resolved() }).status
  const annotations = { [requestAnnotations.ref]: 'main', [requestAnnotations.id]: 'r1', [requestAnnotations.specRef]: 'main' }
  const { status } = pass({ annotations, status: first, source: { kind: 'fault', fault: new Fault('RefNotFound', 'no such ref') } })
  t.match(status.requests, [{ id: 'r1', outcome: 'Refused', reason: 'RefNotFound' }])
  t.match(condition(status, 'Ready'), { status: 'False', reason: 'RefNotFound' })
  t.match(status.published, { commit: commitA })
})

void t.test('neither a new GatewaySync nor a push writes a Warning, and an event says no more than what a reason means', async (t) => {
  const pods = [podWith('gw-0'), podWith('gw-1')]
  const created = pass({ source: { kind: 'pending' }, pods })
  const published = pass({ source: resolved(), status: created.status, pods })
  const reports = new Map([report('gw-0', {}), report('gw-1', {})])
  const synced = pass({ source: { kind: 'unasked', lastFault: undefined }, status: published.status, pods, reports })
  const pushed = pass({ source: resolved(commitB), status: synced.status, pods, reports })
  const events = [created, published, synced, pushed].flatMap((decision) => decision.events)
  t.strictSame(
    events.map(({ type, reason }) => `${type} ${reason}`),
    ['Normal Pending', 'Normal Published', 'Normal GatewaysPending', 'Normal Synced', 'Normal Published', 'Normal GatewaysPending'],
  )
  t.notOk(
    events.some(({ note }) => /gw-|[0-9]+ of/.test(note)),
    'no pod and no count',
  )
  const failing = pass({
    source: { kind: 'unasked', lastFault: undefined },
    status: synced.status,
    pods,
    reports: new Map([report('gw-0', {}), report('gw-1', { phase: 'Failed', reason: 'DiskFull', message: 'no space' })]),
  })
  t.match(failing.events, [{ type: 'Warning', reason: 'GatewaysFailed', note: 'at least one gateway reports a failure' }])
})

void t.test('a request that meets a passing fault stays open', async (t) => {
  const first = pass({ source: resolved() }).status
  const annotations = { [requestAnnotations.ref]: 'v2', [requestAnnotations.id]: 'r1', [requestAnnotations.specRef]: 'main' }
  const { status } = pass({ annotations, status: first, source: { kind: 'fault', fault: new Fault('GitTimeout', 'slow') } })
  t.strictSame(status.requests, [])
  t.match(wantedRef(parseRefName('main'), annotations, status), { ref: 'v2', undecided: true })
})

void t.test('a handled request is answered and its origin stands in the status', async (t) => {
  const annotations = {
    [requestAnnotations.ref]: 'v2',
    [requestAnnotations.id]: 'r1',
    [requestAnnotations.specRef]: 'main',
    [requestAnnotations.by]: 'github',
  }
  const { status } = pass({ annotations, source: resolved(commitB) })
  t.match(status.requests, [{ id: 'r1', ref: 'v2', outcome: 'Handled' }])
  t.match(status.source, { ref: 'v2', commit: commitB, requested: { ref: 'v2', id: 'r1', by: 'github', specRef: 'main' } })
  t.match(status.history, [{ by: 'github' }])
})

void t.test('of many requests that wait for a slow git host the oldest are answered at once, and each only once', async (t) => {
  const first = pass({ source: resolved() }).status
  const refOf = (index: number): string => (index % 2 === 0 ? 'main' : 'v2')
  const entries = Array.from({ length: 16 }, (_, index) => `r${index}=${refOf(index)}`)
  const annotations = {
    [requestAnnotations.ref]: 'main',
    [requestAnnotations.id]: 'newest',
    [requestAnnotations.specRef]: 'main',
    [requestAnnotations.superseded]: [...entries, 'newest=main'].join(' '),
  }
  const source = { kind: 'unasked', lastFault: undefined } as const
  const { status } = pass({ annotations, status: first, source })
  t.same(
    status.requests?.map(({ id, outcome }) => `${id} ${outcome}`),
    Array.from({ length: 8 }, (_, index) => `r${index} Superseded`),
  )
  t.match(wantedRef(parseRefName('main'), annotations, status), { undecided: true }, 'the newest waits on')
  t.same(pass({ annotations, status, source }).status.requests, status.requests)
  const { requests = [] } = pass({ annotations, status, source: resolved(commitB) }).status
  t.same(
    requests.map(({ id, outcome }) => `${id} ${outcome}`),
    [
      ...Array.from({ length: 8 }, (_, index) => `r${index} Superseded`),
      ...Array.from({ length: 8 }, (_, index) => `r${index + 8} ${refOf(index) === 'main' ? 'Handled' : 'Superseded'}`),
      'newest Handled',
    ],
  )
})

void t.test('a request that the spec has overtaken is answered as superseded', async (t) => {
  const annotations = { [requestAnnotations.ref]: 'v2', [requestAnnotations.id]: 'r1', [requestAnnotations.specRef]: 'old' }
  const { status } = pass({ annotations, source: resolved() })
  t.match(status.requests, [{ id: 'r1', outcome: 'Superseded' }])
})

void t.test('under Enforce an invalid commit is held and the last good one stays published', async (t) => {
  const first = pass({ source: resolved() }).status
  const held = pass({ source: resolved(commitB, invalid), status: first })
  t.match(held.status.published, { commit: commitA })
  t.match(held.status.source, { commit: commitB, held: 'CollectionsInvalid' })
  t.match(condition(held.status, 'CollectionsValid'), { status: 'False' })
  t.match(condition(held.status, 'Ready'), { status: 'False', reason: 'CollectionsInvalid' })
  t.match(condition(held.status, 'Stalled'), { status: 'True' })
  t.match(held.events, [{ type: 'Warning', reason: 'CollectionsInvalid', note: new RegExp(`commit ${commitB} is not published: 1 error`) }])
  t.equal(held.events.length, 1)
  const again = pass({ source: resolved(commitB, invalid), status: held.status })
  t.strictSame(again.events, [], 'one event per commit')
})

void t.test('under Warn an invalid commit is published with its findings', async (t) => {
  const spec = specWith({ validation: { policy: 'Warn' } })
  const { status, events } = pass({ spec, source: resolved(commitB, invalid) })
  t.match(
    events.filter(({ reason }) => reason === 'CollectionsInvalid'),
    [{ type: 'Warning', note: /is published all the same: 1 error/ }],
  )
  const again = pass({ spec, source: resolved(commitB, invalid), status })
  t.strictSame(again.events, [], 'one event per commit')
  t.match(status.published, { commit: commitB })
  t.match(status.findings, { errors: 1 })
  t.match(condition(status, 'Ready'), { status: 'True' })
})

void t.test('a transition time moves with its status only', async (t) => {
  const first = pass({ source: resolved() }).status
  const later = now.add({ minutes: 5 })
  const second = pass({ source: resolved(commitB), status: first, now: later }).status
  t.equal(condition(second, 'Ready')?.lastTransitionTime, '2026-01-01T00:00:00Z')
  const broken = pass({ source: { kind: 'fault', fault: new Fault('GitTimeout', 'slow') }, status: second, now: later }).status
  t.equal(condition(broken, 'Ready')?.lastTransitionTime, '2026-01-01T00:05:00Z')
})
