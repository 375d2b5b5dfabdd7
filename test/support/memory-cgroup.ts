/**
 * A limit on memory as a container has it, where this user may set one: Linux with cgroups of version 1 or 2.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { systemClock } from '../../runtime/clock.ts'

export type MemoryCgroup = {
  /** A command that runs another one inside. */
  enter: { program: string; args: readonly string[] }
  /** The most that was charged so far. */
  peakMiB(): number
  /** What is charged now but for what the kernel may drop first: by this the kubelet measures a container. */
  workingSetMiB(): number
  /** What all processes inside hold of their own at the moment, without the pages of files. */
  anonymousMiB(): number
  /** The pages of files that were used more than once: they count as in use although the kernel may drop them. */
  activeFilesMiB(): number
  /** How many processes the kernel has ended because the limit was reached. */
  killed(): number
  /** For what the processes inside had to wait, since the cgroup was made. */
  stalls(): Stalls
  /** To be called when nothing runs inside any more. */
  remove(): Promise<void>
}

/**
 * `memoryMs`, `processorMs`, `diskMs`: how long at least one thread inside could not go on for want of it (PSI); undefined where the kernel does
 * not tell. `readAgainMiB`: pages of files that had been dropped and were read again.
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
/** Where cgroups of version 1 limit, those of version 2 may stand beside them: only they tell for what processes wait. */
const besideFirst = '/sys/fs/cgroup/unified'

/** Undefined where there is none to be had. */
export function memoryCgroup(limitMiB: number): MemoryCgroup | undefined {
  const files = existsSync(path.join(first.parent, first.limit)) ? first : second
  const name = `cluster-sync-${systemClock.uuid()}`
  const folder = path.join(files.parent, name)
  if (!isMade(folder)) return undefined
  try {
    writeFileSync(path.join(folder, files.limit), String(limitMiB * mebibyte))
    if (files.swap !== undefined && existsSync(path.join(folder, files.swap))) writeFileSync(path.join(folder, files.swap), '0')
    // Where nobody may write this, nobody gets in.
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

/** Of a text with a name and a number on each line; 0 where it has none of that name. */
function numberIn(text: string, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
}

function isEmptyWrite(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EINVAL'
}

/** A process that has just ended is inside for a moment longer. */
function isRemoved(folder: string): boolean {
  try {
    rmdirSync(folder)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT'
  }
}
