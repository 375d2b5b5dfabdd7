/**
 * Tests which commits and mirrors a clean-up removes, and what a killed process or git leaves behind.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { type CommitHash, parseCommitHash, parseRelativePath } from '../../../../runtime/api/values.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { createMirrors } from '../../../../runtime/git/mirrors.ts'
import { anonymousRemote, repositoryKey } from '../../../../runtime/git/remote/remote.ts'
import { eachHost } from '../../../support/git-host.ts'
import { importCommits, type Repository } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { until } from '../../../support/world.ts'
import { reasonOf, resolve, setUp, signal } from '../../../support/mirrored-host.ts'

/** Pushes commits of one file to main, each one when the caller asks for it. */
function* pushes(repository: Repository, count: number): Generator<CommitHash> {
  const commits = importCommits(
    repository,
    Array.from({ length: count }, (_, index) => ({ a: String(index) })),
  )
  for (const commit of commits) {
    writeFileSync(path.join(repository.folder, '.git/refs/heads/main'), `${commit}\n`)
    yield parseCommitHash(commit)
  }
}

eachHost(t, 'a git that is killed costs its own question and nothing else', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { host, repository, mirror, folder } = await setUp(t, mode)
  const kept = parseCommitHash(repository.commit({ a: '1' }))
  const first = await mirror.resolve('main', { fresh: false }, signal)
  t.equal(first.commit, kept)
  const next = repository.commit({ a: '2' })
  host.hang(true)
  const asked = host.requests.length
  const asking = reasonOf(mirror.resolve('main', { fresh: true }, signal))
  await until(() => (host.requests.length > asked ? true : undefined), 'git asks the host')
  const marks = path.join(folder, 'mirrors')
  const gits = readdirSync('/proc').filter((pid) => /^[0-9]+$/.test(pid) && leadsGroupIn(pid, marks))
  t.ok(gits.length > 0)
  for (const pid of gits) process.kill(-Number(pid), 'SIGKILL')
  t.equal(await asking, 'GitKilled')
  host.hang(false)
  const before = host.fetches()
  await mirror.ensure(kept, signal)
  t.equal(host.fetches(), before, 'what was fetched is there')
  t.equal(await resolve(mirror, 'main'), next)
})

/** Whether a process leads its own process group and works below a folder, as each git process of a mirror does. */
function leadsGroupIn(pid: string, folder: string): boolean {
  try {
    const [, , group] = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
    return group === pid && readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)
  } catch {
    return false
  }
}

eachHost(t, 'a clean-up keeps a commit that was resolved or found since the previous one, and drops it otherwise', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { host, repository, mirror } = await setUp(t, mode)
  const commit = parseCommitHash(repository.commit({ a: '1' }))
  /** Whether a read of the commit after a clean-up asks the host for nothing. */
  const isKept = async (): Promise<boolean> => {
    t.equal(await mirror.tenant.tidyIfIdle(signal), true)
    const before = host.fetches()
    const files: string[] = []
    for await (const batch of mirror.listing(commit, [parseRelativePath('')]).list(signal))
      files.push(...batch.map(({ path: file }) => file))
    t.strictSame(files, ['a'])
    return host.fetches() === before
  }
  t.equal(await resolve(mirror, 'main', true), commit)
  // A clean-up also keeps the last fetched commit.
  const next = repository.commit({ a: '2' })
  t.equal(await resolve(mirror, 'main', true), next)
  t.equal(await isKept(), true, 'resolved: a status that names it may be about to be written')
  const fetches = host.fetches()
  await mirror.ensure(commit, signal)
  t.equal(host.fetches(), fetches)
  t.equal(await isKept(), true, 'found')
  t.equal(await isKept(), false, 'neither: it is fetched again')
})

eachHost(t, 'an unused mirror, even of an earlier process, is removed, and created again when it is needed', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { host, repository, mirrors, mirror, folder } = await setUp(t, mode)
  const named = anonymousRemote(host.url('plant.git/.git'), { allowLocal: false })
  const commit = repository.commit({ a: '1' })
  const state = path.join(folder, 'mirrors')
  await resolve(mirror, 'main', true)
  const [own = ''] = readdirSync(state)
  mkdirSync(path.join(state, 'f'.repeat(32)))
  mkdirSync(path.join(state, `${'e'.repeat(32)}.new`))
  writeFileSync(path.join(state, 'not-ours'), '')
  await mirrors.prune(new Set([repositoryKey(named.url)]))
  t.strictSame(readdirSync(state).toSorted(), [own, 'not-ours'].toSorted())
  await mirrors.prune(new Set(['0'.repeat(32)]))
  t.strictSame(readdirSync(state), ['not-ours'])
  t.not(mirrors.of(named), mirror, 'nothing of the old one is kept, such as its credentials')
  t.equal(await resolve(mirrors.of(named), 'main', true), commit)
})

void t.test('a mirror that is removed while another call waits keeps its one writer', async (t) => {
  if (!requires(t, 'git')) return
  const { host, mirrors, mirror } = await setUp(t)
  host.hang(true)
  const [first, second] = [new AbortController(), new AbortController()]
  const resolveFor = (ref: string, stop: AbortController) => mirror.resolve(ref, { fresh: true }, stop.signal).catch(() => undefined)
  const running = resolveFor('main', first)
  while (host.requests.length === 0) await new Promise((done) => setImmediate(done))
  const pruned = mirrors.prune(new Set())
  const waiting = resolveFor('other', second)
  first.abort(new Error('left'))
  await Promise.all([running, pruned])
  t.equal(mirrors.of(mirror.remote), mirror)
  second.abort(new Error('left'))
  await waiting
  await mirror.settled()
  await mirrors.prune(new Set())
  t.not(mirrors.of(mirror.remote), mirror)
})

void t.test('a replica that only serves cleans up too', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, mirror, folder } = await setUp(t)
  for (const commit of pushes(repository, 33)) await mirror.ensure(commit, signal)
  await mirror.settled()
  const [own = ''] = readdirSync(path.join(folder, 'mirrors'))
  const packs = readdirSync(path.join(folder, 'mirrors', own, 'objects/pack')).filter((name) => name.endsWith('.pack'))
  t.ok(packs.length < 30, `${packs.length} packs after 33 fetches`)
})

eachHost(t, 'what a killed process left in a mirror holds up no later fetch', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { host, repository, mirror, mirrors, folder } = await setUp(t, mode)
  repository.commit({ a: '1' })
  await resolve(mirror, 'main')
  await mirrors.close()
  const [own = ''] = readdirSync(path.join(folder, 'mirrors'))
  const inside = path.join(folder, 'mirrors', own)
  writeFileSync(path.join(inside, 'shallow.lock'), '')
  mkdirSync(path.join(inside, 'objects/pack'), { recursive: true })
  writeFileSync(path.join(inside, 'objects/pack/tmp_pack_x'), 'half')
  const next = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  const second = repository.commit({ a: '2' })
  t.equal(await resolve(next.of(anonymousRemote(host.url('plant.git/.git'), { allowLocal: false })), 'main', true), second)
  t.notOk(existsSync(path.join(inside, 'objects/pack/tmp_pack_x')))
  await next.close()
})
