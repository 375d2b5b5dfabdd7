/**
 * Limits the total memory of the git processes that call hosts. A fetch starts with a small share; a repository that needs more is fetched with a large share from
 * then on. A controller of a large installation uses more memory itself, and runs fewer processes at once.
 */
import { type Clock, systemClock } from '../../platform/clock.ts'
import { memoryLeft } from '../../platform/memory.ts'
import { FairLimiter } from '../../platform/async/fair-limiter.ts'

/** `question`: lists refs or fetches almost nothing. Most fetches are small. */
export type CallSize = 'question' | 'small' | 'large'

/** `namespace`: for which git runs. `repository`: the URL of the mirror. */
export type MemoryUser = { namespace: string; host: string; repository: string }

/** One for each process. */
export type GitMemory = {
  /** The bytes that namespaces use and wait for; a key is a git host, an owner the URL of a repository. */
  limiter: Pick<FairLimiter, 'uses' | 'waits'>
  /**
   * Runs git when its memory is free. `maxMemoryBytes`: the RLIMIT_DATA that goes with it. `work` may be aborted by its signal and called
   * again. Throws the signal's reason, and what `work` throws.
   */
  run<Result>(
    size: CallSize,
    user: MemoryUser,
    signal: AbortSignal,
    work: (maxMemoryBytes: number, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result>
}

const mebibyte = 1024 * 1024

/**
 * `maxMemoryBytes` is RLIMIT_DATA, which also counts thread stacks that are never touched; `weight` is the memory that git really takes: 11
 * to 14 MiB for packs of 100 MB over https, 46 MiB for two similar texts of 20 MB (docs/development/benchmarks.md), 4 MiB of them in file
 * pages.
 */
const sizes = {
  question: { maxMemoryBytes: 48 * mebibyte, weight: 8 * mebibyte },
  small: { maxMemoryBytes: 48 * mebibyte, weight: 14 * mebibyte },
  large: { maxMemoryBytes: 96 * mebibyte, weight: 42 * mebibyte },
}

/** Of the container's 128 MiB, beside 48 for the controller and the reserve below. */
const defaultBudget = 56 * mebibyte
/** Reserved for the pages of programs that run all the time: without them each of their steps waits for the disk. */
const forFiles = 24 * mebibyte

type Options = {
  /** Maximum memory of all git processes together, in bytes. */
  budget?: number
  /** Bytes available for git processes and the page cache. */
  left?: () => number
  clock?: Pick<Clock, 'monotonicMs' | 'wait'>
}

/**
 * One process may run in any case, however little memory is left. A slow fetch of one namespace leaves enough for a small fetch of another.
 */
export function createGitMemory({ budget = defaultBudget, left = memoryLeft, clock = systemClock }: Options = {}): GitMemory {
  const limiter = new FairLimiter({
    total: () => Math.min(budget, left() - forFiles),
    reserve: sizes.small.weight,
    perTenant: 2 * sizes.small.weight,
    clock,
  })
  return {
    limiter,
    async run(size, { namespace, host, repository }, signal, work) {
      const { maxMemoryBytes, weight } = sizes[size]
      const request = { tenant: namespace, key: host, owner: repository, amount: weight }
      const done = await limiter.run(request, signal, (own) => work(maxMemoryBytes, own))
      if (done === undefined) throw new Error('the memory of git has no bound on what waits for it')
      return done.result
    },
  }
}
