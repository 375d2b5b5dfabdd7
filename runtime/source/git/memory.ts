/**
 * Shares out the memory that all processes of git may take together: as many questions and small fetches as fit, and one large fetch at a
 * time. A fetch starts small; a repository that proves to need more is fetched as a large one from then on.
 */

/** A share, returned when it is disposed of. `maxMemoryBytes`: the RLIMIT_DATA that goes with it. */
export type MemoryUse = { maxMemoryBytes: number } & Disposable

/** `question`: lists refs or fetches next to nothing. Most fetches are small. */
export type CallSize = 'question' | 'small' | 'large'

/** One for each process of ours. */
export type GitMemory = {
  /** Waits until a share is free. Throws the signal's reason. */
  take(size: CallSize, signal: AbortSignal): Promise<MemoryUse>
}

const mebibyte = 1024 * 1024

/**
 * `maxMemoryBytes` is RLIMIT_DATA, which also counts thread stacks that are never touched; `weight` is what git really takes then: 11 to
 * 14 MiB for packs of 100 MB over https, 46 for two similar texts of 20 MB (docs/performance.md).
 */
const sizes = {
  question: { maxMemoryBytes: 48 * mebibyte, weight: 8 * mebibyte },
  small: { maxMemoryBytes: 48 * mebibyte, weight: 14 * mebibyte },
  large: { maxMemoryBytes: 96 * mebibyte, weight: 48 * mebibyte },
}

/** Of the container's 128 MiB, beside 64 for the controller and what its readers of git buffer. */
const usualBudget = 56 * mebibyte

/** `budget`: bytes that all processes of git may take together; 56 MiB by default. */
export function createGitMemory(budget = usualBudget): GitMemory {
  let free = budget
  const waiting: { weight: number; start(): void }[] = []
  const startNext = (): void => {
    // A large one that waits does not hold up a small one.
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
