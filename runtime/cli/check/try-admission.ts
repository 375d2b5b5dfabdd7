/**
 * Lets the API server take a gateway pod through admission without creating it, to see whether it would get its agent.
 */
import { asFault, Fault } from '../../fault.ts'
import type { Admission, OperatorSettings } from '../../fleet/check/facts.ts'
import type { SyncFacts } from '../../fleet/facts.ts'
import { agentContainerName, gatewayContainerName, podAnnotations } from '../../gatewaysync/names.ts'
import { podType, pathOf } from '../../kube/types.ts'
import { inPlainWords } from '../fleet/cluster.ts'
import type { Looking } from './looking.ts'

/**
 * Whether admission answers: creates a pod that asks for an agent as a dry run, which leaves nothing behind. A namespace that is being deleted
 * takes no pod, whatever admission would say, so that another is tried.
 */
export async function tryAdmission(looking: Looking, settings: OperatorSettings, syncs: readonly SyncFacts[]): Promise<Admission> {
  const { watchNamespaces, webhookConfiguration } = settings
  if (webhookConfiguration === undefined) return { kind: 'notAsked', why: 'the installation has no webhook (webhook.enabled is false)' }
  const watched = syncs.filter(({ namespace }) => watchNamespaces.length === 0 || watchNamespaces.includes(namespace))
  if (watched.length === 0) return { kind: 'notAsked', why: 'there is no GatewaySync yet, in whose namespace a pod could be tried' }
  for (const { namespace, name } of new Map(watched.map((sync) => [sync.namespace, sync])).values()) {
    const pod = triedPod(namespace, `cluster-sync-check-${looking.clock.uuid().slice(0, 8)}`, settings, name)
    const answer = await tryIn(looking, namespace, pod)
    if (answer !== 'beingDeleted') return answer
  }
  return { kind: 'notAsked', why: 'every namespace with a GatewaySync is being deleted' }
}

async function tryIn({ kube, signal }: Looking, namespace: string, pod: object): Promise<Admission | 'beingDeleted'> {
  try {
    const answer = await kube.post(`${pathOf(podType, { namespace })}?dryRun=All`, pod, signal)
    const { initContainers = [], containers = [] } = (answer as { spec?: Record<string, { name: string }[] | undefined> }).spec ?? {}
    const isInjected = [...initContainers, ...containers].some(({ name }) => name === agentContainerName)
    return { kind: isInjected ? 'injected' : 'untouched', namespace }
  } catch (error) {
    const { reason, message } = asFault(error)
    const words = message.replace(/^POST \S+: (?:[0-9]{3} )?/, '')
    if (reason === 'Forbidden' && words.endsWith(`in namespace ${namespace} because it is being terminated`)) return 'beingDeleted'
    // Admission too answers with 403; a right that is missing names who lacks it.
    if (reason === 'Forbidden' && /cannot create resource/.test(message)) {
      const told = inPlainWords(error, '')
      return { kind: 'refused', message: told instanceof Fault ? told.message : words }
    }
    return { kind: 'failed', namespace, message: words }
  }
}

/** As strict a pod as any cluster asks for, with all that injection needs. */
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
