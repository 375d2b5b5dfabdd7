import t from 'tap'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { followedRef } from '../../../../runtime/api/followed-ref.ts'
import { decide } from '../../../../runtime/reconcile/decide/decide.ts'
import type { Observation, SourceObservation, Verdict } from '../../../../runtime/reconcile/decide/observation.ts'
import type { GatewayReport } from '../../../../runtime/reconcile/decide/gateways.ts'
import { requestAnnotations } from '../../../../runtime/api/names.ts'
import type { SyncReportStatus } from '../../../../runtime/api/schema/report.ts'
import { answersSpec, desiredRef } from '../../../../runtime/reconcile/decide/request.ts'
import type { GatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'
import { type FullRef, parseCommitHash, parseRefName } from '../../../../runtime/api/values.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { matchObject } from '../../../support/assertions.ts'
import { podWith, reportWith, specWith } from '../../../support/gatewaysync.ts'

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
    desired: desiredRef(followedRef(spec.git), annotations, status),
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

const requestOf = (ref: string, id: string, more: Record<string, string>) => ({
  [requestAnnotations.ref]: ref,
  [requestAnnotations.id]: id,
  ...more,
})
const condition = (status: GatewaySyncStatus, type: string) => status.conditions?.find((one) => one.type === type)
const invalid: Verdict = { kind: 'checked', errors: 1, warnings: 0, items: [{ rule: 'r', severity: 'error', path: 'p', message: 'm' }] }

void t.test('a resolved commit is published, and Ready says that no gateway follows yet', async (t) => {
  const { status, events } = pass({ source: resolved() })
  matchObject(t, status.published, { commit: commitA, ref: 'main' })
  matchObject(t, condition(status, 'Ready'), { status: 'True', reason: 'NoGateways' })
  matchObject(t, events[0], { reason: 'Published' })
  matchObject(t, status.history, [{ commit: commitA, by: 'spec', outcome: 'Published' }])
})

void t.test('Ready is true only when every gateway reports the published commit and the desired configuration', async (t) => {
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
    const next = pass({ source: { kind: 'unchanged', lastFault: undefined }, status: first, ...observed }).status
    matchObject(t, condition(next, 'Ready'), { status: ready, reason }, name)
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
    source: { kind: 'unchanged', lastFault: undefined },
    status: first,
    pods: [podWith('gw-0')],
    reports: new Map([[name, { ...old, podUid: 'earlier' }]]),
  })
  matchObject(t, status.gateways, { total: 1, synced: 0, pending: 1 })
  t.strictSame(status.unreported, ['gw-0'])
})

void t.test('gateways without a report are named, up to a limit', async (t) => {
  const names = Array.from({ length: 25 }, (_, index) => `gw-${String(index).padStart(2, '0')}`)
  const pods = [
    ...names.map((name) => podWith(name)),
    podWith('hand-made', { injected: false }),
    podWith('crashed', { agentDown: 'the agent exited' }),
  ]
  const { status } = pass({ source: resolved(), pods })
  t.strictSame(status.unreported, names.slice(0, 20))
  const some = new Map(names.slice(1).map((name) => report(name, {})))
  t.strictSame(pass({ source: resolved(), status, pods, reports: some }).status.unreported, ['gw-00'])
  t.equal(
    pass({ source: resolved(), status, pods: [podWith('gw-00')], reports: new Map([report('gw-00', {})]) }).status.unreported,
    undefined,
  )
})

void t.test('a pod without its agent makes AgentsInjected and Ready false', async (t) => {
  const { status } = pass({ source: resolved(), pods: [podWith('gw-0', { injected: false })] })
  matchObject(t, condition(status, 'AgentsInjected'), { status: 'False', reason: 'MissingAgent' })
  matchObject(t, condition(status, 'Ready'), { status: 'False' })
})

void t.test('published names its repository, and its time stays while the commit does', async (t) => {
  const { repo } = specWith().git
  const { published } = pass({ source: resolved() }).status
  matchObject(t, published, { commit: commitA, ref: 'main', repo })
  const told = { published: { commit: commitA, ref: 'main', at: '2020-01-01T00:00:00Z' } }
  t.strictSame(pass({ source: resolved(), status: told }).status.published, { ...told.published, repo }, 'as an earlier version left it')
})

void t.test('a failing git host makes Ready false at once and keeps the published commit', async (t) => {
  const first = pass({ source: resolved() }).status
  const fault = new Fault('GitUnreachable', 'git.example refused the connection')
  const failing = pass({ source: { kind: 'fault', fault }, status: first }).status
  matchObject(t, condition(failing, 'Ready'), { status: 'False', reason: 'GitUnreachable' })
  matchObject(t, failing.published, { commit: commitA })
  const still = pass({ source: { kind: 'unchanged', lastFault: fault }, status: failing }).status
  matchObject(t, condition(still, 'SourceReady'), { status: 'False', reason: 'GitUnreachable' }, 'a pass that did not ask lets it stand')
  matchObject(t, condition(pass({ source: resolved(), status: still }).status, 'Ready'), { status: 'True' })
})

void t.test('the status has the captures of the repository, and keeps them until the repository changes', async (t) => {
  const spec = specWith({
    capture: { branch: 'captured/{{ gateway.name }}', auth: { token: { secretRef: { name: 'push', key: 'token' } } } },
  })
  const entry = {
    pod: 'gw-0',
    gateway: 'press',
    request: 'now',
    state: 'Nothing',
    files: 0,
    on: commitA,
    at: '2026-01-01T00:00:00Z',
  } as const
  t.equal(pass({ spec, source: resolved() }).status.capture, undefined)
  const { status } = pass({ spec, source: resolved(), captured: [entry] })
  matchObject(t, status.capture, { repo: spec.git.repo, gateways: [{ pod: 'gw-0', state: 'Nothing' }] })
  t.strictSame(pass({ spec, source: resolved(), status }).status.capture, status.capture)
  const moved = { ...spec, git: { ...spec.git, repo: specWith({ git: { repo: 'https://git.example/other.git', ref: 'main' } }).git.repo } }
  t.equal(pass({ spec: moved, source: resolved(), status }).status.capture, undefined)
})

void t.test('before the first answer of the git host, all conditions are unknown, and keep their time', async (t) => {
  const { status } = pass({ source: { kind: 'pending' } })
  for (const type of ['Ready', 'SourceReady', 'CollectionsValid'])
    matchObject(t, condition(status, type), { status: 'Unknown', reason: 'Pending' }, type)
  const later = pass({ source: { kind: 'pending' }, status, now: now.add({ minutes: 5 }) }).status
  t.equal(condition(later, 'Ready')?.lastTransitionTime, '2026-01-01T00:00:00Z')
  const known = pass({ source: resolved() }).status
  t.equal(condition(pass({ source: { kind: 'unchanged', lastFault: undefined }, status: known }).status, 'SourceReady')?.reason, 'Fetched')
  t.equal(condition(pass({ source: { kind: 'pending' }, status: known }).status, 'SourceReady')?.reason, 'Pending', 'of a new spec')
})

void t.test('lastHandledRequest is the newest of several requests', async (t) => {
  const fault = new Fault('RefNotFound', 'no such ref')
  const request = (id: string) => ({ [requestAnnotations.ref]: 'typo', [requestAnnotations.id]: id, [requestAnnotations.specRef]: 'main' })
  const first = pass({ annotations: request('r1'), source: { kind: 'fault', fault } }).status
  const { requests, lastHandledRequest } = pass({ annotations: request('r2'), status: first, source: { kind: 'fault', fault } }).status
  t.strictSame([requests?.map(({ id }) => id), lastHandledRequest], [['r1', 'r2'], 'r2'])
})

void t.test('a push of the desired ref with a refused commit updates the source at once', async (t) => {
  const first = pass({ source: resolved() }).status
  for (const ref of ['main', 'refs/heads/main']) {
    const annotations = { [requestAnnotations.ref]: ref, [requestAnnotations.id]: 'r1', [requestAnnotations.specRef]: 'main' }
    const { status, events } = pass({ annotations, status: first, source: resolved(commitB, invalid) })
    matchObject(t, status.requests, [{ id: 'r1', outcome: 'Refused', reason: 'CollectionsInvalid' }], ref)
    matchObject(t, status.source, { commit: commitB, held: 'CollectionsInvalid' }, ref)
    matchObject(t, status.findings, { errors: 1 }, ref)
    matchObject(t, status.published, { commit: commitA }, ref)
    for (const [type, is] of [
      ['Ready', 'False'],
      ['CollectionsValid', 'False'],
      ['Stalled', 'True'],
    ] as const)
      matchObject(t, condition(status, type), { status: is, reason: 'CollectionsInvalid' }, `${ref}: ${type}`)
    matchObject(t, events, [{ type: 'Warning', reason: 'CollectionsInvalid' }], ref)
    matchObject(t, desiredRef(parseRefName('main'), annotations, status), { ref: 'main', undecided: false }, ref)
  }
})

void t.test('a request for another ref with a refused commit changes only its own outcome', async (t) => {
  const first = pass({ source: resolved() }).status
  const annotations = { [requestAnnotations.ref]: 'v2', [requestAnnotations.id]: 'r1', [requestAnnotations.specRef]: 'main' }
  const { status, events } = pass({ annotations, status: first, source: resolved(commitB, invalid) })
  const { requests, lastHandledRequest: _id, ...others } = status
  matchObject(t, requests, [{ id: 'r1', ref: 'v2', outcome: 'Refused', reason: 'CollectionsInvalid' }])
  matchObject(t, { ...others, requests: [] }, first)
  matchObject(t, events, [{ type: 'Warning', reason: 'RequestRefused' }])
})

void t.test('a request for the desired ref updates the source and keeps the earlier request in force', async (t) => {
  const by = (id: string) => ({ [requestAnnotations.ref]: 'v2', [requestAnnotations.id]: id, [requestAnnotations.specRef]: 'main' })
  const first = pass({ annotations: by('r1'), source: resolved() }).status
  const { status } = pass({ annotations: by('r2'), status: first, source: resolved(commitB, invalid) })
  matchObject(t, status.source, { ref: 'v2', commit: commitB, held: 'CollectionsInvalid', requested: { id: 'r1' } })
})

void t.test('a new GatewaySync or push causes no Warning, and an event contains only its reason text', async (t) => {
  const pods = [podWith('gw-0'), podWith('gw-1')]
  const created = pass({ source: { kind: 'pending' }, pods })
  const published = pass({ source: resolved(), status: created.status, pods })
  const reports = new Map([report('gw-0', {}), report('gw-1', {})])
  const synced = pass({ source: { kind: 'unchanged', lastFault: undefined }, status: published.status, pods, reports })
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
    source: { kind: 'unchanged', lastFault: undefined },
    status: synced.status,
    pods,
    reports: new Map([report('gw-0', {}), report('gw-1', { phase: 'Failed', reason: 'DiskFull', message: 'no space' })]),
  })
  matchObject(t, failing.events, [{ type: 'Warning', reason: 'GatewaysFailed', note: 'at least one gateway reports a failure' }])
})

void t.test('of many requests waiting for a slow git host the oldest are answered at once, each only once', async (t) => {
  const first = pass({ source: resolved() }).status
  const refOf = (index: number): string => (index % 2 === 0 ? 'main' : 'v2')
  const entries = Array.from({ length: 16 }, (_, index) => `r${index}=${refOf(index)}`)
  const annotations = {
    [requestAnnotations.ref]: 'main',
    [requestAnnotations.id]: 'newest',
    [requestAnnotations.specRef]: 'main',
    [requestAnnotations.superseded]: [...entries, 'newest=main'].join(' '),
  }
  const source = { kind: 'unchanged', lastFault: undefined } as const
  const { status } = pass({ annotations, status: first, source })
  t.strictSame(
    status.requests?.map(({ id, outcome }) => `${id} ${outcome}`),
    Array.from({ length: 8 }, (_, index) => `r${index} Superseded`),
  )
  matchObject(t, desiredRef(parseRefName('main'), annotations, status), { undecided: true }, 'the newest waits on')
  t.strictSame(pass({ annotations, status, source }).status.requests, status.requests)
  const { requests = [] } = pass({ annotations, status, source: resolved(commitB) }).status
  t.strictSame(
    requests.map(({ id, outcome }) => `${id} ${outcome}`),
    [
      ...Array.from({ length: 8 }, (_, index) => `r${index} Superseded`),
      ...Array.from({ length: 8 }, (_, index) => `r${index + 8} ${refOf(index) === 'main' ? 'Handled' : 'Superseded'}`),
      'newest Handled',
    ],
  )
})

void t.test('a request older than the spec is answered as superseded', async (t) => {
  const annotations = { [requestAnnotations.ref]: 'v2', [requestAnnotations.id]: 'r1', [requestAnnotations.specRef]: 'old' }
  const { status } = pass({ annotations, source: resolved() })
  matchObject(t, status.requests, [{ id: 'r1', outcome: 'Superseded' }])
})

void t.test('requests that are malformed or withdrawn are answered, and decided ones are not answered again', async (t) => {
  const source = { kind: 'unchanged', lastFault: undefined } as const
  const requestsOf = (annotations: Record<string, string>, status: GatewaySyncStatus = {}) =>
    pass({ annotations, status, source }).status.requests
  const at = '2026-01-01T00:00:00Z'
  const invalidRef = { id: 'r1', ref: '', outcome: 'Refused', at, reason: 'InvalidRef' }
  const malformed = requestOf('a..b', 'r1', {})
  const message = `annotation ${requestAnnotations.ref} is not a ref that git accepts`
  t.strictSame(requestsOf(malformed), [{ ...invalidRef, message }])
  t.strictSame(requestsOf(malformed, pass({ annotations: malformed, source }).status), [{ ...invalidRef, message }])
  const withdrawn = { [requestAnnotations.superseded]: 'r1=main r2=v2' }
  const removed = { outcome: 'Superseded', at, message: 'the annotation was removed before the request was handled' }
  t.strictSame(requestsOf(withdrawn), [
    { id: 'r1', ref: 'main', ...removed },
    { id: 'r2', ref: 'v2', ...removed },
  ])
  const request = requestOf('v2', 'r1', { [requestAnnotations.specRef]: 'old' })
  const { requestDigest } = pass({ annotations: request, source }).status
  t.strictSame(requestsOf(request, { requestDigest }), [], 'though the answer is no longer listed')
})

void t.test('under Enforce an invalid commit is held and the last valid one stays published', async (t) => {
  const first = pass({ source: resolved() }).status
  const held = pass({ source: resolved(commitB, invalid), status: first })
  matchObject(t, held.status.published, { commit: commitA })
  matchObject(t, held.status.source, { commit: commitB, held: 'CollectionsInvalid' })
  matchObject(t, condition(held.status, 'CollectionsValid'), { status: 'False' })
  matchObject(t, condition(held.status, 'Ready'), { status: 'False', reason: 'CollectionsInvalid' })
  matchObject(t, condition(held.status, 'Stalled'), { status: 'True' })
  matchObject(t, held.events, [
    { type: 'Warning', reason: 'CollectionsInvalid', note: new RegExp(`commit ${commitB} is not published: 1 error`) },
  ])
  t.equal(held.events.length, 1)
  const again = pass({ source: resolved(commitB, invalid), status: held.status })
  t.strictSame(again.events, [], 'one event per commit')
})

void t.test('under Warn an invalid commit is published with its findings', async (t) => {
  const spec = specWith({ validation: { policy: 'Warn' } })
  const { status, events } = pass({ spec, source: resolved(commitB, invalid) })
  matchObject(
    t,
    events.filter(({ reason }) => reason === 'CollectionsInvalid'),
    [{ type: 'Warning', note: /is published anyway: 1 error/ }],
  )
  const again = pass({ spec, source: resolved(commitB, invalid), status })
  t.strictSame(again.events, [], 'one event per commit')
  matchObject(t, status.published, { commit: commitB })
  matchObject(t, status.findings, { errors: 1 })
  matchObject(t, condition(status, 'Ready'), { status: 'True' })
})

void t.test('a transition time changes only with its status', async (t) => {
  const first = pass({ source: resolved() }).status
  const later = now.add({ minutes: 5 })
  const second = pass({ source: resolved(commitB), status: first, now: later }).status
  t.equal(condition(second, 'Ready')?.lastTransitionTime, '2026-01-01T00:00:00Z')
  const broken = pass({ source: { kind: 'fault', fault: new Fault('GitTimeout', 'slow') }, status: second, now: later }).status
  t.equal(condition(broken, 'Ready')?.lastTransitionTime, '2026-01-01T00:05:00Z')
})

const tagged = (tag: string): SourceObservation => ({ ...resolved(), resolvedRef: `refs/tags/${tag}` as FullRef }) as SourceObservation
const followsVersions = { git: { repo: 'https://git.example/plant.git', semver: '>=1.2 <2' } }

void t.test('the newest tag of a range is published by its name, and the status says why it is followed', async (t) => {
  const spec = specWith(followsVersions)
  const first = pass({ spec, source: tagged('v1.4.0') }).status
  const selected = { ref: 'refs/tags/v1.4.0', specRef: 'semver:>=1.2,<2' }
  t.strictSame(first.published, { commit: commitA, ...selected, repo: spec.git.repo, at: '2026-01-01T00:00:00Z' })
  matchObject(t, first.source, { ref: 'semver:>=1.2,<2', resolvedRef: 'refs/tags/v1.4.0' })
  matchObject(t, first.history, [{ ...selected, by: 'spec' }])
  const why = `v1.4.0, the newest tag that matches semver ">=1.2 <2", is commit ${commitA}`
  t.equal(condition(first, 'SourceReady')?.message, why)
  t.equal(answersSpec(spec.git, {}, first), true)
  t.equal(answersSpec({ ...spec.git, semver: '>=1.3 <2' }, {}, first), false, 'another range has no answer yet')
  const again = pass({ spec, source: tagged('v1.5.0'), status: first }).status
  matchObject(t, again.published, { commit: commitA, ref: 'refs/tags/v1.5.0' }, 'a newer tag on the same commit')
})

void t.test('a pushed tag within the range resolves the newest tag, and the range stays followed', async (t) => {
  const spec = specWith(followsVersions)
  const before = pass({ spec, source: tagged('v1.5.0') }).status
  const pushOf = (tag: string, by = 'tag-push') =>
    requestOf(`refs/tags/${tag}`, `push-${tag}`, { [requestAnnotations.by]: by, [requestAnnotations.specRef]: 'semver:>=1.2,<2' })
  const desired = desiredRef(followedRef(spec.git), pushOf('v1.4.1'), before)
  matchObject(t, desired, { ref: 'semver:>=1.2,<2', undecided: true, request: { ref: 'refs/tags/v1.4.1' } })
  const { status } = pass({ spec, source: tagged('v1.5.0'), status: before, annotations: pushOf('v1.4.1') })
  matchObject(t, status.requests, [{ ref: 'refs/tags/v1.4.1', outcome: 'Handled' }])
  matchObject(t, status.source, { ref: 'semver:>=1.2,<2', resolvedRef: 'refs/tags/v1.5.0' })
  t.equal(desiredRef(followedRef(spec.git), pushOf('v1.4.1'), status).ref, 'semver:>=1.2,<2')
  for (const [tag, by] of [
    ['v2.0.0', 'tag-push'],
    ['v1.4.1', 'generic'],
  ] as const)
    t.equal(desiredRef(followedRef(spec.git), pushOf(tag, by), status).ref, `refs/tags/${tag}`, `${by} of ${tag}`)
})
