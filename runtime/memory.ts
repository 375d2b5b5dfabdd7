/**
 * What this thread and this process have in use, and what a container leaves.
 */
import { readFileSync } from 'node:fs'
import { constrainedMemory } from 'node:process'
import { getHeapStatistics } from 'node:v8'

/** Bytes of objects and of the buffers that they hold, with what nobody refers to any more. */
export function heapAndBuffers(): number {
  const { used_heap_size: heap, external_memory: buffers } = getHeapStatistics()
  return heap + buffers
}

/**
 * Bytes of the container's memory that this process does not hold of its own; children and the pages of files share them. Infinite where
 * there is no container, and where the system does not tell.
 */
export function memoryLeft(): number {
  const limit = constrainedMemory()
  const [, kibibytes] = /^RssAnon:\s+(\d+) kB$/m.exec(statusOfProcess()) ?? []
  return limit === 0 || kibibytes === undefined ? Number.POSITIVE_INFINITY : limit - Number(kibibytes) * 1024
}

function statusOfProcess(): string {
  try {
    return readFileSync('/proc/self/status', 'latin1')
  } catch {
    return ''
  }
}
