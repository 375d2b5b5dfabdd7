/**
 * What agents tell the leading replica of their gateways' changes: who is asked, what is taken, what the real gate stops, and where real git
 * puts the rest.
 */
import { rmSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { digestOf } from '../../../runtime/capture/commit.ts'
import { type Clock, systemClock } from '../../../runtime/clock.ts'
import { createCaptures } from '../../../runtime/controller/captures.ts'
import type { CaptureAnswer, CaptureOffer } from '../../../runtime/delivery/protocol.ts'
import { openIsolatedGate } from '../../../runtime/gate/isolate.ts'
import { createMarks } from '../../../runtime/gate/marks.ts'
import { driftRequest } from '../../../runtime/gatewaysync/decide/capture.ts'
import { captureAnnotations, podAnnotations } from '../../../runtime/gatewaysync/names.ts'
import { type CaptureEntry, type CaptureStatus, captureStatus } from '../../../runtime/gatewaysync/schema/capture-spec.ts'
import type { CommitHash } from '../../../runtime/gatewaysync/values.ts'
import { silentLog } from '../../../runtime/log.ts'
import { createSyncMirrors } from '../../../runtime/reconcile/mirrors-of-syncs.ts'
import { createStore } from '../../../runtime/reconcile/store.ts'
import { createMirrors } from '../../../runtime/source/mirrors.ts'
import { createHostApis } from '../../../runtime/source/host-api.ts'
import { openNetwork } from '../../../runtime/source/remote/network.ts'
import { createRemotes } from '../../../runtime/source/remotes.ts'
import { repositoryOf } from '../../support/collection-repository.ts'
import { config, resource, root, validTree } from '../../support/collection-tree.ts'
import { pod } from '../../support/fleet-facts.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { requires } from '../../support/requires.ts'
import { steppedClock } from '../../support/stepped-clock.ts'
import { until } from '../../support/world.ts'

const sync = { namespace: 'plant-a', name: 'plant' }
const key = 'plant-a/plant'
const project = JSON.stringify({ title: 'Line', description: '', parent: '', enabled: true, inheritable: false })

function setUp(t: Test, clock: Clock = systemClock) {
  const view = 'gw/projects/line/com.inductiveautomation.perspective/views/main'
  const repository = repositoryOf(t, {
    ...validTree(),
    'gw/projects/line/a.txt': 'one',
    'gw/projects/line/project.json': project,
    [`${view}/view.json`]: '{}',
    [`${view}/resource.json`]: '{"scope":"G","version":1,"restricted":false,"overridable":true,"files":["view.json"],"attributes":{}}',
  })
  const commit = repository.git('rev-parse', 'HEAD').toString('utf8').trim() as CommitHash
  const folder = temporaryFolder(t, 'captures')
  const store = createStore(() => {})
  const stop = new AbortController()
  const readSecret = async () => ({ version: '1', data: new Map([['token', Buffer.from('t')]]) })
  const way = { allowLocal: true, allowedHosts: [], readSecret, network: openNetwork }
  const remoteOf = createRemotes({ ...way, clock: systemClock, signal: stop.signal })
  const gitMirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  const gate = openIsolatedGate({ clock: systemClock, log: silentLog, marks: createMarks(path.join(folder, 'checking.json')) })
  const states: CaptureEntry['state'][] = []
  const hostApi = createHostApis({ ...way, remoteOf })
  const mirrors = createSyncMirrors(gitMirrors, remoteOf)
  const captured = (state: CaptureEntry['state']): void => void states.push(state)
  const captures = createCaptures({ store, mirrors, remoteOf, gate, hostApi, captured, clock, log: silentLog })
  const changed: string[] = []
  let leading: Promise<void> | undefined
  t.teardown(async () => {
    stop.abort()
    await leading
    await gate.close()
    await gitMirrors.close()
  })
  const spec = {
    git: { repo: repository.folder, ref: 'main' },
    sync: {
      profiles: { default: { mappings: [{ source: 'gw/projects', destination: 'projects' }], collections: { root, mode: 'auto' } } },
    },
    validation: { policy: 'Off' },
    capture: { auth: { token: { secretRef: { name: 'push', key: 'token' } } } },
  }
  let version = 0
  const ask = (annotations: Record<string, string>, more: object = {}, capture: CaptureStatus = {}): void =>
    store.upsertSync({
      ...sync,
      uid: 'u',
      resourceVersion: String((version += 1)),
      generation: 1,
      annotations,
      spec: { ...spec, ...more },
      status: { published: { commit, ref: 'main', at: '2026-03-01T12:00:00Z' }, capture },
    })
  for (const name of ['gw-0', 'gw-1']) store.upsertPod({ ...pod(name, 'plant'), serviceAccount: 'gateway' })
  const offer = (request: string, contents: Readonly<Record<string, string>>): CaptureOffer => {
    const edits = Object.entries(contents).map(([source, text]) => ({ source, exec: false, content: Buffer.from(text) }))
    const changes = edits.map(({ source, content }) => ({
      source,
      path: source.replace(`${root}/`, 'config/resources/').replace('gw/', ''),
      op: 'changed' as const,
      exec: false,
      content: content.toString('base64'),
    }))
    const told = { commit, profile: 'default', mode: 'dev', request, leftOut: [], leftOutFiles: 0 }
    return { ...told, digest: digestOf(edits), files: edits.length, changes }
  }
  /** As an agent does: asks until it is over. */
  const handOn = async (name: string, { changes, ...short }: CaptureOffer): Promise<CaptureEntry | undefined> => {
    const tell = (whole: CaptureOffer): CaptureAnswer['answer'] | undefined => captures.offered(sync, name, whole)?.answer
    await until(
      async () => {
        const first = tell(short)
        return (first === 'send' ? tell({ ...short, changes }) : first) === 'done' ? true : undefined
      },
      'the offer is over',
      120_000,
    )
    return captures.known(key).find((entry) => entry.pod === name)
  }
  return {
    repository,
    commit,
    captures,
    store,
    states,
    changed,
    ask,
    offer,
    handOn,
    sync,
    git: (...args: string[]): string =>
      repository
        .git(...args)
        .toString('utf8')
        .trim(),
    lead(): void {
      leading = captures.lead((name) => void changed.push(name), stop.signal)
    },
  }
}

void t.test('nobody is asked for contents but a gateway whose changes somebody asked for, by the replica that leads', async (t) => {
  if (!requires(t, 'git')) return
  const { captures, ask, offer, lead } = setUp(t)
  const { changes: _none, ...short } = offer('now', { 'gw/projects/line/a.txt': 'two' })
  const answer = (more: Partial<CaptureOffer> = {}, name = 'gw-0') => captures.offered(sync, name, { ...short, ...more })
  ask({ [captureAnnotations.at]: 'now', [captureAnnotations.gateway]: 'gw-0' })
  t.equal(answer(), undefined, 'a replica that does not lead')
  lead()
  t.same(answer(), { answer: 'send' })
  t.same(answer({}, 'gw-1'), { answer: 'done' }, 'another gateway')
  t.same(answer({ request: 'before' }), { answer: 'done' }, 'another request')
  t.throws(() => answer({ profile: 'other' }), { name: 'Fault', reason: 'PayloadMalformed' }, 'of a pod that follows another profile')
  ask({}, {})
  t.same(answer(), { answer: 'done' }, 'no request')
  ask({ [captureAnnotations.at]: 'now' }, { capture: undefined })
  t.same(answer(), { answer: 'done' }, 'no spec.capture')
  t.same(captures.known(key), [])
})

void t.test(
  'changes become a commit on the branch of their gateway, equal ones are one, and a second repair follows the first',
  async (t) => {
    if (!requires(t, 'git')) return
    const { states, changed, ask, offer, handOn, git, lead, commit } = setUp(t)
    lead()
    ask({ [captureAnnotations.at]: 'first' })
    const edit = { 'gw/projects/line/a.txt': 'two' }
    const one = await handOn('gw-0', offer('first', edit))
    t.match(one, { state: 'Pushed', branch: 'captured/gw-0', files: 1, on: commit })
    t.equal(git('rev-parse', 'captured/gw-0'), one?.commit)
    t.equal(git('log', '-1', '--format=%P', 'captured/gw-0'), commit)
    t.match(
      git('log', '-1', '--format=%(trailers)', 'captured/gw-0'),
      `Captured-Gateway: gw-0\nCaptured-Mode: dev\nCaptured-On: ${commit}\nCaptured-For: plant-a/plant/gw-0`,
    )
    const same = await handOn('gw-1', offer('first', edit))
    t.match(same, { state: 'Pushed', branch: 'captured/gw-0', commit: one?.commit })
    ask({ [captureAnnotations.at]: 'second' })
    const next = await handOn('gw-0', offer('second', { ...edit, 'gw/projects/line/b.txt': 'new' }))
    t.equal(git('log', '-1', '--format=%P', 'captured/gw-0'), `${commit} ${one?.commit ?? ''}`, 'nothing is forced')
    t.equal(git('rev-parse', 'captured/gw-0'), next?.commit)
    t.match(await handOn('gw-1', { ...offer('second', {}), files: 0 }), { state: 'Nothing' })
    t.same(states, ['Pushed', 'Pushed', 'Pushed', 'Nothing'])
    t.same(new Set(changed), new Set([key]))
  },
)

void t.test('an error and a plain credential stop a commit, with the finding, even where the policy is Off', async (t) => {
  if (!requires(t, 'git')) return
  const { ask, offer, handOn, git, lead } = setUp(t)
  lead()
  ask({ [captureAnnotations.at]: 'error' })
  const broken = await handOn('gw-0', offer('error', { 'gw/projects/line/project.json': '{"title": "Line",' }))
  t.match(broken, { state: 'Refused', reason: 'CollectionsInvalid', message: /project\.json/ })
  ask({ [captureAnnotations.at]: 'credential' })
  const database = config({ connectURL: 'jdbc:postgresql://db.dev.example.com/erp', password: 'to be changed' })
  const secret = await handOn('gw-0', offer('credential', resource('dev/ignition/database-connection/erp', database)))
  t.match(secret, { state: 'Refused', reason: 'CollectionsInvalid', message: /plain-credential/ })
  t.notMatch(JSON.stringify(secret), /to be changed/)
  t.equal(git('branch', '--list', 'captured/*'), '')
})

void t.test('changes that are not permitted are refused once, with the reason in the status', async (t) => {
  if (!requires(t, 'git')) return
  const { captures, states, ask, offer, handOn, lead } = setUp(t)
  lead()
  ask({ [captureAnnotations.at]: 'now' })
  const foreign = offer('now', { 'elsewhere/a.txt': 'two' })
  t.match(await handOn('gw-0', foreign), { state: 'Refused', reason: 'PayloadMalformed', message: /elsewhere/, files: 1 })
  t.same(captures.offered(sync, 'gw-0', foreign), { answer: 'done' })
  t.same(states, ['Refused'])
})

void t.test('an entry holds no text that is longer than the API server takes, however long the name of a gateway is', async (t) => {
  if (!requires(t, 'git')) return
  const { store, ask, offer, handOn, lead } = setUp(t)
  lead()
  ask({ [captureAnnotations.at]: 'now' })
  const annotations = { [podAnnotations.gatewayName]: 'g'.repeat(5_000) }
  store.upsertPod({ ...pod('gw-0', 'plant'), serviceAccount: 'gateway', annotations })
  const told = await handOn('gw-0', offer('now', { 'gw/projects/line/a.txt': 'two' }))
  t.match(told, { state: 'Refused', reason: 'PushRefused', gateway: 'g'.repeat(253) })
  t.equal(v.safeParse(captureStatus, { gateways: [told] }).success, true)
})

void t.test('a gateway that comes long after a request answers it no more', async (t) => {
  if (!requires(t, 'git')) return
  const start = Temporal.Instant.from('2026-03-01T12:00:00Z')
  const { clock, set } = steppedClock(start)
  const { captures, ask, offer, lead } = setUp(t, clock)
  lead()
  const { changes: _none, ...short } = offer('now', { 'gw/projects/line/a.txt': 'two' })
  ask({ [captureAnnotations.at]: 'now' }, {}, { request: 'now', at: start.toString() })
  set(start.add({ minutes: 59 }))
  t.same(captures.offered(sync, 'gw-0', short), { answer: 'send' })
  set(start.add({ minutes: 61 }))
  t.same(captures.offered(sync, 'gw-0', short), { answer: 'done' })
  t.same(captures.known(key), [])
  ask({ [captureAnnotations.at]: 'again' }, {}, { request: 'now', at: start.toString() })
  t.same(captures.offered(sync, 'gw-0', { ...short, request: 'again' }), { answer: 'send' }, 'a new request')
})

void t.test('whoever asked sees that a gateway is at a commit, or follows a profile, that this GatewaySync never had', async (t) => {
  if (!requires(t, 'git')) return
  const { captures, store, ask, offer, lead } = setUp(t)
  lead()
  ask({ [captureAnnotations.at]: 'now' })
  const { changes: _none, ...short } = offer('now', { 'gw/projects/line/a.txt': 'two' })
  t.same(captures.offered(sync, 'gw-0', { ...short, commit: 'f'.repeat(40) as CommitHash }), { answer: 'done' })
  store.upsertPod({ ...pod('gw-1', 'plant'), serviceAccount: 'gateway', annotations: { [podAnnotations.profile]: 'gone' } })
  t.same(captures.offered(sync, 'gw-1', { ...short, profile: 'gone' }), { answer: 'done' })
  t.match(captures.known(key), [
    { pod: 'gw-0', state: 'Refused', reason: 'CommitNotPublished' },
    { pod: 'gw-1', state: 'Refused', reason: 'UnknownProfile', message: /"gone"/ },
  ])
})

void t.test('several GatewaySyncs are captured at once, each one gateway after the other', async (t) => {
  if (!requires(t, 'git')) return
  const { captures, ask, offer, handOn, lead, store, sync: own } = setUp(t)
  lead()
  ask({ [captureAnnotations.at]: 'now' })
  const record = store.sync(own.namespace, own.name)
  if (record === undefined) throw new Error('no record')
  const [b, c, d] = [
    { ...own, name: 'b' },
    { ...own, name: 'c' },
    { ...own, name: 'd' },
  ]
  for (const each of [b, c, d]) {
    store.upsertSync({ ...record, ...each, uid: each.name })
    store.upsertPod({ ...pod(`gw-${each.name}`, each.name), serviceAccount: 'gateway' })
  }
  const changes = (text: string): CaptureOffer => offer('now', { 'gw/projects/line/a.txt': text })
  const { changes: _none, ...short } = changes('b')
  t.same(captures.offered(own, 'gw-0', changes('two')), { answer: 'later' })
  t.same(captures.offered(own, 'gw-1', short), { answer: 'later' }, 'the second gateway of the same GatewaySync waits')
  t.same(captures.offered(b, 'gw-b', short), { answer: 'send' }, 'another GatewaySync does not')
  t.same(captures.offered(b, 'gw-b', changes('b')), { answer: 'later' })
  t.same(captures.offered(c, 'gw-c', changes('c')), { answer: 'later' })
  t.same(captures.offered(d, 'gw-d', short), { answer: 'later' }, 'three are under way')
  t.match(await handOn('gw-0', changes('two')), { state: 'Pushed', branch: 'captured/gw-0' })
  for (const [each, branch] of [
    [b, 'captured/gw-b'],
    [c, 'captured/gw-c'],
  ] as const)
    t.match(await until(() => captures.known(`${each.namespace}/${each.name}`)[0], 'it is pushed', 60_000), { state: 'Pushed', branch })
})

void t.test(
  'a pull request is tried for, once more with each request and by whoever leads next; without one the branch stays',
  async (t) => {
    if (!requires(t, 'git')) return
    const { captures, ask, offer, handOn, lead, git, commit } = setUp(t)
    const capture = {
      auth: { token: { secretRef: { name: 'push', key: 'token' } } },
      pullRequest: true,
      api: { provider: 'gitea', apiURL: 'https://127.0.0.1:1/api/v1' },
    }
    const waiting: CaptureEntry = {
      pod: 'gw-1',
      gateway: 'gw-1',
      request: 'now',
      state: 'Pushed',
      at: '2026-03-01T12:00:00Z',
      on: commit,
      commit,
      branch: 'captured/gw-1',
      pullRequest: { state: 'Waiting' },
    }
    ask({ [captureAnnotations.at]: 'now' }, { capture }, { request: 'now', gateways: [waiting] })
    lead()
    const ended = async (name: string): Promise<CaptureEntry> =>
      await until(
        () => captures.known(key).find(({ pod: of, pullRequest }) => of === name && pullRequest?.state === 'Refused'),
        'the pull request is refused',
        60_000,
      )
    t.match(await ended('gw-1'), { pullRequest: { reason: 'PullRequestRefused', message: /captured\/gw-1 is gone/ } }, 'of a leader before')
    const told = await handOn('gw-0', offer('now', { 'gw/projects/line/a.txt': 'two' }))
    t.match(told, { state: 'Pushed', pullRequest: {} })
    // A folder of this machine has no pull requests.
    t.match(await ended('gw-0'), { state: 'Pushed', pullRequest: { message: /not how gitea names a repository/ } })
    t.equal(git('rev-parse', 'captured/gw-0'), told?.commit)
  },
)

void t.test('of commits on a shared branch the newest one is what its pull request is opened for', async (t) => {
  if (!requires(t, 'git')) return
  const { captures, ask, lead, commit } = setUp(t)
  const capture = {
    auth: { token: { secretRef: { name: 'push', key: 'token' } } },
    pullRequest: true,
    api: { provider: 'gitea', apiURL: 'https://127.0.0.1:1/api/v1' },
  }
  const entry = (pod: string, at: string, of: string): CaptureEntry => {
    const pushed = { request: 'now', state: 'Pushed', on: commit, branch: 'captured/all', pullRequest: { state: 'Waiting' } } as const
    return { pod, gateway: pod, at, commit: of, ...pushed }
  }
  const gateways = [entry('gw-0', '2026-03-01T12:00:01Z', commit), entry('gw-1', '2026-03-01T12:00:00Z', 'b'.repeat(40))]
  ask({ [captureAnnotations.at]: 'now' }, { capture }, { request: 'now', gateways })
  lead()
  const ended = await until(() => captures.known(key).find(({ pullRequest }) => pullRequest?.state === 'Refused'), 'one has ended', 60_000)
  t.equal(ended.pod, 'gw-0')
})

void t.test('with on: Drift what was left alone is taken once, also by the leader after this one, and else nothing is', async (t) => {
  if (!requires(t, 'git')) return
  const start = Temporal.Instant.from('2026-03-01T12:00:00Z')
  const { clock, set } = steppedClock(start)
  const { captures, states, ask, offer, handOn, lead, git, commit } = setUp(t, clock)
  const capture = { auth: { token: { secretRef: { name: 'push', key: 'token' } } }, on: 'Drift', quiet: '5m' }
  const driftOf = (text: string): CaptureOffer => {
    const changes = offer('', { 'gw/projects/line/a.txt': text })
    return { ...changes, request: driftRequest(changes.digest) }
  }
  const answer = ({ changes: _none, ...short }: CaptureOffer, more: Partial<CaptureOffer> = {}) =>
    captures.offered(sync, 'gw-0', { ...short, ...more })?.answer
  lead()
  ask({})
  t.equal(answer(driftOf('two')), 'done', 'the spec takes requests only')
  ask({}, { capture })
  t.equal(answer(driftOf('two'), { request: 'drift-00000000' }), 'done', 'the name of other changes')
  t.equal(answer(driftOf('two'), { files: 0 }), 'done', 'no changes')
  t.same(captures.known(key), [])
  const taken = await handOn('gw-0', driftOf('two'))
  t.match(taken, { state: 'Pushed', branch: 'captured/gw-0', on: commit, request: driftOf('two').request })
  t.equal(answer(driftOf('two')), 'done')
  t.equal(answer(driftOf('three')), 'later', 'no sooner than after the time of the spec')
  ask({ [captureAnnotations.at]: 'now' }, { capture })
  const changes: CaptureOffer = { ...driftOf('two'), request: 'now' }
  t.match(await handOn('gw-0', changes), { request: 'now', commit: taken?.commit }, 'a request does not wait')
  t.equal(answer(driftOf('two')), 'done', 'and counts for the same changes')
  set(start.add({ minutes: 6 }))
  const next = await handOn('gw-0', driftOf('three'))
  t.equal(git('rev-parse', 'captured/gw-0'), next?.commit)
  t.same(states, ['Pushed', 'Pushed', 'Pushed'])
  const gateways = [...captures.known(key)]
  const after = setUp(t)
  after.lead()
  after.ask({}, { capture }, { gateways })
  t.same(after.captures.offered(sync, 'gw-0', driftOf('three')), { answer: 'done' }, 'the status tells the next leader')
})

void t.test('one that was made anew under the same name, or moved to another repository, has nothing of the captures before', async (t) => {
  if (!requires(t, 'git')) return
  const { captures, store, ask, offer, handOn, lead, git, repository } = setUp(t)
  lead()
  ask({ [captureAnnotations.at]: 'now' })
  const changes = offer('now', { 'gw/projects/line/a.txt': 'two' })
  const { changes: _none, ...short } = changes
  const answer = (pod = 'gw-0') => captures.offered(sync, pod, short)?.answer
  const first = await handOn('gw-0', changes)
  t.match(first, { state: 'Pushed' })
  t.equal(answer(), 'done')
  const record = store.sync(sync.namespace, sync.name)
  if (record === undefined) throw new Error('no record')

  store.upsertSync({ ...record, uid: 'made anew', resourceVersion: '100' })
  t.same(captures.known(key), [])
  t.equal(answer(), 'send')
  t.equal((await handOn('gw-0', changes))?.commit, first?.commit, 'the branch holds the same changes')

  const moved = `${repository.folder}-moved`
  git('clone', '-q', '--bare', '.', moved)
  t.teardown(() => rmSync(moved, { recursive: true, force: true }))
  const inMoved = (...args: string[]): string => git('--git-dir', moved, ...args)
  inMoved('branch', '-D', 'captured/gw-0')
  const spec = { ...(record.spec as object), git: { repo: moved, ref: 'main' } }
  const status = { ...record.status, capture: { repo: repository.folder, gateways: first === undefined ? [] : [first] } }
  store.upsertSync({ ...record, uid: 'made anew', resourceVersion: '101', spec, status })
  t.same(captures.known(key), [], 'nor what the status says of the repository before')
  t.equal(answer('gw-1'), 'send', 'the commit of another gateway is none of this repository')
  const again = await handOn('gw-0', changes)
  t.equal(inMoved('rev-parse', 'captured/gw-0'), again?.commit)
})
