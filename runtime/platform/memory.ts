/**
 * Measures the memory of this thread and process, and what the container leaves.
 */
import { readFileSync } from 'node:fs'
import { constrainedMemory } from 'node:process'
import { getHeapStatistics } from 'node:v8'

/** The maximum size of this thread's heap, in bytes, which follows from the memory of the container. */
export function heapLimit(): number {
  return getHeapStatistics().heap_size_limit
}

/** Bytes of objects and of the buffers that they hold, including garbage. */
export function heapAndBuffers(): number {
  const { used_heap_size: heap, external_memory: buffers } = getHeapStatistics()
  return heap + buffers
}

/**
 * Bytes of the container's memory that this process does not hold itself; children and the page cache share them. Infinite without a
 * container, and if the system does not report it.
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
