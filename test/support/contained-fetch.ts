/**
 * Fetches within the memory of a container: the controller's mirrors, bundled and started as in the image, in a process that holds what
 * the whole controller holds, with all processes of git beside it.
 */
import path from 'node:path'
import { systemClock } from '../../runtime/clock.ts'
import { imageEnvironment, imageFlags } from './image-flags.ts'
import { bundlePrograms, startProcess } from './measured-process.ts'
import { type MemoryCgroup, memoryCgroup } from './memory-cgroup.ts'
import type { FetchAnswer, FetchMessage } from './programs/fetch-mirrors.ts'

/** The limit of the controller's container. */
export const containerMiB = 128
/** The controller holds 47 MiB of its own at rest, and more while it reconciles. */
export const controllerMiB = 64

export type ContainedFetch = {
  commits: string[]
  tookMs: number
  /** The most that all processes together held of their own, without the pages of files, which the kernel takes back. */
  anonymousMiB: number
  /** How many processes were ended because the limit was reached. */
  killed: number
}

/** How often the processes are looked at. */
const everyMs = 10

export type Container = {
  /** Fetches all of them at once into new mirrors. */
  fetch(message: FetchMessage): Promise<ContainedFetch>
}

/**
 * Bundles the program once, into a folder on disk: in memory the mirrors themselves would count. Undefined where this user may set no limit
 * on memory.
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
