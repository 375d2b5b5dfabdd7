/**
 * Commits requested by hash, from hosts that serve any commit and from hosts that serve only the tips of branches and tags.
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { asFault } from '../../../../runtime/platform/fault.ts'
import { type CommitHash, parseCommitHash, parseRelativePath } from '../../../../runtime/api/values.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { createMirrors } from '../../../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../../../runtime/git/remote/remote.ts'
import { eachHost, type GitHostOptions, startGitHost } from '../../../support/git-host.ts'
import { gitEnvironment, importCommits, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const soon = () => AbortSignal.timeout(120_000)
const mebibyte = 1024 * 1024

async function setUp(t: Test, options: GitHostOptions, maxPackBytes = 64 * mebibyte) {
  const folder = temporaryFolder(t, 'by-hash')
  const host = await startGitHost(path.join(folder, 'git'), options)
  t.teardown(async () => host.stop())
  const repository = host.repository('plant.git')
  const needed = new Set<string>()
  const state = path.join(folder, 'mirrors')
  const mirrors = createMirrors({ folder: state, clock: systemClock, log: silentLog, maxPackBytes, needed: () => needed })
  t.teardown(async () => mirrors.close())
  const mirror = mirrors.of(anonymousRemote(host.url('plant.git/.git'), { allowLocal: false }))
  const resolve = async (ref: string): Promise<CommitHash> => {
    const { commit, committedAt } = await mirror.resolve(ref, { fresh: true }, soon())
    await committedAt
    return commit
  }
  const pathsOf = async (commit: CommitHash): Promise<string[]> => {
    const listed = await Array.fromAsync(mirror.listing(commit, [parseRelativePath('')]).list(soon()))
    return listed.flat().map(({ path: file }) => file)
  }
  /** Runs git in the mirror and returns its output. */
  const inMirror = (...args: string[]): string =>
    execFileSync('git', ['-C', path.join(state, readdirSync(state)[0] ?? ''), ...args], { env: gitEnvironment, encoding: 'utf8' }).trim()
  const mirrorFor = (namespace: string) => mirrors.of(mirror.remote, namespace)
  return { host, repository, mirror, mirrorFor, needed, resolve, pathsOf, inMirror }
}

const failureOf = async (work: Promise<unknown>) => await work.then(() => undefined, asFault)

eachHost(t, 'a hash names a commit wherever a branch or tag leads to it', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, resolve, pathsOf } = await setUp(t, { mode })
  const behindMain = parseCommitHash(repository.commit({ a: '1' }))
  repository.git('checkout', '-q', '-b', 'side')
  const behindBranch = parseCommitHash(repository.commit({ b: '1' }))
  const behindTag = parseCommitHash(repository.commit({ c: '1' }))
  repository.commit({ d: '1' })
  repository.git('tag', '-a', '-m', 'annotated', 'v1')
  repository.git('reset', '-q', '--hard', behindBranch)
  repository.commit({ e: '1' })
  repository.git('checkout', '-q', 'main')
  repository.commit({ a: '2' })
  for (const isFollowed of [false, true]) {
    if (isFollowed) await resolve('main')
    t.equal(await resolve(behindMain), behindMain)
    t.equal(await resolve(behindBranch), behindBranch)
    t.equal(await resolve(behindTag), behindTag)
  }
  t.strictSame(await pathsOf(behindTag), ['a', 'b', 'c'])
})

eachHost(t, 'an earlier commit is fetched again for a new mirror, without its history', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, mirror, needed, resolve, pathsOf, inMirror } = await setUp(t, { mode })
  const commits = importCommits(repository, [{ a: '1' }, { b: '1' }, { c: '1' }, { d: '1' }]).map((commit) => parseCommitHash(commit))
  const [, , published, tip] = commits as [CommitHash, CommitHash, CommitHash, CommitHash]
  t.equal(await resolve('main'), tip)
  await mirror.drop()
  await mirror.ensure(published, soon())
  t.strictSame(await pathsOf(published), ['a', 'b', 'c'])
  t.equal(inMirror('rev-list', '--count', `refs/w/${published}`), '1')
  t.equal(await resolve('main'), tip, 'the next fetch is one as before')
  t.strictSame(await pathsOf(tip), ['a', 'b', 'c', 'd'])
  needed.add(published)
  await mirror.tenant.tidyIfIdle(soon())
  t.equal(inMirror('rev-list', '--count', '--all'), '2', 'a clean-up leaves the two commits')
  t.throws(() => inMirror('cat-file', '-e', commits[0] ?? ''), 'and nothing of those before')
  t.strictSame(await pathsOf(published), ['a', 'b', 'c'])
})

eachHost(t, 'a commit is found far behind the tip', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, resolve } = await setUp(t, { mode })
  const commits = importCommits(
    repository,
    Array.from({ length: 1_200 }, (_, index) => ({ a: String(index) })),
  ).map((commit) => parseCommitHash(commit))
  await resolve('main')
  for (const commit of [commits[1_100], commits[400], commits[0]]) t.equal(await resolve(commit ?? ''), commit)
})

eachHost(t, 'a commit that no branch or tag leads to is refused with what to do, and found once one does', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { host, repository, mirror, resolve } = await setUp(t, { mode })
  repository.commit({ a: '1' })
  const left = parseCommitHash(repository.commit({ a: '2' }))
  repository.git('reset', '-q', '--hard', 'HEAD~1')
  const isServed = mode !== 'v0, tips only'
  if (!isServed) {
    const message = `the git host does not serve commits by hash, and commit ${left} is not in the history of any of its branches or tags. Point a branch or tag at the commit, or let the git host serve commits by hash (uploadpack.allowReachableSHA1InWant, or protocol v2)`
    const counts: number[] = []
    for (const ask of [() => mirror.ensure(left, soon()), () => resolve(left), () => resolve(left)]) {
      const before = host.fetches()
      const fault = await failureOf(ask())
      t.strictSame([fault?.reason, fault?.message], ['CommitNotServed', message])
      counts.push(host.fetches() - before)
    }
    t.strictSame(counts, [5, 2, 2], 'history is fetched once, and then only the refs are compared')
    repository.git('branch', 'back', left)
    repository.commit({ a: '3' })
  }
  t.equal(await resolve(left), left)
})

void t.test('the refs that a namespace follows are searched first, however many others follow', async (t) => {
  if (!requires(t, 'git')) return
  const { host, repository, mirrorFor } = await setUp(t, { mode: 'v0, tips only' })
  const branches = ['b1', 'b2', 'b3', 'b4', 'b5']
  const base = repository.commit({ a: '1' })
  for (const branch of branches) {
    repository.git('checkout', '-q', '-b', branch, base)
    repository.commit({ a: branch })
  }
  repository.git('checkout', '-q', '-b', 'followed', base)
  const published = parseCommitHash(repository.commit({ b: '1' }))
  repository.commit({ b: '2' })
  const follow = async (namespace: string, ref: string) => await mirrorFor(namespace).resolve(ref, { fresh: true }, soon())
  await follow('quiet', 'followed')
  for (const branch of branches) await follow('loud', branch)
  const before = host.fetches()
  await mirrorFor('quiet').ensure(published, soon())
  t.equal(host.fetches() - before, 3, 'a refused fetch, a list of the refs, and one fetch of history')
})

void t.test('a host that rejects a hash as JGit does is searched through its refs', async (t) => {
  if (!requires(t, 'git')) return
  let refused = ''
  const before: GitHostOptions['before'] = ({ method }, response) => {
    if (method !== 'POST' || refused === '') return false
    const line = `ERR want ${refused} not valid`
    response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' })
    response.end(`${(line.length + 4).toString(16).padStart(4, '0')}${line}`)
    refused = ''
    return true
  }
  const { repository, resolve } = await setUp(t, { before })
  const first = parseCommitHash(repository.commit({ a: '1' }))
  repository.commit({ a: '2' })
  await resolve('main')
  refused = first
  t.equal(await resolve(first), first)
  t.equal(refused, '')
})

void t.test('history beyond the limit of one fetch is not fetched, and the fault says so', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, resolve } = await setUp(t, { mode: 'v0, tips only' }, mebibyte)
  const first = repository.commit({ a: '1' })
  for (let index = 0; index < 3; index += 1) repository.commit({ a: randomBytes(450_000).toString('latin1') })
  const tip = parseCommitHash(repository.commit({ a: '2' }))
  t.equal(await resolve('main'), tip)
  const fault = await failureOf(resolve(first))
  t.strictSame(fault?.reason, 'CommitNotServed')
  t.match(
    fault?.message,
    /^the git host does not serve commits by hash, and commit [0-9a-f]{40} was not found .* exceeded the limit of 1 MiB for one fetch\. Point /,
  )
  t.equal(await resolve('main'), tip)
})
