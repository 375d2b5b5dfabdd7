import t from 'tap'
import { findPodTroubles, podEvents, reportPodTroubles } from '../../../../runtime/controller/cluster/pod-events.ts'
import { parseReport } from '../../../../runtime/reconcile/decide/gateways.ts'
import { resolveProfile, syncHash } from '../../../../runtime/api/schema/profile.ts'
import { specOf } from '../../../../runtime/api/schema/spec-of.ts'
import { Store } from '../../../../runtime/reconcile/store/store.ts'
import type { GatewaySyncRecord, PodRecord, ReportRecord } from '../../../../runtime/reconcile/store/records.ts'
import type { EventToWrite } from '../../../../runtime/kube/events.ts'
import { matchObject } from '../../../support/assertions.ts'
import { steppedClock } from '../../../support/stepped-clock.ts'

const commit = 'a'.repeat(40)
const sync = (namespace: string, name: string): GatewaySyncRecord => ({
  namespace,
  name,
  uid: `${namespace}/${name}`,
  resourceVersion: '1',
  generation: 1,
  annotations: {},
  spec: {
    git: { repo: 'https://git.example/plant.git', ref: 'main' },
    sync: { profiles: { default: { mappings: [{ source: 'a', destination: 'a' }] } } },
  },
  status: { published: { commit, ref: 'main', at: '2026-01-01T00:00:00Z' } },
})
const pod = (namespace: string, name: string, changes: Partial<PodRecord> = {}): PodRecord => ({
  namespace,
  name,
  uid: `uid-${namespace}-${name}`,
  annotations: {},
  injected: true,
  terminating: false,
  labels: {},
  agentDown: undefined,
  serviceAccount: 'default',
  ...changes,
})
const spec = specOf(sync('plant', 'one'))
const good = spec === undefined ? '' : syncHash(resolveProfile(spec.sync, 'default'), spec.gateway)
const report = (name: string, status: object): ReportRecord => ({
  namespace: 'plant',
  pod: name,
  gatewaySync: 'one',
  ...parseReport(`uid-plant-${name}`, { phase: 'Synced', commit, syncHash: good, ...status }),
})

function cluster() {
  const store = new Store(() => {})
  store.upsertSync(sync('plant', 'one'))
  for (const name of ['one', 'two']) store.upsertSync(sync('several', name))
  store.upsertPod(pod('plant', 'fine'))
  store.upsertReport(report('fine', {}))
  return store
}

void t.test('pods that cannot be synced are found with the reason, and no others', async (t) => {
  const store = cluster()
  t.strictSame(findPodTroubles(store), [])
  store.upsertPod(pod('plant', 'without', { injected: false }))
  store.upsertPod(pod('plant', 'going', { injected: false, terminating: true }))
  store.upsertPod(pod('plant', 'astray', { annotations: { 'clustersync.io/gateway-sync': 'nowhere' } }))
  store.upsertPod(pod('several', 'unsure'))
  store.upsertPod(pod('empty', 'alone'))
  store.upsertPod(pod('plant', 'old'))
  store.upsertReport(report('old', { syncHash: 'f'.repeat(64) }))
  store.upsertPod(pod('plant', 'late'))
  store.upsertReport(report('late', { findings: [{ rule: 'started-without-commit', path: '', message: '' }] }))
  t.strictSame(
    findPodTroubles(store)
      .map(({ pod: { name }, reason }) => `${name} ${reason}`)
      .toSorted(),
    [
      'alone NotFollowed',
      'astray NotFollowed',
      'late StartedWithoutCommit',
      'old AgentOutdated',
      'unsure NotFollowed',
      'without MissingAgent',
    ],
  )
})

void t.test('a lasting problem of a pod is recorded in one event with a constant note', async (t) => {
  const store = cluster()
  const { clock, step } = steppedClock()
  const stop = new AbortController()
  const told: EventToWrite[] = []
  const done = reportPodTroubles({ store, clock, events: { record: (event) => void told.push(event) } }, stop.signal)
  store.upsertPod(pod('plant', 'without', { injected: false }))
  store.upsertPod(pod('empty', 'early'))
  await step(30_000)
  t.strictSame(told, [], 'it may be over in a moment')
  store.upsertSync(sync('empty', 'one'))
  for (let look = 0; look < 4; look++) await step(30_000)
  matchObject(t, told, [{ regarding: { kind: 'Pod', namespace: 'plant', name: 'without' }, type: 'Warning', reason: 'MissingAgent' }])
  t.equal(told.length, 1)
  t.equal(told[0]?.note, podEvents.MissingAgent)
  stop.abort(new Error('stop'))
  await done
})
