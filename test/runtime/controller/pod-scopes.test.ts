/**
 * Where pods are watched, and when a GatewaySync counts.
 */
import t from 'tap'
import { createPodScopes, type PodsListed } from '../../../runtime/controller/cluster/pod-scopes.ts'
import { createStore } from '../../../runtime/reconcile/store.ts'
import type { GatewaySyncRecord, PodRecord } from '../../../runtime/reconcile/records.ts'

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

/** `watches` has one entry for each watch that was begun and not ended; its value says that its list is complete. */
function setUp(mostNamespaces?: number) {
  const store = createStore(() => {})
  const watches = new Map<string, PodsListed>()
  const stop = new AbortController()
  const scopes = createPodScopes(
    {
      store,
      watch(namespace = 'everything', listed, signal) {
        watches.set(namespace, listed)
        signal.addEventListener('abort', () => watches.delete(namespace))
      },
      ...(mostNamespaces === undefined ? {} : { mostNamespaces }),
    },
    stop.signal,
  )
  const list = (where: string, ...present: string[]): void =>
    watches.get(where)?.(({ namespace, name }) => present.includes(`${namespace}/${name}`))
  return { store, scopes, list, watched: () => [...watches.keys()], names: () => store.syncs().map(({ name }) => name) }
}

void t.test('a GatewaySync counts as soon as the pods of its namespace are listed, and no sooner', async (t) => {
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

void t.test('many namespaces are one watch, which takes over once it has listed', async (t) => {
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

void t.test('of a GatewaySync of another installation no pods are watched, also when it was ours until then', async (t) => {
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

void t.test('many namespaces at the start are one watch at once', async (t) => {
  const { scopes, watched } = setUp(2)
  for (const namespace of ['a', 'b', 'c']) scopes.upsertSync(sync(namespace, namespace))
  scopes.syncsListed()
  t.strictSame(watched(), ['everything'])
})
