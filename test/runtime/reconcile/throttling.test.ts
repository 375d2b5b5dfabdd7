/**
 * Tests which GatewaySyncs are reported as waiting for their own namespace, with the limiters of the controller in simulated time.
 */
import t from 'tap'
import { FairLimiter } from '../../../runtime/platform/async/fair-limiter.ts'
import { type LimiterRequest } from '../../../runtime/platform/async/limiter-options.ts'
import { hostSlots } from '../../../runtime/reconcile/source/resolutions.ts'
import { Throttling } from '../../../runtime/reconcile/throttling.ts'
import type { SharedResource } from '../../../runtime/telemetry/metrics/metrics.ts'
import { checkSlots } from '../../../runtime/validation/worker/isolated-validation.ts'
import { createGitMemory } from '../../../runtime/git/command/memory.ts'
import { SimulatedClock } from '../../support/simulated-clock.ts'

type Test = Pick<typeof t, 'teardown'>

function setUp(t: Test, resolving: (namespace: string, repository: string) => string[] = () => []) {
  const clock = new SimulatedClock()
  const memory = createGitMemory({ left: () => Infinity, clock })
  const [hosts, checks] = [new FairLimiter({ ...hostSlots, clock }), new FairLimiter({ ...checkSlots, clock })]
  const limiters = new Map<SharedResource, FairLimiter | typeof memory.limiter>([
    ['source-resolution', hosts],
    ['validation', checks],
    ['git-memory', memory.limiter],
  ])
  const changes: string[] = []
  const throttling = new Throttling({ clock, limiters, resolving, pollMs: () => 60_000, changed: (key) => changes.push(key) })
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  void throttling.run(stop.signal)
  /** Starts work without awaiting it, and returns a function that ends it. */
  const begin = (limiter: FairLimiter, request: LimiterRequest): (() => void) => {
    const held = limiter.acquire(request).then((hold) => hold?.release)
    return () => void held.then((release) => release?.())
  }
  const pass = async (ms: number): Promise<void> => await clock.runUntil(clock.wait(ms))
  return { clock, memory, hosts, checks, throttling, changes, begin, pass }
}

const resolution = (namespace: string, name: string, host: string): LimiterRequest => ({ tenant: namespace, owner: name, key: host })

void t.test('a GatewaySync is throttled while its source resolution waits 5 s for others of its namespace', async (t) => {
  const { hosts, throttling, changes, begin, pass } = setUp(t)
  const ends = ['1', '2', '3', '4'].map((name) => begin(hosts, resolution('plant', name, `drip-${name}.example`)))
  begin(hosts, resolution('plant', '5', 'git.example'))
  await pass(4_900)
  t.strictSame(changes, [], 'shorter waits are normal')
  await pass(1_200)
  t.strictSame(changes, ['plant/5'])
  t.equal(
    throttling.messageOf('plant/5'),
    'a source resolution waits, because namespace "plant" uses its share of source-resolution; the longest one queries git host drip-1.example',
  )
  t.equal(throttling.messageOf('plant/1'), undefined, 'it does not wait')
  // Of slow hosts, three may be called for one namespace.
  for (const end of ends.slice(0, 2)) end()
  await pass(59_000)
  t.match(throttling.messageOf('plant/5'), /drip-1/, 'the next poll may wait again')
  await pass(10_000)
  t.equal(throttling.messageOf('plant/5'), undefined, 'a whole interval passed without a wait')
  t.strictSame(changes, ['plant/5', 'plant/5'])
})

void t.test('a GatewaySync that waits at each poll stays throttled without a change, until its polls no longer wait', async (t) => {
  const { hosts, throttling, changes, begin, pass } = setUp(t)
  const poll = async (): Promise<void> => {
    // Of slow hosts, three may be called for one namespace.
    const ends = ['1', '2', '3', '5'].map((name) => begin(hosts, resolution('plant', name, `drip-${name}.example`)))
    await pass(12_000)
    for (const end of ends.slice(0, 3)) end()
    await pass(12_000)
    ends[3]?.()
    await pass(42_000)
  }
  for (let index = 0; index < 20; index += 1) await poll()
  t.strictSame(changes, ['plant/5'])
  t.match(throttling.messageOf('plant/5'), /queries git host drip-1\.example$/)
  await pass(30_000)
  t.strictSame(changes, ['plant/5', 'plant/5'])
  t.equal(throttling.messageOf('plant/5'), undefined)
})

void t.test('another cause replaces the reported one after an interval without it', async (t) => {
  const { hosts, checks, throttling, changes, begin, pass } = setUp(t)
  const ends = ['1', '2', '3', '4', '5'].map((name) => begin(hosts, resolution('plant', name, `drip-${name}.example`)))
  await pass(7_000)
  for (const end of ends) end()
  for (const name of ['1', '5']) begin(checks, { tenant: 'plant', owner: name, key: `large-${name}` })
  await pass(30_000)
  t.match(throttling.messageOf('plant/5'), /queries git host drip-1\.example$/)
  await pass(60_000)
  t.match(throttling.messageOf('plant/5'), /validation is of large-1$/)
  t.strictSame(changes, ['plant/5', 'plant/5'])
})

void t.test('a GatewaySync that waits for other namespaces is not throttled', async (t) => {
  const { hosts, throttling, changes, begin, pass } = setUp(t)
  for (const namespace of ['a', 'b', 'c', 'd']) for (const name of ['1', '2']) begin(hosts, resolution(namespace, name, `${name}.example`))
  begin(hosts, resolution('plant', 'line', 'git.example'))
  begin(hosts, resolution('plant', 'other', 'git.example'))
  await pass(60_000)
  t.strictSame(
    hosts.waits('plant').map(({ owner, exceedsShare }) => [owner, exceedsShare]),
    [['other', false]],
    'it waits',
  )
  t.strictSame(changes, [])
  t.equal(throttling.messageOf('plant/other'), undefined)
})

void t.test('a reported wait keeps its message while other work of its namespace starts and ends', async (t) => {
  const { checks, throttling, changes, begin, pass } = setUp(t)
  begin(checks, { tenant: 'quick', key: 'quick' })()
  await pass(0)
  const end = begin(checks, { tenant: 'plant', owner: 'a', key: 'first' })
  begin(checks, { tenant: 'plant', owner: 'b', key: 'second' })
  const endThird = begin(checks, { tenant: 'plant', owner: 'c', key: 'third' })
  await pass(7_000)
  const before = throttling.messageOf('plant/c')
  t.match(before, /the longest validation is of first$/)
  end()
  await pass(60_000)
  t.equal(throttling.messageOf('plant/c'), before)
  t.strictSame(changes.toSorted(), ['plant/b', 'plant/c'])
  endThird()
})

void t.test('git waiting for memory throttles the GatewaySyncs that resolve its repository', async (t) => {
  const resolving = (namespace: string, repository: string): string[] =>
    repository === 'https://b' ? [`${namespace}/b1`, `${namespace}/b2`] : []
  const { clock, memory, throttling, changes, pass } = setUp(t, resolving)
  const stop = new AbortController()
  const call = (repository: string): void => {
    const user = { namespace: 'plant', host: 'git.example', repository }
    memory.run('large', user, stop.signal, (_bytes, own) => clock.wait(60_000, own)).catch(() => undefined)
  }
  call('https://a')
  call('https://b')
  await pass(7_000)
  t.strictSame(changes, ['plant/b1', 'plant/b2'])
  t.equal(
    throttling.messageOf('plant/b2'),
    'git waits for memory, because namespace "plant" uses its share of git-memory; the longest git process talks to git host git.example',
  )
  stop.abort()
})
