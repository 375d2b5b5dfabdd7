/**
 * The processes of containers, as seen from the node.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type Pod, containerOf } from './cluster.ts'

/** The first process of a pod's container; throws if it does not run. */
export function processOf(pod: Pod | undefined, container: string): number {
  const pid = runningProcess(pod, container)
  if (pid === undefined) throw new Error(`container ${container} of ${pod?.metadata.name ?? 'a missing pod'} has no process`)
  return pid
}

/** The same, or undefined if it does not run or the pod's status still describes one that has exited. */
export function runningProcess(pod: Pod | undefined, container: string): number | undefined {
  const id = pod === undefined ? undefined : containerOf(pod, container)?.containerID?.replace(/^.*\/\//, '')
  if (id === undefined || id === '') return undefined
  const own = readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && cgroupsOf(pid).includes(id))
  return own.find((pid) => !own.includes(parentOf(pid)))
}

/** The pause process of a pod's sandbox, which ends with it. Throws if there is none. */
export function sandboxOf({ metadata: { name, uid } }: Pod): number {
  const pid = readdirSync('/proc')
    .map(Number)
    .find((pid) => Number.isInteger(pid) && cgroupsOf(pid).includes(uid) && nameOf(pid) === 'pause')
  if (pid === undefined) throw new Error(`pod ${name} has no sandbox`)
  return pid
}

/** Milliseconds since a process was started, to the hundredth of a second. */
export function ageOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The 22nd field, in hundredths of a second since boot; the name before it may contain spaces.
  const startedAt = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
  return Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000 - startedAt * 10
}

/** The memory limit of a container in bytes. */
export function memoryLimitOf(pod: Pod | undefined, container: string): number {
  return Number(readCgroup(processOf(pod, container), 'memory.limit_in_bytes'))
}

/** The peak memory charge of a container so far, and the number of its processes killed by the OOM killer. */
export function memoryOf(pod: Pod | undefined, container: string): { peakMiB: number; kills: number } {
  const pid = processOf(pod, container)
  const kills = Number(/^oom_kill (\d+)$/m.exec(readCgroup(pid, 'memory.oom_control'))?.[1] ?? 0)
  return { peakMiB: Number(readCgroup(pid, 'memory.max_usage_in_bytes')) / (1024 * 1024), kills }
}

function readCgroup(pid: number, file: string): string {
  const [, , folder = ''] = /^\d+:([^:]*,)?memory(?:,[^:]*)?:(.*)$/m.exec(cgroupsOf(pid)) ?? []
  return readFileSync(path.join('/sys/fs/cgroup/memory', folder, file), 'utf8').trim()
}

function cgroupsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8')
  } catch {
    return ''
  }
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return ''
  }
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return 0
  }
}
