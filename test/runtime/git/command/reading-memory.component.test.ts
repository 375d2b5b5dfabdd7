/**
 * Which of the git processes that read mirrors end when they use too much memory together.
 */
import path from 'node:path'
import t from 'tap'
import { ReadingMemory } from '../../../../runtime/git/command/reading-memory.ts'
import { makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { until } from '../../../support/world.ts'

const limits = { maxMemoryBytes: 1024 * 1024 * 1024, maxPackBytes: 1024 * 1024 * 1024 }

void t.test('the largest process of the namespace that uses the most ends, and never the only one', async (t) => {
  if (!requires(t, 'git')) return
  const repository = makeRepository(path.join(temporaryFolder(t, 'reading-memory'), 'a'))
  const used = new Map<number, number>()
  let measured = 0
  const measure = (pid: number): number => {
    measured += 1
    return used.get(pid) ?? 0
  }
  const memory = new ReadingMemory({ maxBytes: 100, measure })
  const ended: string[] = []
  const start = (namespace: string, name: string) => {
    const child = memory.startFor(namespace)(
      { folder: path.join(repository.folder, '.git'), args: ['cat-file', '--batch'], timeoutMs: 60_000 },
      limits,
    )
    t.teardown(() => child.signal('SIGKILL'))
    void child.ended.then(() => ended.push(name))
    const { pid } = child as { pid?: number }
    return { use: (bytes: number) => void used.set(pid ?? 0, bytes), end: () => child.stdin.end() }
  }
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
  measured = 0
  await until(() => measured > 2 || undefined, 'the last one was measured')
  t.strictSame(ended, ['large', 'quiet'])
  small.end()
})
