/**
 * Acts as the kubelet of one injected container: resolves its environment, writes its volumes, starts its process, probes it. The program
 * runs on this machine, so paths below a mount are replaced by local folders.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** The relevant parts of a pod, as the API server returns it. */
export type PodObject = {
  metadata: { name: string; namespace: string; uid: string; annotations?: Record<string, string>; labels?: Record<string, string> }
  spec: {
    serviceAccountName?: string
    initContainers?: ContainerObject[]
    containers: ContainerObject[]
    volumes?: VolumeObject[]
  }
}
export type ContainerObject = {
  name: string
  env?: { name: string; value?: string; valueFrom?: { fieldRef?: { fieldPath: string } } }[]
  volumeMounts?: { name: string; mountPath: string; subPath?: string }[]
  startupProbe?: { httpGet: { path: string; port: number } }
}
type VolumeObject = {
  name: string
  downwardAPI?: { items: DownwardItem[] }
  projected?: {
    sources: {
      serviceAccountToken?: { audience?: string; path: string }
      configMap?: { items?: { key: string; path: string }[] }
      downwardAPI?: { items: DownwardItem[] }
    }[]
  }
}
type DownwardItem = { path: string; fieldRef?: { fieldPath: string } }

export type KubeletOptions = {
  pod: PodObject
  container: string
  /** The folder for volumes; must exist. */
  folder: string
  /** Local folders for volumes that exist outside the pod, by volume name. */
  volumes: Readonly<Record<string, string>>
  /** A token bound to the pod. An undefined audience is the API server's own. */
  token(audience: string | undefined): Promise<string>
  /** The certificate authority of the API server, PEM. */
  clusterCa: string
  /** Overrides the environment of the pod. */
  env: Readonly<Record<string, string>>
  /** Command and arguments in place of the image's entrypoint. */
  command: readonly [string, ...string[]]
  log(line: string): void
}

/** Starts the container's process. */
export async function startContainer(options: KubeletOptions): Promise<ChildProcess> {
  const { pod, command, log } = options
  const container = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].find(({ name }) => name === options.container)
  if (container === undefined) throw new Error(`pod ${pod.metadata.name} has no container ${options.container}`)
  const folders = await writeVolumes(options)
  const mounts = (container.volumeMounts ?? []).map(({ name, mountPath, subPath }) => ({
    mountPath,
    folder: path.join(folders.get(name) ?? path.join(options.folder, 'missing'), subPath ?? ''),
  }))
  const env = { PATH: process.env['PATH'] ?? '', ...environmentOf(pod, container, mounts), ...options.env }
  const [program, ...args] = command
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => log(chunk.toString('utf8')))
  return child
}

/** Rewrites the downward API's files, like a kubelet when annotations or labels change. */
export function writeDownward(folder: string, pod: PodObject, items: readonly DownwardItem[]): void {
  for (const item of items) {
    const fields = item.fieldRef?.fieldPath === 'metadata.labels' ? pod.metadata.labels : pod.metadata.annotations
    const lines = Object.entries(fields ?? {}).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    writeFileSync(path.join(folder, item.path), lines.toSorted().join('\n'))
  }
}

async function writeVolumes({ pod, folder, volumes, token, clusterCa }: KubeletOptions): Promise<Map<string, string>> {
  const folders = new Map(Object.entries(volumes))
  for (const volume of pod.spec.volumes ?? []) {
    if (folders.has(volume.name)) continue
    const target = path.join(folder, volume.name)
    mkdirSync(target, { recursive: true })
    folders.set(volume.name, target)
    writeDownward(target, pod, volume.downwardAPI?.items ?? [])
    for (const source of volume.projected?.sources ?? []) {
      writeDownward(target, pod, source.downwardAPI?.items ?? [])
      const desired = source.serviceAccountToken
      if (desired !== undefined) writeFileSync(path.join(target, desired.path), await token(desired.audience), { mode: 0o600 })
      for (const item of source.configMap?.items ?? []) writeFileSync(path.join(target, item.path), clusterCa)
    }
  }
  return folders
}

type Mount = { mountPath: string; folder: string }

function environmentOf(pod: PodObject, container: ContainerObject, mounts: readonly Mount[]): Record<string, string> {
  const env: Record<string, string> = {}
  for (const { name, value, valueFrom } of container.env ?? []) {
    const text = valueFrom === undefined ? expand(value ?? '', env) : fieldOf(pod, valueFrom.fieldRef?.fieldPath ?? '')
    env[name] = onThisMachine(text, mounts)
  }
  return env
}

function expand(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(/\$\$|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)/g, (whole, name?: string) =>
    whole === '$$' ? '$' : (env[name ?? ''] ?? whole),
  )
}

function fieldOf({ metadata, spec }: PodObject, fieldPath: string): string {
  const fields: Record<string, string> = {
    'metadata.name': metadata.name,
    'metadata.namespace': metadata.namespace,
    'metadata.uid': metadata.uid,
    'spec.serviceAccountName': spec.serviceAccountName ?? 'default',
  }
  const value = fields[fieldPath]
  if (value === undefined) throw new Error(`the test's kubelet does not know the field ${fieldPath}`)
  return value
}

function onThisMachine(text: string, mounts: readonly Mount[]): string {
  const mount = mounts
    .toSorted((a, b) => b.mountPath.length - a.mountPath.length)
    .find(({ mountPath }) => text === mountPath || text.startsWith(`${mountPath}/`))
  return mount === undefined ? text : path.join(mount.folder, text.slice(mount.mountPath.length))
}
