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
  /** How many processes the kernel has ended because the limit was reached. */
  killed(): number
  /** To be called when nothing runs inside any more. */
  remove(): Promise<void>
}

type Files = {
  parent: string
  limit: string
  usage: string
  peak: string
  inactive: string
  anonymous: string
  kills: string
  swap?: string
}

const first: Files = {
  parent: '/sys/fs/cgroup/memory',
  limit: 'memory.limit_in_bytes',
  usage: 'memory.usage_in_bytes',
  peak: 'memory.max_usage_in_bytes',
  inactive: 'total_inactive_file',
  anonymous: 'total_rss',
  kills: 'memory.oom_control',
}
const second: Files = {
  parent: '/sys/fs/cgroup',
  limit: 'memory.max',
  usage: 'memory.current',
  peak: 'memory.peak',
  inactive: 'inactive_file',
  anonymous: 'anon',
  kills: 'memory.events',
  swap: 'memory.swap.max',
}
const mebibyte = 1024 * 1024

/** Undefined where there is none to be had. */
export function memoryCgroup(limitMiB: number): MemoryCgroup | undefined {
  const files = existsSync(path.join(first.parent, first.limit)) ? first : second
  const folder = path.join(files.parent, `cluster-sync-${systemClock.uuid()}`)
  try {
    mkdirSync(folder)
  } catch {
    return undefined
  }
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
  return {
    enter: { program: '/bin/sh', args: ['-c', 'echo $$ > "$0" && exec "$@"', path.join(folder, 'cgroup.procs')] },
    peakMiB: () => Number(read(files.peak)) / mebibyte,
    workingSetMiB: () => (Number(read(files.usage)) - numberIn(read('memory.stat'), files.inactive)) / mebibyte,
    anonymousMiB: () => numberIn(read('memory.stat'), files.anonymous) / mebibyte,
    killed: () => numberIn(read(files.kills), 'oom_kill'),
    async remove() {
      const endMs = systemClock.monotonicMs() + 10_000
      while (!isRemoved(folder) && systemClock.monotonicMs() < endMs) await systemClock.wait(20)
    },
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
