/**
 * Gives back what checks have left behind. V8 by itself lets tens of megabytes gather before it looks, which a small container does not
 * have.
 */
import { heapAndBuffers } from '../../memory.ts'

/**
 * A collection takes some 7 ms. A first check of 10,000 resources leaves this behind six times, a later one that builds the tree of names two
 * thirds of it; of small changes it takes several. With twice as much the processor time was no less, and memory 2 MiB more.
 */
const maxLeftBytes = 1024 * 1024
/** Of what is in use, where that is much: each collection goes through all of it. */
const maxLeftShare = 1 / 16

/**
 * Returns what has to be called now and then, when little is in use. `collect` is undefined where the process was started without
 * `--expose-gc`, as the image is.
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
