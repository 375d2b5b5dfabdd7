/**
 * The controller as its image starts it, in the memory of its container: bundled, with the image's flags and environment, git's children
 * inside. The program of Node is a copy of its own that nobody has read yet, so that its pages count for the container as they do on a node that
 * runs nothing else of that image. Not written from inside: pages that a process has written and then runs count as used twice, and for ever as
 * part of its working set, which no container's program ever does.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { nodeOptions } from '../../../runtime/gatewaysync/names.ts'
import { imageEnvironment, imageFlags } from '../../support/image-flags.ts'
import { memoryOf } from '../../support/measured-process.ts'
import { memoryCgroup, type Stalls } from '../../support/memory-cgroup.ts'

export type Contained = {
  command: readonly string[]
  /** A folder on a disk. */
  folder: string
  /** Undefined where this user may set no limit; then the memory of the process alone is looked at. */
  limitMiB: number | undefined
  /** What the kubelet would tell of the container whose process this is. */
  workingSetMiB(pid: number): number
  /** What all processes inside hold of their own. */
  anonymousMiB(pid: number): number
  /** Pages of files that count as in use; undefined where nobody tells. */
  filesMiB(): number | undefined
  /**
   * How much the kernel reads of the disk for each page that is missing, 128 by its default; undefined where nobody tells. With much more,
   * one missing page of a program drops thousands of others from a small container.
   */
  readAheadKiB: number | undefined
  /** The next start reads the program from the disk, as in a new container: to be called while no process runs. */
  forgetProgram(): void
  /** How many were ended for want of memory so far, which the controller outlives where it is a git; 0 where nobody tells. */
  killed(): number
  /** For what they had to wait so far; undefined where nobody tells. */
  stalls(): Stalls | undefined
  remove(): Promise<void>
}

const root = path.resolve(import.meta.dirname, '../../..')

export function containController(limitMiB: number): Contained {
  execFileSync(process.execPath, [path.join(root, 'scripts/bundle.ts')])
  const cgroup = memoryCgroup(limitMiB)
  // On a disk: files in memory would count for ever.
  const folder = mkdtempSync(path.join(os.tmpdir(), 'cluster-sync-scale-'))
  const node = path.join(folder, 'node')
  const inside = cgroup === undefined ? [] : [cgroup.enter.program, ...cgroup.enter.args]
  const forgetProgram = (): void => void execFileSync('dd', [`if=${node}`, 'iflag=nocache', 'count=0', 'status=none'])
  execFileSync('/bin/sh', ['-c', 'cp "$0" "$1" && sync "$1"', process.execPath, node])
  forgetProgram()
  const environment = Object.entries({ ...imageEnvironment('controller'), NODE_OPTIONS: nodeOptions }).map(
    ([name, value]) => `${name}=${value}`,
  )
  return {
    folder,
    command: [...inside, 'env', ...environment, node, ...imageFlags('controller'), path.join(root, 'build/controller.js')],
    limitMiB: cgroup === undefined ? undefined : limitMiB,
    readAheadKiB: readAheadOf(folder),
    forgetProgram,
    workingSetMiB: (pid) => cgroup?.workingSetMiB() ?? memoryOf(pid).residentMiB,
    anonymousMiB: (pid) => cgroup?.anonymousMiB() ?? memoryOf(pid).anonymousMiB,
    filesMiB: () => cgroup?.activeFilesMiB(),
    killed: () => cgroup?.killed() ?? 0,
    stalls: () => cgroup?.stalls(),
    async remove() {
      await cgroup?.remove()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** By the numbers of the folder's device, as makedev(3) packs them. */
function readAheadOf(folder: string): number | undefined {
  const { dev } = statSync(folder)
  const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)]
  try {
    return Number(readFileSync(`/sys/class/bdi/${major}:${minor}/read_ahead_kb`, 'utf8'))
  } catch {
    return undefined
  }
}

/** Looks again and again; `stop` tells the highest figure and the mean. */
export function sample(look: () => number, everyMs = 50): { stop(): { peak: number; mean: number } } {
  const seen: number[] = [look()]
  const timer = setInterval(() => seen.push(look()), everyMs)
  return {
    stop() {
      clearInterval(timer)
      return { peak: Math.max(...seen), mean: seen.reduce((sum, value) => sum + value, 0) / seen.length }
    },
  }
}

/** Processor time of a process and of its ended children, in milliseconds (fields 14 to 17 of proc(5) stat, 100 ticks a second). */
export function processorMs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0)
}
