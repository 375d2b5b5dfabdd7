import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { type CallSize, createGitMemory } from '../../../runtime/source/git/memory.ts'

const mebibyte = 1024 * 1024
const plenty = (): number => Number.POSITIVE_INFINITY
const never = new AbortController().signal

void t.test('as many processes of git run at once as fit into their memory, one large one among them', async (t) => {
  const memory = createGitMemory({ budget: 80 * mebibyte, left: plenty })
  const started: string[] = []
  const take = async (size: CallSize, name: string) => {
    const use = await memory.take(size, never)
    started.push(name)
    return use
  }
  const large = [take('large', 'large 1'), take('large', 'large 2')]
  const small = Array.from({ length: 4 }, (_, index) => take('small', `small ${index}`))
  await turn()
  t.strictSame(started, ['large 1', 'small 0', 'small 1'], 'a large one that waits holds up no small one')
  const first = await (large[0] ?? t.fail('no use'))
  t.equal(typeof first === 'object' ? first.maxMemoryBytes : 0, 96 * mebibyte)
  if (typeof first === 'object') {
    first[Symbol.dispose]()
    first[Symbol.dispose]()
  }
  await turn()
  t.strictSame(started.slice(3), ['large 2'], 'given back twice counts once')
  for (const use of small.slice(0, 2)) (await use)[Symbol.dispose]()
  await turn()
  t.strictSame(started.slice(4), ['small 2', 'small 3'])
})

void t.test('who stops waiting takes nothing', async (t) => {
  const memory = createGitMemory({ budget: 14 * mebibyte, left: plenty })
  const held = await memory.take('small', never)
  const stop = new AbortController()
  const waiting = memory.take('small', stop.signal)
  stop.abort(new Error('stopped'))
  await t.rejects(waiting, { message: 'stopped' })
  held[Symbol.dispose]()
  t.ok(await memory.take('small', never))
})

void t.test('what an installation has is room for several questions or fetches, and for a large fetch beside a question', async (t) => {
  const atOnce = async (...sizes: CallSize[]): Promise<number> => {
    const memory = createGitMemory({ left: plenty })
    let started = 0
    for (const size of sizes) void memory.take(size, never).then(() => (started += 1))
    await turn()
    return started
  }
  t.equal(await atOnce(...Array.from({ length: 20 }, () => 'question' as const)), 7)
  t.equal(await atOnce(...Array.from({ length: 20 }, () => 'small' as const)), 4)
  t.equal(await atOnce('large', 'large', 'small', 'question', 'question'), 2)
})

void t.test('where the process itself holds much of the container, fewer run at once, and one in any case', async (t) => {
  const atOnce = async (leftMiB: number, size: CallSize): Promise<number> => {
    const memory = createGitMemory({ left: () => leftMiB * mebibyte })
    let started = 0
    for (let call = 0; call < 10; call += 1) void memory.take(size, never).then(() => (started += 1))
    await turn()
    return started
  }
  t.equal(await atOnce(80, 'small'), 4)
  t.equal(await atOnce(60, 'small'), 2)
  t.equal(await atOnce(10, 'small'), 1)
  t.equal(await atOnce(10, 'large'), 1)
})

void t.test('a large one is passed by small ones for ten seconds and no longer', async (t) => {
  let nowMs = 0
  const memory = createGitMemory({ budget: 50 * mebibyte, left: plenty, clock: { monotonicMs: () => nowMs } })
  const started: string[] = []
  const take = async (size: CallSize, name: string) => {
    const use = await memory.take(size, never)
    started.push(name)
    return use
  }
  const first = await take('small', 'first')
  const large = take('large', 'large')
  const second = await take('small', 'second')
  nowMs = 10_001
  void take('small', 'third')
  await turn()
  t.strictSame(started, ['first', 'second'])
  first[Symbol.dispose]()
  second[Symbol.dispose]()
  await turn()
  t.strictSame(started, ['first', 'second', 'large'])
  ;(await large)[Symbol.dispose]()
  await turn()
  t.strictSame(started, ['first', 'second', 'large', 'third'])
})
