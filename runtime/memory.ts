/**
 * What this thread has in use.
 */
import { getHeapStatistics } from 'node:v8'

/** Bytes of objects and of the buffers that they hold, with what nobody refers to any more. */
export function heapAndBuffers(): number {
  const { used_heap_size: heap, external_memory: buffers } = getHeapStatistics()
  return heap + buffers
}
