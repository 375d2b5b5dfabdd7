/**
 * The controller as its image starts it, within the memory limit of its container: bundled, with the image's flags and environment, git's
 * child processes included. The Node executable is a fresh copy on disk that no process has read, so that its pages count for the container
 * as on a node that runs no other container of that image. The copy is written from outside the container: pages that a process has written
 * and then executes count as used twice and stay in its working set, which never happens to a container's program.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { nodeOptions } from '../../../runtime/api/names.ts'
import { imageEnvironment, imageFlags } from '../../support/image-flags.ts'
import { memoryOf } from '../../support/measured-process.ts'
import { memoryCgroup, type Stalls } from '../../support/memory-cgroup.ts'

export type Contained = {
  command: readonly string[]
  /** A folder on disk. */
  folder: string
  /** Undefined if this user may not set a limit; then only the memory of the process is measured. */
  limitMiB: number | undefined
  /** The working set that the kubelet would report for the container of this process. */
  workingSetMiB(pid: number): number
  /** Anonymous memory of all processes inside. */
  anonymousMiB(pid: number): number
  /** File pages that count as in use; undefined if unknown. */
  filesMiB(): number | undefined
  /**
   * Read-ahead of the disk in KiB for each missing page, 128 by default; undefined if unknown. With a much larger value, one missing page
   * of a program evicts thousands of other pages from a small container.
   */
  readAheadKiB: number | undefined
  /** Makes the next start read the program from disk, as in a new container. Call it while no process runs. */
  forgetProgram(): void
  /** The number of processes killed by the OOM killer, 0 if unknown. The controller survives the loss of a git process. */
  killed(): number
  /** Stall times so far; undefined if unknown. */
  stalls(): Stalls | undefined
  remove(): Promise<void>
}

const root = path.resolve(import.meta.dirname, '../../..')

export function containController(limitMiB: number): Contained {
  execFileSync(process.execPath, [path.join(root, 'scripts/bundle.ts')])
  const cgroup = memoryCgroup(limitMiB)
  // On disk, since files on tmpfs would count for the whole run.
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

/** From the major and minor numbers of the folder's device, encoded as in makedev(3). */
function readAheadOf(folder: string): number | undefined {
  const { dev } = statSync(folder)
  const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)]
  try {
    return Number(readFileSync(`/sys/class/bdi/${major}:${minor}/read_ahead_kb`, 'utf8'))
  } catch {
    return undefined
  }
}

/** Samples periodically; `stop` returns peak and mean. */
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
