import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { type CallSize, createGitMemory } from '../../../../runtime/git/command/memory.ts'
import { rejectsWith } from '../../../support/assertions.ts'
import { SimulatedClock } from '../../../support/simulated-clock.ts'

const mebibyte = 1024 * 1024
const plenty = (): number => Number.POSITIVE_INFINITY
const never = new AbortController().signal

/** Runs calls that do not end, by default each for its own namespace. Returns the sizes of the started calls. */
async function startedOf(calls: readonly { size: CallSize; namespace?: string }[], left = plenty): Promise<CallSize[]> {
  const clock = new SimulatedClock()
  const memory = createGitMemory({ left, clock })
  const stop = new AbortController()
  const started: CallSize[] = []
  for (const [index, { size, namespace = `tenant-${index}` }] of calls.entries())
    memory
      .run(size, { namespace, host: 'git.example', repository: 'https://git.example/plant.git' }, stop.signal, async (_max, signal) => {
        started.push(size)
        await clock.wait(60_000, signal)
      })
      .catch(() => undefined)
  await turn()
  stop.abort()
  return started
}

const many = (size: CallSize, namespace?: string) => Array.from({ length: 20 }, () => ({ size, ...(namespace && { namespace }) }))

void t.test('memory suffices for several queries or fetches, and for a large fetch beside a small one', async (t) => {
  t.equal((await startedOf(many('question'))).length, 6)
  t.equal((await startedOf(many('small'))).length, 4)
  const mixed = [{ size: 'large' }, { size: 'large' }, { size: 'small' }, { size: 'question' }] as const
  t.strictSame(await startedOf(mixed), ['large', 'small'])
})

void t.test('one namespace with an unproven host leaves more than half of the memory to the others', async (t) => {
  t.equal((await startedOf(many('question', 'plant'))).length, 2)
  t.equal((await startedOf(many('small', 'plant'))).length, 1)
  t.strictSame(
    await startedOf([
      { size: 'small', namespace: 'plant' },
      { size: 'question', namespace: 'plant' },
    ]),
    ['small', 'question'],
  )
})

void t.test('the more memory the process itself uses, the fewer calls run at once, but at least one', async (t) => {
  const atOnce = async (leftMiB: number, size: CallSize): Promise<number> => (await startedOf(many(size), () => leftMiB * mebibyte)).length
  t.equal(await atOnce(80, 'small'), 4)
  t.equal(await atOnce(60, 'small'), 2)
  t.equal(await atOnce(10, 'small'), 1)
  t.equal(await atOnce(10, 'large'), 1)
})

void t.test('each size has a limit that the kernel enforces, and errors of git are passed on', async (t) => {
  const memory = createGitMemory({ left: plenty })
  const user = { namespace: 'plant', host: 'git.example', repository: 'https://git.example/plant.git' }
  t.equal(await memory.run('small', user, never, async ({ maxMemoryBytes }) => maxMemoryBytes), 16 * mebibyte)
  t.equal(await memory.run('large', user, never, async ({ maxMemoryBytes }) => maxMemoryBytes), 56 * mebibyte)
  await rejectsWith(
    t,
    memory.run('small', user, never, () => Promise.reject(new Error('broken'))),
    { message: 'broken' },
  )
})
