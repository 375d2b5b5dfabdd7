import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import { requestAnnotations } from '../../../runtime/api/names.ts'
import type { GatewaySyncStatus } from '../../../runtime/api/schema/status.ts'
import { type CommitHash, isCommitHash, parseCommitHash } from '../../../runtime/api/values.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { FairLimiter } from '../../../runtime/platform/async/fair-limiter.ts'
import { Resolutions } from '../../../runtime/reconcile/source/resolutions.ts'
import { reconcile, type ReconcileDeps, type SignatureVerdict } from '../../../runtime/reconcile/reconcile.ts'
import { Store } from '../../../runtime/reconcile/store/store.ts'
import { type GatewaySyncRecord, syncKey } from '../../../runtime/reconcile/store/records.ts'
import { Temporal } from '../../../runtime/platform/temporal.ts'
import type { ResolvedCommit } from '../../../runtime/reconcile/decide/source-resolution.ts'
import { matchObject, rejectsWith } from '../../support/assertions.ts'

const commitA = parseCommitHash('a'.repeat(40))
const commitB = parseCommitHash('b'.repeat(40))
const key = syncKey('plant', 'one')
const spec = (ref = 'main', changes: object = {}) => ({
  git: { repo: 'https://git.example/plant.git', ref },
  polling: { enabled: false },
  sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  ...changes,
})
/** Resolves a short name to a tag if it begins with v, else to a branch. */
const fullNameOf = (ref: string): string =>
  ref.startsWith('refs/') || isCommitHash(ref) ? ref : `refs/${ref.startsWith('v') ? 'tags' : 'heads'}/${ref}`
const condition = (status: GatewaySyncStatus, type: string) => status.conditions?.find((one) => one.type === type)

/** One GatewaySync, a git host whose answers the test controls, and an API server that accepts each write. */
function setUp(given: Partial<GatewaySyncRecord> = {}) {
  const stop = new AbortController()
  const store = new Store(() => {})
  let answered = 0
  const hosts = new FairLimiter({ total: 8, clock: systemClock })
  const start = () => new Resolutions({ clock: systemClock, hosts, ready: () => (answered += 1), signal: stop.signal })
  let resolutions = start()
  const host: { ref: string; answer: PromiseWithResolvers<CommitHash> }[] = []
  let refuse: Fault | undefined
  let signatures: SignatureVerdict = { kind: 'notAsked' }
  let secretChanges = 0
  let checks = 0
  let version = 1
  let older = false
  const told = { writes: 0, events: [] as string[] }
  store.upsertSync({
    namespace: 'plant',
    name: 'one',
    uid: 'u',
    resourceVersion: '1',
    generation: 1,
    annotations: {},
    spec: spec(),
    status: {},
    ...given,
  })
  const record = () => store.sync('plant', 'one') as GatewaySyncRecord
  const deps = (): ReconcileDeps => ({
    store,
    resolutions,
    clock: systemClock,
    log: silentLog,
    allowLocal: false,
    async resolve(_record, _spec, desired): Promise<ResolvedCommit> {
      const answer = Promise.withResolvers<CommitHash>()
      host.push({ ref: desired.ref, answer })
      const found = { commit: await answer.promise, committedAt: Promise.resolve(undefined), fetchedAt: '2026-01-01T00:00:00Z' }
      return { ...found, name: fullNameOf(desired.ref), tag: undefined }
    },
    async adopt() {},
    verify: async () => signatures,
    secretChanges: () => secretChanges,
    async validate() {
      checks += 1
      return { kind: 'notChecked' }
    },
    prepareValidation() {},
    delivery: () => undefined,
    async writeStatus(before, status) {
      if (refuse !== undefined) throw refuse
      told.writes += 1
      const { columns, ...others } = status
      return { ...before, resourceVersion: String((version += 1)), status: older ? others : { ...others, columns } }
    },
    recordEvents: (_record, events) => void told.events.push(...events.map(({ reason }) => reason)),
    observed() {},
    deleted() {},
  })
  const pass = () => reconcile(deps(), key, stop.signal)
  return {
    host,
    told,
    status: () => record().status,
    pass,
    /** Reconciles until the git host is asked again. */
    async passUntilAsked() {
      const [asked, startedMs] = [host.length, systemClock.monotonicMs()]
      while (host.length === asked) {
        if (systemClock.monotonicMs() - startedMs > 30_000) throw new Error('the git host is not asked again')
        await pass()
      }
    },
    change: (changes: Partial<GatewaySyncRecord>) => store.upsertSync({ ...record(), resourceVersion: String((version += 1)), ...changes }),
    sign: (verdict: SignatureVerdict) => (signatures = verdict),
    changeSecret: () => (secretChanges += 1),
    checks: () => checks,
    /** Simulates an API server with the CRD of a release before `status.columns`, which drops that field. */
    dropColumns: () => (older = true),
    refuseWrites: (fault: Fault | undefined) => (refuse = fault),
    /** Answers the newest source resolution and waits until its result is ready. */
    async answer(how: CommitHash | Fault) {
      const before = answered
      const { answer } = host.at(-1) ?? { answer: Promise.withResolvers<CommitHash>() }
      if (how instanceof Fault) answer.reject(how)
      else answer.resolve(how)
      while (answered === before) await turn()
    },
    /** Simulates another process or leader, which has no pending source resolutions. */
    restart: () => (resolutions = start()),
  }
}

async function synced() {
  const world = setUp()
  await world.pass()
  await world.answer(commitA)
  await world.pass()
  return world
}

const requestFor = (ref: string, id = 'r1') => ({
  [requestAnnotations.ref]: ref,
  [requestAnnotations.id]: id,
  [requestAnnotations.specRef]: 'main',
})

void t.test('a result that the API server rejected is not lost', async (t) => {
  const { pass, answer, refuseWrites, status } = setUp()
  await pass()
  await answer(commitA)
  refuseWrites(new Fault('ApiUnavailable', 'no'))
  await rejectsWith(t, pass(), new Fault('ApiUnavailable', 'no'))
  refuseWrites(undefined)
  await pass()
  matchObject(t, status().published, { commit: commitA }, 'without another question to the git host')
})

/** A request as the receiver writes it. */
const webhook = (by: string, ref: string, move = '') => ({
  ...requestFor(ref),
  [requestAnnotations.by]: by,
  [requestAnnotations.move]: move,
})
const outcomes = (status: GatewaySyncStatus) => status.requests?.map(({ outcome, reason }) => [outcome, reason].filter(Boolean).join(' '))
const missing = new Fault('RefNotFound', 'the git host has no ref "refs/tags/v2"')

void t.test('a tag that appears on the git host after its webhook is retried, and the running commit stays', async (t) => {
  const { pass, answer, change, passUntilAsked, status, restart } = await synced()
  change({ annotations: webhook('release', 'refs/tags/v2') })
  await pass()
  for (const isRestarted of [false, true]) {
    await answer(missing)
    const { wakeAfterMs = Infinity } = await pass()
    t.ok(wakeAfterMs >= 500 && wakeAfterMs <= 2_000, `asked again in ${wakeAfterMs} ms`)
    t.strictSame(outcomes(status()), ['Pending RefNotFound'])
    t.match(status().requests?.[0]?.message, /^the git host has no ref "refs\/tags\/v2"; retried for two minutes since /)
    t.equal(status().lastHandledRequest, undefined)
    t.equal(condition(status(), 'Ready')?.status, 'True')
    t.strictSame([status().source?.ref, status().published?.commit], ['main', commitA])
    if (isRestarted) restart()
    await passUntilAsked()
  }
  await answer(commitB)
  await pass()
  t.strictSame(outcomes(status()), ['Handled'])
  t.strictSame([status().source?.ref, status().published?.commit], ['refs/tags/v2', commitB])
})

void t.test('with polling off, a push of the desired branch is retried while the git host answers without that branch', async (t) => {
  const { pass, answer, change, passUntilAsked, status } = await synced()
  change({ annotations: webhook('push', 'refs/heads/main', `${commitA}..${commitB}`) })
  await pass()
  // If a proxy or a login page replaces the answer of the host, git finds no ref in it.
  await answer(missing)
  await pass()
  t.strictSame([outcomes(status()), status().published?.commit], [['Pending RefNotFound'], commitA])
  await passUntilAsked()
  await answer(commitB)
  await pass()
  t.strictSame([outcomes(status()), status().published?.commit], [['Handled'], commitB])
})

void t.test('a webhook request is pending for two minutes at most, and a manual one is answered at once', async (t) => {
  for (const by of ['release', 'cli:operator']) {
    const { pass, answer, change, status } = await synced()
    change({ annotations: webhook(by, 'refs/tags/v2') })
    await pass()
    if (by === 'release') {
      const at = Temporal.Now.instant().subtract({ seconds: 121 }).toString({ smallestUnit: 'second' })
      change({ status: { ...status(), requests: [{ id: 'r1', ref: 'refs/tags/v2', outcome: 'Pending', at }] } })
    }
    await answer(missing)
    await pass()
    t.strictSame(outcomes(status()), ['Refused RefNotFound'], by)
    t.strictSame([status().source?.ref, status().published?.commit], ['main', commitA])
  }
})

void t.test('a push is pending until the git host shows it', async (t) => {
  const commitC = parseCommitHash('c'.repeat(40))
  const rows: [move: string, shown: CommitHash, expected: string][] = [
    [`${commitA}..${commitB}`, commitA, 'Pending PushNotVisible'],
    [`${commitA}..${commitB}`, commitB, 'Handled'],
    [`${commitA}..${commitB}`, commitC, 'Handled'],
    // The push before this one has not been seen either.
    [`${commitB}..${commitC}`, commitA, 'Pending PushNotVisible'],
    // A forced push back to the known commit.
    [`${commitB}..${commitA}`, commitA, 'Handled'],
    ['', commitA, 'Handled'],
    ['no..hashes', commitA, 'Handled'],
  ]
  for (const [move, shown, expected] of rows) {
    const { pass, answer, change, passUntilAsked, status } = await synced()
    change({ annotations: webhook('push', 'refs/heads/main', move) })
    await pass()
    await answer(shown)
    await pass()
    t.strictSame(outcomes(status()), [expected], `${move} while the host shows ${shown}`)
    t.equal(status().published?.commit, shown)
    if (expected === 'Handled') continue
    await passUntilAsked()
    await answer(commitC)
    await pass()
    t.strictSame([outcomes(status()), status().published?.commit], [['Handled'], commitC])
  }
})

void t.test('a moved tag is followed only once the git host shows the move', async (t) => {
  const { pass, answer, change, status } = await synced()
  change({ annotations: webhook('tag-push', 'refs/tags/v2', `${commitB}..${'c'.repeat(40)}`) })
  await pass()
  await answer(commitB)
  await pass()
  t.strictSame([outcomes(status()), status().source?.ref, status().published?.commit], [['Pending PushNotVisible'], 'main', commitA])
})

void t.test('with polling on, a requested ref is polled while it is followed', async (t) => {
  const polled = spec('main', { polling: { enabled: true, interval: '5s' } })
  const { pass, answer, change, host } = setUp({ spec: polled })
  await pass()
  await answer(commitA)
  await pass()
  change({ annotations: webhook('release', 'refs/tags/v2') })
  await pass()
  await answer(commitB)
  const { wakeAfterMs = Infinity } = await pass()
  t.ok(wakeAfterMs <= 5_500, `polled in ${wakeAfterMs} ms`)
  t.equal(host.at(-1)?.ref, 'refs/tags/v2')
})

void t.test('allowedRefs applies to the resolved ref: a short name of a kind that is not allowed is refused', async (t) => {
  const git = { repo: 'https://git.example/plant.git', allowedRefs: ['refs/tags/*'] }
  const rows: [specRef: string, asked: string, outcome: string][] = [
    ['main', 'v2', 'Handled'],
    ['main', 'refs/tags/v2', 'Handled'],
    ['main', 'stage', 'Refused RefNotAllowed'],
    ['main', 'refs/heads/stage', 'Refused RefNotAllowed'],
    ['main', 'refs/heads/main', 'Handled'],
    ['v1', 'refs/tags/v1', 'Handled'],
    ['v1', 'refs/heads/v1', 'Refused RefNotAllowed'],
  ]
  for (const [ref, asked, outcome] of rows) {
    const { pass, answer, change, host, status } = setUp({ spec: spec(ref, { git: { ...git, ref } }) })
    await pass()
    await answer(commitA)
    await pass()
    change({ annotations: { ...requestFor(asked), [requestAnnotations.specRef]: ref } })
    const before = host.length
    await pass()
    if (host.length > before) await answer(commitB)
    else await turn()
    await pass()
    const [request] = status().requests ?? []
    t.equal([request?.outcome, request?.reason].filter(Boolean).join(' '), outcome, `spec.git.ref ${ref}, request for ${asked}`)
    t.equal(status().source?.resolvedRef, outcome === 'Handled' ? fullNameOf(asked) : fullNameOf(ref))
  }
})

void t.test('Ready is not true for a new ref in the spec before it is resolved', async (t) => {
  const { pass, answer, change, status } = await synced()
  matchObject(t, condition(status(), 'Ready'), { status: 'True', observedGeneration: 1 })
  change({ generation: 2, spec: spec('v2') })
  for (const when of ['at once', 'while the question is under way']) {
    await pass()
    matchObject(t, condition(status(), 'Ready'), { status: 'Unknown', reason: 'Pending', observedGeneration: 2 }, when)
    matchObject(t, condition(status(), 'Reconciling'), { status: 'True' }, when)
  }
  await answer(commitB)
  await pass()
  matchObject(t, condition(status(), 'Ready'), { status: 'True', observedGeneration: 2 })
  matchObject(t, status().published, { commit: commitB, ref: 'v2' })
})

void t.test('Ready is not true for new validation settings before validation has run', async (t) => {
  const changes = {
    rules: { validation: { rules: { 'some-rule': 'error' } } },
    'default excludes': { sync: { ...spec().sync, defaults: { excludePatterns: ['**/*.bak'] } } },
  }
  for (const [name, change] of Object.entries(changes)) {
    const world = await synced()
    world.change({ generation: 2, spec: spec('main', change) })
    await world.pass()
    matchObject(t, condition(world.status(), 'Ready'), { status: 'Unknown', reason: 'Pending' }, name)
    await world.answer(commitA)
    await world.pass()
    matchObject(t, condition(world.status(), 'Ready'), { status: 'True' }, name)
  }
})

void t.test('a change that does not affect the source keeps Ready', async (t) => {
  const { pass, change, status, host } = await synced()
  change({ generation: 2, spec: spec('main', { gateway: { port: 9088 } }) })
  await pass()
  matchObject(t, condition(status(), 'Ready'), { status: 'True', observedGeneration: 2 })
  t.equal(host.length, 1)
})

void t.test('a result for an earlier spec is not published', async (t) => {
  const { pass, answer, change, status } = await synced()
  change({ generation: 2, spec: spec('v2') })
  await pass()
  await answer(commitB)
  change({ generation: 3, spec: spec('v3') })
  await pass()
  matchObject(t, status().published, { commit: commitA, ref: 'main' })
  matchObject(t, condition(status(), 'Ready'), { status: 'Unknown', reason: 'Pending' })
})

void t.test('a fault of an earlier spec does not stall the current one', async (t) => {
  const { pass, answer, change, status } = setUp({ spec: spec('typo') })
  await pass()
  await answer(new Fault('RefNotFound', 'no such ref'))
  await pass()
  matchObject(t, condition(status(), 'Stalled'), { status: 'True', reason: 'RefNotFound' })
  change({ generation: 2, spec: spec('main') })
  await pass()
  t.equal(condition(status(), 'Stalled'), undefined)
  matchObject(t, condition(status(), 'SourceReady'), { status: 'Unknown', reason: 'Pending' })
})

void t.test('a refused request does not change the conditions', async (t) => {
  const { pass, answer, change, status, host } = await synced()
  const before = status().conditions
  change({ annotations: requestFor('typo') })
  await pass()
  await answer(new Fault('RefNotFound', 'no such ref'))
  for (const when of ['when it is answered', 'while the git host is asked again']) {
    await pass()
    matchObject(t, status().requests, [{ id: 'r1', outcome: 'Refused', reason: 'RefNotFound' }], when)
    t.strictSame(status().conditions, before, when)
  }
  t.strictSame(
    host.map(({ ref }) => ref),
    ['main', 'typo', 'main'],
    'the ref from before is resolved at once',
  )
})

void t.test('with polling off, a push of a missing desired ref stays reported until the ref is back', async (t) => {
  const { pass, answer, change, status } = await synced()
  change({ annotations: requestFor('main') })
  await pass()
  await answer(new Fault('RefNotFound', 'no such ref'))
  for (const when of ['when it is answered', 'at each later pass']) {
    await pass()
    matchObject(t, status().requests, [{ id: 'r1', outcome: 'Refused', reason: 'RefNotFound' }], when)
    matchObject(t, condition(status(), 'Ready'), { status: 'False', reason: 'RefNotFound' }, when)
  }
  change({ annotations: requestFor('main', 'r2') })
  await pass()
  await answer(commitB)
  await pass()
  matchObject(t, condition(status(), 'Ready'), { status: 'True' })
  matchObject(t, status().published, { commit: commitB })
})

void t.test('a restart keeps the last fault until the next source resolution', async (t) => {
  const { pass, answer, restart, status } = setUp()
  await pass()
  await answer(new Fault('GitUnreachable', 'no route'))
  await pass()
  const before = status().conditions
  matchObject(t, condition(status(), 'SourceReady'), { status: 'False', reason: 'GitUnreachable' })
  restart()
  await pass()
  t.strictSame(status().conditions, before)
})

void t.test('a restart after a spec change does not report Ready before the source is resolved', async (t) => {
  const { pass, answer, change, restart, status } = await synced()
  restart()
  change({ generation: 2, spec: spec('main', { validation: { rules: { 'some-rule': 'error' } } }) })
  for (const when of ['at once', 'while the question is under way']) {
    await pass()
    matchObject(t, condition(status(), 'Ready'), { status: 'Unknown', reason: 'Pending' }, when)
  }
  await answer(commitA)
  await pass()
  matchObject(t, condition(status(), 'Ready'), { status: 'True' })
})

void t.test('a spec that exceeds the size limit stalls as TooLarge and keeps the published commit', async (t) => {
  const published = { commit: commitA, ref: 'refs/heads/main', at: '2026-01-01T00:00:00Z' }
  const { pass, status } = setUp({ spec: {}, tooLarge: 'spec is 200000 bytes', status: { published } })
  await pass()
  matchObject(t, condition(status(), 'Stalled'), { status: 'True', reason: 'TooLarge', message: 'spec is 200000 bytes' })
  t.strictSame(status().published, published)
})

void t.test('an invalid spec stalls, is not also reconciling, and keeps the published commit', async (t) => {
  const { pass, change, answer, status } = await synced()
  change({ generation: 2, spec: spec('v2') })
  await pass()
  matchObject(t, condition(status(), 'Reconciling'), { status: 'True' })
  change({ generation: 3, spec: spec('main', { gateway: { port: 0 }, paused: 'maybe' }) })
  await pass()
  const types = (status().conditions ?? []).map(({ type }) => type).toSorted((a, b) => (a < b ? -1 : 1))
  t.strictSame(types, ['AgentsInjected', 'CollectionsValid', 'GatewaysSynced', 'Ready', 'SourceReady', 'Stalled'])
  for (const type of ['Ready', 'SourceReady']) matchObject(t, condition(status(), type), { status: 'False', reason: 'InvalidSpec' }, type)
  matchObject(t, condition(status(), 'Stalled'), {
    status: 'True',
    reason: 'InvalidSpec',
    observedGeneration: 3,
    message: /^spec\.gateway\.port: .+; spec\.paused: must be true or false, and is "maybe"$/,
  })
  matchObject(t, status().published, { commit: commitA })
  change({ generation: 4, spec: spec() })
  await pass()
  t.equal(condition(status(), 'Stalled'), undefined)
  await answer(commitB)
  await pass()
  matchObject(t, condition(status(), 'Ready'), { status: 'True' })
})

void t.test('with a CRD that drops the columns, unchanged status and events are not written again', async (t) => {
  const { pass, answer, change, dropColumns, restart, told, status } = setUp()
  dropColumns()
  for (let lookup = 0; lookup < 2; lookup += 1) {
    await pass()
    await answer(commitA)
    await pass()
    restart()
  }
  t.equal(status().columns, undefined)
  const { writes } = told
  for (let lookup = 0; lookup < 3; lookup += 1) {
    await pass()
    await answer(commitA)
    await pass()
    restart()
  }
  t.equal(told.writes, writes, 'three resolutions that find the same')

  change({ generation: 2, spec: { ...spec(), polling: { interval: 'often' } } })
  for (let times = 0; times < 3; times += 1) await pass()
  t.equal(told.writes, writes + 1)
  t.strictSame(
    told.events.filter((reason) => reason === 'InvalidSpec'),
    ['InvalidSpec'],
  )
})

const verifying = (ref = 'main') => spec(ref, { git: { ...spec(ref).git, verify: { mode: 'Commit', secretRef: { name: 'keys' } } } })

void t.test('a commit without the required signature is held and reported, and the published one stays', async (t) => {
  const { pass, answer, change, status, sign, restart } = await synced()
  change({ generation: 2, spec: verifying() })
  sign({ kind: 'refused', why: `commit ${commitB} is not signed` })
  await pass()
  await answer(commitB)
  for (const when of ['at once', 'a pass later', 'after a restart']) {
    if (when === 'after a restart') restart()
    await pass()
    for (const type of ['Ready', 'SourceReady'])
      matchObject(
        t,
        condition(status(), type),
        { status: 'False', reason: 'NotVerified', message: `commit ${commitB} is not signed` },
        when,
      )
    matchObject(t, condition(status(), 'Stalled'), { status: 'True', reason: 'NotVerified' }, when)
    matchObject(t, condition(status(), 'CollectionsValid'), { status: 'Unknown' }, `${when}: nothing of it was checked`)
    matchObject(t, status().source, { commit: commitB, held: 'NotVerified' }, when)
    matchObject(t, status().published, { commit: commitA }, when)
    matchObject(
      t,
      status().history?.map(({ commit, outcome }) => `${outcome} ${commit}`),
      [`Refused ${commitB}`, `Published ${commitA}`],
      `${when}: told once`,
    )
  }
})

void t.test('a request for an unverified commit is refused and changes nothing', async (t) => {
  const { pass, answer, change, status, sign } = await synced()
  change({ generation: 2, spec: verifying() })
  sign({ kind: 'verified', commit: { key: 'AB12', by: 'Ann' } })
  await pass()
  await answer(commitA)
  await pass()
  matchObject(t, status().source, { commit: commitA, verified: { commit: { key: 'AB12', by: 'Ann' } } })
  sign({ kind: 'refused', why: 'no' })
  change({ annotations: requestFor('v2') })
  await pass()
  await answer(commitB)
  await pass()
  matchObject(t, status().requests, [{ id: 'r1', outcome: 'Refused', reason: 'NotVerified' }])
  matchObject(t, status().published, { commit: commitA })
  matchObject(t, condition(status(), 'Ready'), { status: 'True' })
})

void t.test('a commit is published with its signer, and resolved again when the Secret changes', async (t) => {
  const { pass, answer, change, status, sign, changeSecret, host } = await synced()
  change({ generation: 2, spec: verifying() })
  sign({ kind: 'verified', commit: { key: 'AB12', by: 'Ann' } })
  await pass()
  await answer(commitB)
  await pass()
  matchObject(t, status().published, { commit: commitB })
  matchObject(t, status().history?.[0], { commit: commitB, outcome: 'Published', signedBy: 'AB12' })
  matchObject(t, condition(status(), 'Ready'), { status: 'True' })
  const asked = host.length
  await pass()
  t.equal(host.length, asked, 'polling is off')
  changeSecret()
  sign({ kind: 'refused', why: 'the key is gone' })
  await pass()
  t.equal(host.length, asked + 1)
  matchObject(t, condition(status(), 'Ready'), { status: 'Unknown', reason: 'Pending' }, 'nobody knows yet')
  await answer(commitB)
  await pass()
  matchObject(t, condition(status(), 'Ready'), { status: 'False', reason: 'NotVerified' })
  matchObject(t, status().published, { commit: commitB }, 'gateways keep what they have')
  t.equal(status().source?.verified, undefined)
})
