/**
 * One answer shared by many readers: each reader gets all of it, whenever it starts, lags or leaves, and only a small part is buffered.
 */
import fc from 'fast-check'
import t from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { rejectsWith } from '../../../support/assertions.ts'
import { SharedAnswers, type Make, sharedLimits } from '../../../../runtime/content/server/shared-answer.ts'

const chunkBytes = 16 * 1024
/** Small limits, so that most answers of the test exceed them. */
const limits = { ...sharedLimits, windowBytes: 0, keptBytes: 64 * 1024, gatherMs: 5, lagMs: 20 }

function answerOf(chunks: number): Buffer {
  return Buffer.concat(Array.from({ length: chunks }, (_, index) => Buffer.alloc(chunkBytes, index + 1)))
}

/** Produces an answer in pieces of a different size each time. */
function maker(content: Buffer) {
  let [made, open, ahead, taken] = [0, 0, 0, 0]
  const make: Make = async function* (signal) {
    made += 1
    open += 1
    const size = chunkBytes - made
    try {
      for (let at = 0; at < content.length; at += size) {
        if (signal.aborted) throw signal.reason
        await new Promise(setImmediate)
        yield content.subarray(at, at + size)
        ahead = Math.max(ahead, at + size - taken)
      }
    } finally {
      open -= 1
    }
  }
  return { make, made: () => made, open: () => open, ahead: () => ahead, take: (bytes: number) => (taken = Math.max(taken, bytes)) }
}

void t.test('every reader gets every byte, for any start, lag and end of the readers', async () => {
  const reader = fc.record({
    beginsAfter: fc.nat({ max: 30 }),
    slowness: fc.nat({ max: 3 }),
    lagsAt: fc.option(fc.nat({ max: 12 })),
    leavesAt: fc.option(fc.nat({ max: 20 })),
    isBatched: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 24 }), fc.array(reader, { minLength: 1, maxLength: 8 }), async (chunks, readers) => {
      const content = answerOf(chunks)
      const answers = new SharedAnswers(systemClock, limits)
      const { make, open } = maker(content)
      const results = await Promise.all(
        readers.map(async ({ beginsAfter, slowness, lagsAt, leavesAt, isBatched }) => {
          const turns = async (count: number): Promise<void> => {
            for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate)
          }
          await turns(beginsAfter)
          const parts: Uint8Array[] = []
          for await (const part of answers.read('key', make, { tenant: 'plant', isBatched })) {
            parts.push(part)
            if (parts.length === leavesAt) return content.subarray(0, Buffer.concat(parts).length).equals(Buffer.concat(parts))
            if (parts.length === lagsAt) await systemClock.wait(40)
            await turns(slowness)
          }
          return content.equals(Buffer.concat(parts))
        }),
      )
      return results.every(Boolean) && open() === 0
    }),
    { numRuns: 60 },
  )
})

void t.test('a short answer is produced once for all requests within seconds, then again', async (t) => {
  const content = answerOf(3)
  const answers = new SharedAnswers(systemClock, { ...sharedLimits, keptMs: 200 })
  const { make, made } = maker(content)
  const read = async (): Promise<void> => {
    const parts = []
    for await (const part of answers.read('key', make, { tenant: 'plant', isBatched: false })) parts.push(part)
    t.ok(content.equals(Buffer.concat(parts)))
  }
  await Promise.all(Array.from({ length: 50 }, read))
  await read()
  t.equal(made(), 1)
  const endMs = systemClock.monotonicMs() + 10_000
  while (made() === 1 && systemClock.monotonicMs() < endMs) {
    await systemClock.wait(50)
    await read()
  }
  t.equal(made(), 2)
})

void t.test('a long answer is produced once for readers that start together, and never far ahead of them', async (t) => {
  const content = answerOf(200)
  const answers = new SharedAnswers(systemClock, { ...sharedLimits, gatherMs: 200, lagMs: 10_000 })
  const { make, made, ahead, take } = maker(content)
  await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      await systemClock.wait(index)
      let bytes = 0
      for await (const part of answers.read('key', make, { tenant: 'plant', isBatched: true })) {
        bytes += part.byteLength
        take(bytes)
        if (index % 3 === 0) await new Promise(setImmediate)
      }
      t.equal(bytes, content.length)
    }),
  )
  t.equal(made(), 1)
  t.ok(ahead() <= 3 * chunkBytes, `${ahead()} bytes ahead`)
})

void t.test('a failed answer fails for all its readers and is produced again for the next reader', async (t) => {
  const answers = new SharedAnswers(systemClock, limits)
  let made = 0
  // oxlint-disable-next-line require-yield -- there is nothing to yield
  const failing: Make = async function* () {
    made += 1
    await new Promise(setImmediate)
    throw new Error('git was killed')
  }
  const read = async (): Promise<void> => {
    for await (const part of answers.read('key', failing, { tenant: 'plant', isBatched: false })) t.fail(String(part.byteLength))
  }
  const both = [read(), read()]
  for (const each of both) await t.rejects(each, /git was killed/)
  t.equal(made, 1)
  await t.rejects(read(), /git was killed/)
  t.equal(made, 2)
})

void t.test('the number of answers in production is limited', async (t) => {
  const answers = new SharedAnswers(systemClock, { ...limits, made: 2 })
  const { make } = maker(answerOf(30))
  const open = ['a', 'b'].map((key) => answers.read(key, make, { tenant: 'plant', isBatched: false }))
  for (const each of open) await each.next()
  await t.rejects(answers.read('c', make, { tenant: 'plant', isBatched: false }).next(), /too many responses are being prepared/)
  await Promise.all(open.map((each) => each.return(undefined)))
  const next = answers.read('c', make, { tenant: 'plant', isBatched: false })
  t.equal((await next.next()).done, false)
  await next.return(undefined)
})

void t.test('a tenant with many answers in progress leaves some to others', async (t) => {
  const answers = new SharedAnswers(systemClock, { ...limits, made: 24 })
  const { make } = maker(answerOf(30))
  const open: AsyncGenerator<Uint8Array>[] = []
  const begin = async (tenant: string, key: string): Promise<boolean> => {
    const answer = answers.read(`${tenant} ${key}`, make, { tenant, isBatched: false })
    open.push(answer)
    return await answer.next().then(
      ({ done }) => done === false,
      () => false,
    )
  }
  const begun: boolean[] = []
  for (let index = 0; index < 24; index += 1) begun.push(await begin('busy', String(index)))
  t.equal(begun.filter(Boolean).length, 16)
  t.equal(await begin('plant', 'a'), true)
  await Promise.all(open.map((answer) => answer.return(undefined)))
})

void t.test('a reader that is slower than others counts as an answer in progress of its own', async (t) => {
  const answers = new SharedAnswers(systemClock, { ...limits, made: 2 })
  const { make, made, open } = maker(answerOf(30))
  // The deadlines of the answers do not keep a process running.
  const timer = setInterval(() => undefined, 1_000)
  t.teardown(() => clearInterval(timer))
  const read = (key: string) => answers.read(key, make, { tenant: 'plant', isBatched: false })
  const [quick, slow, slower] = [read('a'), read('a'), read('a')]
  for (const each of [quick, slow, slower]) await each.next()
  while ((await quick.next()).done !== true) await new Promise(setImmediate)
  // Each continues alone; the answer that they shared is not made any more.
  t.equal((await slow.next()).done, false)
  t.equal((await slower.next()).done, false)
  t.strictSame([made(), open()], [3, 2])
  await rejectsWith(t, read('b').next(), { reason: 'TooManyRequests', message: 'too many responses are being prepared; try again' })
  await Promise.all([slow, slower].map((each) => each.return(undefined)))
  t.equal(open(), 0)
})

void t.test('the only reader of an answer may be slow without a second answer for it', async (t) => {
  const content = answerOf(30)
  const answers = new SharedAnswers(systemClock, limits)
  const { make, made } = maker(content)
  const parts: Uint8Array[] = []
  for await (const part of answers.read('key', make, { tenant: 'plant', isBatched: false })) {
    parts.push(part)
    if (parts.length === 12) await systemClock.wait(10 * limits.lagMs)
  }
  t.ok(content.equals(Buffer.concat(parts)))
  t.equal(made(), 1)
})
