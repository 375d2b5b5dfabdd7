/**
 * What a mirror says of a real git host, and what it makes of everything that goes wrong there.
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import { Fault } from '../../../runtime/fault.ts'
import { parseCommitHash, parseRelativePath } from '../../../runtime/gatewaysync/values.ts'
import { silentLog } from '../../../runtime/log.ts'
import { sizeOfFolder } from '../../../runtime/source/disk/mirror-folder.ts'
import { maxFileBytes } from '../../../runtime/delivery/limits.ts'
import { createMirrors, type Mirror, type Mirrors } from '../../../runtime/source/mirrors.ts'
import { anonymousRemote } from '../../../runtime/source/remote/remote.ts'
import { type GitHost, startGitHost } from '../../support/git-host.ts'
import { gitEnvironment, type Repository, temporaryFolder } from '../../support/repository.ts'
import { requires } from '../../support/requires.ts'
import { until } from '../../support/world.ts'

const signal = AbortSignal.timeout(290_000)

type SetUp = {
  host: GitHost
  repository: Repository
  mirrors: Mirrors
  mirror: Mirror
  folder: string
  /** The commits that a clean-up leaves. */
  needed: Set<string>
}

async function setUp(t: Test): Promise<SetUp> {
  const folder = temporaryFolder(t, 'mirrors')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const repository = host.repository('plant.git')
  const needed = new Set<string>()
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog, needed: () => needed })
  t.teardown(async () => mirrors.close())
  const mirror = mirrors.of(anonymousRemote(host.url('plant.git/.git'), { allowLocal: false }))
  return { host, repository, mirrors, mirror, folder, needed }
}

const resolve = async (mirror: Mirror, ref: string, fresh = false): Promise<string> => (await mirror.resolve(ref, { fresh }, signal)).commit

async function reasonOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.catch((thrown: unknown) => thrown)
  return error instanceof Fault ? error.reason : `nothing but ${String(error)}`
}

void t.test('a branch, a tag, an annotated tag, a full name and a hash each resolve to the commit that they stand for', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, mirror } = await setUp(t)
  const first = repository.commit({ a: '1' })
  repository.git('tag', 'light')
  repository.git('tag', '-a', '-m', 'annotated', 'heavy')
  const second = repository.commit({ a: '2' })
  for (const fresh of [false, true]) {
    t.equal(await resolve(mirror, 'main', fresh), second)
    t.equal(await resolve(mirror, 'light', fresh), first)
    t.equal(await resolve(mirror, 'heavy', fresh), first, 'an annotated tag is the commit it points at')
    t.equal(await resolve(mirror, 'refs/tags/heavy', fresh), first)
    t.equal(await resolve(mirror, 'refs/heads/main', fresh), second)
    t.equal(await resolve(mirror, first, fresh), first)
  }
  t.match(await (await mirror.resolve('main', { fresh: false }, signal)).committedAt, /^\d{4}-\d{2}-\d{2}T/)
})

void t.test('a branch wins over a tag of the same name', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, mirror } = await setUp(t)
  const tagged = repository.commit({ a: '1' })
  repository.git('tag', 'both')
  const branched = repository.commit({ a: '2' })
  repository.git('branch', 'both')
  t.not(tagged, branched)
  for (const fresh of [true, false, true]) {
    const { commit, hasTagToo } = await mirror.resolve('both', { fresh }, signal)
    t.strictSame({ commit, hasTagToo: await hasTagToo }, { commit: parseCommitHash(branched), hasTagToo: true }, 'which is said')
    t.equal(await (await mirror.resolve('main', { fresh }, signal)).hasTagToo, false)
  }
  t.equal(await resolve(mirror, 'refs/tags/both'), tagged)
})

void t.test('a tag that no branch has the name of is followed without a word about it', async (t) => {
  if (!requires(t, 'git')) return
  const { host, repository, mirror } = await setUp(t)
  repository.commit({ a: '1' })
  repository.git('tag', 'v1')
  for (const fresh of [false, true, false]) {
    const before = host.fetches()
    t.equal((await mirror.resolve('v1', { fresh }, signal)).hasTagToo, undefined)
    t.equal(host.fetches() - before, 2, 'no such branch, then the tag')
  }
})

void t.test('a tag of the name of a branch is looked for once, however it is made, and brings nothing to the disk', async (t) => {
  if (!requires(t, 'git')) return
  const { host, repository, mirror, folder } = await setUp(t)
  repository.commit({ large: randomBytes(1_000_000).toString('base64') })
  repository.git('tag', '-a', '-m', 'large', 'main')
  repository.commit({ large: '' })
  const fetches: number[] = []
  for (const fresh of [true, true, false, false]) {
    const before = host.fetches()
    t.equal(await (await mirror.resolve('main', { fresh }, signal)).hasTagToo, true)
    fetches.push(host.fetches() - before)
  }
  t.strictSame(fetches, [2, 1, 1, 1])
  t.ok(sizeOfFolder(path.join(folder, 'mirrors')) < 100_000, 'less than what the tag holds')
})

void t.test(
  'a commit of files too deep, too large or of endless names is refused by a limit that is named',
  { timeout: 280_000 },
  async (t) => {
    if (!requires(t, 'git')) return
    const { repository, mirror } = await setUp(t)
    const first = parseCommitHash(repository.commit({ 'projects/a': '1' }))
    await mirror.ensure(first, signal)
    const source = mirror.source(() => [parseRelativePath('projects')])
    const told = async (commit: string, from: string | null): Promise<string> => {
      const request = { commit: parseCommitHash(commit), from: from === null ? null : parseCommitHash(from), profile: 'default' }
      try {
        for await (const batch of source.changes(request, signal)) if (batch.length === 0) return 'an empty batch'
        return 'nothing was thrown'
      } catch (error) {
        return error instanceof Fault ? `${error.reason}: ${error.message}` : String(error)
      }
    }
    /** A commit that adds one file, without a work tree. */
    const add = (name: string, id: string): string => {
      const script = `commit refs/heads/added\ncommitter Plant <plant@example.com> 1768464000 +0000\ndata 0\nfrom ${first}\nM 100644 ${id} "${name}"\n`
      execFileSync('git', ['-C', repository.folder, 'fast-import', '--quiet', '--force'], { env: gitEnvironment, input: script })
      return repository.git('rev-parse', 'added').toString().trim()
    }
    const small = repository.git('rev-parse', `${first}:projects/a`).toString().trim()
    const deepest = add(`projects/${'d/'.repeat(99)}f`, small)
    for (const from of [null, first]) t.equal(await told(deepest, from), 'nothing was thrown')
    const deeper = add(`projects/${'d/'.repeat(100)}f`, small)
    for (const from of [null, first])
      t.match(await told(deeper, from), /^RepositoryTooLarge: "projects\/d\/.*…" lies in more than 100 folders$/)
    const listing = mirror.listing(parseCommitHash(deeper), [parseRelativePath('projects')])
    t.equal(await reasonOf(Array.fromAsync(listing.list(signal))), 'RepositoryTooLarge', 'also before it is published')
    const long = add(`projects/${'n'.repeat(40_000)}`, small)
    for (const from of [null, first])
      t.equal(await told(long, from), 'RepositoryTooLarge: a path of the commit is longer than 32768 characters')
    // No delta between large files, which takes more memory than git may have.
    repository.git('config', 'core.bigFileThreshold', '1m')
    const zeros = path.join(repository.folder, 'zeros')
    writeFileSync(zeros, '')
    truncateSync(zeros, maxFileBytes)
    const hash = (): string => repository.git('hash-object', '-w', zeros).toString().trim()
    const largest = add('projects/large', hash())
    t.equal(await told(largest, first), 'nothing was thrown')
    truncateSync(zeros, maxFileBytes + 1)
    const larger = add('projects/large', hash())
    for (const from of [null, first])
      t.equal(await told(larger, from), 'RepositoryTooLarge: "projects/large" has 257 MiB, and a file may have 256 MiB')
    const elsewhere = add('elsewhere', repository.git('rev-parse', `${larger}:projects/large`).toString().trim())
    for (const from of [null, first]) t.equal(await told(elsewhere, from), 'nothing was thrown', 'what is not delivered may have any size')
  },
)

void t.test('what a branch holds that is no commit is found out before anything is told of it', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, mirror } = await setUp(t)
  const commit = repository.commit({ a: '1' })
  repository.git('tag', '-a', '-m', 'a tag', 'v1')
  const tag = repository.git('rev-parse', 'v1').toString().trim()
  // No git writes that, but a host may be anything.
  writeFileSync(path.join(repository.folder, '.git/refs/heads/odd'), `${tag}\n`)
  const odd = await mirror.resolve('odd', { fresh: true }, signal)
  t.equal(await reasonOf(odd.committedAt), 'RefNotFound')
  const sound = await mirror.resolve('v1', { fresh: true }, signal)
  t.strictSame([sound.commit, sound.tag], [commit, tag])
  t.match(await sound.committedAt, /^\d{4}-/)
})

void t.test('a git that is killed costs its own question and nothing else', async (t) => {
  if (!requires(t, 'git')) return
  const { host, repository, mirror, folder } = await setUp(t)
  const kept = parseCommitHash(repository.commit({ a: '1' }))
  const first = await mirror.resolve('main', { fresh: false }, signal)
  t.strictSame([first.commit, await first.hasTagToo], [kept, false])
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

/** Whether a process leads a group of its own and works below a folder, as each git of ours does. */
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

void t.test('a forced push is followed, a branch or commit that is not there has its own reason', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, mirror, mirrors } = await setUp(t)
  const old = repository.commit({ a: '1' })
  t.equal(await resolve(mirror, 'main'), old)
  repository.git('commit', '-q', '--amend', '-m', 'other')
  const rewritten = repository.git('rev-parse', 'HEAD').toString().trim()
  t.equal(await resolve(mirror, 'main', true), rewritten)
  t.equal(await reasonOf(mirror.resolve('nope', { fresh: true }, signal)), 'RefNotFound')
  t.equal(await reasonOf(mirror.resolve('refs/heads/nope', { fresh: true }, signal)), 'RefNotFound')
  for (const [tag, what] of Object.entries({ file: 'HEAD:a', tree: 'HEAD^{tree}' })) {
    repository.git('tag', tag, what)
    for (const fresh of [false, true])
      t.equal(await reasonOf(mirror.resolve(tag, { fresh }, signal)), 'RefNotFound', `a tag of a ${tag} names no commit`)
  }
  t.equal(await reasonOf(mirror.ensure(parseCommitHash('f'.repeat(40)), signal)), 'CommitGone')
  t.equal(await reasonOf(mirror.ensure(parseCommitHash(old), signal)), 'nothing but undefined', 'a commit that was fetched stays')
  t.equal(
    await reasonOf(
      mirrors.of(anonymousRemote((await setUp(t)).host.url('other.git'), { allowLocal: false })).resolve('main', { fresh: false }, signal),
    ),
    'RepositoryNotFound',
  )
})

void t.test('an unchanged ref brings nothing new to the disk; equal questions share one answer', async (t) => {
  if (!requires(t, 'git')) return
  const { host, repository, mirror, folder } = await setUp(t)
  repository.commit({ a: '1' })
  await resolve(mirror, 'main')
  // git keeps one pack of nothing, which has one name.
  await resolve(mirror, 'main')
  const files = (): string[] => readdirSync(path.join(folder, 'mirrors'), { recursive: true, encoding: 'utf8' }).toSorted()
  const before = files()
  host.requests.length = 0
  for (let round = 0; round < 5; round += 1) await resolve(mirror, 'main')
  t.strictSame(files(), before)
  t.equal(host.requests.length, 15, 'each time the advertisement, the exact ref, and that nothing is missing')
  repository.commit({ a: '2' })
  host.requests.length = 0
  const answers = await Promise.all(Array.from({ length: 50 }, () => resolve(mirror, 'main')))
  t.equal(new Set(answers).size, 1)
  t.equal(host.requests.length, 3, 'for 50 questions')
})

void t.test('a name is taken for a branch first, each time', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, mirror } = await setUp(t)
  const tagged = repository.commit({ a: '1' })
  repository.git('tag', 'release')
  for (let round = 0; round < 2; round += 1) t.equal(await resolve(mirror, 'release', true), tagged)
  const branched = repository.commit({ a: '2' })
  repository.git('branch', 'release')
  t.equal(await resolve(mirror, 'release', true), branched, 'a branch wins from then on')
})

void t.test('a push that comes while its branch is being fetched is not answered by that fetch', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, mirror } = await setUp(t)
  repository.commit({ a: '1' })
  const early = resolve(mirror, 'main', true)
  const answers: [Promise<string>, string][] = []
  for (let round = 0; round < 5; round += 1) {
    const commit = repository.commit({ a: `round ${round}` })
    answers.push([resolve(mirror, 'main', true), commit])
  }
  await early
  const commits = answers.map(([, commit]) => commit)
  for (const [index, [answer]] of answers.entries())
    t.ok(commits.indexOf(await answer) >= index, `push ${index} is answered by its own commit or a later one`)
})

void t.test('commits outlive the clean-up until somebody says that they are needed', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, mirror, needed } = await setUp(t)
  for (let round = 0; round < 35; round += 1) {
    const commit = parseCommitHash(repository.commit({ a: String(round) }))
    t.equal(await resolve(mirror, 'main', true), commit)
    const files: string[] = []
    for await (const batch of mirror.listing(commit, [parseRelativePath('')]).list(signal))
      files.push(...batch.map(({ path: file }) => file))
    t.same(files, ['a'])
    needed.clear()
    needed.add(commit)
  }
})

void t.test('a host that hangs holds nobody longer than the signal, and nothing stays behind', async (t) => {
  if (!requires(t, 'git')) return
  const { host, repository, mirror, folder } = await setUp(t)
  const first = repository.commit({ a: '1' })
  await resolve(mirror, 'main')
  host.hang(true)
  const startedMs = systemClock.monotonicMs()
  const hanging = mirror.resolve('main', { fresh: true }, AbortSignal.timeout(300)).then(
    () => 'answered',
    () => 'ended',
  )
  t.equal(await hanging, 'ended')
  t.ok(systemClock.monotonicMs() - startedMs < 20_000, 'long before git itself would give up')
  host.hang(false)
  t.equal(await resolve(mirror, 'main', true), first)
  const left = readdirSync(path.join(folder, 'mirrors'), { recursive: true, encoding: 'utf8' }).filter((name) => /\.lock$|tmp_/.test(name))
  t.same(left, [])
})

void t.test(
  'a mirror that nobody names any more is removed, also one of an earlier process, and is there again when it is named',
  async (t) => {
    if (!requires(t, 'git')) return
    const { host, repository, mirrors, mirror, folder } = await setUp(t)
    const named = anonymousRemote(host.url('plant.git/.git'), { allowLocal: false })
    const commit = repository.commit({ a: '1' })
    const state = path.join(folder, 'mirrors')
    await resolve(mirror, 'main', true)
    const [own = ''] = readdirSync(state)
    mkdirSync(path.join(state, 'f'.repeat(32)))
    mkdirSync(path.join(state, `${'e'.repeat(32)}.new`))
    writeFileSync(path.join(state, 'not-ours'), '')
    await mirrors.prune([named])
    t.strictSame(readdirSync(state).toSorted(), [own, 'not-ours'].toSorted())
    await mirrors.prune([anonymousRemote('https://git.example/other.git', { allowLocal: false })])
    t.strictSame(readdirSync(state), ['not-ours'])
    t.equal(await resolve(mirrors.of(named), 'main', true), commit)
  },
)

void t.test('a replica that only serves cleans up too', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, mirror, folder } = await setUp(t)
  for (let i = 0; i < 33; i += 1) await mirror.ensure(parseCommitHash(repository.commit({ a: String(i) })), signal)
  await mirror.settled()
  const [own = ''] = readdirSync(path.join(folder, 'mirrors'))
  const packs = readdirSync(path.join(folder, 'mirrors', own, 'objects/pack')).filter((name) => name.endsWith('.pack'))
  t.ok(packs.length < 30, `${packs.length} packs after 33 fetches`)
})

void t.test('what a killed process left in a mirror holds up no later fetch', async (t) => {
  if (!requires(t, 'git')) return
  const { host, repository, mirror, mirrors, folder } = await setUp(t)
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

void t.test('neither a repository nor a ref can become an option, a program or a file of this machine', async (t) => {
  if (!requires(t, 'git')) return
  const { mirror, repository, folder } = await setUp(t)
  repository.commit({ a: '1' })
  const repos = [
    '--upload-pack=touch /tmp/x',
    '-oProxyCommand=x',
    'ext::sh -c x',
    `file://${folder}/git/plant.git`,
    `${folder}/git/plant.git`,
    'ftp://x/y',
  ]
  for (const repo of repos)
    t.equal(await reasonOf((async () => anonymousRemote(repo, { allowLocal: false }))()), 'RepositoryNotAllowed', repo)
  const canary = path.join(folder, 'canary')
  for (const ref of [`--upload-pack=touch ${canary}`, `-c core.hooksPath=${folder}`]) {
    t.match(await reasonOf(mirror.resolve(ref, { fresh: true }, signal)), /^(?:RefNotFound|GitFailed)$/, ref)
  }
  t.notOk(existsSync(canary))
})
