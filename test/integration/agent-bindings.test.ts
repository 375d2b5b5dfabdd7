/**
 * Agent permissions in a namespace, from its first gateway pod to ten minutes after its last: bindings and pods on the real API server,
 * with the leader's clock controlled by the test.
 */
import t, { type Test } from 'tap'
import { gatewaySyncCrd, syncReportCrd } from '../../infra/crd.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import { watchCluster } from '../../runtime/controller/cluster/cluster.ts'
import { apiVersion, podAnnotations } from '../../runtime/api/names.ts'
import { openAgentBindings } from '../../runtime/controller/lead/agent-bindings.ts'
import { gatewaySyncType, podType, roleBindingType } from '../../runtime/kube/types.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { Store } from '../../runtime/reconcile/store/store.ts'
import { requires } from '../support/requires.ts'
import { steppedClock } from '../support/stepped-clock.ts'
import { openWorld, tinyPod, until, type World } from '../support/world.ts'

const tenMinutesMs = 600_000
const spec = {
  git: { repo: 'https://git.example/plant.git', ref: 'main' },
  sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
}

/** The part of a leader that binds agents. `foundNone`: the number of times it has found no gateway pod in the namespace. */
async function lead(t: Pick<Test, 'teardown'>, { kube }: World, namespace: string, role: string) {
  const { clock, step } = steppedClock()
  const stop = new AbortController()
  const store = new Store((key) => bindings.changed(key.split('/')[0] ?? ''))
  let none = 0
  const podsIn: typeof store.podsIn = (of) => {
    const pods = store.podsIn(of)
    if (pods.length === 0) none += 1
    return pods
  }
  const watchNamespaces = [namespace]
  const followed: Parameters<typeof openAgentBindings>[0]['store'] = {
    podsIn,
    syncOfPod: (pod) => store.syncOfPod(pod),
    isOther: (of, name) => store.isOther(of, name),
  }
  const deps = { kube, store: followed, bindAgentsTo: role, watchNamespaces, clock, log: silentLog }
  const bindings = openAgentBindings(deps)
  const listed = Promise.withResolvers<void>()
  const watching = watchCluster(
    { kube, clock: systemClock, log: silentLog },
    { store, namespaces: watchNamespaces, ready: () => listed.resolve() },
    stop.signal,
  )
  await listed.promise
  const running = bindings.run(stop.signal)
  const end = async (): Promise<void> => {
    stop.abort(new Error('it leads no more'))
    await Promise.all([watching, running])
  }
  t.teardown(end)
  return { step, end, foundNone: () => none }
}

void t.test(
  'the agent binding is created with the first gateway pod and removed ten minutes after the last',
  { timeout: 600_000 },
  async (t) => {
    if (!requires(t, 'kubectl')) return
    const world = await openWorld(t)
    const { kube, signal } = world
    await world.apply([gatewaySyncCrd(), syncReportCrd()])
    const namespace = await world.namespace('bindings', 'gateway')
    const role = `${namespace}-agent`
    const sync = { apiVersion, kind: 'GatewaySync', metadata: { namespace, name: 'plant' }, spec }
    await until(() => kube.create(gatewaySyncType, sync, signal).catch(() => undefined), 'the API server serves the kind')
    const bound = async () => (await kube.get(roleBindingType, { namespace, name: role }, signal)) as { subjects?: object[] } | undefined
    const create = (name = 'gw-0') =>
      kube.create(podType, tinyPod(namespace, name, { account: 'gateway', annotations: { [podAnnotations.inject]: 'true' } }), signal)
    const comes = async (t: Test): Promise<void> => {
      await create()
      const { subjects } = await until(bound, 'the account of the pod is bound')
      t.strictSame(subjects, [{ kind: 'ServiceAccount', name: 'gateway', namespace }])
    }
    const isGone = () => until(async () => ((await bound()) === undefined ? true : undefined), 'the binding is gone')
    const first = await lead(t, world, namespace, role)
    const lastPodGoes = async (): Promise<void> => {
      const before = first.foundNone()
      await kube.delete(podType, { namespace, name: 'gw-0' }, signal)
      await until(() => (first.foundNone() > before ? true : undefined), 'the leader has seen the pod go')
    }

    await t.test('a pod that is recreated within ten minutes finds its binding', async (t) => {
      t.equal(await bound(), undefined)
      await comes(t)
      await lastPodGoes()
      await first.step(tenMinutesMs - 1)
      t.ok(await bound())
      await comes(t)
    })

    await t.test('a deleted binding is created again for the next pod of the same account', async (t) => {
      await kube.delete(roleBindingType, { namespace, name: role }, signal)
      await create('gw-1')
      const { subjects } = await until(bound, 'the account is bound again')
      t.strictSame(subjects, [{ kind: 'ServiceAccount', name: 'gateway', namespace }])
      await kube.delete(podType, { namespace, name: 'gw-1' }, signal)
    })

    await t.test('a namespace without pods and binding gets a binding for the next pod', async (t) => {
      await lastPodGoes()
      await kube.delete(roleBindingType, { namespace, name: role }, signal)
      t.equal(await bound(), undefined)
      await comes(t)
    })

    await t.test('the binding is removed after ten minutes and created again for the next pod', async (t) => {
      await lastPodGoes()
      // No wait is pending once it is gone, so the step resolves when the pod has come again.
      const step = first.step(tenMinutesMs)
      await isGone()
      await comes(t)
      await step
    })

    await t.test('the next leader removes the binding without having seen the pod or its GatewaySync', async (t) => {
      await first.end()
      await kube.delete(podType, { namespace, name: 'gw-0' }, signal)
      await kube.delete(gatewaySyncType, { namespace, name: 'plant' }, signal)
      const next = await lead(t, world, namespace, role)
      await until(() => (next.foundNone() > 0 ? true : undefined), 'it has found the binding')
      t.ok(await bound())
      void next.step(tenMinutesMs)
      await isGone()
    })
  },
)
