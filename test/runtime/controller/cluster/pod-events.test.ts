import t from 'tap'
import { findPodTroubles, podEvents, reportPodTroubles, createUnfollowed } from '../../../../runtime/controller/cluster/pod-events.ts'
import { parseReport } from '../../../../runtime/reconcile/decide/gateways.ts'
import { resolveProfile, syncHash } from '../../../../runtime/api/schema/profile.ts'
import { specOf } from '../../../../runtime/api/schema/spec-of.ts'
import { Store } from '../../../../runtime/reconcile/store/store.ts'
import type { GatewaySyncRecord, PodRecord, ReportRecord } from '../../../../runtime/reconcile/store/records.ts'
import type { EventToWrite } from '../../../../runtime/kube/events.ts'
import { matchObject } from '../../../support/assertions.ts'
import { steppedClock } from '../../../support/stepped-clock.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import type { KubeObject } from '../../../../runtime/kube/types.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'

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

const apiServer = '10.0.0.1'

function podObject(namespace: string, name: string, annotations: Record<string, string> = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      annotations: { 'clustersync.io/inject': 'true', ...annotations },
      labels: { 'clustersync.io/agent': 'true' },
    },
    spec: {
      initContainers: [{ name: 'cluster-sync-agent', env: [{ name: 'CLUSTER_SYNC_DATA_DIR', value: '/data' }] }],
      containers: [{ name: 'gateway' }],
    },
  }
}

void t.test('a pod that follows no GatewaySync gets one event after a minute, even in a namespace that never had one', async (t) => {
  const pods = new Map([
    [
      'bare',
      [
        podObject('bare', 'alone'),
        { ...podObject('bare', 'other'), metadata: { ...podObject('bare', 'going').metadata, deletionTimestamp: 'now' } },
      ],
    ],
    ['late', [podObject('late', 'followed')]],
    ['astray', [podObject('astray', 'astray', { 'clustersync.io/gateway-sync': 'nowhere' })]],
  ])
  const told: EventToWrite[] = []
  const looked: string[] = []
  const store = new Store(() => {})
  const { clock, step } = steppedClock()
  const unfollowed = createUnfollowed({
    kube: {
      async *listPages(_type, { namespace = '', labelSelector }) {
        looked.push(`${namespace} ${labelSelector}`)
        const items = pods.get(namespace)
        if (items === undefined) throw new Fault('Forbidden', `namespace "${namespace}" may not be listed`)
        yield { items: items as never[], resourceVersion: '1' }
      },
    },
    store,
    events: { record: (event) => void told.push(event) },
    clock,
    log: silentLog,
  })
  const stop = new AbortController()
  const running = unfollowed.run(stop.signal)
  for (const namespace of ['forbidden', 'bare', 'late', 'astray', 'bare']) unfollowed.note(namespace, apiServer)
  await step(30_000)
  t.strictSame(looked, [], 'what the pods follow may come in a moment')
  store.upsertSync({
    namespace: 'late',
    name: 'one',
    uid: 'one',
    resourceVersion: '1',
    generation: 1,
    annotations: {},
    spec: {},
    status: {},
  })
  for (let look = 0; look < 4; look += 1) await step(30_000)
  t.strictSame(
    looked,
    ['forbidden', 'late', 'astray', 'bare'].map((namespace) => `${namespace} clustersync.io/agent=true`),
  )
  matchObject(t, told, [
    { regarding: { namespace: 'astray', name: 'astray' }, reason: 'NotFollowed' },
    { regarding: { kind: 'Pod', namespace: 'bare', name: 'alone', uid: 'uid-alone' }, type: 'Warning', reason: 'NotFollowed' },
  ])
  t.equal(told.length, 2)
  stop.abort(new Error('stop'))
  await running
})

void t.test('a client of admission that invents namespaces does not displace those of an API server', async (t) => {
  const looked: string[] = []
  const { clock, step } = steppedClock()
  const unfollowed = createUnfollowed({
    kube: {
      async *listPages(_type, { namespace = '' }) {
        looked.push(namespace)
        yield { items: [], resourceVersion: '1' }
      },
    },
    store: new Store(() => {}),
    events: { record: () => undefined },
    clock,
    log: silentLog,
  })
  const stop = new AbortController()
  const running = unfollowed.run(stop.signal)
  const invent = (): void => {
    for (let index = 0; index < 2_000; index += 1) unfollowed.note(`invented-${index}`, '10.0.0.2')
  }
  invent()
  unfollowed.note('plant', apiServer)
  // So that it counts as the hostile client's.
  unfollowed.note('plant', '10.0.0.2')
  invent()
  for (let look = 0; look < 3; look += 1) await step(30_000)
  t.ok(looked.includes('plant'))
  t.equal(looked.length, 1_000)
  stop.abort(new Error('stop'))
  await running
})
