/**
 * A namespace may hold as many objects, and as large ones, as the API server accepts. The controller keeps a bounded part of them and all
 * objects of other namespaces.
 */
import v8 from 'node:v8'
import vm from 'node:vm'
import t from 'tap'
import { podAnnotations, requestAnnotations } from '../../runtime/api/names.ts'
import type { KubeObject } from '../../runtime/kube/types.ts'
import { maxNamespaceSpecBytes, maxSpecBytes, projectGatewaySync, projectPod } from '../../runtime/reconcile/store/records.ts'
import { createStore } from '../../runtime/reconcile/store/store.ts'

const repo = 'https://git.example/plant.git'

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
  const store = createStore(() => {})
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

void t.test('only known annotations are kept, and long values are truncated', async (t) => {
  const object = gatewaySync('plant', 'one', 1)
  object.metadata.annotations = { 'clustersync.io/x': 'x'.repeat(250_000), [requestAnnotations.ref]: 'r'.repeat(250_000), other: 'x' }
  t.strictSame(projectGatewaySync(object).annotations, { [requestAnnotations.ref]: 'r'.repeat(1024) })
})

void t.test('a truncated annotation does not keep the whole text in memory', async (t) => {
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as () => void
  const heldMiB = (): number => {
    collect()
    return process.memoryUsage().heapUsed / 1024 / 1024
  }
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
  const pod = projectPod({ apiVersion: 'v1', kind: 'Pod', metadata, spec: {} })
  t.strictSame(pod?.annotations, { [podAnnotations.inject]: 'true' })
  t.strictSame(
    Object.keys(pod?.labels ?? {}),
    Array.from({ length: 100 }, (_, index) => `label-${number(index)}`),
  )
})
