/**
 * Finds a gateway pod's data directory, and builds the volumes that an agent adds to the pod, each with its mount: its tokens, the
 * downward API, files for probes. Pure.
 */
import { agentVariables, podInfoFiles } from '../settings/agent.ts'
import { deliveryToken, gatewayContainerName, podAnnotations } from '../api/names.ts'
import type { Container, Pod, VolumeMount } from './pod.ts'

/** Where client libraries expect the API token. The mount keeps the ServiceAccount plugin from adding its own. */
const apiTokenFolder = '/var/run/secrets/kubernetes.io/serviceaccount'
const folder = '/var/run/cluster-sync'

/** The lifetime that Kubernetes itself uses for such tokens; kubelets renew them at 80 %. */
const apiTokenSeconds = 3607

type AgentVolume = {
  volume: { name: string } & Record<string, unknown>
  mount: { name: string; mountPath: string; readOnly?: true }
  /** The agent's setting for it, and the path. */
  setting: Partial<Record<keyof typeof agentVariables, string>>
}

/** Where an agent without a port writes probe results. */
export const probeFolder = `${folder}/probes`

/** All are named `cluster-sync-…`; a name that the pod already uses (`taken`) gets a number. */
export function agentVolumes(taken: readonly string[], { withProbes }: { withProbes: boolean }): AgentVolume[] {
  const volumes = [deliveryTokenVolume(), apiTokenVolume(), podInfoVolume(), ...(withProbes ? [probesVolume()] : [])]
  const names = new Set(taken)
  return volumes.map((volume) => renamed(volume, freeName(volume.volume.name, names)))
}

function deliveryTokenVolume(): AgentVolume {
  const { audience, expirySeconds } = deliveryToken
  const source = { serviceAccountToken: { audience, expirationSeconds: expirySeconds, path: 'token' } }
  return agentVolume(
    'delivery-token',
    `${folder}/delivery`,
    { projected: { sources: [source] } },
    { deliveryTokenFile: `${folder}/delivery/token` },
  )
}

function apiTokenVolume(): AgentVolume {
  const sources = [
    { serviceAccountToken: { expirationSeconds: apiTokenSeconds, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
  ]
  return agentVolume('api-token', apiTokenFolder, { projected: { sources } }, {})
}

function podInfoVolume(): AgentVolume {
  const items = [
    { path: podInfoFiles.annotations, fieldRef: { fieldPath: 'metadata.annotations' } },
    { path: podInfoFiles.labels, fieldRef: { fieldPath: 'metadata.labels' } },
  ]
  return agentVolume('pod-info', `${folder}/pod`, { downwardAPI: { items } }, { podInfoDir: `${folder}/pod` })
}

function probesVolume(): AgentVolume {
  const name = 'cluster-sync-probes'
  const emptyDir = { medium: 'Memory', sizeLimit: '1Mi' }
  return { volume: { name, emptyDir }, mount: { name, mountPath: probeFolder }, setting: { probeDir: probeFolder } }
}

function agentVolume(short: string, mountPath: string, source: Record<string, unknown>, setting: AgentVolume['setting']): AgentVolume {
  const name = `cluster-sync-${short}`
  return { volume: { name, ...source }, mount: { name, mountPath, readOnly: true }, setting }
}

function renamed({ volume, mount, setting }: AgentVolume, name: string): AgentVolume {
  return { volume: { ...volume, name }, mount: { ...mount, name }, setting }
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name
  let number = 2
  while (taken.has(`${name}-${number}`)) number += 1
  return `${name}-${number}`
}

/** The data directory of the gateway's image. */
const defaultDataDir = '/usr/local/bin/ignition/data'

/** Names that charts give the data volume. */
const defaultNames = ['ignition-data', 'data']

/** `mount` is repeated in the agent's container. */
export type DataVolume =
  | { kind: 'found'; mount: Pick<VolumeMount, 'name' | 'mountPath' | 'subPath' | 'subPathExpr'>; warning: string | undefined }
  | { kind: 'missing'; why: string }

/** Returns the gateway's container by its name, or undefined. */
export function gatewayContainer(pod: Pod): Container | undefined {
  return pod.spec.containers.find(({ name }) => name === gatewayContainerName)
}

/** Returns the volume that the gateway's container mounts at its data directory. */
function mountedAsData(pod: Pod, names: ReadonlySet<string>): string | undefined {
  const mounts = gatewayContainer(pod)?.volumeMounts ?? []
  return mounts.find(({ name, mountPath }) => withoutSlash(mountPath) === defaultDataDir && names.has(name))?.name
}

/** Returns the volume that the annotation names, else the one mounted at the data directory, else the only one with a default name. */
export function findDataVolume(pod: Pod): DataVolume {
  const names = new Set(pod.spec.volumes?.map(({ name }) => name))
  const requested = pod.metadata.annotations?.[podAnnotations.dataVolume]
  const usual = defaultNames.filter((one) => names.has(one))
  const name =
    requested === undefined || requested === '' ? (mountedAsData(pod, names) ?? (usual.length === 1 ? usual[0] : undefined)) : requested
  if (name === undefined) {
    const what =
      usual.length > 1
        ? `the volumes ${usual.join(' and ')}, none of them mounted at ${defaultDataDir}`
        : `no volume ${defaultNames.join(' or ')}`
    return { kind: 'missing', why: `the pod has ${what}; name it in the annotation ${podAnnotations.dataVolume}` }
  }
  if (!names.has(name)) {
    return {
      kind: 'missing',
      why: `annotation ${podAnnotations.dataVolume}: the pod has no volume "${name}"; it has: ${[...names].join(', ') || 'none'}`,
    }
  }
  return mountOf(pod, name)
}

/** Returns the gateway's own mount; in a pod without a container of that name, the mount of any container. */
function mountOf(pod: Pod, name: string): DataVolume {
  const gateway = gatewayContainer(pod)
  const mounts = (gateway === undefined ? pod.spec.containers : [gateway])
    .flatMap(({ volumeMounts }) => volumeMounts ?? [])
    .filter((mount) => mount.name === name)
  const mount = mounts.find(({ mountPath }) => withoutSlash(mountPath) === defaultDataDir) ?? mounts[0]
  if (mount === undefined) {
    const who = gateway === undefined ? 'no container mounts' : `container ${gatewayContainerName} does not mount`
    return {
      kind: 'found',
      mount: { name, mountPath: defaultDataDir },
      warning: `${who} the data volume "${name}"; the agent uses its root as the data directory`,
    }
  }
  // A part of the data directory is not enough: subPath can rename folders, so the layout of the rest of the volume is unknown, and the
  // records of the agent would be outside it. A volume that is mounted elsewhere is used, because custom images move the directory.
  const place = withoutSlash(mount.mountPath)
  if (place.startsWith(`${defaultDataDir}/`) || defaultDataDir.startsWith(`${place}/`)) {
    const why = `volume "${name}" is mounted at ${place}, which is not the data directory`
    return { kind: 'missing', why: `${why}; mount the whole data directory, ${defaultDataDir}` }
  }
  const { mountPath, subPath, subPathExpr } = mount
  const part = subPathExpr !== undefined ? { subPathExpr } : subPath !== undefined ? { subPath } : {}
  const warning = mount.readOnly === true ? `the gateway mounts its data volume "${name}" read-only` : undefined
  return { kind: 'found', mount: { name, mountPath, ...part }, warning }
}

function withoutSlash(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}
