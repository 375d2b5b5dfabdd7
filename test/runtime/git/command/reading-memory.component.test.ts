/**
 * Which of the git processes that read mirrors end when they use too much memory together.
 */
import path from 'node:path'
import t, { type Test } from 'tap'
import { ReadingMemory } from '../../../../runtime/git/command/reading-memory.ts'
import { makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { until } from '../../../support/world.ts'

const limits = { maxMemoryBytes: 1024 * 1024 * 1024, maxPackBytes: 1024 * 1024 * 1024 }

/** Processes of git whose memory the test sets. `ended`: the names of those that have ended. */
function setUp(t: Test, options: ConstructorParameters<typeof ReadingMemory>[0]) {
  const repository = makeRepository(path.join(temporaryFolder(t, 'reading-memory'), 'a'))
  const used = new Map<number, number>()
  const counts = { measured: 0 }
  const measure = (pid: number): number => {
    counts.measured += 1
    return used.get(pid) ?? 0
  }
  const memory = new ReadingMemory({ ...options, measure })
  const ended: string[] = []
  const start = (namespace: string, name: string) => {
    const child = memory.startFor(namespace)(
      { folder: path.join(repository.folder, '.git'), args: ['cat-file', '--batch'], timeoutMs: 60_000 },
      limits,
    )
    t.teardown(() => child.signal('SIGKILL'))
    void child.ended.then(() => ended.push(name))
    return { use: (bytes: number) => void used.set(child.pid ?? 0, bytes), end: () => child.stdin.end() }
  }
  return { start, ended, counts }
}

void t.test('the largest process of the namespace that uses the most ends, and never the only one', async (t) => {
  if (!requires(t, 'git')) return
  const { start, ended, counts } = setUp(t, { maxBytes: 100 })
  const quiet = start('quiet', 'quiet')
  const [small, large] = [start('hostile', 'small'), start('hostile', 'large')]
  quiet.use(45)
  small.use(20)
  large.use(40)
  await until(() => ended.length > 0 || undefined, 'one has ended')
  t.strictSame(ended, ['large'])
  quiet.end()
  await until(() => ended.length > 1 || undefined, 'the other one has ended')
  small.use(1_000)
  counts.measured = 0
  await until(() => counts.measured > 2 || undefined, 'the last one was measured')
  t.strictSame(ended, ['large', 'quiet'])
  small.end()
})

void t.test('what processes that call hosts hold is not left to others, except for a small part', async (t) => {
  if (!requires(t, 'git')) return
  const mebibyte = 1024 * 1024
  let held = 0
  const { start, ended, counts } = setUp(t, { left: () => 64 * mebibyte, held: () => held })
  const [quiet, large] = [start('quiet', 'quiet'), start('hostile', 'large')]
  quiet.use(13 * mebibyte)
  large.use(42 * mebibyte)
  await until(() => counts.measured > 3 || undefined, 'both were measured')
  t.strictSame(ended, [])
  held = 60 * mebibyte
  await until(() => ended.length > 0 || undefined, 'one has ended')
  counts.measured = 0
  await until(() => counts.measured > 2 || undefined, 'the other one was measured')
  t.strictSame(ended, ['large'])
  quiet.use(15 * mebibyte)
  await until(() => ended.length > 1 || undefined, 'the only one has ended')
})
