/**
 * Tests that for any pods and reports each live pod is one gateway in one state, the counts add up, and a gateway is `synced` only if its
 * own agent reports the published commit and the current configuration.
 */
import fc from 'fast-check'
import t from 'tap'
import {
  countGateways,
  type GatewayPod,
  type GatewayReport,
  observeGateways,
  parseReport,
} from '../../../../runtime/reconcile/decide/gateways.ts'
import { resolveProfile, syncHash } from '../../../../runtime/api/schema/profile.ts'
import { podWith, specWith } from '../../../support/gatewaysync.ts'

const spec = specWith()
const [published, other] = ['a'.repeat(40), 'b'.repeat(40)]
const desiredHash = syncHash(resolveProfile(spec.sync, 'default'), spec.gateway)
const phases = ['Synced', 'Synced', 'Synced', 'Synced', 'Syncing', 'Drifted', 'DryRun', 'Paused', 'Failed', 'Blocked', 'Nonsense']

const names = fc.uniqueArray(fc.constantFrom('gw-0', 'gw-1', 'gw-2', 'gw-10', 'b', 'a'), { maxLength: 6 })
const pod = (name: string): fc.Arbitrary<GatewayPod> =>
  fc
    .record({
      uid: fc.constantFrom(`uid-${name}`, `uid-${name}`, `uid-${name}`, 'another'),
      injected: fc.constantFrom(true, true, true, false),
      terminating: fc.constantFrom(false, false, false, true),
      labels: fc.constant({}),
      agentDown: fc.constantFrom(undefined, undefined, undefined, 'the agent exited'),
    })
    .map((changes) => podWith(name, changes))
const report = (name: string): fc.Arbitrary<GatewayReport> =>
  fc.oneof(
    { arbitrary: fc.anything().map((status) => parseReport(`uid-${name}`, status)), weight: 1 },
    {
      arbitrary: fc
        .record({
          phase: fc.constantFrom(...phases),
          commit: fc.constantFrom(published, published, other),
          syncHash: fc.constantFrom(desiredHash, desiredHash, `v1-${'0'.repeat(64)}`, `v2-${'0'.repeat(64)}`),
        })
        .map((status) => parseReport(`uid-${name}`, status)),
      weight: 4,
    },
  )
const fleet = names.chain((all) =>
  fc.record({ pods: fc.tuple(...all.map(pod)), reports: fc.tuple(...all.map((name) => report(name).map((one) => [name, one] as const))) }),
)

void t.test('each live pod is one gateway, and the states add up to the total', async () => {
  fc.assert(
    fc.property(fleet, ({ pods, reports }) => {
      const gateways = observeGateways(spec, published, pods, new Map(reports))
      const { total, ...states } = countGateways(gateways)
      const live = pods.filter(({ terminating }) => !terminating).map(({ name }) => name)
      return (
        JSON.stringify(gateways.map((gateway) => gateway.pod)) === JSON.stringify(live.toSorted((a, b) => (a < b ? -1 : 1))) &&
        total === live.length &&
        Object.values(states).reduce<number>((sum, count = 0) => sum + count, 0) === total
      )
    }),
    { numRuns: 1_000 },
  )
})

void t.test('a gateway is synced only if its own agent reports the published commit and current configuration', async (t) => {
  let synced = 0
  fc.assert(
    fc.property(fleet, ({ pods, reports }) => {
      const known = new Map<string, GatewayReport>(reports)
      return observeGateways(spec, published, pods, known).every((gateway) => {
        const of = pods.find(({ name }) => name === gateway.pod)
        const own = known.get(gateway.pod)
        const isWhole =
          of?.injected === true &&
          of.agentDown === undefined &&
          own?.podUid === of.uid &&
          own.status?.phase === 'Synced' &&
          own.status.commit === published &&
          own.status.syncHash === desiredHash
        if (gateway.state === 'synced') synced += 1
        return (gateway.state === 'synced') === isWhole
      })
    }),
    { numRuns: 1_000 },
  )
  t.ok(synced > 20, `${synced} gateways were synced`)
})

void t.test('every gateway that is not synced has a reason', async () => {
  fc.assert(
    fc.property(fleet, ({ pods, reports }) =>
      observeGateways(spec, published, pods, new Map(reports)).every(
        ({ state, reason }) => state === 'synced' || reason !== undefined || ['failed', 'blocked'].includes(state),
      ),
    ),
    { numRuns: 500 },
  )
})

void t.test('the order of pods and reports does not matter', async () => {
  fc.assert(
    fc.property(fleet, ({ pods, reports }) => {
      const reversed = observeGateways(spec, published, pods.toReversed(), new Map(reports.toReversed()))
      return JSON.stringify(observeGateways(spec, published, pods, new Map(reports))) === JSON.stringify(reversed)
    }),
    { numRuns: 500 },
  )
})
