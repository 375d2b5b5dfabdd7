/**
 * Shared parts of the cases on a node: kubectl, the git host, gateways like those of their public chart, and the files of their pods.
 */
import { execFile } from 'node:child_process'
import { chownSync, cpSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { differences, type Placed } from '../../../scripts/quickstart/check.ts'
import type { SyncReportStatus } from '../../../runtime/api/schema/report.ts'
import type { GatewaySyncStatus } from '../../../runtime/api/schema/status.ts'
import { ensureProgram } from '../../cluster/binaries.ts'
import { type GitHost, startGitHost } from '../../support/git-host.ts'
import { dataFolder, gatewayImage } from '../../support/node-images.ts'
import { type PullRequestHosts, pullRequestHosts } from '../../support/pull-request-hosts.ts'
import { pushTo } from '../../support/push.ts'
import type { Repository } from '../../support/repository.ts'
import { until } from '../../support/world.ts'
import type { Given } from './given.ts'

/** Everything takes long on a busy machine. */
export const patience = { waitMs: 420_000, wait: '--timeout=420s' } as const
/** The namespace of an installation by docs/how-to/install.md, its release and its controller. */
export const operator = { namespace: 'cluster-sync', name: 'cluster-sync-operator' } as const
export const inOperator = `--namespace=${operator.namespace}`
/** The bearer token for pushes to an installation of the suite. */
export const pushToken = 'token-of-pushes'
/** The HMAC key for signed pushes, and the host of its Ingress. */
export const pushKey = 'key-of-pushes'
export const hookHost = 'hooks.example.com'
export const gatewayUser = 2003
/** The token for read access to the git host, and the API key of the gateways. */
export const gitToken = 'token-that-may-read'
/** The token for pushes and pull requests. */
export const captureToken = 'token-that-may-push'
/** The public repository. */
export const openRepository = 'open.git'
export const apiKey = 'cluster-sync:key-of-the-gateways'

export type Pod = {
  metadata: { name: string; namespace: string; uid: string; annotations?: Record<string, string>; deletionTimestamp?: string }
  spec: {
    nodeName?: string
    containers: { name: string; image?: string }[]
    initContainers?: { name: string; image?: string; startupProbe?: { exec?: { command: string[] } } }[]
  }
  status: { podIP?: string; initContainerStatuses?: ContainerStatus[]; containerStatuses?: ContainerStatus[] }
}
export type ContainerStatus = {
  name: string
  image?: string
  containerID?: string
  restartCount: number
  ready: boolean
  started?: boolean
  state: { running?: { startedAt: string }; waiting?: { reason: string }; terminated?: { reason: string } }
  lastState?: { terminated?: { reason: string } }
}

export type Cluster = {
  given: Given
  host: GitHost
  /** The APIs of the git host. */
  pullRequests: PullRequestHosts
  /** Runs kubectl and returns its output; throws with its error output if it fails. */
  kubectl(...args: string[]): Promise<string>
  apply(...objects: object[]): Promise<void>
  get<Value>(...args: string[]): Promise<Value>
  pods(namespace: string, selector?: string): Promise<Pod[]>
  status(namespace: string, name: string): Promise<GatewaySyncStatus | undefined>
  report(namespace: string, pod: string): Promise<SyncReportStatus | undefined>
}

export async function openCluster(t: Pick<Test, 'teardown'>, given: Given): Promise<Cluster> {
  const program = await ensureProgram('kubectl', () => undefined)
  const pullRequests = pullRequestHosts(captureToken)
  const host = await startGitHost(path.join(given.work, 'git'), {
    address: '0.0.0.0',
    port: 443,
    tls: { cert: given.gitServer.certificate, key: given.gitServer.key },
    before(request, response) {
      if (pullRequests.take(request, response)) return true
      const token = request.url?.includes('git-receive-pack') === true ? captureToken : gitToken
      if (request.url?.startsWith(`/${openRepository}/`) === true || isLetIn(request.headers.authorization, token)) return false
      response.writeHead(401, { 'www-authenticate': 'Basic realm="plant"' }).end()
      return true
    },
  })
  t.teardown(async () => host.stop())
  const run = (args: readonly string[], input = ''): Promise<string> =>
    new Promise((resolve, reject) => {
      const words = ['--kubeconfig', given.adminKubeconfig, ...args]
      const child = execFile(program, words, { timeout: 600_000, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
        if (error === null) resolve(stdout)
        else reject(new Error(`kubectl ${args.join(' ')}: ${stderr || error.message}`))
      })
      child.stdin?.end(input)
    })
  const get = async <Value>(...args: string[]): Promise<Value> => JSON.parse(await run(['get', '--output=json', ...args])) as Value
  const statusOf = async <Status>(...args: string[]): Promise<Status | undefined> => {
    const { items } = await get<{ items: { status?: Status }[] }>(...args)
    return items[0]?.status
  }
  return {
    given,
    host,
    pullRequests,
    kubectl: (...args) => run(args),
    async apply(...objects) {
      await run(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
    },
    get,
    pods: async (namespace, selector = '') =>
      (await get<{ items: Pod[] }>('pods', `--namespace=${namespace}`, `--selector=${selector}`)).items,
    status: (namespace, name) => statusOf('gatewaysyncs', `--namespace=${namespace}`, `--field-selector=metadata.name=${name}`),
    report: (namespace, pod) => statusOf('syncreports', `--namespace=${namespace}`, `--field-selector=metadata.name=${pod}`),
  }
}

/** Accepts the token as the password of any user or as a bearer token. */
export function isLetIn(authorization = '', token = gitToken): boolean {
  const [scheme = '', word = ''] = authorization.split(' ')
  return scheme.toLowerCase() === 'basic' ? Buffer.from(word, 'base64').toString('utf8').endsWith(`:${token}`) : word === token
}

/** The repository of the examples, served under its name. */
export function plantRepository({ host }: Cluster, name: string): Repository {
  const repository = host.repository(name)
  cpSync(path.join(import.meta.dirname, '../../../examples/plant/services'), path.join(repository.folder, 'services'), { recursive: true })
  repository.commit({})
  return repository
}

/** The destinations of the examples' repository in a gateway of a mode. */
export function plantPlaces(mode: string): Placed[] {
  const collections = ['external', 'core', mode].map((name) => ({
    source: `services/config/resources/${name}`,
    destination: `config/resources/${name}`,
  }))
  return [...collections, { source: 'services/projects', destination: 'projects' }]
}

export type Gateways = {
  namespace: string
  name: string
  replicas: number
  mode: string
  annotations?: Record<string, string>
  /** The mappings; by default all of the examples' repository. */
  places?: readonly Placed[]
  /** The port of the gateways in the host network of the node; by default they are in the pod network. */
  nodePort?: number
}

/** The folder of a gateway's volume, which outlives its pods. */
export function volumeOf({ given }: Cluster, { namespace, name }: Pick<Gateways, 'namespace' | 'name'>, ordinal: number): string {
  return path.join(given.work, 'volumes', `${namespace}-${name}-${ordinal}`)
}

/** A StatefulSet like that of the gateways' public chart, with volumes of the node: the objects to apply. */
export function gatewayObjects(cluster: Cluster, gateways: Gateways): object[] {
  const { namespace, name, replicas, mode, annotations = {}, nodePort } = gateways
  const restricted = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, seccompProfile: { type: 'RuntimeDefault' } }
  const labels = { 'app.kubernetes.io/name': 'ignition', 'app.kubernetes.io/instance': name }
  const volumes = Array.from({ length: replicas }, (_, ordinal) => {
    const folder = volumeOf(cluster, gateways, ordinal)
    mkdirSync(folder, { recursive: true })
    // Like a volume provisioner.
    chownSync(folder, gatewayUser, gatewayUser)
    const claim = { namespace, name: `data-${name}-${ordinal}` }
    return {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `${namespace}-${claim.name}` },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'node',
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', ...claim },
        hostPath: { path: folder, type: 'Directory' },
      },
    }
  })
  const image = { image: gatewayImage, imagePullPolicy: 'Never', securityContext: restricted }
  return [
    ...volumes,
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { namespace, name, labels },
      spec: {
        replicas,
        serviceName: name,
        podManagementPolicy: 'Parallel',
        selector: { matchLabels: labels },
        template: {
          metadata: { labels, annotations: { 'clustersync.io/inject': 'true', ...annotations } },
          spec: {
            // The simulated gateway needs no long grace period.
            terminationGracePeriodSeconds: 10,
            ...(nodePort === undefined ? {} : { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }),
            securityContext: { runAsUser: gatewayUser, runAsGroup: gatewayUser, fsGroup: gatewayUser, runAsNonRoot: true },
            initContainers: [
              {
                name: 'preconfigure',
                ...image,
                command: ['sh', '-c', 'mkdir -p /data/config/resources/local && echo seeded > /data/preconfigured'],
                volumeMounts: [{ name: 'data', mountPath: '/data' }],
              },
            ],
            containers: [
              {
                name: 'gateway',
                ...image,
                args: [
                  '-n',
                  '$(POD_NAME)',
                  '-a',
                  'plant.example',
                  '--api-key',
                  '$(API_KEY)',
                  ...(nodePort === undefined ? [] : ['--port', String(nodePort)]),
                  '--',
                  '-Dignition.config.mode=$(DEPLOYMENT_MODE)',
                ],
                env: [
                  { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
                  { name: 'DEPLOYMENT_MODE', value: mode },
                  { name: 'API_KEY', value: apiKey },
                ],
                ports: [{ name: 'http', containerPort: nodePort ?? 8088 }],
                readinessProbe: { httpGet: { path: '/StatusPing', port: 'http' }, periodSeconds: 1 },
                volumeMounts: [{ name: 'data', mountPath: dataFolder }],
              },
            ],
          },
        },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'node', resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    },
  ]
}

/** A namespace with the strictest Pod Security standard of Kubernetes, or another one. */
export function guardedNamespace(name: string, standard: 'restricted' | 'privileged' = 'restricted'): object {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { 'pod-security.kubernetes.io/enforce': standard } },
  }
}

/** The differences between the files of each gateway and a commit; empty if there are none. */
export function filesDiffer(cluster: Cluster, gateways: Gateways, repository: Repository, commit: string): string[] {
  return Array.from({ length: gateways.replicas }, (_, ordinal) => {
    const dataDir = volumeOf(cluster, gateways, ordinal)
    return differences({ repository: repository.folder, commit, dataDir, placed: gateways.places ?? plantPlaces(gateways.mode) })
  }).flat()
}

/** Resolves when every gateway has exactly this commit and the GatewaySync reports it. */
export async function untilSynced(
  cluster: Cluster,
  gateways: Gateways,
  sync: string,
  repository: Repository,
  commit: string,
): Promise<void> {
  const { namespace, replicas } = gateways
  let seen: GatewaySyncStatus | undefined
  await until(
    async () => {
      seen = await cluster.status(namespace, sync)
      const isReady = seen?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
      return isReady && seen?.published?.commit === commit && seen.gateways?.synced === replicas ? true : undefined
    },
    `all gateways of ${namespace}/${sync} have ${commit}`,
    patience.waitMs,
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}; its status is ${JSON.stringify(seen)}`)
  })
  const differing = filesDiffer(cluster, gateways, repository, commit)
  if (differing.length > 0) throw new Error(`Ready, but ${differing.slice(0, 5).join('; ')}`)
}

/** The status of a pod's container, including sidecars. */
export function containerOf(pod: Pod, name: string): ContainerStatus | undefined {
  return [...(pod.status.initContainerStatuses ?? []), ...(pod.status.containerStatuses ?? [])].find((each) => each.name === name)
}

/** The URL of the receiver's Service. */
export async function receiverUrl(cluster: Cluster): Promise<string> {
  const name = `${operator.name}-webhook-receiver`
  const { spec } = await cluster.get<{ spec: { clusterIP: string; ports: { port: number }[] } }>('service', name, inOperator)
  return `http://${spec.clusterIP}:${spec.ports[0]?.port ?? 0}`
}

/** Sends a push to the receiver's Service. Retries until it is accepted: the Service may still route to a replica that has just stopped. */
export async function tellReceiver(cluster: Cluster, namespace: string, sync: string): Promise<void> {
  const url = await receiverUrl(cluster)
  await until(
    async () =>
      await pushTo({ url, token: pushToken }, namespace, sync).then(
        () => true as const,
        () => undefined,
      ),
    'the receiver takes the push',
    patience.waitMs,
  )
}

/** The gateway pods of a namespace, and the number of starts of their gateways. */
export async function gatewaysOf(cluster: Cluster, namespace: string): Promise<{ uid: string; restartCount: number | undefined }[]> {
  const all = await cluster.pods(namespace, 'app.kubernetes.io/name=ignition')
  return all.map((pod) => ({ uid: pod.metadata.uid, restartCount: containerOf(pod, 'gateway')?.restartCount }))
}

/** Resolves when all replicas of the installation are ready. */
export async function untilRolledOut({ kubectl }: Cluster): Promise<void> {
  await kubectl('rollout', 'status', `deployment/${operator.name}`, inOperator, patience.wait)
}
