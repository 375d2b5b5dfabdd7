/**
 * How much memory the processes of git may have together: as many questions and small fetches as fit, and one large fetch at a time. A
 * fetch begins small; the few repositories that need more are fetched large from then on.
 */

export type MemoryUse = { maxMemoryBytes: number } & Disposable

/** A question brings next to nothing; most fetches are small. */
export type CallSize = 'question' | 'small' | 'large'

export type GitMemory = {
  /** Waits for its share; whoever holds it gives it back. */
  take(size: CallSize, signal: AbortSignal): Promise<MemoryUse>
}

const mebibyte = 1024 * 1024

/**
 * RLIMIT_DATA, which counts stacks of threads that are never touched, and what git then really has: 11 to 14 MiB for packs of 100 MB over
 * https, 46 for two similar texts of 20 MB (docs/performance.md).
 */
const sizes = {
  question: { maxMemoryBytes: 48 * mebibyte, weight: 8 * mebibyte },
  small: { maxMemoryBytes: 48 * mebibyte, weight: 14 * mebibyte },
  large: { maxMemoryBytes: 96 * mebibyte, weight: 48 * mebibyte },
}

/** Within 128, beside 64 MiB of the controller and what its readers of git hold. */
const usualBudget = 56 * mebibyte

/** `budget`: bytes that all processes of git may take together. A share is given back when it is disposed of. */
export function createGitMemory(budget = usualBudget): GitMemory {
  let free = budget
  const waiting: { weight: number; start(): void }[] = []
  const startNext = (): void => {
    // A large one that waits holds up no small one.
    for (
      let index = waiting.findIndex(({ weight }) => weight <= free);
      index >= 0;
      index = waiting.findIndex(({ weight }) => weight <= free)
    ) {
      const [next] = waiting.splice(index, 1)
      if (next === undefined) return
      free -= next.weight
      next.start()
    }
  }
  const giveBack = (weight: number): void => {
    free += weight
    startNext()
  }
  return {
    async take(size, signal) {
      signal.throwIfAborted()
      const { maxMemoryBytes, weight } = sizes[size]
      await new Promise<void>((resolve, reject) => {
        const leave = (): void => {
          const index = waiting.indexOf(entry)
          if (index < 0) return
          waiting.splice(index, 1)
          reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
        }
        const entry = {
          weight,
          start() {
            signal.removeEventListener('abort', leave)
            resolve()
          },
        }
        signal.addEventListener('abort', leave, { once: true })
        waiting.push(entry)
        startNext()
      })
      let isHeld = true
      return {
        maxMemoryBytes,
        [Symbol.dispose]() {
          if (isHeld) giveBack(weight)
          isHeld = false
        },
      }
    },
  }
}
