/**
 * In which namespaces pods are watched, and from when a GatewaySync is reconciled.
 */
import t from 'tap'
import { PodScopes, type PodsListed } from '../../../../runtime/controller/cluster/pod-scopes.ts'
import { Store } from '../../../../runtime/reconcile/store/store.ts'
import type { GatewaySyncRecord, PodRecord } from '../../../../runtime/reconcile/store/records.ts'

const sync = (namespace: string, name: string): GatewaySyncRecord => ({
  namespace,
  name,
  uid: `${namespace}/${name}`,
  resourceVersion: '1',
  generation: 1,
  annotations: {},
  spec: {},
  status: {},
})
const pod = (namespace: string, name: string): PodRecord => ({
  namespace,
  name,
  uid: name,
  annotations: {},
  injected: true,
  terminating: false,
  labels: {},
  agentDown: undefined,
  serviceAccount: 'default',
})

/** `watches` has one entry per active watch; its value reports a complete list. */
function setUp(maxNamespaces?: number) {
  const store = new Store(() => {})
  const watches = new Map<string, PodsListed>()
  const stop = new AbortController()
  const scopes = new PodScopes(
    {
      store,
      watch(namespace = 'everything', listed, signal) {
        watches.set(namespace, listed)
        signal.addEventListener('abort', () => watches.delete(namespace))
      },
      ...(maxNamespaces === undefined ? {} : { maxNamespaces }),
    },
    stop.signal,
  )
  const list = (where: string, ...present: string[]): void =>
    watches.get(where)?.(({ namespace, name }) => present.includes(`${namespace}/${name}`))
  return { store, scopes, list, watched: () => [...watches.keys()], names: () => store.syncs().map(({ name }) => name) }
}

void t.test('a GatewaySync is visible once the pods of its namespace are listed', async (t) => {
  const { scopes, list, watched, names } = setUp()
  scopes.upsertSync(sync('plant', 'one'))
  t.strictSame(watched(), [], 'nobody knows yet in how many namespaces there are some')
  scopes.syncsListed()
  t.strictSame([watched(), names()], [['plant'], []])
  scopes.upsertSync(sync('plant', 'two'))
  scopes.upsertSync(sync('plant', 'gone'))
  scopes.removeSync('plant', 'gone')
  list('plant')
  t.strictSame(names(), ['one', 'two'])
  scopes.upsertSync(sync('plant', 'three'))
  t.strictSame([watched(), names()], [['plant'], ['one', 'two', 'three']])
})

void t.test('a namespace is watched from its first GatewaySync on', async (t) => {
  const { scopes, list, watched, names } = setUp()
  scopes.syncsListed()
  t.strictSame(watched(), [])
  scopes.upsertSync(sync('plant', 'one'))
  list('plant')
  scopes.removeSync('plant', 'one')
  t.strictSame([watched(), names()], [['plant'], []], 'also after its last one')
})

void t.test('many namespaces share one cluster-wide watch, which takes over once it has listed', async (t) => {
  const { scopes, list, watched, names, store } = setUp(2)
  for (const namespace of ['a', 'b']) scopes.upsertSync(sync(namespace, namespace))
  scopes.syncsListed()
  t.strictSame(watched(), ['a', 'b'])
  list('a')
  store.upsertPod(pod('a', 'stays'))
  store.upsertPod(pod('a', 'went'))
  scopes.upsertSync(sync('c', 'c'))
  t.strictSame([watched(), names()], [['a', 'b', 'everything'], ['a']])
  list('everything', 'a/stays')
  t.strictSame([watched(), names()], [['everything'], ['a', 'b', 'c']])
  t.strictSame(
    store.podsIn('a').map(({ name }) => name),
    ['stays'],
    'what the ended watches did not tell any more is gone too',
  )
  scopes.upsertSync(sync('d', 'd'))
  t.strictSame([watched(), names()], [['everything'], ['a', 'b', 'c', 'd']])
})

void t.test("pods of another installation's GatewaySync are not watched, even if it was ours before", async (t) => {
  const { scopes, list, watched, names, store } = setUp()
  scopes.upsertOther('b', 'theirs')
  scopes.upsertSync(sync('a', 'ours'))
  scopes.syncsListed()
  t.strictSame(watched(), ['a'])
  scopes.upsertOther('a', 'ours')
  list('a')
  t.strictSame(names(), [])
  t.ok(store.isOther('a', 'ours') && store.isOther('b', 'theirs'))
})

void t.test('many namespaces at startup share one cluster-wide watch from the start', async (t) => {
  const { scopes, watched } = setUp(2)
  for (const namespace of ['a', 'b', 'c']) scopes.upsertSync(sync(namespace, namespace))
  scopes.syncsListed()
  t.strictSame(watched(), ['everything'])
})
