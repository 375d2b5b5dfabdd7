/**
 * Creates a gateway pod as a dry run, to see whether it would get an agent, and checks whether the content server answers at the address that
 * agents use: over a direct connection if the name resolves here, as in the cluster; otherwise through the API server, which can proxy to
 * Services.
 */
import type { V1Pod } from '@kubernetes/client-node'
import { asFault, Fault } from '../../platform/fault.ts'
import type { Admission, Delivery, OperatorSettings, Probed } from '../../fleet/check/facts.ts'
import type { SyncFacts } from '../../fleet/facts.ts'
import { agentContainerName, gatewayContainerName, podAnnotations } from '../../api/names.ts'
import { causeOf, startCall } from '../../http/client.ts'
import { podType, pathOf, type Stored } from '../../kube/types.ts'
import { explainApiError } from '../fleet/cluster.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Kube } from '../../kube/client.ts'

/**
 * Checks that admission answers: creates a pod that requests an agent as a dry run, which stores nothing. A namespace that is being deleted accepts
 * no pod, so another one is tried.
 */
export async function tryAdmission(clients: ProbeClients, settings: OperatorSettings, syncs: readonly SyncFacts[]): Promise<Admission> {
  const { watchNamespaces, webhookConfiguration } = settings
  if (webhookConfiguration === undefined) return { kind: 'notTested', why: 'the installation has no webhook (webhook.enabled is false)' }
  const watched = syncs.filter(({ namespace }) => watchNamespaces.length === 0 || watchNamespaces.includes(namespace))
  if (watched.length === 0) return { kind: 'notTested', why: 'there is no GatewaySync yet, so there is no namespace to test' }
  for (const { namespace, name } of new Map(watched.map((sync) => [sync.namespace, sync])).values()) {
    const pod = triedPod(namespace, `cluster-sync-check-${clients.clock.uuid().slice(0, 8)}`, settings, name)
    const answer = await tryIn(clients, namespace, pod)
    if (answer !== 'beingDeleted') return answer
  }
  return { kind: 'notTested', why: 'every namespace with a GatewaySync is being deleted' }
}

async function tryIn({ kube, signal }: ProbeClients, namespace: string, pod: object): Promise<Admission | 'beingDeleted'> {
  try {
    const answer = await kube.post(`${pathOf(podType, { namespace })}?dryRun=All`, pod, signal)
    const { initContainers = [], containers = [] } = (answer as Stored<V1Pod>).spec ?? {}
    const isInjected = [...initContainers, ...containers].some(({ name }) => name === agentContainerName)
    return { kind: isInjected ? 'injected' : 'untouched', namespace }
  } catch (error) {
    const { reason, message } = asFault(error)
    const words = message.replace(/^POST \S+: (?:[0-9]{3} )?/, '')
    if (reason === 'Forbidden' && words.endsWith(`in namespace ${namespace} because it is being terminated`)) return 'beingDeleted'
    // Admission webhooks also answer with 403; a missing permission names the account.
    if (reason === 'Forbidden' && /cannot create resource/.test(message)) {
      const explained = explainApiError(error, '')
      return { kind: 'refused', message: explained instanceof Fault ? explained.message : words }
    }
    return { kind: 'failed', namespace, message: words }
  }
}

/** A pod that passes strict admission policies, with everything that injection needs. */
function triedPod(namespace: string, name: string, { podLabels }: OperatorSettings, gatewaySync: string): object {
  const annotations = { [podAnnotations.inject]: 'true', [podAnnotations.gatewaySync]: gatewaySync }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, annotations, labels: podLabels },
    spec: {
      securityContext: { runAsNonRoot: true, runAsUser: 2003, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: gatewayContainerName,
          image: 'cluster-sync-check:never-started',
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          resources: { requests: { cpu: '1m', memory: '1Mi' }, limits: { cpu: '1m', memory: '1Mi' } },
          volumeMounts: [{ name: 'data', mountPath: '/usr/local/bin/ignition/data' }],
        },
      ],
      volumes: [{ name: 'data', emptyDir: {} }],
    },
  }
}

const connectWithinMs = 10_000
/** A name that does not resolve here may still resolve in the cluster. */
const unknownName = /^(?:ENOTFOUND|EAI_AGAIN)\b/

/** Checks each distinct address that agents use; if none is set yet, that of the installation. */
export async function tryDelivery(
  clients: ProbeClients,
  settings: OperatorSettings,
  ownUrl: string,
  syncs: readonly SyncFacts[],
): Promise<Delivery[]> {
  const { watchNamespaces } = settings
  const addresses = new Map<string, string>()
  for (const { namespace, status } of syncs) {
    const { delivery } = status
    const isOurs = watchNamespaces.length === 0 || watchNamespaces.includes(namespace)
    if (isOurs && delivery !== undefined && URL.canParse(delivery.url)) addresses.set(delivery.url, delivery.caBundle)
  }
  if (addresses.size === 0) return [await throughService(clients, settings, ownUrl)]
  return await Promise.all([...addresses].map(([url, ca]) => connect(clients, settings, url, ca)))
}

async function connect(clients: ProbeClients, settings: OperatorSettings, url: string, ca: string): Promise<Delivery> {
  try {
    const response = await startCall(url, { ca, agent: false, idleMs: connectWithinMs, signal: clients.signal }).answered
    response.destroy()
    return { kind: 'answers', url, by: 'connection' }
  } catch (error) {
    const message = causeOf(error)
    return unknownName.test(message) ? await throughService(clients, settings, url) : { kind: 'silent', url, message }
  }
}

/** Any response proves that the content server works; without a token, it rejects the call. */
async function throughService({ kube, signal }: ProbeClients, { namespace, fullname }: OperatorSettings, url: string): Promise<Delivery> {
  const port = URL.canParse(url) ? new URL(url).port : ''
  const path = `/api/v1/namespaces/${namespace}/services/https:${fullname}-delivery:${port}/proxy/v1`
  try {
    await kube.post(path, {}, signal)
    return { kind: 'answers', url, by: 'service' }
  } catch (error) {
    const { reason, message } = asFault(error)
    if (/resource "services\/proxy"/.test(message))
      return { kind: 'refused', message: `${url} cannot be resolved here, and you may not call it through the API server` }
    const words = message.replace(/^POST \S+: (?:[0-9]{3} )?/, '')
    const isUnreached = reason === 'ApiUnavailable' || /^services "[^"]*" not found/.test(words)
    return isUnreached ? { kind: 'silent', url, message: words } : { kind: 'answers', url, by: 'service' }
  }
}

export type ProbeClients = {
  kube: Kube
  clock: Clock
  signal: AbortSignal
  /** Runs a read and returns its result or its fault as a fact. */
  probe<Value>(work: () => Promise<Value>): Promise<Probed<Value>>
}

/** The GatewaySyncs, and the pods that request an agent. */
export type Followers = { syncs: readonly SyncFacts[]; pods: readonly Stored<V1Pod>[] }
