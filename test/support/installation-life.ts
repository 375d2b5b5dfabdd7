/**
 * One complete life of an installation with all its calls to the API server, for tests that inspect those calls.
 */
import * as https from 'node:https'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import type { Simulator } from '../../examples/simulator/simulator.ts'
import { deliveryToken, podAnnotations } from '../../runtime/api/names.ts'
import { gatewaySyncType, podType, type ResourceType, roleBindingType, secretType, syncReportType } from '../../runtime/kube/types.ts'
import { type Installation, readyAt, simulatedGateway } from './installation.ts'
import type { Repository } from './repository.ts'
import { serviceAccountType, tinyPod, until } from './world.ts'

/** The API server's user names of the components. */
export type Users = { controller: string; agent: string; metricsReader: string }

const clusterRoleBindingType: ResourceType = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  namespaced: false,
}

type Running = { namespace: string; repository: Repository; simulator: Simulator }

/** `cluster` has the prefix `plant`. Deletes the GatewaySync and its gateways and stops the controller at the end. */
export async function liveOnce(t: Pick<Test, 'teardown'>, cluster: Installation): Promise<Users> {
  const namespace = cluster.namespace('plant')
  const account = accountOf(cluster)
  const users = {
    controller: userOf(account.namespace, account.name),
    agent: userOf(namespace, 'gateway'),
    metricsReader: userOf(namespace, 'prometheus'),
  }
  await bindMetricsReader(cluster, namespace)
  const gateway = await simulatedGateway(t, cluster.folder, 'gw-0')
  await bindWrongly(cluster, namespace)
  const repository = await firstCommit(cluster, namespace, gateway.port)
  await awaitBoundAgents(cluster, namespace)
  await runGateways(cluster, { namespace, repository, simulator: gateway.simulator })
  await scrape(cluster, namespace)
  await askAsStrangers(cluster, namespace)
  await cluster.world.kube.delete(gatewaySyncType, { namespace, name: 'plant' }, cluster.world.signal)
  await cluster.stopController()
  return users
}

/** The controller's account, which has the installation's full name. */
function accountOf({ manifests }: Installation): { namespace: string; name: string } {
  const metadata = manifests.find(({ kind }) => kind === 'ServiceAccount')?.metadata
  if (metadata === undefined) throw new Error('the manifests have no ServiceAccount')
  return { namespace: String(metadata['namespace']), name: metadata.name }
}

function userOf(namespace: string, account: string): string {
  return `system:serviceaccount:${namespace}:${account}`
}

/** A GatewaySync with its own receiver key, in a Secret. */
async function firstCommit(cluster: Installation, namespace: string, port: number): Promise<Repository> {
  const { world, host, receiver } = cluster
  const repository = host.repository('plant.git')
  repository.commit({ 'projects/line/project.json': '{}' })
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'push' }, stringData: { token: receiver.token } }
  await world.kube.create(secretType, secret, world.signal)
  await cluster.gatewaySync(namespace, 'plant', {
    git: { repo: host.url('plant.git/.git'), ref: 'main' },
    polling: { enabled: false },
    gateway: { port },
    webhook: { token: { secretRef: { name: 'push', key: 'token' } } },
    sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  })
  await until(async () => (await cluster.status(namespace, 'plant')).published, 'the first commit is published')
  return repository
}

/**
 * A kubelet takes longer to start an agent than the controller takes to bind its account; processes do not. So a pod represents the
 * gateways' account until a second account, bound after it, has its permissions.
 */
async function awaitBoundAgents({ world }: Installation, namespace: string): Promise<void> {
  const { kube, signal } = world
  await kube.create(serviceAccountType, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name: 'scout' } }, signal)
  const annotations = { [podAnnotations.inject]: 'true' }
  for (const account of ['gateway', 'scout'])
    await kube.create(podType, tinyPod(namespace, `as-${account}`, { account, annotations }), signal)
  const scout = world.as(await world.token(namespace, 'scout'))
  await until(async () => {
    try {
      for await (const { items } of scout.listPages(gatewaySyncType, { namespace }, signal)) return items.length === 1 ? true : undefined
      return undefined
    } catch {
      return undefined
    }
  }, 'the accounts of gateway pods are bound')
  for (const account of ['gateway', 'scout']) await kube.delete(podType, { namespace, name: `as-${account}` }, signal)
}

/**
 * Pushes, a restarted agent, a pod that is recreated under its name, a second one that is deleted, a controller that loses its certificate.
 */
async function runGateways(cluster: Installation, { namespace, repository, simulator }: Running): Promise<void> {
  const { world, folder } = cluster
  const { kube, signal } = world
  const start = (name: string) => {
    const dataDir = path.join(folder, `data-of-${name}`)
    mkdirSync(dataDir, { recursive: true })
    return cluster.gateway(namespace, name, { account: 'gateway', simulator, dataDir })
  }
  const next = async (): Promise<void> => {
    const commit = repository.commit({ 'projects/line/a.txt': String(repository.git('rev-list', '--count', 'HEAD')) })
    await push(cluster, namespace)
    await readyAt(cluster, namespace, commit)
  }
  const [first, second] = [await start('gw-0'), await start('gw-1')]
  // The same event twice in a row, which makes it a series.
  await next()
  await next()

  await first.stop()
  await kube.delete(podType, { namespace, name: 'gw-0' }, signal)
  const anew = await start('gw-0')
  await second.stop()
  // Like the garbage collector for a report with a deleted pod.
  for (const type of [podType, syncReportType]) await kube.delete(type, { namespace, name: 'gw-1' }, signal)
  await next()

  await cluster.stopController()
  const { namespace: own, name } = accountOf(cluster)
  const certificate = { namespace: own, name: `${name}-certificate` }
  await kube.mergePatch(secretType, certificate, { data: { 'tls.key': '' } }, {}, signal)
  await cluster.startController()
  await anew.stop()
  await anew.start()
  await next()
  await anew.stop()
}

async function push({ receiver }: Installation, namespace: string): Promise<void> {
  const headers = { authorization: `Bearer ${receiver.token}`, 'content-type': 'application/json' }
  const answer = await fetch(`${receiver.url}/webhook/${namespace}/plant`, { method: 'POST', headers, body: '{"ref":"refs/heads/main"}' })
  if (answer.status !== 202) throw new Error(`the push was answered with ${answer.status}: ${await answer.text()}`)
}

/** Binds the agents to another role, as another user might; a patch cannot change that. */
async function bindWrongly({ world, manifests }: Installation, namespace: string): Promise<void> {
  const name = manifests.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name.endsWith('-agent'))?.metadata.name ?? ''
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `${name}-of-old` }
  const binding = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { namespace, name }, roleRef, subjects: [] }
  await world.kube.create(roleBindingType, binding, world.signal)
}

/** Prometheus, with an account that may read the metrics. */
async function bindMetricsReader({ world, manifests }: Installation, namespace: string): Promise<void> {
  const metadata = { namespace, name: 'prometheus' }
  await world.kube.create(serviceAccountType, { apiVersion: 'v1', kind: 'ServiceAccount', metadata }, world.signal)
  const role = manifests.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name.endsWith('-metrics-reader'))?.metadata.name
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `${namespace}-prometheus` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', ...metadata }],
  }
  await world.kube.create(clusterRoleBindingType, binding, world.signal)
}

async function scrape(cluster: Installation, namespace: string): Promise<void> {
  const token = await cluster.world.token(namespace, 'prometheus')
  const url = `https://localhost:${cluster.ports.metrics}/metrics`
  // A refusal is cached for half a minute.
  await until(async () => ((await send(cluster, namespace, url, token)) === 200 ? true : undefined), 'the metrics are read')
}

/**
 * Pods outside the controller's watch request content: one that did not request an agent and is read individually, and one in another
 * namespace.
 */
async function askAsStrangers(cluster: Installation, namespace: string): Promise<void> {
  for (const at of [namespace, await cluster.world.namespace('elsewhere', 'gateway')]) await askAsStranger(cluster, namespace, at)
}

async function askAsStranger(cluster: Installation, namespace: string, at: string): Promise<void> {
  const { world, ports } = cluster
  const name = 'stranger'
  const pod = await world.kube.create(podType, tinyPod(at, name, { account: 'gateway' }), world.signal)
  const token = await world.token(at, 'gateway', { audience: deliveryToken.audience, pod: { name, uid: pod.metadata.uid } })
  const url = `https://localhost:${ports.delivery}/v1/namespaces/${at}/gatewaysyncs/plant/changes`
  const status = await send(cluster, namespace, url, token, JSON.stringify({ commit: '0'.repeat(40), from: null, profile: 'default' }))
  if (status !== 403) throw new Error(`a stranger was answered with ${status}`)
}

/** Sends to an endpoint with the controller's certificate; returns the status code. */
async function send(cluster: Installation, namespace: string, url: string, token: string, body?: string): Promise<number> {
  const ca = (await cluster.status(namespace, 'plant')).delivery?.caBundle
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const { signal } = cluster.world
  return await new Promise((resolve, reject) => {
    const request = https.request(url, { method: body === undefined ? 'GET' : 'POST', ca, headers, signal }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    request.on('error', reject)
    request.end(body)
  })
}
