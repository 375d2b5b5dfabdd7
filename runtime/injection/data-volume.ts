/**
 * Finds a gateway pod's data directory: which volume holds it, and how the gateway's container mounts it. Pure.
 */
import { gatewayContainerName, podAnnotations } from '../gatewaysync/names.ts'
import type { Container, Pod, VolumeMount } from './pod.ts'

/** The data directory of the gateway's image. */
const usualDataDir = '/usr/local/bin/ignition/data'

/** Names that charts give the data volume. */
const usualNames = ['ignition-data', 'data']

/** `mount` is repeated in the agent's container. */
export type DataVolume =
  | { kind: 'found'; mount: Pick<VolumeMount, 'name' | 'mountPath' | 'subPath' | 'subPathExpr'>; warning: string | undefined }
  | { kind: 'missing'; why: string }

/** The container that the gateway runs in, by its name; undefined when the pod has none with that name. */
export function gatewayContainer(pod: Pod): Container | undefined {
  return pod.spec.containers.find(({ name }) => name === gatewayContainerName)
}

/** The volume that the gateway's container mounts at its data directory. */
function mountedAsData(pod: Pod, names: readonly string[]): string | undefined {
  const mounts = gatewayContainer(pod)?.volumeMounts ?? []
  return mounts.find(({ name, mountPath }) => withoutSlash(mountPath) === usualDataDir && names.includes(name))?.name
}

/** Takes the volume that the annotation names, else the one mounted at the data directory, else the only one with a usual name. */
export function findDataVolume(pod: Pod): DataVolume {
  const names = (pod.spec.volumes ?? []).map(({ name }) => name)
  const asked = pod.metadata.annotations?.[podAnnotations.dataVolume]
  const usual = usualNames.filter((one) => names.includes(one))
  const name = asked === undefined || asked === '' ? (mountedAsData(pod, names) ?? (usual.length === 1 ? usual[0] : undefined)) : asked
  if (name === undefined) {
    const what =
      usual.length > 1
        ? `the volumes ${usual.join(' and ')}, none of them mounted at ${usualDataDir}`
        : `no volume ${usualNames.join(' or ')}`
    return { kind: 'missing', why: `the pod has ${what}; name it in the annotation ${podAnnotations.dataVolume}` }
  }
  if (!names.includes(name)) {
    return {
      kind: 'missing',
      why: `annotation ${podAnnotations.dataVolume}: the pod has no volume "${name}"; it has: ${names.join(', ') || 'none'}`,
    }
  }
  return { kind: 'found', ...mountOf(pod, name) }
}

/** The gateway's own mount; in a pod without a container of that name, the first mount of the volume. */
function mountOf(pod: Pod, name: string): Omit<Extract<DataVolume, { kind: 'found' }>, 'kind'> {
  const gateway = gatewayContainer(pod)
  const mounts = (gateway === undefined ? pod.spec.containers : [gateway])
    .flatMap(({ volumeMounts }) => volumeMounts ?? [])
    .filter((mount) => mount.name === name)
  const mount = mounts.find(({ mountPath }) => withoutSlash(mountPath) === usualDataDir) ?? mounts[0]
  if (mount === undefined) {
    const who = gateway === undefined ? 'no container mounts' : `container ${gatewayContainerName} does not mount`
    return {
      mount: { name, mountPath: usualDataDir },
      warning: `${who} the data volume "${name}"; its root is taken for the data directory`,
    }
  }
  const { mountPath, subPath, subPathExpr } = mount
  const part = subPathExpr !== undefined ? { subPathExpr } : subPath !== undefined ? { subPath } : {}
  const warning = mount.readOnly === true ? `the gateway mounts its data volume "${name}" read-only` : undefined
  return { mount: { name, mountPath, ...part }, warning }
}

function withoutSlash(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}
