/**
 * The order in which objects come does not matter: a gateway pod that was made before its GatewaySync and before the Secret with its API key
 * is complete later without being made anew, and a rotated key needs no restart.
 */
import t from 'tap'
import { secretType } from '../../runtime/kube/types.ts'
import { install, readyAt, simulatedGateway } from '../support/installation.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

void t.test('a pod that was there first follows the GatewaySync that comes, with its API key', { timeout: 240_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const cluster = await install(t, ['plant'])
  const { world, host, folder, receiver } = cluster
  const { kube, signal } = world
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.join(''))
  })
  const namespace = cluster.namespace('plant')
  const { simulator, dataDir, port } = await simulatedGateway(t, folder, 'gw-0')
  simulator.setApiKey('gw:one')
  const agent = await cluster.gateway(namespace, 'gw-0', { account: 'gateway', simulator, dataDir })
  t.equal(agent.pod.metadata.annotations?.['clustersync.io/gateway-sync'], undefined, 'there was nothing to choose')
  t.notMatch(JSON.stringify(agent.pod), /secretName/, 'nothing but tokens is mounted')

  const repository = host.repository('plant.git')
  const first = repository.commit({ 'projects/line/a.txt': 'one' })
  await cluster.gatewaySync(namespace, 'plant', {
    git: { repo: host.url('plant.git/.git'), ref: 'main' },
    polling: { enabled: false },
    gateway: { port, api: { secretName: 'gateway-api' } },
    sync: { defaults: { syncPeriod: 5 }, profiles: { default: { mappings: [{ source: 'projects/', destination: 'projects' }] } } },
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

  // A second GatewaySync makes it ambiguous which one the pod follows: it follows neither, and keeps what it has.
  await cluster.gatewaySync(namespace, 'other', {
    git: { repo: host.url('plant.git/.git'), ref: 'main' },
    sync: { profiles: { default: { mappings: [{ source: 'projects/', destination: 'elsewhere' }] } } },
  })
  await until(async () => ((await cluster.status(namespace, 'plant')).gateways?.total === 0 ? true : undefined), 'the pod follows neither')
})
