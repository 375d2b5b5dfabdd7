/**
 * The result of a push is sent to the git host and to a webhook, by the controller of an installation on a real API server.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { secretType } from '../../runtime/kube/types.ts'
import { makeAuthority } from '../support/authority.ts'
import { install, readyAt, simulatedGateway } from '../support/installation.ts'
import { startNotificationReceivers } from '../support/notification-receivers.ts'
import { pushTo } from '../support/push.ts'
import { temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { startStatusHosts } from '../support/status-hosts.ts'
import { until } from '../support/world.ts'

const longMs = 120_000

void t.test('a git host and a webhook are notified of a running commit and of a refused one', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const authority = await makeAuthority(temporaryFolder(t, 'told'), 'Plant CA')
  const tls = { key: authority.server.key, cert: authority.server.certificate }
  const hosts = await startStatusHosts(tls, { token: 's3cret-of-the-host' })
  t.teardown(async () => hosts.stop())
  const others = await startNotificationReceivers(tls, 'the key')
  t.teardown(async () => others.stop())
  const cluster = await install(t, ['plant'], { notifications: [{ name: 'duty', type: 'webhook', secretRef: { name: 'duty' } }] })
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.join(''))
  })
  const { world, folder, host, receiver } = cluster
  const mounted = path.join(folder, 'notifications', 'duty')
  mkdirSync(mounted, { recursive: true })
  for (const [key, text] of [
    ['address', others.webhook],
    ['hmac-key', 'the key'],
    ['ca.crt', authority.certificate],
  ] as const)
    writeFileSync(path.join(mounted, key), text)

  const namespace = cluster.namespace('plant')
  const data = { token: 's3cret-of-the-host', ca: authority.certificate }
  await world.kube.create(
    secretType,
    { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'host' }, stringData: data },
    world.signal,
  )
  const repository = host.repository('acme/line')
  const mode = (parent: string): string => JSON.stringify({ title: 'x', description: '', enabled: true, inheritable: true, parent })
  const first = repository.commit({ 'resources/core/config-mode.json': mode('external'), 'resources/dev/config-mode.json': mode('core') })
  const { simulator, dataDir, port } = await simulatedGateway(t, folder, 'gw-0')
  await cluster.gatewaySync(namespace, 'plant', {
    git: {
      repo: host.url('acme/line'),
      ref: 'main',
      caBundle: { secretRef: { name: 'host', key: 'ca' } },
      commitStatus: { provider: 'gitea', secretRef: { name: 'host', key: 'token' }, apiBaseURL: hosts.api('gitea') },
    },
    polling: { enabled: false },
    gateway: { port },
    sync: { profiles: { default: { collections: { root: 'resources', mode: 'dev' } } } },
  })
  await cluster.gateway(namespace, 'gw-0', { account: 'gateway', simulator, dataDir, mode: 'dev' })
  await readyAt(cluster, namespace, first, longMs)

  const told = async (commit: string, state: string): Promise<string> =>
    await until(
      () => hosts.taken.find((one) => one.commit === commit && one.status.state === state)?.status.description,
      `${state} of ${commit}`,
      longMs,
    )
  t.equal(await told(first, 'success'), 'applied on 1 of 1 gateways')
  const second = repository.commit({ 'resources/dev/config-mode.json': mode('nowhere') })
  await pushTo(receiver, namespace, 'plant')
  t.match(await told(second, 'failure'), /^refused, CollectionsInvalid.*: resources\/dev\/config-mode\.json: /)
  t.equal(hosts.taken.at(-1)?.status.name, `cluster-sync/${namespace}/plant`)
  t.equal(hosts.taken.at(-1)?.repository, 'acme/line')

  const event = async (kind: string, commit: string): Promise<void> => {
    const found = await until(
      () => others.events.flat().find(({ type, data }) => type === `clustersync.io.gatewaysync.${kind}` && data['commit'] === commit),
      `the event ${kind}`,
      longMs,
    )
    t.equal(found.subject, `${namespace}/plant`)
  }
  await event('ready', first)
  await event('refused', second)
  t.strictSame([hosts.refused, others.refused], [[], []])
  t.notMatch(cluster.logs.join(''), /s3cret-of-the-host/)
})
