/**
 * What refs cost and mean at hosts of other kinds: with thousands of tags, with another object format, with an old protocol.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import { parseCommitHash, parseRelativePath } from '../../../runtime/gatewaysync/values.ts'
import { silentLog } from '../../../runtime/log.ts'
import { createMirrors, type Mirror } from '../../../runtime/source/mirrors.ts'
import { anonymousRemote } from '../../../runtime/source/remote/remote.ts'
import { type GitHostOptions, startGitHost } from '../../support/git-host.ts'
import { type Repository, temporaryFolder } from '../../support/repository.ts'
import { requires } from '../../support/requires.ts'

const signal = AbortSignal.timeout(290_000)

async function setUp(
  t: Test,
  options: (folder: string) => GitHostOptions = () => ({}),
  kind: { anyHash?: boolean; objectFormat?: 'sha1' | 'sha256' } = {},
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

void t.test('a question about one ref takes at most 20 packet lines, whatever else the host has', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, mirror, folder } = await setUp(t, (own) => ({ packetTrace: path.join(own, 'packets') }))
  const commit = repository.commit({ a: '1' })
  const tags = Array.from({ length: 20_000 }, (_, index) => `${commit} refs/tags/v${index}\n`)
  const head = '# pack-refs with: peeled fully-peeled sorted \n'
  writeFileSync(path.join(repository.folder, '.git/packed-refs'), `${head}${tags.toSorted().join('')}`)
  /** What the host sends, line by line. */
  // A host answers for whatever begins with the name: `v7` costs as much as there are v7, v70 and so on.
  const linesFor = async (work: () => Promise<unknown>): Promise<number> => {
    rmSync(path.join(folder, 'packets'), { force: true })
    await work()
    const trace = existsSync(path.join(folder, 'packets')) ? readFileSync(path.join(folder, 'packets'), 'utf8') : ''
    return trace.split('\n').filter((line) => / upload-pack> /.test(line)).length
  }
  await resolve(mirror, 'main', true)
  await resolve(mirror, 'main', false)
  for (const fresh of [false, true]) {
    const asked = await linesFor(() => resolve(mirror, 'main', fresh))
    t.ok(asked > 5 && asked <= 20, `${asked} packet lines`)
  }
  repository.git('tag', 'release')
  const tagged = await linesFor(() => resolve(mirror, 'release', true))
  t.ok(tagged > 5 && tagged <= 40, `${tagged} packet lines for a tag: no such branch, then the tag`)
})

void t.test('a repository that names its objects by SHA-256 gets a mirror of its kind', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, mirror } = await setUp(t, undefined, { objectFormat: 'sha256', anyHash: true })
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

void t.test('the beginning of a hash is refused with advice, unless a branch is called so', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, mirror } = await setUp(t)
  const commit = repository.commit({ a: '1' })
  for (const fresh of [true, false]) {
    const fault: unknown = await resolve(mirror, commit.slice(0, 10), fresh).catch((error: unknown) => error)
    t.match(fault, { reason: 'RefNotFound', message: /full hash of 40 or 64 digits/ })
  }
  repository.git('branch', commit.slice(0, 10))
  t.equal(await resolve(mirror, commit.slice(0, 10), true), commit)
})

void t.test('a host that gives nothing by a hash gives a lost commit again by the name that it came by', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, mirror } = await setUp(t, () => ({ protocol: 0 }))
  const commit = parseCommitHash(repository.commit({ a: '1' }))
  t.equal(await resolve(mirror, 'main', true), commit)
  await mirror.drop()
  await mirror.ensure(commit, signal)
  repository.commit({ a: '2' })
  await mirror.drop()
  const fault: unknown = await mirror.ensure(commit, signal).catch((error: unknown) => error)
  t.match(fault, { reason: 'CommitGone' })
})
