/**
 * Tests that many calls share few writes, and that every call is part of a write.
 */
import fc from 'fast-check'
import t from 'tap'
import { type Clock, systemClock } from '../../../../runtime/platform/clock.ts'
import { type Budget, createWriteQueues, type RequestToWrite, writeTurns } from '../../../../runtime/receiver/request/write-queue.ts'
import { matchObject, rejectsWith } from '../../../support/assertions.ts'
import { SimulatedClock } from '../../../support/simulated-clock.ts'

/** Time advances only in waits; `writes` records when each write started. */
function setUp(budget: Budget, { writeMs = 0, freeSlots = () => Number.POSITIVE_INFINITY } = {}) {
  let nowMs = 0
  let ids = 0
  const writes: (RequestToWrite & { atMs: number })[] = []
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    async wait(ms) {
      nowMs += ms
      await new Promise(setImmediate)
    },
    uuid: () => `r${ids++}`,
  }
  const queues = createWriteQueues({ clock, budget, freeSlots })
  const enqueue = (ref: string, resource = 'plant') =>
    queues.enqueue(resource, ref, async (request) => {
      writes.push({ ...request, atMs: nowMs })
      await new Promise(setImmediate)
      nowMs += writeMs
    })
  return { queues, enqueue, writes }
}

void t.test('calls for one ref that arrive during a write share the next write, which starts after them', async (t) => {
  const { enqueue, writes } = setUp({ perSecond: 10, burst: 50 })
  const first = enqueue('main')
  while (writes.length === 0) await Promise.resolve()
  const others = [enqueue('main'), enqueue('v1'), enqueue('main'), enqueue('main', 'another')]
  t.strictSame(await Promise.all([first, ...others]), ['r0', 'r1', 'r2', 'r1', 'r3'])
  t.strictSame(
    writes.map(({ id, ref, superseded }) => [id, ref, superseded.length]),
    [
      ['r0', 'main', 0],
      ['r3', 'main', 0],
      ['r1', 'main', 0],
      ['r2', 'v1', 0],
    ],
  )
})

void t.test('over the budget, all waiting calls become one write of the newest, which supersedes the others', async (t) => {
  const { enqueue, writes } = setUp({ perSecond: 10, burst: 2 })
  const ids = await Promise.all(['a', 'b', 'c', 'd', 'c', 'e'].map((ref) => enqueue(ref)))
  t.strictSame(ids, ['r0', 'r1', 'r2', 'r3', 'r2', 'r4'])
  t.strictSame(writes, [
    { id: 'r0', ref: 'a', superseded: [], atMs: 0 },
    { id: 'r1', ref: 'b', superseded: [], atMs: 0 },
    {
      id: 'r4',
      ref: 'e',
      superseded: [
        { id: 'r2', ref: 'c' },
        { id: 'r3', ref: 'd' },
      ],
      atMs: 100,
    },
  ])
})

void t.test('without a free request slot, calls wait and share a write, but not indefinitely', async (t) => {
  let free = 3
  const { enqueue, writes } = setUp({ perSecond: 10, burst: 50 }, { freeSlots: () => free })
  const first = enqueue('a')
  t.equal(await first, 'r0')
  t.ok((writes[0]?.atMs ?? 0) >= 1_000, 'in the end it is written')
  const queued = ['b', 'c', 'd'].map((ref) => enqueue(ref))
  await new Promise(setImmediate)
  t.equal(writes.length, 1)
  free = 5
  t.strictSame(await Promise.all(queued), ['r1', 'r2', 'r3'])
  t.strictSame(
    writes.slice(1).map(({ ref, superseded }) => [ref, ...superseded.map((one) => one.ref)]),
    [['c', 'b'], ['d']],
    'no more together than there are free slots',
  )
})

void t.test('a failed write fails for all calls that share it, and the next one is tried', async (t) => {
  const { queues, enqueue } = setUp({ perSecond: 10, burst: 1 })
  const fail = async (): Promise<void> => {
    throw new Error('away')
  }
  const failing = [queues.enqueue('plant', 'a', fail), queues.enqueue('plant', 'b', fail), queues.enqueue('plant', 'c', fail)]
  for (const one of await Promise.allSettled(failing)) matchObject(t, one, { status: 'rejected', reason: { message: 'away' } })
  t.equal(await enqueue('d'), 'r3')
})

void t.test('each ID is written once and after its call, and writes per second stay within the budget', async () => {
  const call = fc.record({ ref: fc.constantFrom('a', 'b', 'c', 'd', 'e'), pause: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { maxLength: 60 }),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 20 }),
      async (calls, perSecond, burst) => {
        const { enqueue, writes } = setUp({ perSecond, burst }, { writeMs: 3 })
        const queued: Promise<{ id: string; ref: string; before: number }>[] = []
        for (const { ref, pause } of calls) {
          const before = writes.length
          queued.push(enqueue(ref).then((id) => ({ id, ref, before })))
          if (pause) await new Promise(setImmediate)
        }
        const written = writes
        const got = await Promise.all(queued)
        const places = new Map<string, number>()
        for (const [place, { id, ref, superseded }] of written.entries())
          for (const one of [...superseded, { id, ref }]) places.set(`${one.id} ${one.ref}`, place)
        const ids = written.flatMap(({ id, superseded }) => [...superseded.map((one) => one.id), id])
        const isCrowded = written.some(({ atMs }, index) => {
          const within = written.slice(index).filter((other) => other.atMs < atMs + 1_000).length
          return within > burst + perSecond
        })
        return (
          !isCrowded && new Set(ids).size === ids.length && got.every(({ id, ref, before }) => (places.get(`${id} ${ref}`) ?? -1) >= before)
        )
      },
    ),
    { numRuns: 200 },
  )
})

void t.test('a namespace with writes that take long leaves space for the writes of others', async (t) => {
  const queues = createWriteQueues({ clock: systemClock, freeSlots: () => Number.POSITIVE_INFINITY })
  const answered = Promise.withResolvers<void>()
  const begun: string[] = []
  const enqueue = (resource: string, until?: Promise<void>): Promise<string> =>
    queues.enqueue(resource, 'main', async () => {
      begun.push(resource)
      await until
    })
  const hostile = Array.from({ length: 100 }, (_, index) => enqueue(`hostile/line-${index}`, answered.promise))
  await enqueue('plant/one')
  t.equal(begun.length, writeTurns.perKey + 1)
  answered.resolve()
  await Promise.all(hostile)
  t.equal(begun.length, 101)
})

void t.test('a call whose namespace gets no turn fails, so that the git host repeats it', async (t) => {
  const simulated = new SimulatedClock()
  const clock = { ...systemClock, wait: simulated.wait, monotonicMs: simulated.monotonicMs }
  const queues = createWriteQueues({ clock, freeSlots: () => Number.POSITIVE_INFINITY })
  const never = Promise.withResolvers<void>()
  for (let index = 0; index < writeTurns.perKey; index += 1) void queues.enqueue(`hostile/${index}`, 'main', () => never.promise)
  const last = queues.enqueue('hostile/last', 'main', async () => {})
  await rejectsWith(t, simulated.runUntil(last), { reason: 'ApiUnavailable', message: /^too many requests of the namespace/ })
  t.equal(simulated.monotonicMs(), writeTurns.waitMs)
})

void t.test('queues that make room for others keep running writes and used budgets', async (t) => {
  const { queues, writes, enqueue } = setUp({ perSecond: 10, burst: 1 })
  const answered = Promise.withResolvers<void>()
  const running = queues.enqueue('east/running', 'main', () => answered.promise)
  await enqueue('main', 'east/used')
  for (let index = 0; index < 1_000; index += 1) await enqueue('main', `west/${index}`)
  const next = enqueue('next', 'east/running')
  await enqueue('again', 'east/used')
  const others = writes.filter(({ ref }) => ref !== 'main').map(({ ref, atMs }) => [ref, atMs])
  t.strictSame(others, [['again', 100]], 'after the wait of its budget, and nothing beside the running write')
  answered.resolve()
  await Promise.all([running, next])
  t.equal(writes.at(-1)?.ref, 'next')
})
