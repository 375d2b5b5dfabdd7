/**
 * Concurrent captures of several gateways, GatewaySyncs and leaders: shared branches, order, and remembered results.
 */
import { rmSync } from 'node:fs'
import t from 'tap'
import type { CaptureOffer } from '../../../../runtime/content/protocol/protocol.ts'
import { driftRequest } from '../../../../runtime/reconcile/decide/capture.ts'
import { captureAnnotations } from '../../../../runtime/api/names.ts'
import { type CaptureEntry } from '../../../../runtime/api/schema/capture-spec.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { matchObject } from '../../../support/assertions.ts'
import { pod } from '../../../support/fleet-facts.ts'
import { requires } from '../../../support/requires.ts'
import { steppedClock } from '../../../support/stepped-clock.ts'
import { until } from '../../../support/world.ts'
import { key, setUpCaptures, sync } from '../../../support/captures.ts'

void t.test('several GatewaySyncs are captured concurrently, each one gateway at a time', async (t) => {
  if (!requires(t, 'git')) return
  const { captures, ask, offer, handOn, lead, store, sync: own } = setUpCaptures(t)
  lead()
  ask({ [captureAnnotations.at]: 'now' })
  const record = store.sync(own.namespace, own.name)
  if (record === undefined) throw new Error('no record')
  const [b, c, d, e] = [
    { ...own, name: 'b' },
    { namespace: 'plant-b', name: 'c' },
    { namespace: 'plant-c', name: 'd' },
    { namespace: 'plant-d', name: 'e' },
  ]
  for (const each of [b, c, d, e]) {
    store.upsertSync({ ...record, ...each, uid: each.name })
    store.upsertPod({ ...pod(`gw-${each.name}`, each.name), namespace: each.namespace, serviceAccount: 'gateway' })
  }
  const changes = (text: string): CaptureOffer => offer('now', { 'gw/projects/line/a.txt': text })
  const { changes: _none, ...short } = changes('b')
  t.strictSame(captures.offered(own, 'gw-0', changes('two')), { answer: 'later' })
  t.strictSame(captures.offered(own, 'gw-1', short), { answer: 'later' }, 'the second gateway of the same GatewaySync waits')
  t.strictSame(captures.offered(b, 'gw-b', short), { answer: 'send' }, 'another GatewaySync does not')
  t.strictSame(captures.offered(b, 'gw-b', changes('b')), { answer: 'later' })
  t.strictSame(captures.offered(c, 'gw-c', changes('c')), { answer: 'later' })
  t.strictSame(captures.offered(d, 'gw-d', changes('d')), { answer: 'later' })
  t.strictSame(captures.offered(e, 'gw-e', short), { answer: 'later' }, 'four are under way')
  matchObject(t, await handOn('gw-0', changes('two')), { state: 'Pushed', branch: 'captured/gw-0' })
  for (const [each, branch] of [
    [b, 'captured/gw-b'],
    [c, 'captured/gw-c'],
    [d, 'captured/gw-d'],
  ] as const)
    matchObject(t, await until(() => captures.known(`${each.namespace}/${each.name}`)[0], 'it is pushed'), {
      state: 'Pushed',
      branch,
    })
})

void t.test('a pull request is attempted per request and by the next leader; if it fails the branch stays', async (t) => {
  if (!requires(t, 'git')) return
  const { captures, ask, offer, handOn, lead, git, commit } = setUpCaptures(t)
  const capture = {
    auth: { token: { secretRef: { name: 'push', key: 'token' } } },
    pullRequest: true,
    api: { provider: 'gitea', apiBaseURL: 'https://127.0.0.1:1/api/v1' },
  }
  const waiting: CaptureEntry = {
    pod: 'gw-1',
    gateway: 'gw-1',
    request: 'now',
    state: 'Pushed',
    at: '2026-03-01T12:00:00Z',
    baseCommit: commit,
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
  matchObject(
    t,
    await ended('gw-1'),
    { pullRequest: { reason: 'PullRequestRefused', message: /captured\/gw-1 is gone/ } },
    'of a leader before',
  )
  const told = await handOn('gw-0', offer('now', { 'gw/projects/line/a.txt': 'two' }))
  matchObject(t, told, { state: 'Pushed', pullRequest: {} })
  // A local folder has no pull requests.
  matchObject(t, await ended('gw-0'), { state: 'Pushed', pullRequest: { message: /is not a repository URL of gitea/ } })
  t.equal(git('rev-parse', 'captured/gw-0'), told?.commit)
})

void t.test('for commits on a shared branch the pull request is opened for the newest one', async (t) => {
  if (!requires(t, 'git')) return
  const { captures, ask, lead, commit } = setUpCaptures(t)
  const capture = {
    auth: { token: { secretRef: { name: 'push', key: 'token' } } },
    pullRequest: true,
    api: { provider: 'gitea', apiBaseURL: 'https://127.0.0.1:1/api/v1' },
  }
  const entry = (pod: string, at: string, of: string): CaptureEntry => {
    const pushed = {
      request: 'now',
      state: 'Pushed',
      baseCommit: commit,
      branch: 'captured/all',
      pullRequest: { state: 'Waiting' },
    } as const
    return { pod, gateway: pod, at, commit: of, ...pushed }
  }
  const gateways = [entry('gw-0', '2026-03-01T12:00:01Z', commit), entry('gw-1', '2026-03-01T12:00:00Z', 'b'.repeat(40))]
  ask({ [captureAnnotations.at]: 'now' }, { capture }, { request: 'now', gateways })
  lead()
  const ended = await until(() => captures.known(key).find(({ pullRequest }) => pullRequest?.state === 'Refused'), 'one has ended')
  t.equal(ended.pod, 'gw-0')
})

void t.test('with trigger: Drift a quiet change is captured once, also across leaders, and other offers are ignored', async (t) => {
  if (!requires(t, 'git')) return
  const start = Temporal.Instant.from('2026-03-01T12:00:00Z')
  const { clock, set } = steppedClock(start)
  const { captures, states, ask, offer, handOn, lead, git, commit } = setUpCaptures(t, clock)
  const capture = { auth: { token: { secretRef: { name: 'push', key: 'token' } } }, trigger: 'Drift', quietPeriod: '5m' }
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
  t.strictSame(captures.known(key), [])
  const taken = await handOn('gw-0', driftOf('two'))
  matchObject(t, taken, { state: 'Pushed', branch: 'captured/gw-0', baseCommit: commit, request: driftOf('two').request })
  t.equal(answer(driftOf('two')), 'done')
  t.equal(answer(driftOf('three')), 'later', 'no sooner than after the time of the spec')
  ask({ [captureAnnotations.at]: 'now' }, { capture })
  const changes: CaptureOffer = { ...driftOf('two'), request: 'now' }
  matchObject(t, await handOn('gw-0', changes), { request: 'now', commit: taken?.commit }, 'a request does not wait')
  t.equal(answer(driftOf('two')), 'done', 'and counts for the same changes')
  set(start.add({ minutes: 6 }))
  const next = await handOn('gw-0', driftOf('three'))
  t.equal(git('rev-parse', 'captured/gw-0'), next?.commit)
  t.strictSame(states, ['Pushed', 'Pushed', 'Pushed'])
  const gateways = [...captures.known(key)]
  const after = setUpCaptures(t)
  after.lead()
  after.ask({}, { capture }, { gateways })
  t.strictSame(after.captures.offered(sync, 'gw-0', driftOf('three')), { answer: 'done' }, 'the status tells the next leader')
})

void t.test('a recreated or moved GatewaySync does not inherit earlier captures', async (t) => {
  if (!requires(t, 'git')) return
  const { captures, store, ask, offer, handOn, lead, git, repository } = setUpCaptures(t)
  lead()
  ask({ [captureAnnotations.at]: 'now' })
  const changes = offer('now', { 'gw/projects/line/a.txt': 'two' })
  const { changes: _none, ...short } = changes
  const answer = (pod = 'gw-0') => captures.offered(sync, pod, short)?.answer
  const first = await handOn('gw-0', changes)
  matchObject(t, first, { state: 'Pushed' })
  t.equal(answer(), 'done')
  const record = store.sync(sync.namespace, sync.name)
  if (record === undefined) throw new Error('no record')

  store.upsertSync({ ...record, uid: 'made anew', resourceVersion: '100' })
  t.strictSame(captures.known(key), [])
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
  t.strictSame(captures.known(key), [], 'nor what the status says of the repository before')
  t.equal(answer('gw-1'), 'send', 'the commit of another gateway is none of this repository')
  const again = await handOn('gw-0', changes)
  t.equal(inMoved('rev-parse', 'captured/gw-0'), again?.commit)
})
