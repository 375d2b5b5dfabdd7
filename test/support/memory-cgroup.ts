/**
 * A memory limit as in a container, if this user may set one: Linux with cgroups of version 1 or 2.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { systemClock } from '../../runtime/platform/clock.ts'

export type MemoryCgroup = {
  /** A command that runs another one inside. */
  enter: { program: string; args: readonly string[] }
  /** Peak of the charged memory so far. */
  peakMiB(): number
  /** Current charge without what the kernel reclaims first: the measure that the kubelet uses for a container. */
  workingSetMiB(): number
  /** Current anonymous memory of all processes inside, without file pages. */
  anonymousMiB(): number
  /** File pages that were used more than once: they count as in use although the kernel can reclaim them. */
  activeFilesMiB(): number
  /** The number of processes that the OOM killer has killed because of the limit. */
  killed(): number
  /** Stall times of the processes inside, since the cgroup was created. */
  stalls(): Stalls
  /** Call when no process runs inside. */
  remove(): Promise<void>
}

/**
 * `memoryMs`, `processorMs`, `diskMs`: how long at least one thread inside was stalled (PSI); undefined if the kernel does not report it.
 * `readAgainMiB`: file pages that were reclaimed and read again.
 */
export type Stalls = {
  memoryMs: number | undefined
  processorMs: number | undefined
  diskMs: number | undefined
  readAgainMiB: number
}

type Files = {
  parent: string
  limit: string
  usage: string
  peak: string
  inactive: string
  active: string
  anonymous: string
  kills: string
  /** In pages. */
  refaults: string
  swap?: string
}

const first: Files = {
  parent: '/sys/fs/cgroup/memory',
  limit: 'memory.limit_in_bytes',
  usage: 'memory.usage_in_bytes',
  peak: 'memory.max_usage_in_bytes',
  inactive: 'total_inactive_file',
  active: 'total_active_file',
  anonymous: 'total_rss',
  kills: 'memory.oom_control',
  refaults: 'total_workingset_refault_file',
}
const second: Files = {
  parent: '/sys/fs/cgroup',
  limit: 'memory.max',
  usage: 'memory.current',
  peak: 'memory.peak',
  inactive: 'inactive_file',
  active: 'active_file',
  anonymous: 'anon',
  kills: 'memory.events',
  refaults: 'workingset_refault_file',
  swap: 'memory.swap.max',
}
const mebibyte = 1024 * 1024
const pageBytes = 4_096
/** With limits by cgroups of version 1, version 2 may be mounted as well: only it reports stalls. */
const besideFirst = '/sys/fs/cgroup/unified'

/** Undefined if no limit is available. */
export function memoryCgroup(limitMiB: number): MemoryCgroup | undefined {
  const files = existsSync(path.join(first.parent, first.limit)) ? first : second
  const name = `cluster-sync-${systemClock.uuid()}`
  const folder = path.join(files.parent, name)
  if (!isMade(folder)) return undefined
  try {
    writeFileSync(path.join(folder, files.limit), String(limitMiB * mebibyte))
    if (files.swap !== undefined && existsSync(path.join(folder, files.swap))) writeFileSync(path.join(folder, files.swap), '0')
    // Without write permission no process can be moved inside.
    writeFileSync(path.join(folder, 'cgroup.procs'), '')
  } catch (error) {
    if (!isEmptyWrite(error)) {
      rmdirSync(folder)
      return undefined
    }
  }
  const read = (name: string): string => readFileSync(path.join(folder, name), 'utf8')
  const beside = path.join(besideFirst, name)
  const telling = files === first && isMade(beside) ? beside : folder
  const waited = (what: string): number | undefined => {
    const file = path.join(telling, `${what}.pressure`)
    return existsSync(file) ? Number(/^some .*total=(\d+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? 0) / 1_000 : undefined
  }
  const join = 'echo $$ > "$0" && echo $$ > "$1" && shift && exec "$@"'
  return {
    enter: { program: '/bin/sh', args: ['-c', join, path.join(folder, 'cgroup.procs'), path.join(telling, 'cgroup.procs')] },
    peakMiB: () => Number(read(files.peak)) / mebibyte,
    workingSetMiB: () => (Number(read(files.usage)) - numberIn(read('memory.stat'), files.inactive)) / mebibyte,
    anonymousMiB: () => numberIn(read('memory.stat'), files.anonymous) / mebibyte,
    activeFilesMiB: () => numberIn(read('memory.stat'), files.active) / mebibyte,
    killed: () => numberIn(read(files.kills), 'oom_kill'),
    stalls: () => ({
      memoryMs: waited('memory'),
      processorMs: waited('cpu'),
      diskMs: waited('io'),
      readAgainMiB: (numberIn(read('memory.stat'), files.refaults) * pageBytes) / mebibyte,
    }),
    async remove() {
      const endMs = systemClock.monotonicMs() + 10_000
      for (const each of new Set([folder, telling])) {
        while (!isRemoved(each) && systemClock.monotonicMs() < endMs) await systemClock.wait(20)
      }
    },
  }
}

function isMade(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch {
    return false
  }
}

/** Reads a value from lines of name and number; 0 if the name is missing. */
function numberIn(text: string, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
}

function isEmptyWrite(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EINVAL'
}

/** A process that has just exited stays inside for a moment. */
function isRemoved(folder: string): boolean {
  try {
    rmdirSync(folder)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT'
  }
}
