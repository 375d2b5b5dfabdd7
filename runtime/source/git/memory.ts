/**
 * Shares out the memory that all processes of git may take together: as many questions and small fetches as fit, and one large fetch at a
 * time. A fetch starts small; a repository that proves to need more is fetched as a large one from then on. A
 * controller of a large installation holds more itself, and runs fewer at once.
 */
import { type Clock, systemClock } from '../../clock.ts'
import { memoryLeft } from '../../memory.ts'

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

/** Of the container's 128 MiB, beside 48 for the controller itself and the following. */
const usualBudget = 56 * mebibyte
/** Of the container, for the pages of programs that run all the time: without them each of its steps waits for the disk. */
const forFiles = 24 * mebibyte
/** Whoever has waited so long is passed by nobody any more. */
const patienceMs = 10_000

type Options = {
  /** Bytes that all processes of git may take together. */
  budget?: number
  /** Bytes that are left for them and for the pages of files. */
  left?: () => number
  clock?: Pick<Clock, 'monotonicMs'>
}

type Waiting = { weight: number; sinceMs: number; start(): void }

/** A share is given back when it is disposed of. One process may run in any case, however little is left. */
export function createGitMemory({ budget = usualBudget, left = memoryLeft, clock = systemClock }: Options = {}): GitMemory {
  let taken = 0
  const waiting: Waiting[] = []
  const nextIndex = (): number => {
    const free = Math.min(budget, left() - forFiles) - taken
    const fits = ({ weight }: Waiting): boolean => taken === 0 || weight <= free
    const [first] = waiting
    const isLate = first !== undefined && clock.monotonicMs() - first.sinceMs > patienceMs
    // A large one that waits holds up no small one for a while.
    return isLate ? (fits(first) ? 0 : -1) : waiting.findIndex(fits)
  }
  const startNext = (): void => {
    for (let index = nextIndex(); index >= 0; index = nextIndex()) {
      const [next] = waiting.splice(index, 1)
      if (next === undefined) return
      taken += next.weight
      next.start()
    }
  }
  const giveBack = (weight: number): void => {
    taken -= weight
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
          sinceMs: clock.monotonicMs(),
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
