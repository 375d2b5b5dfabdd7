/**
 * Many calls are few writes, and no call is without one.
 */
import fc from 'fast-check'
import t from 'tap'
import { type Clock, systemClock } from '../../../runtime/clock.ts'
import { type Budget, createLines, type Turn } from '../../../runtime/receiver/request/write-queue.ts'

/** Time passes only where someone waits; `writes` says when each write began. */
function setUp(budget: Budget, { writeMs = 0, room = () => Number.POSITIVE_INFINITY } = {}) {
  let nowMs = 0
  let ids = 0
  const writes: (Turn & { atMs: number })[] = []
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    async wait(ms) {
      nowMs += ms
      await new Promise(setImmediate)
    },
    uuid: () => `r${ids++}`,
  }
  const lines = createLines({ clock, budget, room })
  const join = (ref: string, resource = 'plant') =>
    lines.join(resource, ref, async (turn) => {
      writes.push({ ...turn, atMs: nowMs })
      await new Promise(setImmediate)
      nowMs += writeMs
    })
  return { lines, join, writes }
}

void t.test('calls for one ref that come while it is written share the next write, which begins after them', async (t) => {
  const { join, writes } = setUp({ perSecond: 10, burst: 50 })
  const first = join('main')
  while (writes.length === 0) await Promise.resolve()
  const others = [join('main'), join('v1'), join('main'), join('main', 'another')]
  t.same(await Promise.all([first, ...others]), ['r0', 'r1', 'r2', 'r1', 'r3'])
  t.same(
    writes.map(({ id, ref, overtakes }) => [id, ref, overtakes.length]),
    [
      ['r0', 'main', 0],
      ['r3', 'main', 0],
      ['r1', 'main', 0],
      ['r2', 'v1', 0],
    ],
  )
})

void t.test('over the budget all that wait become one write of the newest, and the others are what it overtakes', async (t) => {
  const { join, writes } = setUp({ perSecond: 10, burst: 2 })
  const ids = await Promise.all(['a', 'b', 'c', 'd', 'c', 'e'].map((ref) => join(ref)))
  t.same(ids, ['r0', 'r1', 'r2', 'r3', 'r2', 'r4'])
  t.same(writes, [
    { id: 'r0', ref: 'a', overtakes: [], atMs: 0 },
    { id: 'r1', ref: 'b', overtakes: [], atMs: 0 },
    {
      id: 'r4',
      ref: 'e',
      overtakes: [
        { id: 'r2', ref: 'c' },
        { id: 'r3', ref: 'd' },
      ],
      atMs: 100,
    },
  ])
})

void t.test('while there is no room for another request, calls wait and share, but not for ever', async (t) => {
  let room = 3
  const { join, writes } = setUp({ perSecond: 10, burst: 50 }, { room: () => room })
  const first = join('a')
  t.equal(await first, 'r0')
  t.ok((writes[0]?.atMs ?? 0) >= 1_000, 'in the end it is written')
  const joined = ['b', 'c', 'd'].map((ref) => join(ref))
  await new Promise(setImmediate)
  t.equal(writes.length, 1)
  room = 5
  t.same(await Promise.all(joined), ['r1', 'r2', 'r3'])
  t.same(
    writes.slice(1).map(({ ref, overtakes }) => [ref, ...overtakes.map((one) => one.ref)]),
    [['c', 'b'], ['d']],
    'no more together than there is room for',
  )
})

void t.test('a write that fails fails for all that share it, and the next one is tried', async (t) => {
  const { lines, join } = setUp({ perSecond: 10, burst: 1 })
  const fail = async (): Promise<void> => {
    throw new Error('away')
  }
  const failing = [lines.join('plant', 'a', fail), lines.join('plant', 'b', fail), lines.join('plant', 'c', fail)]
  for (const one of await Promise.allSettled(failing)) t.match(one, { status: 'rejected', reason: /away/ })
  t.equal(await join('d'), 'r3')
})

void t.test(
  'whatever comes, each call gets an id that is written once, after it came, and no second has more than the budget',
  async () => {
    const call = fc.record({ ref: fc.constantFrom('a', 'b', 'c', 'd', 'e'), pause: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { maxLength: 60 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 20 }),
        async (calls, perSecond, burst) => {
          const { join, writes } = setUp({ perSecond, burst }, { writeMs: 3 })
          const joined: Promise<{ id: string; ref: string; before: number }>[] = []
          for (const { ref, pause } of calls) {
            const before = writes.length
            joined.push(join(ref).then((id) => ({ id, ref, before })))
            if (pause) await new Promise(setImmediate)
          }
          const written = writes
          const got = await Promise.all(joined)
          const places = new Map<string, number>()
          for (const [place, { id, ref, overtakes }] of written.entries())
            for (const one of [...overtakes, { id, ref }]) places.set(`${one.id} ${one.ref}`, place)
          const ids = written.flatMap(({ id, overtakes }) => [...overtakes.map((one) => one.id), id])
          const isCrowded = written.some(({ atMs }, index) => {
            const within = written.slice(index).filter((other) => other.atMs < atMs + 1_000).length
            return within > burst + perSecond
          })
          return (
            !isCrowded &&
            new Set(ids).size === ids.length &&
            got.every(({ id, ref, before }) => (places.get(`${id} ${ref}`) ?? -1) >= before)
          )
        },
      ),
      { numRuns: 200 },
    )
  },
)
