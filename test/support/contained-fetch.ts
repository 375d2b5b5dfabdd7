/**
 * Fetches within the memory limit of a container: the controller's mirrors, bundled and started as in the image, in a process that holds as
 * much memory as the whole controller, together with all its git processes.
 */
import path from 'node:path'
import { systemClock } from '../../runtime/platform/clock.ts'
import { imageEnvironment, imageFlags } from './image-flags.ts'
import { bundlePrograms, startProcess } from './measured-process.ts'
import { type MemoryCgroup, memoryCgroup } from './memory-cgroup.ts'
import type { FetchAnswer, FetchMessage } from './programs/fetch-mirrors.ts'

/** The memory limit of the controller's container. */
export const containerMiB = 128
/** The controller uses 47 MiB of anonymous memory at rest, and more while it reconciles. */
export const controllerMiB = 64

export type ContainedFetch = {
  commits: string[]
  tookMs: number
  /** Peak of anonymous memory of all processes together, without file pages, which the kernel reclaims. */
  anonymousMiB: number
  /** The number of processes killed because of the limit. */
  killed: number
}

/** The sampling interval. */
const everyMs = 10

export type Container = {
  /** Fetches all of them concurrently into new mirrors. */
  fetch(message: FetchMessage): Promise<ContainedFetch>
}

/**
 * Bundles the program once into a folder on disk, because mirrors on tmpfs would count against the limit. Undefined if this user may not
 * limit memory.
 */
export async function openContainer(folder: string): Promise<Container | undefined> {
  const first = memoryCgroup(containerMiB)
  if (first === undefined) return undefined
  await first.remove()
  const source = path.join(import.meta.dirname, 'programs/fetch-mirrors.ts')
  const [program = ''] = await bundlePrograms([source], path.join(folder, 'program'))
  let runs = 0
  return {
    async fetch(message) {
      const cgroup = memoryCgroup(containerMiB)
      if (cgroup === undefined) throw new Error('a limit on memory could be set before')
      const args = [path.join(folder, `mirrors-${(runs += 1)}`), String(controllerMiB)]
      const child = await startProcess(program, args, imageFlags('controller'), cgroup, imageEnvironment('controller'))
      const over = new AbortController()
      const watched = highestAnonymous(cgroup, over.signal)
      try {
        const { commits, tookMs } = await child.ask<FetchAnswer>(message)
        over.abort()
        return { commits, tookMs, anonymousMiB: await watched, killed: cgroup.killed() }
      } finally {
        over.abort()
        await watched
        await child.stop()
        await cgroup.remove()
      }
    },
  }
}

async function highestAnonymous(cgroup: MemoryCgroup, signal: AbortSignal): Promise<number> {
  let highest = 0
  while (!signal.aborted) {
    highest = Math.max(highest, cgroup.anonymousMiB())
    await systemClock.wait(everyMs)
  }
  return highest
}
