import t from 'tap'
import { createUnfollowed } from '../../../../runtime/controller/cluster/pods-without-sync.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import type { EventToWrite } from '../../../../runtime/kube/events.ts'
import type { KubeObject } from '../../../../runtime/kube/types.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { Store } from '../../../../runtime/reconcile/store/store.ts'
import { matchObject } from '../../../support/assertions.ts'
import { steppedClock } from '../../../support/stepped-clock.ts'

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
