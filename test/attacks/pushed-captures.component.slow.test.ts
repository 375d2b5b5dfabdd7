/**
 * What prevents the push of a commit of changes: a new credential in plain text, and validation that reached no verdict.
 */
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import t, { type Test } from 'tap'
import { takeChanges } from '../../runtime/capture/submit/take.ts'
import { captureSlots } from '../../runtime/controller/captures/captures.ts'
import { type Clock, systemClock } from '../../runtime/platform/clock.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { failedVerdict } from '../../runtime/validation/worker/isolated-validation.ts'
import type { Verdict } from '../../runtime/reconcile/decide/observation.ts'
import { maxCaptured } from '../../runtime/api/schema/capture-spec.ts'
import type { CommitHash, RefName } from '../../runtime/api/values.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { createMirrors } from '../../runtime/git/mirrors.ts'
import { openNetwork } from '../../runtime/git/remote/network.ts'
import { createRemotes } from '../../runtime/git/remotes.ts'
import type { CaptureOffer } from '../../runtime/content/protocol/protocol.ts'
import { captureAnnotations } from '../../runtime/api/names.ts'
import { rejectsWith } from '../support/assertions.ts'
import { key, setUpCaptures, sync } from '../support/captures.ts'
import { pod } from '../support/fleet-facts.ts'
import { repositoryOf } from '../support/collection-repository.ts'
import { gitEnvironment, temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

const fine: Verdict = { kind: 'checked', errors: 0, warnings: 0, items: [] }
const database = 'config/resources/core/ignition/database-connection/erp/config.json'
const json = (password: string, more: object = {}): string => JSON.stringify({ settings: { password, ...more } })

type Own = { branch?: string; owner?: string; paths?: readonly string[] }

/** Captures one changed file in a real repository. Returns `pushed` or the error. */
async function setUp(t: Test, tree: Readonly<Record<string, string>>) {
  const repository = repositoryOf(t, tree)
  const git = (...args: string[]): string =>
    repository
      .git(...args)
      .toString('utf8')
      .trim()
  const commit = git('rev-parse', 'HEAD') as CommitHash
  const stop = new AbortController()
  const signal = AbortSignal.timeout(120_000)
  const readSecret = async () => ({ version: '1', data: new Map<string, Buffer>() })
  const way = { allowLocal: true, allowedHosts: [], readSecret, network: openNetwork }
  const remoteOf = createRemotes({ ...way, clock: systemClock, signal: stop.signal })
  const mirrors = createMirrors({ folder: path.join(temporaryFolder(t, 'take'), 'mirrors'), clock: systemClock, log: silentLog })
  t.teardown(async () => {
    stop.abort()
    await mirrors.close()
  })
  const remote = await remoteOf('plant', { repo: repository.folder }, signal)
  const mirror = mirrors.of(remote)
  let run = 0
  const take = async (file: string, text: string, verdict: Verdict, own: Own = {}): Promise<string> => {
    const branch = (own.branch ?? `captured/${(run += 1)}`) as RefName
    const edits = [{ source: file, paths: own.paths ?? [file], exec: false, content: Buffer.from(text) }]
    const deps = { mirror, pushAs: async () => remote, validate: async () => verdict, clock: systemClock }
    const taking = { gateway: 'press', mode: '', commit, branch, edits, owner: own.owner ?? 'plant/press/gw-0' }
    const said = await takeChanges(deps, taking, signal).then(
      () => 'pushed',
      (error: unknown) => String(error),
    )
    if (own.branch === undefined)
      t.equal(git('branch', '--list', branch) !== '', said === 'pushed', 'a branch is there exactly when it was pushed')
    return said
  }
  /** Captures several files on top of a commit. Returns the branch that contains them. */
  const capture = async (on: string, files: Readonly<Record<string, string>>): Promise<string> => {
    const edits = Object.entries(files).map(([file, text]) => ({ source: file, paths: [file], exec: false, content: Buffer.from(text) }))
    const deps = { mirror, pushAs: async () => remote, validate: async () => fine, clock: systemClock }
    const taking = {
      gateway: 'press',
      mode: '',
      commit: on as CommitHash,
      branch: 'captured/press' as RefName,
      edits,
      owner: 'plant/press/gw-0',
    }
    return (await takeChanges(deps, taking, signal)).branch
  }
  return { take, capture, repository, git, commit }
}

void t.test('a new credential in plain text is never pushed, in collections, projects or unvalidated files', async (t) => {
  if (!requires(t, 'git')) return
  const { take } = await setUp(t, { [database]: json('known'), 'projects/line/props.json': json('known') })
  const verdicts: readonly Verdict[] = [fine, { kind: 'notChecked' }]
  for (const verdict of verdicts) {
    for (const file of [database, 'projects/line/props.json', 'projects/line/new.json']) {
      const said = await take(file, json('of the night'), verdict)
      t.match(said, /contains a password in plain text at settings\.password/, `${file} ${verdict.kind}`)
      t.notMatch(said, /of the night/)
    }
  }
  t.equal(await take(database, json('known', { more: 1 }), fine), 'pushed', 'the parent holds the same one already')
})

void t.test('a file that may be delivered to thousands of places is searched once', async (t) => {
  if (!requires(t, 'git')) return
  const { take } = await setUp(t, { [database]: '{}' })
  const places = Array.from({ length: 5_000 }, (_, index) => `projects/line/${index}/config.json`)
  const large = JSON.stringify({ texts: Array.from({ length: 4_000 }, () => 'a') })
  const { user: before } = process.cpuUsage()
  t.equal(await take(database, large, fine, { paths: places }), 'pushed')
  const seconds = (process.cpuUsage().user - before) / 1e6
  t.equal(seconds < 3, true, `${seconds} s, and a search of each place 6 s`)
  const password = '{"password":"of every gateway"}'
  const [allowed, hashes] = ['config/resources/core/com.cirruslink.mqtt.distributor.gateway/user/admin/config.json', 'projects/users.json']
  t.equal(await take(database, password, fine, { paths: [allowed, hashes] }), 'pushed')
  t.match(await take(database, password, fine, { paths: [allowed, ...places] }), /contains a password in plain text at password /)
})

void t.test('JSON of too many values to search is refused, in a capture and in its parent commit', async (t) => {
  if (!requires(t, 'git')) return
  const lists = (count: number): string => `{"password":"a","a":[${Array.from({ length: count }, () => '[]').join(',')}]}`
  const file = 'projects/line/props.json'
  const { take } = await setUp(t, { [file]: lists(2_700_000) })
  t.match(await take(file, json('of the night'), fine), /too many JSON values/, 'eight megabytes in the parent commit')
  t.match(await take(file, lists(340_000), fine), /too many JSON values/, 'a megabyte in the capture')
  t.equal(await take('projects/line/new.json', lists(50_000).replace('password', 'title'), fine), 'pushed')
  t.equal(await take('projects/line/list.txt', 'a: [],'.repeat(150_000), fine), 'pushed', 'a text that is not JSON')
})

void t.test('changes that validation did not check are not pushed', async (t) => {
  if (!requires(t, 'git')) return
  const { take } = await setUp(t, { [database]: '{}', 'projects/line/a.txt': 'a' })
  const item = { rule: 'x', severity: 'error', path: 'x', message: 'was there before' } as const
  const tooMany: Verdict = { kind: 'checked', errors: 51, warnings: 0, items: Array.from({ length: 50 }, () => item) }
  t.match(await take(database, '{"a":1}', { kind: 'notChecked' }), /has collections to validate it/)
  t.match(await take(database, '{"a":1}', tooMany), /too many to distinguish new ones/)
  for (const file of [database, 'projects/line/a.txt'])
    t.match(await take(file, '{"a":1}', failedVerdict('id', 'took too long', 'x')), /the validation of this commit took too long/)
  t.equal(await take('projects/line/a.txt', 'b', { kind: 'notChecked' }), 'pushed')
  t.equal(await take(database, '{"a":1}', fine), 'pushed')
})

void t.test("a gateway's branch belongs to it: another gateway of the same name cannot push to it", async (t) => {
  if (!requires(t, 'git')) return
  const { take } = await setUp(t, { 'projects/line/a.txt': 'a' })
  const branch = 'captured/press'
  const [first, second] = ['plant-a/press/gw-0', 'plant-b/press/gw-0']
  t.equal(await take('projects/line/a.txt', 'b', fine, { branch, owner: first }), 'pushed')
  t.match(await take('projects/line/b.txt', 'c', fine, { branch, owner: second }), /not captures of plant-b\/press\/gw-0/)
  t.equal(await take('projects/line/a.txt', 'c', fine, { branch, owner: first }), 'pushed')
})

void t.test('a second capture drops no earlier change: it extends the branch or uses a new one', async (t) => {
  if (!requires(t, 'git')) return
  const { capture, git, repository, commit } = await setUp(t, { 'projects/a.txt': 'a', 'projects/b.txt': 'b', 'projects/c.txt': 'c' })
  const read = (branch: string, file: string): string => git('show', `${branch}:projects/${file}.txt`)
  t.equal(await capture(commit, { 'projects/a.txt': 'repaired' }), 'captured/press')
  t.equal(await capture(commit, { 'projects/a.txt': 'repaired', 'projects/b.txt': 'too' }), 'captured/press', 'both are still there')
  t.equal(await capture(commit, { 'projects/a.txt': 'repaired better', 'projects/b.txt': 'too' }), 'captured/press', 'the same file again')
  const held = git('rev-parse', 'captured/press')
  const fresh = await capture(commit, { 'projects/c.txt': 'later' })
  t.equal(fresh, 'captured/press-2', 'the earlier repairs are no longer on the gateway')
  t.equal(git('rev-parse', 'captured/press'), held)
  t.strictSame([read(fresh, 'a'), read(fresh, 'b'), read(fresh, 'c')], ['a', 'b', 'later'])
  t.equal(await capture(commit, { 'projects/c.txt': 'later' }), fresh, 'the same changes have the same branch')
  // Another commit that changes none of the repaired files does not require another branch.
  const next = repository.commit({ 'projects/d.txt': 'd' })
  t.equal(await capture(next, { 'projects/a.txt': 'repaired better', 'projects/b.txt': 'too' }), 'captured/press')
  repository.git('merge', '-q', '--no-edit', 'captured/press')
  const merged = git('rev-parse', 'main')
  t.equal(await capture(merged, { 'projects/b.txt': 'after the merge' }), 'captured/press')
  t.strictSame([read('captured/press', 'a'), read('captured/press', 'd')], ['repaired better', 'd'])
})

void t.test('an earlier capture is kept after the history was rewritten', async (t) => {
  if (!requires(t, 'git')) return
  const { capture, git, commit } = await setUp(t, { 'projects/a.txt': 'a', 'projects/b.txt': 'b' })
  t.equal(await capture(commit, { 'projects/a.txt': 'repaired' }), 'captured/press')
  git('checkout', '-q', '--orphan', 'anew')
  git('commit', '-q', '-m', 'The history was written anew')
  const next = git('rev-parse', 'HEAD')
  t.equal(await capture(next, { 'projects/b.txt': 'later' }), 'captured/press-2')
  t.equal(git('show', 'captured/press:projects/a.txt'), 'repaired')
})

void t.test('captured changes are detected in commits too large to list, and the mirror is not reported as damaged', async (t) => {
  if (!requires(t, 'git')) return
  const { capture, git, repository, commit } = await setUp(t, { 'projects/a.txt': 'a', 'projects/b.txt': 'b' })
  t.equal(await capture(commit, { 'projects/a.txt': 'repaired' }), 'captured/press')
  const folder = Array.from({ length: 15 }, (_, depth) => `${depth}-`.padEnd(200, 'x')).join('/')
  const blob = git('hash-object', '-w', 'projects/b.txt')
  const files = Array.from({ length: 2_900 }, (_, index) => `100644 ${blob}\t${folder}/${index}`)
  repository.git('read-tree', 'HEAD')
  execFileSync('git', ['-C', repository.folder, 'update-index', '--index-info'], { input: `${files.join('\n')}\n`, env: gitEnvironment })
  const far = (): string => {
    const next = git('commit-tree', git('write-tree'), '-p', 'HEAD', '-m', 'Very much')
    repository.git('update-ref', 'refs/heads/main', next)
    return next
  }
  t.equal(await capture(far(), { 'projects/b.txt': 'later' }), 'captured/press-2', 'the first repair is not there any more')
  t.equal(git('show', 'captured/press:projects/a.txt'), 'repaired')
  repository.git('update-index', '--cacheinfo', `100644,${git('rev-parse', 'captured/press:projects/a.txt')},projects/a.txt`)
  t.equal(await capture(far(), { 'projects/b.txt': 'again' }), 'captured/press', 'the first repair is merged')
  t.equal(await capture(far(), { 'projects/a.txt': 'repaired better', 'projects/b.txt': 'again' }), 'captured/press')
})

void t.test('a gateway has at most three unmerged branches', async (t) => {
  if (!requires(t, 'git')) return
  const { capture, git, repository, commit } = await setUp(t, { 'projects/a.txt': 'a' })
  const changed = (number: number) => ({ [`projects/${number}.txt`]: 'changed' })
  const branches = [await capture(commit, changed(1)), await capture(commit, changed(2)), await capture(commit, changed(3))]
  t.strictSame(branches, ['captured/press', 'captured/press-2', 'captured/press-3'])
  await rejectsWith(t, capture(commit, changed(4)), {
    reason: 'PushRefused',
    message: /^captured\/press and 2 more branches .* contain unmerged changes/,
  })
  t.equal(git('branch', '--list', 'captured/*').split('\n').length, 3)
  git('branch', '-D', 'captured/press-2')
  t.equal(await capture(commit, changed(4)), 'captured/press-2', 'a deleted branch makes room')
  repository.git('merge', '-q', '--no-edit', 'captured/press')
  t.equal(await capture(git('rev-parse', 'main'), changed(5)), 'captured/press', 'and so does a merged one')
})

void t.test('a file name that git rejects fails the capture instead of being omitted', async (t) => {
  if (!requires(t, 'git')) return
  const { take, git } = await setUp(t, { 'projects/a.txt': 'a' })
  for (const name of ['projects/GIT~1/config', 'projects/.git/config', 'projects/.gitmodules/../a.txt'])
    t.match(await take(name, 'x', fine), /has a name that git refuses/, name)
  t.equal(git('branch', '--list', 'captured/*'), '')
})

void t.test('results of deleted pods do not accumulate', async (t) => {
  if (!requires(t, 'git')) return
  const { captures, ask, offer, lead, store } = setUpCaptures(t)
  lead()
  ask({ [captureAnnotations.at]: 'now' })
  const answer = (name: string) => captures.offered(sync, name, { ...offer('now', {}), skippedFiles: 1 })?.answer
  t.equal(answer('gw-0'), 'done')
  const names = Array.from({ length: 100 }, (_, index) => `short-${index}`)
  for (const name of names) {
    store.upsertPod({ ...pod(name, 'plant'), serviceAccount: 'gateway' })
    t.equal(answer(name), 'done')
    store.removePod(sync.namespace, name)
  }
  const kept = captures.known(key).map((entry) => entry.pod)
  // The last pod existed when its result was kept.
  t.strictSame(kept, ['gw-0', ...names.slice(-maxCaptured - 1)])
})

void t.test('namespaces whose captures were slow have one each of two, and leave two to others', async (t) => {
  if (!requires(t, 'git')) return
  let passedMs = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + passedMs }
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let round = 0
  const { captures, ask, offer, lead, store, states } = setUpCaptures(t, clock, async () => {
    await gates[round]?.promise
    throw new Fault('GitTimeout', 'the host is slow')
  })
  // Before the teardown that waits for the captures.
  t.teardown(() => gates[1]?.resolve())
  lead()
  ask({ [captureAnnotations.at]: 'now' })
  const { changes, ...short } = offer('now', { 'gw/projects/line/a.txt': 'two' })
  const record = store.sync('plant-a', 'plant')
  const answerOf = (namespace: string, name: string): string | undefined => {
    if (record !== undefined) store.upsertSync({ ...record, namespace, name, uid: `${namespace}-${name}` })
    const first = captures.offered({ namespace, name }, 'gw-0', short)?.answer
    if (first === 'send') captures.offered({ namespace, name }, 'gw-0', { ...short, changes })
    return first
  }
  const hostile: [string, string][] = [
    ['plant-a', '1'],
    ['plant-a', '2'],
    ['plant-b', '1'],
    ['plant-c', '1'],
  ]
  t.strictSame(
    hostile.map(([namespace, name]) => answerOf(namespace, name)),
    ['send', 'send', 'send', 'send'],
  )
  passedMs += captureSlots.slowAfterMs
  gates[0]?.resolve()
  await until(() => states.length === hostile.length || undefined, 'all have ended')
  round = 1
  t.strictSame(
    hostile.map(([namespace, name]) => answerOf(namespace, `again-${name}`)),
    ['send', 'later', 'send', 'later'],
  )
  t.equal(answerOf('plant-d', 'line'), 'send')
  t.equal(answerOf('plant-e', 'line'), 'send')
})

void t.test('captures of one namespace leave one for another namespace', async (t) => {
  if (!requires(t, 'git')) return
  const { captures, ask, offer, lead, store } = setUpCaptures(t)
  lead()
  ask({ [captureAnnotations.at]: 'now' })
  const { changes, ...short } = offer('now', { 'gw/projects/line/a.txt': 'two' })
  const record = store.sync('plant-a', 'plant')
  const answerOf = (namespace: string, name: string, more: Partial<CaptureOffer> = {}) => {
    if (record !== undefined) store.upsertSync({ ...record, namespace, name, uid: `${namespace}-${name}` })
    return captures.offered({ namespace, name }, 'gw-0', { ...short, ...more })
  }
  for (const name of ['1', '2']) {
    t.strictSame(answerOf('plant-a', name), { answer: 'send' })
    t.strictSame(answerOf('plant-a', name, { changes }), { answer: 'later' }, 'it runs')
  }
  t.strictSame(answerOf('plant-a', '3'), { answer: 'later' })
  t.strictSame(answerOf('plant-b', 'line'), { answer: 'send' })
})
