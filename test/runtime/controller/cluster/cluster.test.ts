/**
 * Watching the cluster: a forbidden namespace does not block the others, and watches resume soon after an outage of the API server.
 */
import { KubeConfig } from '@kubernetes/client-node'
import t, { type Test } from 'tap'
import { type Clock, systemClock } from '../../../../runtime/platform/clock.ts'
import { watchCluster } from '../../../../runtime/controller/cluster/cluster.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import type { Kube } from '../../../../runtime/kube/client.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { Store } from '../../../../runtime/reconcile/store/store.ts'
import { until } from '../../../support/world.ts'

/** An API server that lists permitted namespaces and refuses others; its watches have no valid address and fail. */
function kubeThatForbids(forbidden: ReadonlySet<string>, reason: 'Forbidden' | 'ApiUnavailable' = 'Forbidden'): Kube {
  const config = new KubeConfig()
  config.loadFromClusterAndUser({ name: 'none', server: 'http://127.0.0.1:1', skipTLSVerify: true }, { name: 'nobody' })
  return {
    config,
    async *listPages(_type: unknown, { namespace = '' }: { namespace?: string }) {
      if (forbidden.has(namespace)) throw new Fault(reason, `namespace "${namespace}" may not be listed`)
      yield { items: [], resourceVersion: '1' }
    },
  } as unknown as Kube
}

async function run(t: Test, kube: Kube, namespaces: string[], forbiddenForMs: number, clock: Clock = systemClock) {
  const stop = new AbortController()
  let ready = false
  const counts: number[] = []
  const watching = watchCluster(
    { kube, clock, log: silentLog },
    { store: new Store(() => {}), namespaces, ready: () => (ready = true), forbidden: (count) => counts.push(count), forbiddenForMs },
    stop.signal,
  )
  t.teardown(async () => {
    stop.abort()
    await watching
  })
  return { isReady: () => ready, counts }
}

void t.test('the controller starts without a forbidden namespace after a grace period and counts it until permitted', async (t) => {
  const forbidden = new Set(['gone'])
  const { isReady, counts } = await run(t, kubeThatForbids(forbidden), ['plant', 'gone'], 100)
  await until(() => (isReady() ? true : undefined), 'the others are served')
  t.equal(counts.at(-1), 1)
  forbidden.clear()
  await until(() => (counts.at(-1) === 0 ? true : undefined), 'it is listed when it may be')
})

void t.test('an unavailable namespace and a forbidden cluster-wide list are waited for', async (t) => {
  const away = await run(t, kubeThatForbids(new Set(['plant']), 'ApiUnavailable'), ['plant'], 0)
  const whole = await run(t, kubeThatForbids(new Set([''])), [], 0)
  const early = await run(t, kubeThatForbids(new Set(['gone'])), ['plant', 'gone'], 60_000)
  const other = await run(t, kubeThatForbids(new Set(['gone'])), ['plant', 'gone'], 600)
  await until(() => (other.isReady() ? true : undefined), 'several tries have passed')
  t.strictSame([away.isReady(), whole.isReady(), early.isReady()], [false, false, false])
})

void t.test('retries back off to 5 s for an unavailable API server and to 30 s for missing permissions', async (t) => {
  for (const [reason, longestMs] of [
    ['ApiUnavailable', 5_000],
    ['Forbidden', 30_000],
  ] as const) {
    const waits: number[] = []
    // `random` gives the longest wait that jitter allows, and `wait` skips it.
    const wait = async (ms: number): Promise<void> => {
      waits.push(ms)
      await systemClock.wait(1)
    }
    await run(t, kubeThatForbids(new Set(['plant']), reason), ['plant'], 0, { ...systemClock, wait, random: () => 1 })
    await until(() => (waits.length >= 20 ? true : undefined), 'it was tried many times')
    t.equal(Math.max(...waits), longestMs, reason)
  }
})
