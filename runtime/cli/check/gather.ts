/**
 * Gathers the facts of an installation check: reads from the API server, and runs two tests without side effects: it creates a pod as a dry
 * run, and calls the content server.
 */
import type { V1CustomResourceDefinition, V1Pod } from '@kubernetes/client-node'
import { deadline, systemClock } from '../../platform/clock.ts'
import { asFault } from '../../platform/fault.ts'
import type { CheckFacts, InstalledCrd, WaitingImage } from '../../fleet/check/facts.ts'
import { type KubeObject, podType, type ResourceType, type Stored } from '../../kube/types.ts'
import { podAnnotations } from '../../api/names.ts'
import { version as cliVersion } from '../../platform/version.ts'
import { type Cluster, explainApiError } from '../fleet/cluster.ts'
import { readCluster } from '../fleet/read-fleet.ts'
import { findInstallations, ownLabel } from './installations.ts'
import type { ProbeClients } from './try-endpoints.ts'

const definitionType: ResourceType<Stored<V1CustomResourceDefinition>> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
}

/** Total deadline; each call has a shorter one. */
const withinMs = 120_000

/**
 * Reads everything that `check` evaluates from the cluster; a failed read is a fact too. `operatorNamespace`: the namespace of the operator;
 * undefined: all namespaces.
 */
export async function gatherFacts({ kube, server, context }: Cluster, operatorNamespace: string | undefined): Promise<CheckFacts> {
  const signal = deadline(withinMs)
  const probe: ProbeClients['probe'] = async (work) => {
    try {
      return { kind: 'seen', value: await work() }
    } catch (error) {
      const { reason, message } = asFault(explainApiError(error, server))
      return { kind: reason === 'Forbidden' ? 'refused' : 'failed', message }
    }
  }
  const clients: ProbeClients = { kube, clock: systemClock, signal, probe }
  const base = { server, context, cliVersion }
  const api = await probe(() => kube.requireVersion(signal))
  const none = { kind: 'failed', message: 'the API server does not answer' } as const
  if (api.kind !== 'seen') return { ...base, api, definitions: none, installations: none, fleet: none, images: none }
  const definitions = await probe(() => readDefinitions(clients))
  const fleet = await probe(() => readCluster({ kube, namespace: undefined }, signal))
  const pods = await probe(() => readPods(clients))
  const gatewayPods = pods.kind === 'seen' ? pods.value.filter(isGateway) : []
  const installations = await findInstallations(clients, operatorNamespace, {
    syncs: fleet.kind === 'seen' ? fleet.value.syncs : [],
    pods: gatewayPods,
  })
  const images = pods.kind === 'seen' ? ({ kind: 'seen', value: imagesOf(pods.value) } as const) : pods
  return { ...base, api, definitions, installations, fleet, images }
}

async function readDefinitions({ kube, signal }: ProbeClients): Promise<InstalledCrd[]> {
  const found: InstalledCrd[] = []
  for await (const { items } of kube.listPages(definitionType, { limit: 20 }, signal)) {
    for (const { metadata, spec, status } of items) {
      if (!metadata.name.endsWith('.clustersync.io')) continue
      const { conditions = [] } = status ?? {}
      found.push({
        name: metadata.name,
        established: conditions.some(({ type, status }) => type === 'Established' && status === 'True'),
        served: new Map(spec.versions.filter(({ served }) => served).map(({ name, schema }) => [name, schema?.openAPIV3Schema])),
      })
    }
  }
  return found
}

/** Pods that request an agent, and the operator's own pods. */
async function readPods({ kube, signal }: ProbeClients): Promise<Stored<V1Pod>[]> {
  const found: Stored<V1Pod>[] = []
  for await (const { items } of kube.listPages(podType, {}, signal)) found.push(...items.filter((pod) => isGateway(pod) || isOwn(pod)))
  return found
}

function isGateway({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[podAnnotations.inject] === 'true'
}

function isOwn({ metadata }: KubeObject): boolean {
  return metadata.labels?.[ownLabel.key] === ownLabel.value
}

const imageTroubles: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
])

function imagesOf(pods: readonly Stored<V1Pod>[]): { pods: number; waiting: WaitingImage[] } {
  const waiting = pods.flatMap(({ metadata, status }) => {
    const { initContainerStatuses = [], containerStatuses = [] } = status ?? {}
    return [...initContainerStatuses, ...containerStatuses].flatMap(({ image, state }) => {
      const { reason, message } = state?.waiting ?? {}
      if (reason === undefined || !imageTroubles.has(reason)) return []
      return [{ namespace: metadata.namespace ?? '', pod: metadata.name, image, reason, message }]
    })
  })
  return { pods: pods.length, waiting }
}
