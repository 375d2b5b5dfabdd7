/**
 * A namespace may hold as many objects, and as large ones, as the API server accepts. The controller keeps a bounded part of them and all
 * objects of other namespaces.
 */
import type { V1Pod } from '@kubernetes/client-node'
import v8 from 'node:v8'
import vm from 'node:vm'
import t from 'tap'
import { podAnnotations, requestAnnotations } from '../../runtime/api/names.ts'
import type { KubeObject, Stored } from '../../runtime/kube/types.ts'
import { findPodTroubles } from '../../runtime/controller/cluster/pod-events.ts'
import { PodScopes } from '../../runtime/controller/cluster/pod-scopes.ts'
import { gatewayBounds, maxKeptSyncs } from '../../runtime/reconcile/store/namespace.ts'
import {
  maxNamespaceSpecBytes,
  maxNamespaceSyncs,
  maxSpecBytes,
  projectGatewaySync,
  projectPod,
  projectReport,
} from '../../runtime/reconcile/store/records.ts'
import { Store } from '../../runtime/reconcile/store/store.ts'

const repo = 'https://git.example/plant.git'

v8.setFlagsFromString('--expose-gc')
const collect = vm.runInNewContext('gc') as () => void

/** After a garbage collection. */
function heldMiB(): number {
  collect()
  return process.memoryUsage().heapUsed / 1024 / 1024
}

/** A GatewaySync with a spec of about this many bytes. */
function gatewaySync(namespace: string, name: string, bytes: number, resourceVersion = '1'): KubeObject {
  const vars = { text: 'x'.repeat(bytes) }
  const spec = { git: { repo, ref: 'main' }, sync: { profiles: { default: { vars, mappings: [{ source: 'a', destination: 'a' }] } } } }
  return {
    apiVersion: 'clustersync.io/v1alpha1',
    kind: 'GatewaySync',
    metadata: { namespace, name, uid: `${namespace}/${name}`, resourceVersion, generation: 1 },
    spec,
  }
}

void t.test('an oversized spec is reduced to its repository, so that its mirror stays', async (t) => {
  const large = projectGatewaySync(gatewaySync('plant', 'one', maxSpecBytes))
  t.strictSame(large.spec, { git: { repo } })
  t.match(large.tooLarge, /^spec is 131[0-9]{3} bytes, more than 131072; shorten it$/)
  const wide = gatewaySync('plant', 'one', 1)
  wide.spec = { git: { repo, ref: 'ä'.repeat(maxSpecBytes / 2) } }
  t.match(projectGatewaySync(wide).tooLarge, /^spec is 131[0-9]{3} bytes/, 'a letter may have two')
  const small = gatewaySync('plant', 'one', maxSpecBytes - 500)
  t.strictSame(projectGatewaySync(small).spec, small.spec)
})

void t.test('specs over the share of a namespace are dropped, and other namespaces keep theirs', async (t) => {
  const store = new Store(() => {})
  const each = maxSpecBytes - 500
  const names = Array.from({ length: 60 }, (_, index) => `sync-${index}`)
  for (const name of names) store.upsertSync(projectGatewaySync(gatewaySync('hostile', name, each)))
  store.upsertSync(projectGatewaySync(gatewaySync('plant', 'one', each)))
  const kept = store.syncs().filter(({ namespace, tooLarge }) => namespace === 'hostile' && tooLarge === undefined)
  t.equal(kept.length, Math.floor(maxNamespaceSpecBytes / each))
  const last = store.sync('hostile', names.at(-1) ?? '')
  t.strictSame(last?.spec, { git: { repo } })
  t.match(last?.tooLarge, /^the specs in namespace "hostile" are more than 4194304 bytes together; shorten or delete others/)
  t.equal(store.sync('plant', 'one')?.tooLarge, undefined)
  store.removeSync('hostile', names[0] ?? '')
  store.upsertSync(projectGatewaySync(gatewaySync('hostile', names.at(-1) ?? '', each, '2')))
  t.equal(store.sync('hostile', names.at(-1) ?? '')?.tooLarge, undefined, 'once there is space and it changes')
})

void t.test('tiny GatewaySyncs over the number of a namespace are dropped, and other namespaces keep theirs', async (t) => {
  const overflowed: string[] = []
  const store = new Store(
    () => {},
    undefined,
    (namespace, kind) => overflowed.push(`${namespace} ${kind}`),
  )
  for (let index = 0; index < maxKeptSyncs + 10; index += 1)
    store.upsertSync(projectGatewaySync(gatewaySync('hostile', `sync-${index}`, 1)))
  store.upsertSync(projectGatewaySync(gatewaySync('plant', 'one', 1)))
  const records = store.syncs('hostile')
  t.equal(records.length, maxKeptSyncs)
  t.equal(records.filter(({ tooLarge }) => tooLarge === undefined).length, maxNamespaceSyncs)
  t.equal(records.at(-1)?.tooLarge, 'namespace "hostile" has more than 2000 GatewaySyncs; delete others, then change this one')
  t.equal(store.sync('plant', 'one')?.tooLarge, undefined)
  store.upsertOther('hostile', 'of-another-installation')
  t.equal(store.othersIn('hostile').size, 0)
  t.strictSame(overflowed, ['hostile GatewaySync'], 'reported once')
  store.removeSync('hostile', 'sync-0')
  store.upsertSync(projectGatewaySync(gatewaySync('hostile', 'late', 1)))
  t.equal(store.syncs('hostile').length, maxKeptSyncs, 'once there is space')
})

void t.test('GatewaySyncs that wait for the list of their pods are bounded too', async (t) => {
  const store = new Store(() => {})
  const scopes = new PodScopes({ store, watch: () => {} }, new AbortController().signal)
  scopes.syncsListed()
  const before = heldMiB()
  for (let index = 0; index < 400; index += 1) {
    const object = gatewaySync('hostile', `sync-${index}`, 1)
    object.spec = { git: { repo, ref: Buffer.alloc(maxSpecBytes - 500, 'r').toString('latin1') } }
    scopes.upsertSync(projectGatewaySync(object))
  }
  const grown = heldMiB() - before
  t.ok(grown < 10, `${grown.toFixed(1)} MiB for 400 records, of 50 MiB of specs`)
  scopes.removeSync('hostile', 'sync-0')
})

const podOf = (name: string, follows: string, labels: Record<string, string> = {}): Stored<V1Pod> => {
  const annotations = { [podAnnotations.inject]: 'true', [podAnnotations.gatewaySync]: follows }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'hostile', name, uid: name, resourceVersion: '1', labels, annotations } }
}

void t.test('pods and SyncReports are bounded in number and in bytes', async (t) => {
  const overflowed: string[] = []
  const store = new Store(
    () => {},
    undefined,
    (namespace, kind) => overflowed.push(`${namespace} ${kind}`),
  )
  const reportOf = (pod: string): KubeObject => ({
    apiVersion: 'clustersync.io/v1alpha1',
    kind: 'SyncReport',
    metadata: { namespace: 'hostile', name: pod, uid: pod, resourceVersion: '1' },
    spec: { gatewaySync: 'one', podUid: pod },
  })
  const add = (name: string, labels?: Record<string, string>): void => {
    const pod = projectPod(podOf(name, 'one', labels))
    if (pod !== undefined) store.upsertPod(pod)
    store.upsertReport(projectReport(reportOf(name)))
  }
  for (let index = 0; index <= gatewayBounds.maxCount; index += 1) add(`gw-${index}`)
  t.equal(store.podsIn('hostile').length, gatewayBounds.maxCount)
  t.equal(store.podsOf('hostile', 'one').length, gatewayBounds.maxCount)
  t.equal(store.reportsIn('hostile').get(`gw-${gatewayBounds.maxCount}`), undefined)
  t.strictSame(overflowed, ['hostile Pod', 'hostile SyncReport'])
  for (let index = 0; index <= gatewayBounds.maxCount; index += 1) store.removePod('hostile', `gw-${index}`)
  const wide = (index: number) => Object.fromEntries(Array.from({ length: 90 }, (_, label) => [`label-${label}`, `${index}`.repeat(40)]))
  for (let index = 1_000; index < 2_000; index += 1) add(`wide-${index}`, wide(index))
  const kept = store.podsIn('hostile')
  t.ok(kept.length < 1_000, `${kept.length} pods with large labels are kept`)
  t.ok(JSON.stringify(kept).length < gatewayBounds.maxBytes + kept.length + 2)
  t.equal(store.podsOf('hostile', 'one').length, kept.length)
})

void t.test('the search for pods in trouble reads each pod a few times, however many GatewaySyncs there are', async (t) => {
  const [pods, syncs] = [1_000, 500]
  const store = new Store(() => {})
  let reads = 0
  for (let index = 0; index < syncs; index += 1) store.upsertSync(projectGatewaySync(gatewaySync('hostile', `sync-${index}`, 1)))
  for (let index = 0; index < pods; index += 1) {
    const pod = projectPod(podOf(`gw-${index}`, `sync-${index % syncs}`))
    if (pod === undefined) continue
    const { annotations } = pod
    Object.defineProperty(pod, 'annotations', { enumerable: true, set: () => {}, get: () => ((reads += 1), annotations) })
    store.upsertPod(pod)
  }
  reads = 0
  t.equal(findPodTroubles(store).length, pods)
  t.ok(reads <= 10 * pods, `${reads} reads`)
})

void t.test('only known annotations are kept, and long values are truncated', async (t) => {
  const object = gatewaySync('plant', 'one', 1)
  object.metadata.annotations = { 'clustersync.io/x': 'x'.repeat(250_000), [requestAnnotations.ref]: 'r'.repeat(250_000), other: 'x' }
  t.strictSame(projectGatewaySync(object).annotations, { [requestAnnotations.ref]: 'r'.repeat(1024) })
})

void t.test('a truncated annotation does not keep the whole text in memory', async (t) => {
  const before = heldMiB()
  const records = Array.from({ length: 400 }, (_, index) => {
    const object = gatewaySync('plant', `line-${index}`, 1)
    object.metadata.annotations = { [requestAnnotations.ref]: `${index} ${'r'.repeat(250_000)}`.replace('r', 'x') }
    return projectGatewaySync(object)
  })
  const grown = heldMiB() - before
  t.equal(records.length, 400)
  t.ok(grown < 20, `${grown.toFixed(1)} MiB for 400 records, of 95 MiB of text`)
})

void t.test('a pod record keeps at most 100 labels and only annotations of this project', async (t) => {
  const number = (index: number): string => String(index).padStart(4, '0')
  const labels = Object.fromEntries(Array.from({ length: 8_000 }, (_, index) => [`label-${number(7_999 - index)}`, 'x']))
  const annotations = { [podAnnotations.inject]: 'true', 'clustersync.io/x': 'x'.repeat(250_000) }
  const metadata = { namespace: 'plant', name: 'gw-0', uid: 'u', resourceVersion: '1', labels, annotations }
  const pod = projectPod({ apiVersion: 'v1', kind: 'Pod', metadata })
  t.strictSame(pod?.annotations, { [podAnnotations.inject]: 'true' })
  t.strictSame(
    Object.keys(pod?.labels ?? {}),
    Array.from({ length: 100 }, (_, index) => `label-${number(index)}`),
  )
})
