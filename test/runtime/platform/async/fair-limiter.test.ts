import t from 'tap'
import { FairLimiter } from '../../../../runtime/platform/async/fair-limiter.ts'
import { type LimiterOptions, type LimiterRequest } from '../../../../runtime/platform/async/limiter-options.ts'
import type { Hold } from '../../../../runtime/platform/async/waiting-work.ts'
import { rejectsWith } from '../../../support/assertions.ts'
import { SimulatedClock } from '../../../support/simulated-clock.ts'

function setUp(options: Omit<LimiterOptions, 'clock'>) {
  const clock = new SimulatedClock()
  const limiter = new FairLimiter({ ...options, clock })
  const started: string[] = []
  const holds = new Map<string, Hold>()
  /** Acquires without awaiting the result. */
  const ask = (name: string, request: LimiterRequest, signal?: AbortSignal): void => {
    void limiter.acquire(request, signal).then((hold) => {
      started.push(hold === undefined ? `${name} refused` : name)
      if (hold !== undefined) holds.set(name, hold)
    })
  }
  const end = (name: string): void => holds.get(name)?.release()
  const pass = (ms: number): Promise<void> => clock.runUntil(clock.wait(ms))
  /** Returns the names of the work started since the last call. */
  const news = async (): Promise<string[]> => {
    await pass(0)
    return started.splice(0).toSorted()
  }
  /** Runs work that ends at once, so that the key counts as quick from now on. */
  const prove = async (tenant: string, key?: string): Promise<void> => {
    const hold = await limiter.acquire({ tenant, ...(key === undefined ? {} : { key }) })
    hold?.release()
  }
  return { clock, limiter, ask, end, pass, news, prove }
}

void t.test('a tenant gets its share, and others get the rest', async (t) => {
  const { ask, news } = setUp({ total: 4, perTenant: 2 })
  for (const name of ['a1', 'a2', 'a3']) ask(name, { tenant: 'a' })
  for (const name of ['b1', 'b2', 'b3']) ask(name, { tenant: 'b' })
  t.strictSame(await news(), ['a1', 'a2', 'b1', 'b2'])
})

void t.test('of the waiting tenants the one with the least recent use goes first', async (t) => {
  const { ask, end, pass, news } = setUp({ total: 1 })
  ask('a1', { tenant: 'a' })
  await pass(1_000)
  ask('a2', { tenant: 'a' })
  ask('b1', { tenant: 'b' })
  end('a1')
  // A tenant that has used nothing does not wait for the quick work of another one.
  t.strictSame(await news(), ['a1', 'b1'])
  await pass(500)
  end('b1')
  t.strictSame(await news(), ['a2'])
  end('a2')
  ask('x', { tenant: 'x' })
  ask('a4', { tenant: 'a' })
  ask('b2', { tenant: 'b' })
  t.strictSame(await news(), ['x'])
  end('x')
  t.strictSame(await news(), ['b2'])
})

void t.test('urgent work goes first within its tenant, but not before other tenants', async (t) => {
  const { ask, end, news, prove } = setUp({ total: 1 })
  for (const tenant of ['a', 'b', 'c']) await prove(tenant)
  ask('first', { tenant: 'c' })
  ask('routine', { tenant: 'a' })
  ask('urgent', { tenant: 'a', urgent: true })
  ask('other', { tenant: 'b' })
  t.strictSame(await news(), ['first'])
  end('first')
  t.strictSame(await news(), ['urgent'])
})

void t.test('slow work never takes the reserve, and leaves as much again to new tenants', async (t) => {
  const { ask, end, pass, news } = setUp({ total: 4, reserve: 1 })
  for (const name of ['a1', 'a2', 'a3', 'a4']) ask(name, { tenant: 'a' })
  t.strictSame(await news(), ['a1', 'a2', 'a3'])
  await pass(3_000)
  ask('b', { tenant: 'b' })
  t.strictSame(await news(), ['b'], 'a tenant that holds nothing gets the reserve')
  end('a1')
  end('b')
  t.strictSame(await news(), [], 'two slow ones are all that fit')
  ask('c1', { tenant: 'c' })
  ask('c2', { tenant: 'c' })
  t.strictSame(await news(), ['c1'])
})

void t.test('a reserve with a delay is used only after other work has run that long', async (t) => {
  const { ask, end, pass, news } = setUp({ total: 2, reserve: 1, reserveAfterMs: 1_000 })
  ask('a', { tenant: 'a' })
  ask('b', { tenant: 'b' })
  t.strictSame(await news(), ['a'])
  await pass(999)
  t.strictSame(await news(), [])
  await pass(1)
  t.strictSame(await news(), ['b'])
  end('a')
  end('b')
})

void t.test('work that is slow in the reserve is aborted once other work needs the reserve, and restarted outside it', async (t) => {
  const { clock, limiter, ask, end, pass, news } = setUp({ total: 2, reserve: 1 })
  ask('a', { tenant: 'a' })
  t.strictSame(await news(), ['a'])
  const attempts: boolean[] = []
  const never = new AbortController().signal
  const done = limiter.run({ tenant: 'b' }, never, async (signal, isReserve) => {
    attempts.push(isReserve)
    await clock.wait(20_000, signal)
    return attempts
  })
  await pass(2_000)
  ask('c', { tenant: 'c' })
  await pass(999)
  t.strictSame(await news(), [], 'it is not slow yet')
  await pass(1)
  t.strictSame(await news(), ['c'])
  end('c')
  end('a')
  t.strictSame(await clock.runUntil(done), { result: [true, false] })
})

void t.test('slow work stays in the reserve while no other work needs it', async (t) => {
  const { clock, limiter, ask, pass, news } = setUp({ total: 2, reserve: 1 })
  ask('a', { tenant: 'a' })
  ask('of a', { tenant: 'a' })
  const done = limiter.run({ tenant: 'b' }, new AbortController().signal, async (signal) => await clock.wait(20_000, signal))
  await pass(3_000)
  t.strictSame(await news(), ['a'])
  await clock.runUntil(done)
  t.equal(clock.monotonicMs(), 20_000)
})

void t.test('work whose turn is over is aborted for a tenant that has used less, and starts again with twice the turn', async (t) => {
  const { clock, limiter, ask, end, pass, news } = setUp({ total: 1, turnMs: 10_000 })
  const starts: number[] = []
  const done = limiter.run({ tenant: 'a' }, new AbortController().signal, async (signal) => {
    starts.push(clock.monotonicMs())
    await clock.wait(25_000, signal)
  })
  await pass(9_999)
  ask('b', { tenant: 'b' })
  t.strictSame(await news(), [])
  await pass(1)
  t.strictSame(await news(), ['b'])
  await pass(1_000)
  end('b')
  await pass(19_000)
  ask('more of a', { tenant: 'a' })
  ask('c', { tenant: 'c' })
  t.strictSame(await news(), [])
  await pass(1_000)
  t.strictSame(await news(), ['c'])
  end('c')
  t.strictSame(await news(), ['more of a'])
  end('more of a')
  await clock.runUntil(done)
  t.strictSame(starts, [0, 11_000, 31_000], 'after the second turn of 20 s')
})

void t.test('an error thrown by work in the reserve is propagated', async (t) => {
  const { clock, limiter, ask } = setUp({ total: 2, reserve: 1 })
  ask('a', { tenant: 'a' })
  const broken = limiter.run({ tenant: 'b' }, new AbortController().signal, () => Promise.reject(new Error('broken')))
  await rejectsWith(t, clock.runUntil(broken), { message: 'broken' })
})

void t.test('a tenant that invents keys stays slow, and its quick key stays quick', async (t) => {
  const { ask, end, pass, news, prove } = setUp({ total: 6, reserve: 1, perTenant: 2 })
  await prove('a', 'good')
  ask('drip', { tenant: 'a', key: 'drip-1' })
  await pass(3_000)
  ask('made up', { tenant: 'a', key: 'drip-2' })
  ask('again', { tenant: 'a', key: 'drip-3' })
  t.strictSame(await news(), ['drip', 'made up'], 'within its share')
  for (const name of ['good 1', 'good 2']) ask(name, { tenant: 'a', key: 'good' })
  t.strictSame(await news(), ['good 1', 'good 2'], 'beyond its share')
  end('drip')
  t.strictSame(await news(), [], 'the quick key holds more than the share')
  end('good 1')
  end('good 2')
  t.strictSame(await news(), ['again'])
})

void t.test('a key has its own limit, and a full key does not block others', async (t) => {
  const { ask, news } = setUp({ total: 6, perKey: 1 })
  for (const [name, key] of [
    ['x1', 'x'],
    ['x2', 'x'],
    ['y', 'y'],
  ] as const)
    ask(name, { tenant: 'a', key })
  t.strictSame(await news(), ['x1', 'y'])
})

void t.test('smaller work overtakes a large request for at most ten seconds', async (t) => {
  const { ask, end, pass, news, prove } = setUp({ total: 50 })
  for (const tenant of ['small', 'large']) await prove(tenant)
  const small = (name: string): void => ask(name, { tenant: 'small', amount: 14 })
  small('first')
  ask('large', { tenant: 'large', amount: 42 })
  small('second')
  t.strictSame(await news(), ['first', 'second'])
  end('first')
  end('second')
  small('third')
  small('fourth')
  t.strictSame(await news(), ['large'])
  end('large')
  small('fifth')
  ask('late', { tenant: 'large', amount: 42 })
  t.strictSame(await news(), ['fifth', 'fourth', 'third'])
  await pass(2_900)
  for (const name of ['third', 'fourth', 'fifth']) end(name)
  t.strictSame(await news(), ['late'])
})

void t.test('one piece of work always runs, and more start when the total grows', async (t) => {
  let total = 0
  const { ask, pass, news } = setUp({ total: () => total, slowAfterMs: 60_000 })
  for (const name of ['a1', 'a2']) ask(name, { tenant: 'a' })
  t.strictSame(await news(), ['a1'])
  total = 2
  await pass(5_000)
  t.strictSame(await news(), ['a2'])
})

void t.test('work is refused after waiting too long or in a full queue; aborted work takes no capacity', async (t) => {
  const { limiter, ask, end, pass, news } = setUp({ total: 1, maxWaiting: 1, maxWaitingInAll: 2, waitMs: 1_000 })
  for (const name of ['a1', 'a2', 'a3']) ask(name, { tenant: 'a' })
  t.strictSame(await news(), ['a1', 'a3 refused'])
  ask('b', { tenant: 'b' })
  ask('c', { tenant: 'c' })
  t.strictSame(await news(), ['c refused'], 'two wait in all')
  await pass(1_000)
  t.strictSame(await news(), ['a2 refused', 'b refused'])
  const stop = new AbortController()
  const aborted = limiter.acquire({ tenant: 'd' }, stop.signal)
  stop.abort(new Error('stopped'))
  await rejectsWith(t, aborted, { message: 'stopped' })
  end('a1')
  end('a1')
  ask('e', { tenant: 'e' })
  t.strictSame(await news(), ['e'])
  ask('f', { tenant: 'f' })
  t.strictSame(await news(), [], 'what is returned twice counts once')
})

void t.test('free capacity can be taken at once unless the same tenant already waits', async (t) => {
  const { limiter, ask, news } = setUp({ total: 2 })
  const first = limiter.tryAcquire({ tenant: 'a' })
  t.equal(first?.isReserve, false)
  ask('a2', { tenant: 'a', amount: 2 })
  await news()
  t.equal(limiter.tryAcquire({ tenant: 'a' }), undefined)
  t.equal(limiter.tryAcquire({ tenant: 'b' })?.isReserve, false)
  t.equal(limiter.tryAcquire({ tenant: 'c' }), undefined)
})

void t.test('what each tenant holds, waits for and has used is counted', async (t) => {
  const { limiter, ask, end, pass } = setUp({ total: 2, perTenant: 1 })
  ask('a1', { tenant: 'a' })
  ask('a2', { tenant: 'a' })
  ask('b1', { tenant: 'b' })
  await pass(1_000)
  end('b1')
  await pass(1_000)
  t.strictSame(
    limiter.uses().toSorted((a, b) => a.tenant.localeCompare(b.tenant)),
    [
      { tenant: 'a', held: 1, waiting: 1, usedSeconds: 1 },
      { tenant: 'b', held: 0, waiting: 0, usedSeconds: 0.5 },
    ],
  )
})

void t.test('slow work of one tenant leaves a place to slow work of another', async (t) => {
  const { ask, end, pass, news } = setUp({ total: 8, reserve: 2, perTenant: 4 })
  const hosts = ['1', '2', '3', '4']
  const askAll = (tenant: string): void => hosts.forEach((host) => ask(`${tenant} ${host}`, { tenant, key: host }))
  askAll('first')
  await pass(4_000)
  for (const host of hosts) end(`first ${host}`)
  ask('second 1', { tenant: 'second' })
  await pass(4_000)
  end('second 1')
  await news()
  askAll('first')
  askAll('second')
  t.strictSame(await news(), ['first 1', 'first 2', 'first 3', 'second 1'])
  end('first 1')
  t.strictSame(await news(), ['second 2'])
})

void t.test('work that waits in another limiter for other tenants is not slow, but it is if its own tenant holds the amount', async (t) => {
  const { clock, limiter, pass } = setUp({ total: 4, reserve: 1 })
  const inner = new FairLimiter({ total: 2, perKey: 1, clock })
  const waitsFor = async (tenants: readonly string[]): Promise<boolean> => {
    const holds = tenants.map((tenant) => inner.tryAcquire({ tenant }))
    const run = limiter.run({ tenant: 'plant' }, new AbortController().signal, async () =>
      (await inner.acquire({ tenant: 'plant' }))?.release(),
    )
    await pass(4_000)
    for (const hold of holds) hold?.release()
    await run
    // Only quick work and tenants that hold nothing may use the reserve, so four pieces of work are free for it.
    const others = [1, 2, 3].map(() => limiter.tryAcquire({ tenant: 'plant' }))
    const isQuick = limiter.isFree({ tenant: 'plant' })
    for (const other of others) other?.release()
    return isQuick
  }
  t.ok(await waitsFor(['a', 'b']))
  t.notOk(await waitsFor(['plant']))
})
