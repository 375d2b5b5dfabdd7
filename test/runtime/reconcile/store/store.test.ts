import t from 'tap'
import { podAnnotations } from '../../../../runtime/api/names.ts'
import { parseReport } from '../../../../runtime/reconcile/decide/gateways.ts'
import { keptReport } from '../../../../runtime/reconcile/decide/report-details.ts'
import { Store } from '../../../../runtime/reconcile/store/store.ts'
import { type GatewaySyncRecord, type PodRecord, projectReport } from '../../../../runtime/reconcile/store/records.ts'
import { matchObject } from '../../../support/assertions.ts'

function sync(name: string, changes: Partial<GatewaySyncRecord> = {}): GatewaySyncRecord {
  return {
    namespace: 'plant',
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    generation: 1,
    annotations: {},
    spec: {},
    status: {},
    ...changes,
  }
}

function pod(name: string, follows?: string): PodRecord {
  const annotations = follows === undefined ? {} : { [podAnnotations.gatewaySync]: follows }
  const state = { injected: true, terminating: false, labels: {}, agentDown: undefined, serviceAccount: 'default' }
  return { namespace: 'plant', name, uid: `uid-${name}`, annotations, ...state }
}

function setUp() {
  const changed: string[] = []
  const store = new Store((key) => changed.push(key))
  return { store, told: () => changed.splice(0).toSorted() }
}

void t.test('a write that returns after its object was deleted does not restore it', async (t) => {
  const { store, told } = setUp()
  store.upsertSync(sync('one'))
  store.removeSync('plant', 'one')
  told()
  store.updateSync(sync('one', { resourceVersion: '2' }))
  t.equal(store.sync('plant', 'one'), undefined)
  store.upsertSync(sync('one', { uid: 'another', resourceVersion: '4' }))
  store.updateSync(sync('one', { resourceVersion: '9' }))
  t.equal(store.sync('plant', 'one')?.uid, 'another')
})

void t.test('the result of a write and the watch event may arrive in either order', async (t) => {
  for (const [first, second] of [
    ['9', '10'],
    ['10', '9'],
  ] as const) {
    const { store } = setUp()
    store.upsertSync(sync('one'))
    store.updateSync(sync('one', { resourceVersion: first }))
    store.upsertSync(sync('one', { resourceVersion: second }))
    t.equal(store.sync('plant', 'one')?.resourceVersion, '10')
  }
})

void t.test('a status change triggers no reconcile, an annotation change does', async (t) => {
  const { store, told } = setUp()
  store.upsertSync(sync('one'))
  t.strictSame(told(), ['plant/one'])
  store.upsertSync(sync('one', { resourceVersion: '2', status: { observedGeneration: 1 } }))
  t.strictSame(told(), [])
  store.upsertSync(sync('one', { resourceVersion: '3', annotations: { a: 'b' } }))
  t.strictSame(told(), ['plant/one'])
})

void t.test('pods that name no GatewaySync follow the only one of their namespace', async (t) => {
  const { store, told } = setUp()
  store.upsertPod(pod('named', 'one'))
  store.upsertPod(pod('any'))
  store.upsertSync(sync('one'))
  const names = (name: string) => store.podsOf('plant', name).map((one) => one.name)
  t.strictSame(names('one'), ['named', 'any'])
  told()
  store.upsertSync(sync('two'))
  t.strictSame([names('one'), names('two')], [['named'], []])
  t.strictSame(told(), ['plant/one', 'plant/two'], 'both are told')
  store.upsertSync(sync('three'))
  store.removeSync('plant', 'three')
  t.strictSame(told(), ['plant/three', 'plant/three'], 'one of many does not concern the others')
  store.removeSync('plant', 'one')
  t.strictSame(names('two'), ['any'])
  t.strictSame(told(), ['plant/one', 'plant/two'])
})

void t.test('a GatewaySync of another installation is stored by name only', async (t) => {
  const { store, told } = setUp()
  store.upsertSync(sync('ours'))
  store.upsertPod(pod('unnamed'))
  t.equal(store.syncOfPod(pod('unnamed')), 'ours')
  told()
  store.upsertOther('plant', 'theirs')
  t.strictSame(told(), ['plant/ours'], 'pods that name none follow neither')
  t.equal(store.syncOfPod(pod('unnamed')), undefined)
  t.strictSame([store.sync('plant', 'theirs'), store.isOther('plant', 'theirs')], [undefined, true])
  store.upsertPod(pod('named', 'theirs'))
  store.upsertOther('plant', 'theirs')
  t.strictSame(told(), [], 'its pods are no reason for a pass of ours')
  store.removeSync('plant', 'ours')
  t.equal(store.syncOfPod(pod('unnamed')), 'theirs', 'the only one is followed, whoever serves it')
})

void t.test('a GatewaySync whose labels change is released or taken over', async (t) => {
  const { store, told } = setUp()
  store.upsertSync(sync('one'))
  told()
  store.upsertOther('plant', 'one')
  t.strictSame([told(), store.syncs()], [['plant/one'], []])
  store.updateSync(sync('one', { resourceVersion: '2' }))
  t.strictSame(store.syncs(), [], 'also where a write of ours returns late')
  store.upsertSync(sync('one', { resourceVersion: '3' }))
  t.strictSame([told(), store.isOther('plant', 'one')], [['plant/one'], false])
})

void t.test('a change without effect on decisions triggers no reconcile', async (t) => {
  const kinds: string[] = []
  const store = new Store((key, kind) => kinds.push(`${kind} ${key}`))
  const report = (message: string) => ({
    namespace: 'plant',
    pod: 'gw',
    gatewaySync: 'one',
    ...parseReport('uid-gw', { phase: 'Synced', message }),
  })
  store.upsertPod(pod('gw', 'one'))
  store.upsertPod(pod('gw', 'one'))
  store.upsertReport(report('a'))
  store.upsertReport(report('a'))
  t.strictSame(kinds.splice(0), ['pod plant/one', 'report plant/one'])
  store.upsertPod({ ...pod('gw', 'one'), agentDown: 'the agent exited' })
  store.upsertReport(report('b'))
  t.strictSame(kinds, ['pod plant/one', 'pod plant/one', 'report plant/one'])
})

void t.test('a watcher sees every change, and display-only changes trigger no reconcile', async (t) => {
  const kinds: string[] = []
  const store = new Store((key, kind) => kinds.push(`${kind} ${key}`))
  let seen = 0
  const end = store.watch(() => (seen += 1))
  const heard = (): number => seen - (seen = 0)
  const report = (finishedAt: string) => ({
    namespace: 'plant',
    pod: 'gw',
    gatewaySync: 'one',
    ...parseReport('uid-gw', { phase: 'Synced', finishedAt }, keptReport),
  })
  store.upsertSync(sync('one'))
  store.upsertReport(report('2026-01-01T00:00:00Z'))
  t.equal(heard(), 2)
  kinds.length = 0
  store.upsertReport(report('2026-01-01T00:00:01Z'))
  store.upsertSync(sync('one', { resourceVersion: '2', status: { observedGeneration: 1 } }))
  t.strictSame([heard(), kinds], [2, []])
  matchObject(t, store.all().reports, [{ details: { finishedAt: '2026-01-01T00:00:01Z' } }])
  store.upsertReport(report('2026-01-01T00:00:01Z'))
  t.equal(heard(), 0)
  store.removeReport('plant', 'gw')
  store.upsertPod(pod('gw'))
  store.removePod('plant', 'gw')
  store.upsertOther('plant', 'one')
  store.removeSync('plant', 'one')
  t.equal(heard(), 5)
  end()
  store.upsertSync(sync('one'))
  t.equal(heard(), 0)
})

void t.test('only the report fields that decisions need are kept', async (t) => {
  const status = {
    phase: 'DryRun',
    commit: 'a'.repeat(40),
    mode: { name: 'prod', from: 'Gateway' },
    message: 'nothing is written',
    findings: [{ rule: 'started-without-commit', path: '', message: '' }],
    dryRun: { added: 1, changed: 0, removed: 0, paths: ['x'.repeat(4000)], diff: 'x'.repeat(16_000) },
    drift: { count: 1, paths: ['x'.repeat(4000)] },
    projects: ['x'.repeat(200)],
    history: [{ commit: 'a'.repeat(40), phase: 'DryRun', finishedAt: '2026-01-01T00:00:00Z' }],
  }
  const metadata = { namespace: 'plant', name: 'gw-0', uid: 'r', resourceVersion: '1' }
  const spec = { gatewaySync: 'one', podUid: 'u' }
  t.strictSame(projectReport({ apiVersion: 'clustersync.io/v1alpha1', kind: 'SyncReport', metadata, spec, status }), {
    namespace: 'plant',
    pod: 'gw-0',
    gatewaySync: 'one',
    podUid: 'u',
    malformed: false,
    status: {
      phase: 'DryRun',
      commit: 'a'.repeat(40),
      mode: { name: 'prod', from: 'Gateway' },
      message: 'nothing is written',
      startedWithoutCommit: true,
    },
  })
})
