/**
 * Outages that an installation survives: a node restart, another certificate, a pause, an unavailable API server.
 */
import { X509Certificate } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { connect } from 'node:tls'
import type { Test } from 'tap'
import { nodeName } from '../../../cluster/node/configuration.ts'
import { order } from '../../../cluster/node/orders.ts'
import type { Repository } from '../../../support/repository.ts'
import { until } from '../../../support/world.ts'
import {
  type Cluster,
  containerOf,
  gatewaysOf,
  inOperator,
  operator,
  patience,
  tellReceiver,
  untilRolledOut,
  untilSynced,
} from '../cluster.ts'
import { plant } from './install.ts'

const inPlant = `--namespace=${plant.namespace}`

export async function restartNode(t: Test, cluster: Cluster, repository: Repository): Promise<void> {
  const before = await gatewaysOf(cluster, plant.namespace)
  for (const service of ['kubelet', 'containerd'] as const) await order('stop', service)
  const commit = repository.commit({ 'services/projects/pushed.txt': 'while the node has no kubelet' })
  for (const service of ['containerd', 'kubelet'] as const) await order('start', service)
  await cluster.kubectl('wait', '--for=condition=Ready', `node/${nodeName}`, patience.wait)
  await untilRolledOut(cluster)
  await tellReceiver(cluster, plant.namespace, 'plant')
  await untilSynced(cluster, plant, 'plant', repository, commit)
  t.strictSame(await gatewaysOf(cluster, plant.namespace), before)
}

/** Unavailable for a minute: gateways and their files stay unchanged, and a push in between arrives afterwards. */
export async function withoutApiServer(t: Test, cluster: Cluster, repository: Repository): Promise<void> {
  const before = await gatewaysOf(cluster, plant.namespace)
  await order('kill', 'kube-apiserver')
  const commit = repository.commit({ 'services/projects/pushed.txt': 'while there is no API server' })
  await wait(60_000)
  await order('start', 'kube-apiserver')
  await until(async () => await cluster.kubectl('get', '--raw=/readyz').catch(() => undefined), 'the API server is back', patience.waitMs)
  await untilRolledOut(cluster)
  await tellReceiver(cluster, plant.namespace, 'plant')
  await untilSynced(cluster, plant, 'plant', repository, commit)
  t.strictSame(await gatewaysOf(cluster, plant.namespace), before)
}

/** A new certificate of cert-manager is served without a restart, and all clients trust it. */
export async function rotateCertificate(t: Test, cluster: Cluster, repository: Repository): Promise<void> {
  const secret = `${operator.name}-certificate`
  const issued = async (): Promise<string | undefined> => {
    const { items } = await cluster.get<{ items: { data: Record<string, string> }[] }>(
      'secrets',
      inOperator,
      `--field-selector=metadata.name=${secret}`,
    )
    const text = items[0]?.data['tls.crt']
    return text === undefined ? undefined : new X509Certificate(Buffer.from(text, 'base64')).fingerprint256
  }
  const before = await issued()
  const controllers = await cluster.pods(operator.namespace)
  const restartsBefore = controllers.map((pod) => containerOf(pod, 'controller')?.restartCount)
  await cluster.kubectl('delete', 'secret', secret, inOperator)
  const after = await until(
    async () => {
      const now = await issued()
      return now === before ? undefined : now
    },
    'cert-manager issues another certificate',
    patience.waitMs,
  )
  for (const pod of controllers) {
    await until(
      async () => ((await served(pod.status.podIP ?? '', 9445)) === after ? true : undefined),
      `${pod.metadata.name} serves the new certificate`,
      patience.waitMs,
    )
  }
  const commit = repository.commit({ 'services/projects/pushed.txt': 'with another certificate' })
  await tellReceiver(cluster, plant.namespace, 'plant')
  await untilSynced(cluster, plant, 'plant', repository, commit)
  const restartsAfter = (await cluster.pods(operator.namespace)).map((pod) => containerOf(pod, 'controller')?.restartCount)
  t.strictSame(restartsAfter, restartsBefore, 'without a restart')
}

/** A gateway with a paused GatewaySync also starts later, with the files on its volume. */
export async function rescheduleWhilePaused(t: Test, cluster: Cluster, repository: Repository): Promise<void> {
  const { kubectl } = cluster
  const patch = (paused: boolean) => kubectl('patch', 'gatewaysync/plant', inPlant, '--type=merge', `--patch={"spec":{"paused":${paused}}}`)
  await patch(true)
  await kubectl('wait', 'gatewaysync/plant', inPlant, '--for=condition=Paused', patience.wait)
  await kubectl('delete', 'pod', `${plant.name}-0`, inPlant)
  await kubectl('rollout', 'status', `statefulset/${plant.name}`, inPlant, patience.wait)
  t.pass('the gateway runs')
  await patch(false)
  const commit = repository.git('rev-parse', 'HEAD').toString('utf8').trim()
  await untilSynced(cluster, plant, 'plant', repository, commit)
}

/** The fingerprint of the certificate on a port; undefined if no server listens. */
function served(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, rejectUnauthorized: false, timeout: 10_000 }, () => {
      resolve(socket.getPeerX509Certificate()?.fingerprint256)
      socket.destroy()
    })
    socket.on('error', () => resolve(undefined))
    socket.on('timeout', () => socket.destroy(new Error('no answer')))
  })
}
