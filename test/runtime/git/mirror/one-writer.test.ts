import { AsyncLocalStorage } from 'node:async_hooks'
import t from 'tap'
import { OneWriter } from '../../../../runtime/git/mirror/one-writer.ts'
import { rejectsWith } from '../../../support/assertions.ts'

/** Starts works that record when they begin, and waits for all of them. */
async function orderOf(works: readonly [namespace: string, what: string][]): Promise<string[]> {
  const writer = new OneWriter()
  const begun: string[] = []
  const run = async ([namespace, what]: readonly [string, string]) => await writer.run({ namespace }, async () => void begun.push(what))
  await Promise.all(works.map(run))
  return begun
}

void t.test('namespaces take turns, and the works of one run in the order of arrival', async (t) => {
  t.strictSame(
    await orderOf([
      ['a', 'a1'],
      ['a', 'a2'],
      ['a', 'a3'],
      ['b', 'b1'],
      ['c', 'c1'],
      ['b', 'b2'],
    ]),
    ['a1', 'a2', 'b1', 'c1', 'a3', 'b2'],
  )
})

void t.test('one work runs at a time, and one that fails does not stop the next', async (t) => {
  const writer = new OneWriter()
  t.equal(writer.isIdle, true)
  let running = 0
  const once = async (): Promise<number> => {
    running += 1
    await Promise.resolve()
    return running--
  }
  const failed = writer.run({ namespace: 'a' }, async () => await Promise.reject(new Error('broken')))
  t.equal(writer.isIdle, false)
  const all = Promise.all(['a', 'b', 'a'].map(async (namespace) => await writer.run({ namespace }, once)))
  await rejectsWith(t, failed, { message: 'broken' })
  t.strictSame(await all, [1, 1, 1])
  t.equal(writer.isIdle, true)
  await writer.settled()
})

void t.test('work that is equal to waiting work runs once, and again for those who wait for one that was aborted', async (t) => {
  const writer = new OneWriter()
  const begun: string[] = []
  const giveUp = new AbortController()
  const ask = async (namespace: string, signal?: AbortSignal): Promise<string> =>
    await writer.run({ namespace, equal: 'fetch main', ...(signal && { signal }) }, async () => {
      begun.push(namespace)
      await new Promise((resolve) => setImmediate(resolve))
      signal?.throwIfAborted()
      return namespace
    })
  const [running, ...rest] = [ask('a'), ask('b', giveUp.signal), ask('c'), ask('d')]
  t.equal(await running, 'a', 'work that arrives later is not answered by one that has begun')
  giveUp.abort(new Error('gave up'))
  t.strictSame(await Promise.all(rest.map(async (work) => await work.catch((error: unknown) => (error as Error).message))), [
    'gave up',
    'c',
    'c',
  ])
  t.strictSame(begun, ['a', 'b', 'c'])
})

void t.test('work that is held up by its own namespace gives way to another one, and starts again', async (t) => {
  let isHeldUp = true
  const writer = new OneWriter((namespace) => namespace === 'loud' && isHeldUp)
  const begun: string[] = []
  const run = async (namespace: string, equal?: string): Promise<string> =>
    await writer.run({ namespace, ...(equal === undefined ? {} : { equal }) }, async (giveWay) => {
      begun.push(namespace)
      if (namespace === 'loud' && isHeldUp)
        await new Promise((_resolve, reject) => giveWay.addEventListener('abort', () => reject(giveWay.reason as Error)))
      isHeldUp = false
      return namespace
    })
  t.strictSame(await Promise.all([run('loud'), run('quiet')]), ['loud', 'quiet'])
  t.strictSame(begun.splice(0), ['loud', 'quiet', 'loud'])
  isHeldUp = true
  const first = run('loud', 'fetch main')
  t.strictSame(await Promise.all([first, run('loud', 'fetch main'), run('quiet', 'fetch main')]), ['quiet', 'quiet', 'quiet'])
  t.strictSame(begun, ['loud', 'quiet'])
  t.equal(writer.isIdle, true)
})

void t.test('a writer that is idle can be closed, and then does no work', async (t) => {
  const writer = new OneWriter()
  const running = writer.run({ namespace: 'a' }, async () => await new Promise((resolve) => setImmediate(resolve)))
  t.equal(writer.close(), false)
  await running
  t.equal(writer.close(), true)
  await rejectsWith(
    t,
    writer.run({ namespace: 'a' }, async () => t.fail('it runs')),
    { reason: 'GitKilled', message: 'the mirror was removed' },
  )
})

void t.test('a work runs in the async context of its call', async (t) => {
  const writer = new OneWriter()
  const context = new AsyncLocalStorage<string>()
  const calls = ['a', 'b'].map(
    async (namespace) => await context.run(namespace, () => writer.run({ namespace }, async () => context.getStore())),
  )
  t.strictSame(await Promise.all(calls), ['a', 'b'])
})
