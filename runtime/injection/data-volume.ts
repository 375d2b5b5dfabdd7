/**
 * Finds a gateway pod's data directory: its volume, and how the gateway's container mounts it. Pure.
 */
import { gatewayContainerName, podAnnotations } from '../api/names.ts'
import type { Container, Pod, VolumeMount } from './pod.ts'

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
function mountedAsData(pod: Pod, names: readonly string[]): string | undefined {
  const mounts = gatewayContainer(pod)?.volumeMounts ?? []
  return mounts.find(({ name, mountPath }) => withoutSlash(mountPath) === defaultDataDir && names.includes(name))?.name
}

/** Returns the volume that the annotation names, else the one mounted at the data directory, else the only one with a default name. */
export function findDataVolume(pod: Pod): DataVolume {
  const names = (pod.spec.volumes ?? []).map(({ name }) => name)
  const asked = pod.metadata.annotations?.[podAnnotations.dataVolume]
  const usual = defaultNames.filter((one) => names.includes(one))
  const name = asked === undefined || asked === '' ? (mountedAsData(pod, names) ?? (usual.length === 1 ? usual[0] : undefined)) : asked
  if (name === undefined) {
    const what =
      usual.length > 1
        ? `the volumes ${usual.join(' and ')}, none of them mounted at ${defaultDataDir}`
        : `no volume ${defaultNames.join(' or ')}`
    return { kind: 'missing', why: `the pod has ${what}; name it in the annotation ${podAnnotations.dataVolume}` }
  }
  if (!names.includes(name)) {
    return {
      kind: 'missing',
      why: `annotation ${podAnnotations.dataVolume}: the pod has no volume "${name}"; it has: ${names.join(', ') || 'none'}`,
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
      warning: `${who} the data volume "${name}"; its root is taken for the data directory`,
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
