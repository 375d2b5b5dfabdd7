/**
 * All files of a commit in one stream of two processes of git: what becomes of them when the reader leaves, and what they cannot say.
 */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import { Fault } from '../../../runtime/fault.ts'
import { parseCommitHash, parseRelativePath } from '../../../runtime/gatewaysync/values.ts'
import { silentLog } from '../../../runtime/log.ts'
import { frameFiles } from '../../../runtime/source/content/frame-files.ts'
import { createMirrors } from '../../../runtime/source/mirrors.ts'
import { anonymousRemote } from '../../../runtime/source/remote/remote.ts'
import { runCycle } from '../../../runtime/sync/cycle.ts'
import { childProcesses } from '../../support/child-processes.ts'
import { profileOf, wantedOf } from '../../support/memory-source.ts'
import { makeRepository, temporaryFolder } from '../../support/repository.ts'
import { requires } from '../../support/requires.ts'
import { until } from '../../support/world.ts'

const limits = { maxMemoryBytes: 64 * 1024 * 1024, maxPackBytes: 64 * 1024 * 1024 }
const signal = AbortSignal.timeout(60_000)
const roots = [parseRelativePath('projects')]

/** More than the pipes between the programs hold. */
function manyFiles(t: Test) {
  const repository = makeRepository(path.join(temporaryFolder(t, 'frames'), 'repository'))
  const files = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`projects/f${index}`, `${index} ${'x'.repeat(500)}`]))
  return { folder: path.join(repository.folder, '.git'), commit: parseCommitHash(repository.commit(files)) }
}

function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length
}

void t.test('a reader that leaves, and one that is ended, leaves neither program and no descriptor behind', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, commit } = manyFiles(t)
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
  await t.rejects(ended(), { message: 'stop' })
  await settled()
  t.same(
    readdirSync(folder).filter((name) => name.startsWith('.pipe')),
    [],
  )
})

void t.test('a root is a name, whatever it looks like to git', async (t) => {
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
  t.same(await listed('a'), ['a/1', 'a/[b]'])
  t.same(await listed('a/[b]'), ['a/[b]'])
  t.same(await listed('a*'), ['a*/4'])
  t.same(await listed(':(top)c'), [':(top)c'])
  for (const root of [':/', 'nowhere', ':(top)a', 'a/1/x']) t.same(await listed(root), [], root)
})

void t.test('a commit that is not there, and a folder that holds no pipes, are faults', async (t) => {
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

void t.test('a first sync of a commit with a submodule brings the files beside it, and says that it is not delivered', async (t) => {
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
    wantedOf(dataDir, commit, profileOf([{ source: 'projects', destination: 'projects' }])),
    signal,
  )
  t.match(result, { phase: 'Synced', files: { added: 2 } })
  t.match(JSON.stringify(result), /"submodule"/)
  t.same(readdirSync(path.join(dataDir, 'projects')).toSorted(), ['a', 'z'])
})
