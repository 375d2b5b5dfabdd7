/**
 * Lets only so many of something be under way at once; the others wait in the order in which they came.
 */

/** Runs `work` when it is its turn, and hands on what it returns or throws. */
export type Limited = <Result>(work: () => Promise<Result>) => Promise<Result>

/** `atOnce` is at least 1. Each piece of work must end by itself, for the next one waits for it. */
export function limitConcurrency(atOnce: number): Limited {
  const waiting: (() => void)[] = []
  let free = atOnce
  return async (work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((start) => waiting.push(start))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}
