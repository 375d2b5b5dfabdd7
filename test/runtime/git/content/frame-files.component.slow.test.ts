/**
 * All files of a commit as one stream of two git processes: what happens when the reader stops, and the limits of the format.
 */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { parseCommitHash, parseRelativePath } from '../../../../runtime/api/values.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { frameFiles } from '../../../../runtime/git/content/frame-files.ts'
import { createMirrors } from '../../../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../../../runtime/git/remote/remote.ts'
import { runCycle } from '../../../../runtime/sync/cycle.ts'
import { matchObject, rejectsWith } from '../../../support/assertions.ts'
import { childProcesses } from '../../../support/child-processes.ts'
import { profileOf, desiredOf } from '../../../support/memory-source.ts'
import { makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { until } from '../../../support/world.ts'

const limits = { maxMemoryBytes: 64 * 1024 * 1024, maxPackBytes: 64 * 1024 * 1024 }
const signal = AbortSignal.timeout(300_000)
const roots = [parseRelativePath('projects')]

/** More than the pipes between the processes can buffer. */
function manyFiles(t: Test) {
  const repository = makeRepository(path.join(temporaryFolder(t, 'frames'), 'repository'))
  const files = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`projects/f${index}`, `${index} ${'x'.repeat(500)}`]))
  return { folder: path.join(repository.folder, '.git'), commit: parseCommitHash(repository.commit(files)) }
}

function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length
}

void t.test('a reader that stops or is aborted leaves no process and no file descriptor behind', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, commit } = manyFiles(t)
  // The first processes of a program open descriptors that it keeps, for signals.
  await Array.fromAsync(frameFiles({ folder, limits }, commit, roots, signal))
  const [children, descriptors] = [childProcesses().length, openDescriptors()]
  const settled = async (): Promise<void> => {
    await until(() => (childProcesses().length <= children && openDescriptors() <= descriptors ? true : undefined), 'all is closed')
  }
  for await (const chunk of frameFiles({ folder, limits }, commit, roots, signal)) {
    t.ok(chunk.length > 0)
    break
  }
  await settled()
  const stop = new AbortController()
  const ended = async (): Promise<void> => {
    for await (const chunk of frameFiles({ folder, limits }, commit, roots, AbortSignal.any([signal, stop.signal])))
      if (chunk.length > 0) stop.abort(new Error('stop'))
  }
  await rejectsWith(t, ended(), { message: 'stop' })
  await settled()
  t.strictSame(
    readdirSync(folder).filter((name) => name.startsWith('.pipe')),
    [],
  )
})

void t.test('a root is a literal name, even if it resembles a git pathspec', async (t) => {
  if (!requires(t, 'git')) return
  const repository = makeRepository(path.join(temporaryFolder(t, 'roots'), 'repository'))
  const commit = parseCommitHash(repository.commit({ 'a/1': '', 'a/[b]': '', 'ab/2': '', 'c/3': '', abc: '', ':(top)c': '', 'a*/4': '' }))
  const listed = async (root: string): Promise<string[]> => {
    const chunks = await Array.fromAsync(
      frameFiles({ folder: path.join(repository.folder, '.git'), limits }, commit, [root as (typeof roots)[number]], signal),
    )
    return [
      ...Buffer.concat(chunks)
        .toString('utf8')
        .matchAll(/ 100644 (.*)/g),
    ].map(([, name = '']) => name)
  }
  t.strictSame(await listed('a'), ['a/1', 'a/[b]'])
  t.strictSame(await listed('a/[b]'), ['a/[b]'])
  t.strictSame(await listed('a*'), ['a*/4'])
  t.strictSame(await listed(':(top)c'), [':(top)c'])
  for (const root of [':/', 'nowhere', ':(top)a', 'a/1/x']) t.strictSame(await listed(root), [], root)
})

void t.test('a missing commit, and a folder in which no pipe can be created, are faults', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = manyFiles(t)
  const reasonOf = async (where: string): Promise<unknown> =>
    await Array.fromAsync(frameFiles({ folder: where, limits }, parseCommitHash('f'.repeat(40)), roots, signal)).then(
      () => 'none',
      (error: unknown) => (error instanceof Fault ? error.reason : error),
    )
  t.match(await reasonOf(folder), /^(?:CommitGone|GitFailed|GitObjectMissing)$/)
  t.equal(await reasonOf(path.join(folder, 'nowhere')), 'ToolMissing')
})

void t.test('a first sync of a commit with a submodule delivers the other files and reports the submodule', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'submodule')
  const repository = makeRepository(path.join(folder, 'repository'))
  repository.commit({ 'projects/a/1': '1', 'projects/z/2': '2' })
  repository.git('update-index', '--add', '--cacheinfo', `160000,${'a'.repeat(40)},projects/m`)
  repository.git('commit', '-qm', 'with a submodule')
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  t.teardown(async () => mirrors.close())
  const mirror = mirrors.of(anonymousRemote(repository.folder, { allowLocal: true }))
  const { commit } = await mirror.resolve('main', { fresh: true }, signal)
  const dataDir = temporaryFolder(t, 'data')
  const result = await runCycle(
    { source: mirror.source(() => roots), gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } },
    desiredOf(dataDir, commit, profileOf([{ source: 'projects', destination: 'projects' }])),
    signal,
  )
  matchObject(t, result, { phase: 'Synced', files: { added: 2 } })
  t.match(JSON.stringify(result), /"submodule"/)
  t.strictSame(readdirSync(path.join(dataDir, 'projects')).toSorted(), ['a', 'z'])
})
