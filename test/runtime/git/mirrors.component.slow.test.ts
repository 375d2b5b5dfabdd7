/**
 * How mirrors resolve refs of a real git host and handle its failures.
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import { parseCommitHash, parseRelativePath } from '../../../runtime/api/values.ts'
import { maxFileBytes } from '../../../runtime/content/protocol/protocol.ts'
import { sizeOfFolder } from '../../../runtime/git/disk/mirror-folder.ts'
import { anonymousRemote } from '../../../runtime/git/remote/remote.ts'
import { eachHost } from '../../support/git-host.ts'
import { gitEnvironment } from '../../support/repository.ts'
import { requires } from '../../support/requires.ts'
import { reasonOf, resolve, setUp, signal } from '../../support/mirrored-host.ts'

eachHost(t, 'a branch, a tag, an annotated tag, a full name and a hash each resolve to the commit that they stand for', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, mirror } = await setUp(t, mode)
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

eachHost(t, 'a short name of both a branch and a tag is refused, and each full name resolves', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, mirror } = await setUp(t, mode)
  const tagged = repository.commit({ a: '1' })
  repository.git('tag', 'both')
  const branched = repository.commit({ a: '2' })
  repository.git('branch', 'both')
  const message = '"both" is both a branch and a tag on the git host; write refs/heads/both or refs/tags/both'
  for (const fresh of [true, false, true]) {
    const fault: unknown = await resolve(mirror, 'both', fresh).catch((error: unknown) => error)
    t.strictSame(fault, new Fault('AmbiguousRef', message))
    t.equal(await resolve(mirror, 'refs/tags/both', fresh), tagged)
    t.equal(await resolve(mirror, 'refs/heads/both', fresh), branched)
  }
  repository.git('tag', '-d', 'both')
  t.equal(await resolve(mirror, 'both', false), branched, 'as soon as the tag is gone')
})

eachHost(t, 'a tag without a branch of the same name costs two queries', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { host, repository, mirror } = await setUp(t, mode)
  repository.commit({ a: '1' })
  repository.git('tag', 'v1')
  for (const fresh of [false, true, false]) {
    const before = host.fetches()
    t.equal((await mirror.resolve('v1', { fresh }, signal)).name, 'refs/tags/v1')
    t.equal(host.fetches() - before, 2, 'no such branch, then the tag')
  }
})

eachHost(t, "a tag with a branch's name is checked for once, and a full name needs no check", async (t, mode) => {
  if (!requires(t, 'git')) return
  const { host, repository, mirror } = await setUp(t, mode)
  repository.commit({ a: '1' })
  const fetchesFor = async (ref: string, fresh: boolean): Promise<number> => {
    const before = host.fetches()
    await mirror.resolve(ref, { fresh }, signal)
    return host.fetches() - before
  }
  t.equal(await fetchesFor('refs/heads/main', true), 1)
  t.equal(await fetchesFor('main', true), 2)
  for (const fresh of [true, false]) t.equal(await fetchesFor('main', fresh), 1)
})

eachHost(t, 'the tag that makes a name ambiguous brings nothing to the disk', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, mirror, folder } = await setUp(t, mode)
  repository.commit({ large: randomBytes(1_000_000).toString('base64') })
  repository.git('tag', '-a', '-m', 'large', 'main')
  repository.commit({ large: '' })
  for (const fresh of [true, false]) t.equal(await reasonOf(mirror.resolve('main', { fresh }, signal)), 'AmbiguousRef')
  t.ok(sizeOfFolder(path.join(folder, 'mirrors')) < 100_000, 'less than what the tag holds')
})

void t.test('a path too deep or too long, or a file too large, is refused with the limit', { timeout: 600_000 }, async (t) => {
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
  /** Creates a commit with one more file, without a work tree. */
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
    t.match(await told(deeper, from), /^RepositoryTooLarge: "projects\/d\/.*…" is nested in more than 100 folders$/)
  const listing = mirror.listing(parseCommitHash(deeper), [parseRelativePath('projects')])
  t.equal(await reasonOf(Array.fromAsync(listing.list(signal))), 'RepositoryTooLarge', 'also before it is published')
  const long = add(`projects/${'n'.repeat(40_000)}`, small)
  for (const from of [null, first])
    t.equal(await told(long, from), 'RepositoryTooLarge: a path of the commit is longer than 32768 characters')
  // Large files are not delta-compressed, because that takes more memory than git may use.
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
    t.equal(await told(larger, from), 'RepositoryTooLarge: "projects/large" has 257 MiB; a file may be at most 256 MiB')
  const elsewhere = add('elsewhere', repository.git('rev-parse', `${larger}:projects/large`).toString().trim())
  for (const from of [null, first]) t.equal(await told(elsewhere, from), 'nothing was thrown', 'what is not delivered may have any size')
})

eachHost(t, 'a branch that points to a tag object instead of a commit fails with RefNotFound', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, mirror } = await setUp(t, mode)
  const commit = repository.commit({ a: '1' })
  repository.git('tag', '-a', '-m', 'a tag', 'v1')
  const tag = repository.git('rev-parse', 'v1').toString().trim()
  // git never writes such a ref, but a host may send anything.
  writeFileSync(path.join(repository.folder, '.git/refs/heads/odd'), `${tag}\n`)
  t.equal(await reasonOf(mirror.resolve('odd', { fresh: true }, signal)), 'RefNotFound')
  const sound = await mirror.resolve('v1', { fresh: true }, signal)
  t.strictSame([sound.commit, sound.tag], [commit, tag])
  t.match(await sound.committedAt, /^\d{4}-/)
})

eachHost(t, 'a forced push is followed, a branch or commit that is not there has its own reason', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, mirror, mirrors } = await setUp(t, mode)
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
  const unknown = mode === 'v0, tips only' ? 'CommitNotServed' : 'CommitGone'
  t.equal(await reasonOf(mirror.ensure(parseCommitHash('f'.repeat(40)), signal)), unknown)
  t.equal(await reasonOf(mirror.ensure(parseCommitHash(old), signal)), 'nothing but undefined', 'a commit that was fetched stays')
  t.equal(
    await reasonOf(
      mirrors.of(anonymousRemote((await setUp(t)).host.url('other.git'), { allowLocal: false })).resolve('main', { fresh: false }, signal),
    ),
    'RepositoryNotFound',
  )
})

eachHost(t, 'an unchanged ref adds nothing to the disk, and equal queries share one answer', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { host, repository, mirror, folder } = await setUp(t, mode)
  repository.commit({ a: '1' })
  await resolve(mirror, 'main')
  // git keeps one empty pack, which always has the same name.
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

eachHost(t, 'a short name that becomes both a branch and a tag is ambiguous, and its full names resolve', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, mirror } = await setUp(t, mode)
  const tagged = repository.commit({ a: '1' })
  repository.git('tag', 'release')
  for (let round = 0; round < 2; round += 1) t.equal(await resolve(mirror, 'release', true), tagged)
  const branched = repository.commit({ a: '2' })
  repository.git('branch', 'release')
  t.equal(await reasonOf(mirror.resolve('release', { fresh: true }, signal)), 'AmbiguousRef')
  t.equal(await resolve(mirror, 'refs/heads/release', true), branched)
  t.equal(await resolve(mirror, 'refs/tags/release', true), tagged)
})

eachHost(t, 'a push that comes while its branch is being fetched is not answered by that fetch', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, mirror } = await setUp(t, mode)
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

eachHost(t, 'a host that hangs holds nobody longer than the signal, and nothing stays behind', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { host, repository, mirror, folder } = await setUp(t, mode)
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
  t.strictSame(left, [])
})

eachHost(t, 'a repository or ref is never used as an option, a program or a local file', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { mirror, repository, folder } = await setUp(t, mode)
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
