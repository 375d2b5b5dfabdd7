/**
 * The order of objects does not matter: a gateway pod created before its GatewaySync and before the Secret with its API key is completed
 * later without a restart, and so is a rotated key. If they never come, Events on the pods report it.
 */
import t from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { agentPodLabel, injectionNamespaceLabel, podAnnotations } from '../../runtime/api/names.ts'
import { podType, secretType } from '../../runtime/kube/types.ts'
import { install, type Installation, readyAt, simulatedGateway } from '../support/installation.ts'
import { requires } from '../support/requires.ts'
import { eventsIn, namespaceType, type SeenEvent, tinyPod, until } from '../support/world.ts'

/** A problem is reported at the first check after a minute; checks run every half a minute. */
const toldWithinMs = 120_000

void t.test('a pod created before its GatewaySync follows it once it exists, with its API key', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const cluster = await install(t, ['plant', 'unfollowed', 'unlabeled'], { webhook: { namespaceSelector: { requireLabel: true } } })
  const { world, host, folder, receiver } = cluster
  const { kube, signal } = world
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.join(''))
  })
  await permitInjection(cluster, ['plant', 'unfollowed'])
  const repository = host.repository('plant.git')
  const first = repository.commit({ 'projects/line/a.txt': 'one' })
  const toldOnPods = untilToldOnPods(cluster)
  toldOnPods.catch(() => undefined)
  const namespace = cluster.namespace('plant')
  const { simulator, dataDir, port } = await simulatedGateway(t, folder, 'gw-0')
  simulator.setApiKey('gw:one')
  const agent = await cluster.gateway(namespace, 'gw-0', { account: 'gateway', simulator, dataDir })
  t.equal(agent.pod.metadata.annotations?.['clustersync.io/gateway-sync'], undefined, 'there was nothing to choose')
  t.notMatch(JSON.stringify(agent.pod), /secretName/, 'nothing but tokens is mounted')

  await cluster.gatewaySync(namespace, 'plant', {
    git: { repo: host.url('plant.git/.git'), ref: 'main' },
    polling: { enabled: false },
    gateway: { port, api: { secretName: 'gateway-api' } },
    sync: { defaults: { syncPeriod: '5s' }, profiles: { default: { mappings: [{ source: 'projects/', destination: 'projects' }] } } },
  })
  const keyless = await until(async () => {
    const report = await cluster.report(namespace, 'gw-0')
    return report?.reason === 'SecretNotFound' ? report : undefined
  }, 'the report names the Secret that is missing')
  t.match(keyless.message, /gateway-api has no key apiKey/)
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'gateway-api' }, stringData: { apiKey: 'gw:one' } }
  await kube.create(secretType, secret, signal)
  await readyAt(cluster, namespace, first)

  simulator.setApiKey('gw:two')
  await kube.mergePatch(secretType, { namespace, name: 'gateway-api' }, { stringData: { apiKey: 'gw:two' } }, {}, signal)
  const second = repository.commit({ 'projects/line/a.txt': 'two' })
  const pushed = await fetch(`${receiver.url}/webhook/${namespace}/plant`, {
    method: 'POST',
    headers: { authorization: `Bearer ${receiver.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ref: 'refs/heads/main' }),
  })
  t.equal(pushed.status, 202, await pushed.text())
  await readyAt(cluster, namespace, second)
  t.notOk(
    cluster.logs.some((line) => /gw:(one|two)/.test(line)),
    'no log holds a key',
  )

  // A second GatewaySync makes it ambiguous which one the pod follows: it follows neither, and keeps its files.
  await cluster.gatewaySync(namespace, 'other', {
    git: { repo: host.url('plant.git/.git'), ref: 'main' },
    sync: { profiles: { default: { mappings: [{ source: 'projects/', destination: 'elsewhere' }] } } },
  })
  const follow = (total: number) =>
    until(async () => ((await cluster.status(namespace, 'plant')).gateways?.total === total ? true : undefined), `${total} follow it`)
  await follow(0)
  // Until an annotation on the live pod names one.
  await agent.change({ annotations: { [podAnnotations.gatewaySync]: 'plant' } }, () => follow(1))
  await readyAt(cluster, namespace, second)

  await toldOnPods
})

/**
 * A pod in a namespace that never gets a GatewaySync, and one that requests an agent in a namespace without the required label. Resolves
 * when both have a Warning with the reason.
 */
async function untilToldOnPods({ world, host, ...cluster }: Installation): Promise<void> {
  const [unfollowed, unlabeled] = [cluster.namespace('unfollowed'), cluster.namespace('unlabeled')]
  const asking = async (namespace: string, name: string): Promise<boolean> => {
    const pod = tinyPod(namespace, name, { annotations: { [podAnnotations.inject]: 'true' } })
    return (await world.kube.create(podType, pod, world.signal)).metadata.labels?.[agentPodLabel] === 'true'
  }
  await cluster.gatewaySync(unlabeled, 'plant', {
    git: { repo: host.url('plant.git/.git'), ref: 'main' },
    polling: { enabled: false },
    sync: { profiles: { default: { mappings: [{ source: 'projects/', destination: 'projects' }] } } },
  })
  if (await asking(unlabeled, 'gw')) throw new Error('a pod of a namespace without the label got an agent')
  await asking(unfollowed, 'gw')
  const told = async (namespace: string, reason: string): Promise<void> => {
    const isAbout = ({ type, reason: why, regarding }: SeenEvent): boolean =>
      type === 'Warning' && why === reason && regarding.kind === 'Pod' && regarding.name === 'gw'
    await until(
      async () => ((await eventsIn(world, namespace)).some(isAbout) ? true : undefined),
      `the pod has an Event ${reason}`,
      toldWithinMs,
      1_000,
    )
  }
  await Promise.all([told(unfollowed, 'NotFollowed'), told(unlabeled, 'MissingAgent')])
}

/** Labels namespaces, one after the other, and resolves when the API server applies the labels: a pod of the last one gets an agent. */
async function permitInjection({ world, ...cluster }: Installation, prefixes: readonly string[]): Promise<void> {
  const metadata = { labels: { [injectionNamespaceLabel.key]: injectionNamespaceLabel.value } }
  for (const prefix of prefixes)
    await world.kube.mergePatch(namespaceType, { name: cluster.namespace(prefix) }, { metadata }, {}, world.signal)
  const namespace = cluster.namespace(prefixes.at(-1) ?? '')
  await until(async () => {
    const pod = tinyPod(namespace, `scout-${systemClock.uuid()}`, { annotations: { [podAnnotations.inject]: 'true' } })
    return (await world.kube.create(podType, pod, world.signal)).metadata.labels?.[agentPodLabel]
  }, 'pods of namespaces with the label get an agent')
}
