/**
 * Releases memory after checks. By default V8 lets tens of megabytes accumulate before it collects, which a small container does not have.
 */
import { heapAndBuffers } from '../../platform/memory.ts'

/**
 * A collection takes some 7 ms. A first check of 10,000 resources leaves this amount six times, a later one that builds the tree of names
 * two thirds of it; small changes reach it after several. With twice the value the processor time was the same, and memory 2 MiB more.
 */
const maxLeftBytes = 1024 * 1024
/** Relative to the memory in use, if that is large: each collection traverses all of it. */
const maxLeftShare = 1 / 16

/**
 * Returns a function to be called regularly, when little memory is in use. `collect` is undefined if the process was started without
 * `--expose-gc`, which the image sets.
 */
export function createReclaimer(
  collect: (() => unknown) | undefined = globalThis.gc,
  usedBytes: () => number = heapAndBuffers,
): () => void {
  let least = Number.POSITIVE_INFINITY
  return () => {
    if (collect === undefined) return
    const used = usedBytes()
    least = Math.min(least, used)
    if (used - least < Math.max(maxLeftBytes, maxLeftShare * least)) return
    collect()
    least = usedBytes()
  }
}
