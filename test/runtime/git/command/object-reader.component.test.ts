/**
 * One git process answers many queries, and survives or is replaced after changes to the repository or the process.
 */
import { renameSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { openObjectReader } from '../../../../runtime/git/command/object-reader.ts'
import { rejectsWith } from '../../../support/assertions.ts'
import { childProcesses } from '../../../support/child-processes.ts'
import { makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const limits = { maxMemoryBytes: 1024 * 1024 * 1024, maxPackBytes: 1024 * 1024 * 1024 }
const signal = AbortSignal.timeout(290_000)

function setUp(t: Test, restAfterMs = 60_000) {
  const folder = temporaryFolder(t, 'object-reader')
  const repository = makeRepository(path.join(folder, 'a'))
  const objects = openObjectReader(systemClock, restAfterMs)
  t.teardown(objects.end)
  const read = async (...names: string[]): Promise<string[]> => {
    const texts: string[] = []
    const sink = {
      begin: () => void texts.push(''),
      data: (chunk: Uint8Array) => void texts.push((texts.pop() ?? '') + Buffer.from(chunk).toString('utf8')),
      end() {},
    }
    await objects.read({ folder: path.join(folder, 'a/.git'), limits }, { type: 'blob', names, sink }, signal)
    return texts
  }
  const idOf = (name: string): string => repository.git('rev-parse', `HEAD:${name}`).toString().trim()
  return { folder, repository, objects, read, idOf }
}

/** The git processes that are still running. */
function running(): number[] {
  return childProcesses().flatMap(({ pid, hasEnded }) => (hasEnded ? [] : [pid]))
}

void t.test('the running process finds new objects and handles removed packs', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, read, idOf } = setUp(t)
  repository.commit({ a: 'first', b: '' })
  t.strictSame(await read(idOf('a'), idOf('b'), idOf('a')), ['first', '', 'first'])
  const before = running()
  t.equal(before.length, 1)
  repository.git('repack', '-adq')
  repository.commit({ a: 'second' })
  t.strictSame(await read(idOf('a'), idOf('b')), ['second', ''])
  repository.commit({ a: 'third' })
  repository.git('repack', '-adq')
  repository.git('gc', '-q', '--prune=now')
  t.strictSame(await read(idOf('a'), idOf('b')), ['third', ''])
  t.strictSame(running(), before)
})

void t.test('a repository that replaces another one is read by a new process', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, repository, read, idOf } = setUp(t)
  repository.commit({ a: 'old' })
  const old = idOf('a')
  t.strictSame(await read(old), ['old'])
  const before = running()
  const next = makeRepository(path.join(folder, 'b'))
  next.commit({ a: 'new' })
  renameSync(path.join(folder, 'a'), path.join(folder, 'gone'))
  renameSync(path.join(folder, 'b'), path.join(folder, 'a'))
  t.strictSame(await read(idOf('a')), ['new'])
  t.equal(running().length, 1)
  t.not(running()[0], before[0])
  await rejectsWith(t, read(old), { reason: 'CommitGone', message: /the mirror has no object/ })
})

void t.test('a process that was killed between two queries is replaced', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, read, idOf } = setUp(t)
  repository.commit({ a: 'first' })
  await read(idOf('a'))
  const [first = 0] = running()
  process.kill(first, 'SIGKILL')
  t.strictSame(await read(idOf('a')), ['first'], 'before Node has heard of it')
  const [second = 0] = running()
  process.kill(second, 'SIGKILL')
  while (running().length > 0) await systemClock.wait(10)
  t.strictSame(await read(idOf('a')), ['first'])
})

void t.test('a process that does not answer is ended with the query', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, objects, read, idOf } = setUp(t)
  repository.commit({ a: 'first' })
  await read(idOf('a'))
  const [pid = 0] = running()
  process.kill(pid, 'SIGSTOP')
  const abort = new AbortController()
  const sink = { begin() {}, data() {}, end() {} }
  const asked = objects.read(
    { folder: path.join(repository.folder, '.git'), limits },
    { type: 'blob', names: [idOf('a')], sink },
    abort.signal,
  )
  abort.abort(new Error('enough'))
  await rejectsWith(t, asked, { message: 'enough' })
  t.strictSame(running(), [])
  t.strictSame(await read(idOf('a')), ['first'])
})

void t.test('a failure never leaves a process in the middle of an answer', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, objects, read, idOf } = setUp(t)
  repository.commit({ a: 'first' })
  await rejectsWith(t, read(idOf('a'), '0'.repeat(40)), { reason: 'CommitGone', message: /the mirror has no object/ })
  t.strictSame(running(), [])
  await rejectsWith(t, read(repository.git('rev-parse', 'HEAD^{tree}').toString().trim()), {
    reason: 'DeliveryFailed',
    message: /is damaged/,
  })
  t.strictSame(running(), [])
  const sink = { begin: () => abort.abort(new Error('enough')), data() {}, end() {} }
  const abort = new AbortController()
  const question = { type: 'blob' as const, names: [idOf('a'), 'no such name'], sink }
  await rejectsWith(t, objects.read({ folder: path.join(repository.folder, '.git'), limits }, question, abort.signal), {
    message: 'enough',
  })
  t.strictSame(running(), [])
  t.strictSame(await read(idOf('a')), ['first'])
  await objects.end()
  t.strictSame(running(), [])
})

void t.test('an idle process ends', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, read, idOf } = setUp(t, 1)
  repository.commit({ a: 'first' })
  t.strictSame(await read(idOf('a')), ['first'])
  while (running().length > 0) await systemClock.wait(10)
  t.strictSame(await read(idOf('a')), ['first'], 'and another one answers')
})
