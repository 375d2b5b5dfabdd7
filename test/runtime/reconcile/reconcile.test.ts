import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import { Fault } from '../../../runtime/fault.ts'
import { requestAnnotations } from '../../../runtime/gatewaysync/names.ts'
import type { GatewaySyncStatus } from '../../../runtime/gatewaysync/schema/status.ts'
import { type CommitHash, parseCommitHash } from '../../../runtime/gatewaysync/values.ts'
import { silentLog } from '../../../runtime/log.ts'
import { createLookups } from '../../../runtime/reconcile/lookups.ts'
import { reconcile, type ReconcileDeps, type SignatureVerdict } from '../../../runtime/reconcile/reconcile.ts'
import type { ResolvedCommit } from '../../../runtime/reconcile/resolved-commit.ts'
import { createStore } from '../../../runtime/reconcile/store.ts'
import { type GatewaySyncRecord, syncKey } from '../../../runtime/reconcile/records.ts'

const commitA = parseCommitHash('a'.repeat(40))
const commitB = parseCommitHash('b'.repeat(40))
const key = syncKey('plant', 'one')
const spec = (ref = 'main', changes: object = {}) => ({
  git: { repo: 'https://git.example/plant.git', ref },
  polling: { enabled: false },
  sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  ...changes,
})
const condition = (status: GatewaySyncStatus, type: string) => status.conditions?.find((one) => one.type === type)

/** One GatewaySync, a git host whose answers the test gives, an API server that takes what it is told. */
function setUp(given: Partial<GatewaySyncRecord> = {}) {
  const stop = new AbortController()
  const store = createStore(() => {})
  let answered = 0
  const start = () => createLookups({ clock: systemClock, concurrency: 8, ready: () => (answered += 1), signal: stop.signal })
  let lookups = start()
  const host: { ref: string; answer: PromiseWithResolvers<CommitHash> }[] = []
  let refuse: Fault | undefined
  let signatures: SignatureVerdict = { kind: 'notAsked' }
  let secretChanges = 0
  let tagLook: Promise<boolean> | undefined
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
    lookups,
    clock: systemClock,
    log: silentLog,
    allowLocal: false,
    async resolve(_record, _spec, wanted): Promise<ResolvedCommit> {
      const answer = Promise.withResolvers<CommitHash>()
      host.push({ ref: wanted.ref, answer })
      const found = { commit: await answer.promise, committedAt: Promise.resolve(undefined), fetchedAt: '2026-01-01T00:00:00Z' }
      return { ...found, name: wanted.ref, tag: undefined, ...(tagLook === undefined ? {} : { hasTagToo: tagLook }) }
    },
    async adopt() {},
    verify: async () => signatures,
    secretChanges: () => secretChanges,
    async check() {
      checks += 1
      return { kind: 'notChecked' }
    },
    prepareCheck() {},
    delivery: () => undefined,
    async writeStatus(before, status) {
      if (refuse !== undefined) throw refuse
      told.writes += 1
      const { columns, ...others } = status
      return { ...before, resourceVersion: String((version += 1)), status: older ? others : { ...others, columns } }
    },
    recordEvents: (_record, events) => void told.events.push(...events.map(({ reason }) => reason)),
    observed() {},
    gone() {},
  })
  return {
    host,
    told,
    status: () => record().status,
    pass: () => reconcile(deps(), key, stop.signal),
    change: (changes: Partial<GatewaySyncRecord>) => store.upsertSync({ ...record(), resourceVersion: String((version += 1)), ...changes }),
    sign: (verdict: SignatureVerdict) => (signatures = verdict),
    changeSecret: () => (secretChanges += 1),
    /** Whether a tag has the branch's name, from now on. */
    lookForTag(look: Promise<boolean>) {
      tagLook = look
    },
    checks: () => checks,
    /** The API server has the CRD of a release before `status.columns`, and drops them. */
    dropColumns: () => (older = true),
    refuseWrites: (fault: Fault | undefined) => (refuse = fault),
    /** Settles the newest question and waits until its answer lies ready. */
    async answer(how: CommitHash | Fault) {
      const before = answered
      const { answer } = host.at(-1) ?? { answer: Promise.withResolvers<CommitHash>() }
      if (how instanceof Fault) answer.reject(how)
      else answer.resolve(how)
      while (answered === before) await turn()
    },
    /** Another process, or another leader: what was asked is forgotten. */
    restart: () => (lookups = start()),
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

void t.test('an answer that the API server did not take is not lost', async (t) => {
  const { pass, answer, refuseWrites, status } = setUp()
  await pass()
  await answer(commitA)
  refuseWrites(new Fault('ApiUnavailable', 'no'))
  await t.rejects(pass(), new Fault('ApiUnavailable', 'no'))
  refuseWrites(undefined)
  await pass()
  t.match(status().published, { commit: commitA }, 'without another question to the git host')
})

void t.test('a commit is checked while a tag of the same name is looked for, and told of with what is found', async (t) => {
  const { pass, answer, lookForTag, checks, status } = setUp()
  const look = Promise.withResolvers<boolean>()
  lookForTag(look.promise)
  await pass()
  const answered = answer(commitA)
  while (checks() === 0) await turn()
  look.resolve(true)
  await answered
  await pass()
  t.match(status(), { published: { commit: commitA }, source: { hasTagToo: true } })
})

void t.test('Ready is not true for a spec whose ref nobody has resolved yet', async (t) => {
  const { pass, answer, change, status } = await synced()
  t.match(condition(status(), 'Ready'), { status: 'True', observedGeneration: 1 })
  change({ generation: 2, spec: spec('v2') })
  for (const when of ['at once', 'while the question is under way']) {
    await pass()
    t.match(condition(status(), 'Ready'), { status: 'Unknown', reason: 'Pending', observedGeneration: 2 }, when)
    t.match(condition(status(), 'Reconciling'), { status: 'True' }, when)
  }
  await answer(commitB)
  await pass()
  t.match(condition(status(), 'Ready'), { status: 'True', observedGeneration: 2 })
  t.match(status().published, { commit: commitB, ref: 'v2' })
})

void t.test('Ready is not true for other checks of the same ref until they were made', async (t) => {
  const changes = {
    rules: { validation: { rules: { 'some-rule': 'error' } } },
    'default excludes': { sync: { ...spec().sync, defaults: { excludePatterns: ['**/*.bak'] } } },
  }
  for (const [name, change] of Object.entries(changes)) {
    const world = await synced()
    world.change({ generation: 2, spec: spec('main', change) })
    await world.pass()
    t.match(condition(world.status(), 'Ready'), { status: 'Unknown', reason: 'Pending' }, name)
    await world.answer(commitA)
    await world.pass()
    t.match(condition(world.status(), 'Ready'), { status: 'True' }, name)
  }
})

void t.test('a change that concerns no git host leaves Ready as it is', async (t) => {
  const { pass, change, status, host } = await synced()
  change({ generation: 2, spec: spec('main', { gateway: { port: 9088 } }) })
  await pass()
  t.match(condition(status(), 'Ready'), { status: 'True', observedGeneration: 2 })
  t.equal(host.length, 1)
})

void t.test('an answer about what the spec said before is not published', async (t) => {
  const { pass, answer, change, status } = await synced()
  change({ generation: 2, spec: spec('v2') })
  await pass()
  await answer(commitB)
  change({ generation: 3, spec: spec('v3') })
  await pass()
  t.match(status().published, { commit: commitA, ref: 'main' })
  t.match(condition(status(), 'Ready'), { status: 'Unknown', reason: 'Pending' })
})

void t.test('a fault of the spec before does not stall the present one', async (t) => {
  const { pass, answer, change, status } = setUp({ spec: spec('typo') })
  await pass()
  await answer(new Fault('RefNotFound', 'no such ref'))
  await pass()
  t.match(condition(status(), 'Stalled'), { status: 'True', reason: 'RefNotFound' })
  change({ generation: 2, spec: spec('main') })
  await pass()
  t.equal(condition(status(), 'Stalled'), undefined)
  t.match(condition(status(), 'SourceReady'), { status: 'Unknown', reason: 'Pending' })
})

void t.test('a refused request leaves no trace in the conditions', async (t) => {
  const { pass, answer, change, status, host } = await synced()
  const before = status().conditions
  change({ annotations: requestFor('typo') })
  await pass()
  await answer(new Fault('RefNotFound', 'no such ref'))
  for (const when of ['when it is answered', 'while the git host is asked again']) {
    await pass()
    t.match(status().requests, [{ id: 'r1', outcome: 'Refused', reason: 'RefNotFound' }], when)
    t.strictSame(status().conditions, before, when)
  }
  t.strictSame(
    host.map(({ ref }) => ref),
    ['main', 'typo', 'main'],
    'what was wanted before is asked about at once',
  )
})

void t.test('a push of the wanted ref that is gone stays told, with polling off, until the ref is back', async (t) => {
  const { pass, answer, change, status } = await synced()
  change({ annotations: requestFor('main') })
  await pass()
  await answer(new Fault('RefNotFound', 'no such ref'))
  for (const when of ['when it is answered', 'at each later pass']) {
    await pass()
    t.match(status().requests, [{ id: 'r1', outcome: 'Refused', reason: 'RefNotFound' }], when)
    t.match(condition(status(), 'Ready'), { status: 'False', reason: 'RefNotFound' }, when)
  }
  change({ annotations: requestFor('main', 'r2') })
  await pass()
  await answer(commitB)
  await pass()
  t.match(condition(status(), 'Ready'), { status: 'True' })
  t.match(status().published, { commit: commitB })
})

void t.test('a restart keeps what the last question met until the next one is answered', async (t) => {
  const { pass, answer, restart, status } = setUp()
  await pass()
  await answer(new Fault('GitUnreachable', 'no route'))
  await pass()
  const before = status().conditions
  t.match(condition(status(), 'SourceReady'), { status: 'False', reason: 'GitUnreachable' })
  restart()
  await pass()
  t.strictSame(status().conditions, before)
})

void t.test('a restart after a change of the spec does not call it ready before it was asked about', async (t) => {
  const { pass, answer, change, restart, status } = await synced()
  restart()
  change({ generation: 2, spec: spec('main', { validation: { rules: { 'some-rule': 'error' } } }) })
  for (const when of ['at once', 'while the question is under way']) {
    await pass()
    t.match(condition(status(), 'Ready'), { status: 'Unknown', reason: 'Pending' }, when)
  }
  await answer(commitA)
  await pass()
  t.match(condition(status(), 'Ready'), { status: 'True' })
})

void t.test('an invalid spec stalls, is not also under way, and keeps what is published', async (t) => {
  const { pass, change, answer, status } = await synced()
  change({ generation: 2, spec: spec('v2') })
  await pass()
  t.match(condition(status(), 'Reconciling'), { status: 'True' })
  change({ generation: 3, spec: spec('main', { gateway: { port: 0 } }) })
  await pass()
  const types = (status().conditions ?? []).map(({ type }) => type).toSorted((a, b) => (a < b ? -1 : 1))
  t.strictSame(types, ['AgentsInjected', 'CollectionsValid', 'GatewaysSynced', 'Ready', 'SourceReady', 'Stalled'])
  for (const type of ['Ready', 'SourceReady']) t.match(condition(status(), type), { status: 'False', reason: 'InvalidSpec' }, type)
  t.match(condition(status(), 'Stalled'), { status: 'True', reason: 'InvalidSpec', observedGeneration: 3 })
  t.match(status().published, { commit: commitA })
  change({ generation: 4, spec: spec() })
  await pass()
  t.equal(condition(status(), 'Stalled'), undefined)
  await answer(commitB)
  await pass()
  t.match(condition(status(), 'Ready'), { status: 'True' })
})

void t.test('with a CRD that drops the columns, nothing is written or told again that has not changed', async (t) => {
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
  t.equal(told.writes, writes, 'three lookups that find the same')

  change({ generation: 2, spec: { ...spec(), polling: { interval: 'often' } } })
  for (let times = 0; times < 3; times += 1) await pass()
  t.equal(told.writes, writes + 1)
  t.same(
    told.events.filter((reason) => reason === 'InvalidSpec'),
    ['InvalidSpec'],
  )
})

const verifying = (ref = 'main') => spec(ref, { git: { ...spec(ref).git, verify: { mode: 'Commit', secretRef: { name: 'keys' } } } })

void t.test('what is not signed as the spec asks is held and told, and what is published stays', async (t) => {
  const { pass, answer, change, status, sign, restart } = await synced()
  change({ generation: 2, spec: verifying() })
  sign({ kind: 'refused', why: `commit ${commitB} is not signed` })
  await pass()
  await answer(commitB)
  for (const when of ['at once', 'a pass later', 'after a restart']) {
    if (when === 'after a restart') restart()
    await pass()
    for (const type of ['Ready', 'SourceReady'])
      t.match(condition(status(), type), { status: 'False', reason: 'NotVerified', message: `commit ${commitB} is not signed` }, when)
    t.match(condition(status(), 'Stalled'), { status: 'True', reason: 'NotVerified' }, when)
    t.match(condition(status(), 'CollectionsValid'), { status: 'Unknown' }, `${when}: nothing of it was checked`)
    t.match(status().source, { commit: commitB, held: 'NotVerified' }, when)
    t.match(status().published, { commit: commitA }, when)
    t.match(
      status().history?.map(({ commit, outcome }) => `${outcome} ${commit}`),
      [`Refused ${commitB}`, `Published ${commitA}`],
      `${when}: told once`,
    )
  }
})

void t.test('a request for something that is not verified is refused and changes nothing', async (t) => {
  const { pass, answer, change, status, sign } = await synced()
  change({ generation: 2, spec: verifying() })
  sign({ kind: 'verified', commit: { key: 'AB12', by: 'Ann' } })
  await pass()
  await answer(commitA)
  await pass()
  t.match(status().source, { commit: commitA, verified: { commit: { key: 'AB12', by: 'Ann' } } })
  sign({ kind: 'refused', why: 'no' })
  change({ annotations: requestFor('v2') })
  await pass()
  await answer(commitB)
  await pass()
  t.match(status().requests, [{ id: 'r1', outcome: 'Refused', reason: 'NotVerified' }])
  t.match(status().published, { commit: commitA })
  t.match(condition(status(), 'Ready'), { status: 'True' })
})

void t.test('a commit is published with who signed it, and asked about anew when the Secret has changed', async (t) => {
  const { pass, answer, change, status, sign, changeSecret, host } = await synced()
  change({ generation: 2, spec: verifying() })
  sign({ kind: 'verified', commit: { key: 'AB12', by: 'Ann' } })
  await pass()
  await answer(commitB)
  await pass()
  t.match(status().published, { commit: commitB })
  t.match(status().history?.[0], { commit: commitB, outcome: 'Published', signedBy: 'AB12' })
  t.match(condition(status(), 'Ready'), { status: 'True' })
  const asked = host.length
  await pass()
  t.equal(host.length, asked, 'polling is off')
  changeSecret()
  sign({ kind: 'refused', why: 'the key is gone' })
  await pass()
  t.equal(host.length, asked + 1)
  t.match(condition(status(), 'Ready'), { status: 'Unknown', reason: 'Pending' }, 'nobody knows yet')
  await answer(commitB)
  await pass()
  t.match(condition(status(), 'Ready'), { status: 'False', reason: 'NotVerified' })
  t.match(status().published, { commit: commitB }, 'gateways keep what they have')
  t.equal(status().source?.verified, undefined)
})
