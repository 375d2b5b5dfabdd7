/**
 * Collects garbage before too much accumulates. V8 collects at 30 percent above what the last collection left, but checks only when it
 * needs another page: young objects that survive two young collections do not count unless V8 marks incrementally, which it does not in the
 * image. Without this, starting with a thousand GatewaySyncs took 72 MiB of heap with 20 in use, most of the container, and pages of Node's
 * program were evicted.
 */
import { PerformanceObserver } from 'node:perf_hooks'
import { heapAndBuffers } from '../../platform/memory.ts'

/** A collection takes about 20 ms with a thousand GatewaySyncs in use. */
const minGarbageBytes = 8 * 1024 * 1024
/** Of what is in use: the more that is, the longer a collection takes. */
const garbageShare = 0.3

/** The heap of the process. */
export type Heap = {
  /** Including garbage and buffers. */
  usedBytes(): number
  collect(): void
  /** Calls `look` when V8 has collected young objects, after each mebibyte of them, until `signal` aborts. */
  onGrowth(onGrown: () => void, signal: AbortSignal): void
}

/** Runs until `signal` aborts. `heap` is undefined unless the process was started with `--expose-gc`, as it is in the image. */
export function boundGarbage(signal: AbortSignal, heap: Heap | undefined = openHeap(globalThis.gc)): void {
  let least = Number.POSITIVE_INFINITY
  heap?.onGrowth(() => {
    const used = heap.usedBytes()
    least = Math.min(least, used)
    if (used - least < Math.max(minGarbageBytes, least * garbageShare)) return
    heap.collect()
    least = heap.usedBytes()
  }, signal)
}

function openHeap(gc: typeof globalThis.gc): Heap | undefined {
  if (gc === undefined) return undefined
  return {
    usedBytes: heapAndBuffers,
    collect: () => gc({ type: 'major', execution: 'sync' }),
    onGrowth(onGrown, signal) {
      const observer = new PerformanceObserver(onGrown)
      observer.observe({ entryTypes: ['gc'] })
      signal.addEventListener('abort', () => observer.disconnect(), { once: true })
    },
  }
}
