/**
 * Files that take much of git's memory do not take the memory of the controller, whoever reads them.
 */
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { resolveProfile } from '../../runtime/api/schema/profile.ts'
import { gatewaySyncSpec } from '../../runtime/api/schema/spec.ts'
import { parseCommitHash, parseRelativePath } from '../../runtime/api/values.ts'
import type { StartGit } from '../../runtime/git/command/git.ts'
import { createGitMemory } from '../../runtime/git/command/memory.ts'
import { anonymousBytes } from '../../runtime/git/command/process-memory.ts'
import { ReadingMemory } from '../../runtime/git/command/reading-memory.ts'
import { diffCommits } from '../../runtime/git/content/commit-diff.ts'
import { rememberListedBlobs, rememberBlobs } from '../../runtime/git/content/remembered-blobs.ts'
import { fileOf } from '../../runtime/git/content/make-commit.ts'
import { frameBlobs } from '../../runtime/git/content/read-blobs.ts'
import { rememberVerdicts } from '../../runtime/git/mirror/fetch-artifact.ts'
import { openMirror } from '../../runtime/git/mirror/mirror.ts'
import { openNetwork } from '../../runtime/git/remote/network.ts'
import { anonymousRemote } from '../../runtime/git/remote/remote.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { openAttemptLog } from '../../runtime/validation/worker/attempt-log.ts'
import { openIsolatedValidator } from '../../runtime/validation/worker/isolated-validation.ts'
import { rejectsWith } from '../support/assertions.ts'
import { childProcesses } from '../support/child-processes.ts'
import { root, validTree } from '../support/collection-tree.ts'
import { makeRepository, temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

const mebibyte = 1024 * 1024
const limits = { maxMemoryBytes: 56 * mebibyte, maxPackBytes: 1024 * mebibyte }
const signal = AbortSignal.timeout(100_000)

/** Remembers the commands of git that it starts. `endsAll`: ends each of them at once, as for its memory. */
class NotedMemory extends ReadingMemory {
  readonly #commands = new Set<string>()
  endsAll = false

  override startFor(namespace: string): StartGit {
    const start = super.startFor(namespace)
    return (run, ...more) => {
      this.#commands.add(`${run.args[0] ?? ''} of ${namespace}`)
      if (!this.endsAll) return start(run, ...more)
      // The command itself could end before the signal.
      const git = start({ ...run, settings: ['alias.hang=!sleep 100'], args: ['hang'] }, ...more)
      git.signal('SIGTERM')
      return git
    }
  }

  take(): string[] {
    const commands = [...this.#commands].toSorted()
    this.#commands.clear()
    return commands
  }
}

/** A mirror with two commits, and validation of the second one. */
async function setUp(t: Test) {
  const folder = temporaryFolder(t, 'bounded-reads')
  const repository = makeRepository(path.join(folder, 'a'))
  const from = parseCommitHash(repository.commit(validTree()))
  const commit = parseCommitHash(repository.commit({ b: 'b' }))
  const memory = new NotedMemory()
  const mirror = openMirror({
    folder: path.join(folder, 'mirror'),
    remote: anonymousRemote(repository.folder, { allowLocal: true }),
    network: openNetwork,
    limits,
    memory: createGitMemory(),
    readingMemory: memory,
    reserve: async () => ({ maxPackBytes: limits.maxPackBytes, release() {} }),
    listedBlobs: rememberListedBlobs(),
    recentBlobs: rememberBlobs(),
    verdicts: rememberVerdicts(systemClock),
    needed: () => undefined,
    digestOf: () => undefined,
    clock: systemClock,
    log: silentLog,
    signal,
  })('plant')
  for (const each of [from, commit]) await mirror.ensure(each, signal)
  const validator = openIsolatedValidator({
    clock: systemClock,
    log: silentLog,
    attemptLog: openAttemptLog(path.join(folder, 'marks.json')),
  })
  t.teardown(() => validator.close())
  const spec = v.parse(gatewaySyncSpec({ allowLocal: true }), {
    git: { repo: 'https://git.example.com/a.git', ref: 'main' },
    sync: { profiles: { default: { collections: { root } } } },
  })
  const profiles = [resolveProfile(spec.sync, 'default')]
  const request = { profiles, validation: spec.validation, modesInUse: undefined, line: 'a', commit }
  const by = { namespace: 'plant', again: false }
  const validate = async () => await mirror.readBy(commit, (files) => validator.validate(files, request, by, signal), signal)
  return { from, commit, memory, mirror, validate }
}

function bytesOfGit(): number {
  return childProcesses().reduce((sum, { pid }) => sum + anonymousBytes(pid), 0)
}

async function drain(stream: AsyncGenerator): Promise<void> {
  for (let rest = await stream.next(); rest.done !== true;) rest = await stream.next()
}

void t.test('four slow agents of one namespace take no more memory than one, and that of another reads on', async (t) => {
  if (!requires(t, 'git')) return
  const repository = makeRepository(path.join(temporaryFolder(t, 'large-reads'), 'a'))
  const text = randomBytes(6 * mebibyte).toString('hex')
  for (const end of ['a', 'b']) repository.commit({ large: `${text}${end}`, small: end })
  // One of the two is stored as a difference to the other.
  repository.git('repack', '-adfq')
  const idsOf = (name: string) =>
    ['HEAD', 'HEAD~1'].map((commit) => parseCommitHash(repository.git('rev-parse', `${commit}:${name}`).toString().trim()))
  const memory = new ReadingMemory({ maxBytes: 24 * mebibyte })
  const read = (namespace: string, name: string) =>
    frameBlobs({ folder: path.join(repository.folder, '.git'), limits, start: memory.startFor(namespace) }, idsOf(name), signal)
  const quiet = read('quiet', 'small')
  await quiet.next()
  const hostile = Array.from({ length: 4 }, () => read('hostile', 'large'))
  // Each reads until git has both texts in memory, and then only waits.
  const endings = hostile.map(async (stream): Promise<unknown> => {
    try {
      for (let bytes = 0; bytes < text.length;) bytes += ((await stream.next()).value as Uint8Array).byteLength
      return undefined
    } catch (error) {
      return error
    }
  })
  await Promise.all(endings)
  await until(() => bytesOfGit() < 24 * mebibyte || undefined, 'what exceeds the bound has ended')
  // What was read from a process before it ended comes first.
  const ended = await Promise.all(hostile.map(async (stream) => await drain(stream).catch((error: unknown) => error)))
  t.ok([...ended, ...(await Promise.all(endings))].some((error) => error instanceof Fault && error.reason === 'GitKilled'))
  await drain(quiet)
  await Promise.all(hostile.map((stream) => stream.return(undefined)))
})

void t.test('validation, captures, page diffs and the search for paths start git within the bound', async (t) => {
  if (!requires(t, 'git')) return
  const { from, commit, memory, mirror, validate } = await setUp(t)
  t.strictSame(memory.take(), [])
  await validate()
  t.strictSame(memory.take(), ['cat-file of plant', 'ls-tree of plant'])
  const part = { from, commit, roots: [parseRelativePath('')], takes: () => true }
  const bounds = { named: 9, files: 9, fileBytes: 999, totalBytes: 999 }
  await mirror.readBy(commit, (files) => diffCommits(files, part, bounds, signal), signal)
  t.strictSame(memory.take(), ['cat-file of plant', 'diff-tree of plant'])
  await mirror.source(() => [parseRelativePath('')]).near?.({ commit, missing: 'c', isRoot: false }, signal)
  t.strictSame(memory.take(), ['ls-tree of plant'])
  const message = { author: { name: 'Ada', email: 'ada@localhost.invalid' }, text: 'Keep it', at: 1_768_464_000 }
  await mirror.commit(commit, [{ source: 'c', content: Buffer.from('c'), exec: false }], message, signal)
  const made = ['commit-tree', 'diff-tree', 'hash-object', 'ls-tree', 'read-tree', 'update-index', 'write-tree']
  t.strictSame(
    memory.take(),
    made.map((command) => `${command} of plant`),
  )
})

void t.test('a read whose git is ended for its memory has no result, and succeeds when it is repeated', async (t) => {
  if (!requires(t, 'git')) return
  const { commit, memory, mirror, validate } = await setUp(t)
  const readFile = async () => await mirror.readBy(commit, (files) => fileOf(files, commit, 'b', signal), signal)
  memory.endsAll = true
  await rejectsWith(t, validate(), { reason: 'GitKilled' })
  await rejectsWith(t, readFile(), { reason: 'GitKilled' })
  memory.endsAll = false
  t.equal((await validate()).kind, 'checked')
  t.equal(String(await readFile()), 'b')
})
