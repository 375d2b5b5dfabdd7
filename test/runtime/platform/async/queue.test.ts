import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { systemClock, type Clock } from '../../../../runtime/platform/clock.ts'
import { Queue } from '../../../../runtime/platform/async/queue.ts'

/** A clock that stands still until the test advances it to the end of the earliest wait. */
function manualClock() {
  const pending: { dueMs: number; end(): void }[] = []
  let nowMs = 0
  const wait = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const item = { dueMs: nowMs + ms, end: resolve }
      pending.push(item)
      signal?.addEventListener('abort', () => {
        pending.splice(pending.indexOf(item), 1)
        reject(signal.reason as Error)
      })
    })
  const clock: Clock = { ...systemClock, wait, monotonicMs: () => nowMs, random: () => 0.5 }
  const next = async (): Promise<void> => {
    while (pending.length === 0) await turn()
    pending.sort((a, b) => a.dueMs - b.dueMs)
    const [item] = pending.splice(0, 1)
    nowMs = item?.dueMs ?? nowMs
    item?.end()
    await turn()
  }
  return { clock, pending, next }
}

void t.test('any number of triggers during a reconcile cause exactly one more', async (t) => {
  const stop = new AbortController()
  const reconciled: string[] = []
  let release = (): void => {}
  const queue = new Queue({
    clock: systemClock,
    workers: 2,
    async reconcile(key) {
      reconciled.push(key)
      if (reconciled.length === 1) await new Promise<void>((resolve) => (release = resolve))
      return { wakeAfterMs: undefined }
    },
    failed: (_key, error) => t.fail(String(error)),
  })
  const done = queue.run(stop.signal)
  queue.add('a')
  await turn()
  for (let i = 0; i < 5; i++) queue.add('a')
  await turn()
  t.strictSame(reconciled, ['a'], 'the second pass waits for the first')
  release()
  while (reconciled.length < 2) await turn()
  await turn()
  t.strictSame(reconciled, ['a', 'a'])
  stop.abort()
  await done
})

void t.test('a failed reconcile is retried with backoff, which a success resets', async (t) => {
  const stop = new AbortController()
  const { clock, next } = manualClock()
  const reconciled: number[] = []
  const failures: string[] = []
  const queue = new Queue({
    clock,
    workers: 1,
    async reconcile() {
      reconciled.push(clock.monotonicMs())
      if (reconciled.length < 3) throw new Error(`no ${reconciled.length}`)
      return { wakeAfterMs: 60_000 }
    },
    failed: (_key, error) => failures.push(String(error)),
  })
  const done = queue.run(stop.signal)
  queue.add('a')
  for (let i = 0; i < 3; i++) await next()
  t.strictSame(reconciled, [0, 1_000, 3_000, 63_000])
  t.strictSame(failures, ['Error: no 1', 'Error: no 2'])
  stop.abort()
  await done
})

void t.test('a trigger replaces the scheduled reconcile instead of adding a second one', async (t) => {
  const stop = new AbortController()
  const { clock, pending, next } = manualClock()
  const reconciled: number[] = []
  const queue = new Queue({
    clock,
    workers: 1,
    async reconcile() {
      reconciled.push(clock.monotonicMs())
      return { wakeAfterMs: reconciled.length < 3 ? reconciled.length * 1_000 : undefined }
    },
    failed: (_key, error) => t.fail(String(error)),
  })
  const done = queue.run(stop.signal)
  queue.add('a')
  while (pending.length === 0) await turn()
  queue.add('a')
  while (reconciled.length < 2) await turn()
  await next()
  await next()
  t.strictSame(reconciled, [0, 0, 2_000])
  t.equal(pending.length, 0, 'nobody waits for a key that asks for no other pass')
  stop.abort()
  await done
})

void t.test('each of many keys reconciles on time, with a single timer for all of them', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 20 }), async (waits) => {
      const stop = new AbortController()
      const { clock, pending, next } = manualClock()
      const reconciled = new Map<string, number[]>()
      let most = 0
      const queue = new Queue({
        clock,
        workers: 2,
        async reconcile(key) {
          const own = reconciled.get(key) ?? []
          reconciled.set(key, [...own, clock.monotonicMs()])
          return { wakeAfterMs: own.length === 0 ? waits[Number(key)] : undefined }
        },
        failed: (_key, error) => t.fail(String(error)),
      })
      const done = queue.run(stop.signal)
      for (const index of waits.keys()) queue.add(String(index))
      while (reconciled.size < waits.length) await turn()
      await turn()
      while (pending.length > 0) {
        most = Math.max(most, pending.length)
        await next()
        for (let turns = 0; turns < waits.length; turns += 1) await turn()
      }
      stop.abort()
      await done
      t.equal(most, 1)
      t.strictSame(Object.fromEntries(reconciled), Object.fromEntries(waits.map((ms, key) => [key, [0, ms]])))
    }),
    { numRuns: 50 },
  )
})

void t.test('a key reconciles one at a time, and no key is lost, for any order of triggers', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'b', 'c', 'yield'), { maxLength: 60 }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, workers) => {
        const stop = new AbortController()
        const running = new Set<string>()
        const seen = new Map<string, number>()
        let generation = 0
        let overlap = false
        const queue = new Queue({
          clock: systemClock,
          workers,
          async reconcile(key) {
            overlap ||= running.has(key)
            running.add(key)
            seen.set(key, generation)
            await turn()
            running.delete(key)
            return { wakeAfterMs: undefined }
          },
          failed: (_key, error) => t.fail(String(error)),
        })
        const done = queue.run(stop.signal)
        const added = new Map<string, number>()
        for (const step of steps) {
          if (step === 'yield') await turn()
          else {
            added.set(step, (generation += 1))
            queue.add(step)
          }
        }
        for (let i = 0; i < 200 && [...added].some(([key, at]) => (seen.get(key) ?? 0) < at); i++) await turn()
        stop.abort()
        await done
        return !overlap && [...added].every(([key, at]) => (seen.get(key) ?? 0) >= at)
      },
    ),
    { numRuns: 200 },
  )
})

void t.test('no timer outlives the queue, even if a reconcile ends after the signal', async (t) => {
  const stop = new AbortController()
  const { clock, pending } = manualClock()
  let release = (): void => {}
  const queue = new Queue({
    clock,
    workers: 1,
    async reconcile() {
      await new Promise<void>((resolve) => (release = resolve))
      return { wakeAfterMs: 60_000 }
    },
    failed: (_key, error) => t.fail(String(error)),
  })
  const done = queue.run(stop.signal)
  queue.add('a')
  await turn()
  stop.abort()
  release()
  await done
  t.strictSame(pending, [])
})

void t.test('delayed triggers share one reconcile, which comes on time or earlier with an immediate trigger', async (t) => {
  const { clock, next } = manualClock()
  const stop = new AbortController()
  const reconciled: number[] = []
  const queue = new Queue({
    clock,
    workers: 1,
    async reconcile() {
      reconciled.push(clock.monotonicMs())
      return { wakeAfterMs: 60_000 }
    },
    failed: (_key, error) => t.fail(String(error)),
  })
  const done = queue.run(stop.signal)
  for (let report = 0; report < 500; report++) queue.addSoon('a', 250)
  await turn()
  t.strictSame(reconciled, [])
  await next()
  t.strictSame(reconciled, [250])
  queue.addSoon('a', 250)
  queue.add('a')
  while (reconciled.length < 2) await turn()
  t.strictSame(reconciled, [250, 250])
  await next()
  t.strictSame(reconciled, [250, 250], 'the one that might wait has come already')
  await next()
  t.strictSame(reconciled, [250, 250, 60_250], 'nothing is left to wait for but the poll')
  queue.addSoon('a', 250)
  await next()
  t.strictSame(reconciled.at(-1), 60_500, 'the poll is due later')
  stop.abort()
  await done
})

void t.test('the queue reports its depth and how long each key has waited', async (t) => {
  const stop = new AbortController()
  let nowMs = 0
  const depths: number[] = []
  const waits: number[] = []
  const queue = new Queue({
    clock: { ...systemClock, monotonicMs: () => nowMs },
    workers: 1,
    async reconcile(key) {
      if (key === 'bad') throw new Error('no')
      return { wakeAfterMs: undefined }
    },
    failed() {},
    depth: (count) => depths.push(count),
    waited: (ms) => waits.push(ms),
  })
  queue.add('bad')
  queue.add('good')
  queue.add('good')
  nowMs = 40
  const done = queue.run(stop.signal)
  while (waits.length < 2) await turn()
  t.strictSame(depths, [1, 2, 1, 0])
  t.strictSame(waits, [40, 40], 'one that fails has waited too')
  queue.add('good')
  stop.abort()
  await done
  t.equal(depths.at(-1), 0, 'who does not lead has nothing to do')
})

void t.test('namespaces take turns, and keys of one namespace keep their order', async (t) => {
  const stop = new AbortController()
  const reconciled: string[] = []
  const queue = new Queue({
    clock: systemClock,
    workers: 1,
    async reconcile(key) {
      reconciled.push(key)
      await turn()
      // It is busy without end.
      if (key.startsWith('busy/')) queue.add(key)
      return { wakeAfterMs: undefined }
    },
    failed: (_key, error) => t.fail(String(error)),
  })
  for (let index = 0; index < 1_000; index += 1) queue.add(`busy/${index}`)
  for (const key of ['plant/1', 'plant/2', 'other/1']) queue.add(key)
  const done = queue.run(stop.signal)
  while (reconciled.length < 7) await turn()
  stop.abort()
  await done
  t.strictSame(reconciled.slice(0, 7), ['busy/0', 'plant/1', 'other/1', 'busy/1', 'plant/2', 'busy/2', 'busy/3'])
})
