/**
 * Collects garbage before much of it has gathered. V8 has a limit for that, 30 percent above what the last collection left, but looks at it only
 * when it needs another page for itself: what young objects take that outlive two collections of the young is not held against it where V8 does
 * not mark in small steps, as in the image. So the start of a thousand GatewaySyncs took 72 MiB of heap with 20 in use, most of the container,
 * and pages of Node's program had to make room for it.
 */
import { PerformanceObserver } from 'node:perf_hooks'
import { heapAndBuffers } from '../../memory.ts'

/** A collection takes some 20 ms where a thousand GatewaySyncs are in use. */
const leastGarbageBytes = 8 * 1024 * 1024
/** Of what is in use: the more that is, the longer a collection takes. */
const garbageShare = 0.3

/** The heap of the process. */
export type Heap = {
  /** With garbage, and with buffers. */
  usedBytes(): number
  collect(): void
  /** Calls `look` until the signal when V8 has collected young objects, which it does after each mebibyte of them. */
  onGrowth(look: () => void, signal: AbortSignal): void
}

/** Looks until the signal. `heap` is undefined unless the process was started with `--expose-gc`, as it is in the image. */
export function boundGarbage(signal: AbortSignal, heap: Heap | undefined = openHeap(globalThis.gc)): void {
  let least = Number.POSITIVE_INFINITY
  heap?.onGrowth(() => {
    const used = heap.usedBytes()
    least = Math.min(least, used)
    if (used - least < Math.max(leastGarbageBytes, least * garbageShare)) return
    heap.collect()
    least = heap.usedBytes()
  }, signal)
}

function openHeap(gc: typeof globalThis.gc): Heap | undefined {
  if (gc === undefined) return undefined
  return {
    usedBytes: heapAndBuffers,
    collect: () => gc({ type: 'major', execution: 'sync' }),
    onGrowth(look, signal) {
      const observer = new PerformanceObserver(look)
      observer.observe({ entryTypes: ['gc'] })
      signal.addEventListener('abort', () => observer.disconnect(), { once: true })
    },
  }
}
