/**
 * The cost and meaning of refs at unusual hosts: with thousands of tags, or with another object format.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { parseCommitHash, parseRelativePath } from '../../../../runtime/api/values.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { readListing } from '../../../../runtime/git/mirror/listing.ts'
import { createMirrors, type Mirror } from '../../../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../../../runtime/git/remote/remote.ts'
import { matchObject, rejectsWith } from '../../../support/assertions.ts'
import { eachHost, type GitHostOptions, startGitHost } from '../../../support/git-host.ts'
import { type Repository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const signal = AbortSignal.timeout(290_000)

async function setUp(
  t: Test,
  options: (folder: string) => GitHostOptions = () => ({}),
  kind: { objectFormat?: 'sha1' | 'sha256' } = {},
): Promise<{ repository: Repository; mirror: Mirror; folder: string }> {
  const folder = temporaryFolder(t, 'refs')
  const host = await startGitHost(path.join(folder, 'git'), options(folder))
  t.teardown(async () => host.stop())
  const repository = host.repository('plant.git', kind)
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  t.teardown(async () => mirrors.close())
  return { repository, mirror: mirrors.of(anonymousRemote(host.url('plant.git/.git'), { allowLocal: false })), folder }
}

const resolve = async (mirror: Mirror, ref: string, fresh: boolean) => (await mirror.resolve(ref, { fresh }, signal)).commit

eachHost(
  t,
  'a query for one ref takes at most 20 packet lines besides the refs that a host with v0 lists once for each question',
  async (t, mode) => {
    if (!requires(t, 'git')) return
    const { repository, mirror, folder } = await setUp(t, (own) => ({ mode, packetTrace: path.join(own, 'packets') }))
    const commit = repository.commit({ a: '1' })
    const tags = Array.from({ length: 5_000 }, (_, index) => `${commit} refs/tags/v${index}\n`)
    const head = '# pack-refs with: peeled fully-peeled sorted \n'
    writeFileSync(path.join(repository.folder, '.git/packed-refs'), `${head}${tags.toSorted().join('')}`)
    /**
     * Counts the packet lines that the host sends. A host lists all refs that start with the name: `v7` costs as much as all of v7, v70 and
     * so on.
     */
    const linesFor = async (work: () => Promise<unknown>): Promise<number> => {
      rmSync(path.join(folder, 'packets'), { force: true })
      await work()
      const trace = existsSync(path.join(folder, 'packets')) ? readFileSync(path.join(folder, 'packets'), 'utf8') : ''
      return trace.split('\n').filter((line) => / upload-pack> /.test(line)).length
    }
    const listed = mode === 'v2' ? 0 : tags.length
    await resolve(mirror, 'main', true)
    await resolve(mirror, 'main', false)
    for (const fresh of [false, true]) {
      const asked = await linesFor(() => resolve(mirror, 'main', fresh))
      t.ok(asked > 5 + listed && asked <= 20 + listed, `${asked} packet lines`)
    }
    repository.git('tag', 'release')
    const tagged = await linesFor(() => resolve(mirror, 'release', true))
    t.ok(tagged > 5 + listed && tagged <= 40 + 2 * listed, `${tagged} packet lines for a tag: no such branch, then the tag`)
  },
)

eachHost(t, 'a repository that names its objects by SHA-256 gets a mirror of its kind', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, mirror } = await setUp(t, () => ({ mode }), { objectFormat: 'sha256' })
  const first = parseCommitHash(repository.commit({ a: '1' }))
  t.equal(first.length, 64)
  t.equal(await resolve(mirror, 'main', true), first)
  const second = repository.commit({ a: '2' })
  t.equal(await resolve(mirror, 'main', false), second)
  t.equal(await resolve(mirror, first, true), first)
  const files: string[] = []
  for await (const batch of mirror.listing(first, [parseRelativePath('')]).list(signal)) files.push(...batch.map(({ path: file }) => file))
  t.strictSame(files, ['a'])
})

eachHost(t, 'the beginning of a hash is refused with advice, unless a branch is called so', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, mirror } = await setUp(t, () => ({ mode }))
  const commit = repository.commit({ a: '1' })
  for (const fresh of [true, false]) {
    const fault: unknown = await resolve(mirror, commit.slice(0, 10), fresh).catch((error: unknown) => error)
    matchObject(t, fault, { reason: 'RefNotFound', message: /full hash of 40 or 64 digits/ })
  }
  repository.git('branch', commit.slice(0, 10))
  t.equal(await resolve(mirror, commit.slice(0, 10), true), commit)
})

eachHost(t, 'HEAD is the branch that the host calls its default, now', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, mirror } = await setUp(t, () => ({ mode }))
  const first = parseCommitHash(repository.commit({ a: '1' }))
  repository.git('branch', 'feature/HEAD')
  const resolved = async (ref: string) => {
    const { name, commit, tag } = await mirror.resolve(ref, { fresh: true }, signal)
    return { name, commit, tag }
  }
  t.strictSame(await resolved('HEAD'), { name: 'refs/heads/main', commit: first, tag: undefined })
  repository.git('checkout', '-q', '-b', 'trunk')
  const second = parseCommitHash(repository.commit({ a: '2' }))
  t.strictSame(await resolved('HEAD'), { name: 'refs/heads/trunk', commit: second, tag: undefined })
})

eachHost(t, 'a selector resolves to the newest tag that the host has at each question', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, mirror } = await setUp(t, () => ({ mode }))
  const resolved = async (ref: string) => {
    const { name, commit, tag } = await mirror.resolve(ref, { fresh: false }, signal)
    return { name, commit, tag }
  }
  const first = parseCommitHash(repository.commit({ a: '1' }))
  const missing: unknown = await resolved('semver:>=1.2,<2').catch((error: unknown) => error)
  matchObject(t, missing, { reason: 'RefNotFound', message: /^the git host has no tag that matches semver ">=1\.2 <2"; it has 0 tags/ })
  repository.git('tag', 'v1.9.0')
  repository.git('tag', 'v2.0.0')
  repository.git('tag', 'plant-9')
  t.strictSame(await resolved('semver:>=1.2,<2'), { name: 'refs/tags/v1.9.0', commit: first, tag: undefined })
  t.strictSame(await resolved('tagPattern:plant-*'), { name: 'refs/tags/plant-9', commit: first, tag: undefined })
  const second = parseCommitHash(repository.commit({ a: '2' }))
  repository.git('tag', '-a', '-m', 'ten', 'v1.10.0')
  repository.git('tag', 'plant-10')
  const tag = parseCommitHash(repository.git('rev-parse', 'v1.10.0').toString().trim())
  t.strictSame(await resolved('semver:>=1.2,<2'), { name: 'refs/tags/v1.10.0', commit: second, tag })
  t.strictSame(await resolved('tagPattern:plant-*'), { name: 'refs/tags/plant-10', commit: second, tag: undefined })
  repository.git('tag', '-d', 'v1.10.0')
  t.strictSame(await resolved('semver:>=1.2,<2'), { name: 'refs/tags/v1.9.0', commit: first, tag: undefined })
})

eachHost(t, 'a selector compares at most 20,000 tags', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, mirror } = await setUp(t, () => ({ mode }))
  const commit = parseCommitHash(repository.commit({ a: '1' }))
  const pack = (count: number): void => {
    const names = [...Array.from({ length: count - 1 }, (_, index) => `v1.0.${index}-01`), 'plant-7'].toSorted()
    const head = '# pack-refs with: peeled fully-peeled sorted \n'
    writeFileSync(path.join(repository.folder, '.git/packed-refs'), head + names.map((name) => `${commit} refs/tags/${name}\n`).join(''))
  }
  const resolved = async (ref: string): Promise<unknown> => {
    try {
      const { name } = await mirror.resolve(ref, { fresh: false }, signal)
      return name
    } catch (error) {
      return error
    }
  }
  pack(20_000)
  matchObject(t, await resolved('semver:*'), { reason: 'RefNotFound', message: /"\*"; it has 20000 tags in total$/ })
  pack(20_001)
  matchObject(t, await resolved('semver:*'), {
    reason: 'RepositoryTooLarge',
    message: /^the git host has more than 20000 tags; follow spec\.git\.tagPattern with a longer beginning/,
  })
  t.equal(await resolved('tagPattern:plant-*'), 'refs/tags/plant-7', 'a pattern is compared with the tags that begin as it does')
  matchObject(t, await resolved('tagPattern:plant-8*'), { message: /; it has 0 tags whose names begin with "plant-8"$/ })
})

void t.test('parsing a long listing does not block other work', async (t) => {
  const listing = Buffer.from(Array.from({ length: 5_000 }, (_, index) => `${'a'.repeat(40)}\trefs/tags/v1.0.${index}\n`).join(''))
  matchObject(t, await readListing(listing, 'semver:*', signal), { found: { name: 'refs/tags/v1.0.4999' }, tags: 5_000 })
  const waitForEnd = new AbortController()
  setImmediate(() => waitForEnd.abort(new Error('the controller ends')))
  await rejectsWith(t, readListing(listing, 'semver:*', waitForEnd.signal), { message: 'the controller ends' })
})

eachHost(t, 'a tree with zero-padded modes is accepted, and any other malformed tree is named', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, mirror, folder } = await setUp(t, () => ({ mode }))
  const blob = parseCommitHash(
    repository
      .git('rev-parse', `${repository.commit({ a: '1' })}:a`)
      .toString()
      .trim(),
  )
  const commitOf = (entry: string): string => {
    const file = path.join(folder, 'tree')
    writeFileSync(file, Buffer.concat([Buffer.from(`${entry}\0`), Buffer.from(blob, 'hex')]))
    const tree = repository.git('hash-object', '-t', 'tree', '-w', '--literally', file).toString().trim()
    return repository.git('commit-tree', '-m', 'Odd', tree).toString().trim()
  }
  const padded = parseCommitHash(commitOf('0100644 view.json'))
  repository.git('update-ref', 'refs/heads/padded', padded)
  t.equal(await resolve(mirror, 'padded', true), padded)
  const files: string[] = []
  for await (const batch of mirror.listing(padded, [parseRelativePath('')]).list(signal)) files.push(...batch.map(({ path: file }) => file))
  t.strictSame(files, ['view.json'])
  const dotted = commitOf('100644 .git')
  repository.git('update-ref', 'refs/heads/dotted', dotted)
  const tree = repository.git('rev-parse', `${dotted}^{tree}`).toString().trim()
  const fault: unknown = await resolve(mirror, 'dotted', true).catch((error: unknown) => error)
  const message = new RegExp(`^object ${tree} of this repository is malformed \\(hasDotgit\\)`)
  matchObject(t, fault, { reason: 'RepositoryRefused', message })
})
