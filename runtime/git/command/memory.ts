/**
 * Limits the total memory of the git processes that call hosts. A fetch starts with a small share; a repository that needs more is then
 * fetched with a large share. A controller of a large installation uses more memory itself, and runs fewer processes at once.
 */
import { type Clock, systemClock } from '../../platform/clock.ts'
import { memoryLeft } from '../../platform/memory.ts'
import { FairLimiter } from '../../platform/async/fair-limiter.ts'
import type { GitLimits } from './git.ts'

/** `question`: lists refs or fetches almost nothing. Most fetches are small. */
export type CallSize = 'question' | 'small' | 'large'

/** `namespace`: for which git runs. `repository`: the URL of the mirror. */
export type MemoryUser = { namespace: string; host: string; repository: string }

export type MemoryLimits = Pick<GitLimits, 'maxMemoryBytes' | 'maxTogetherBytes'>

/** One for each process. */
export type GitMemory = {
  /** The bytes that namespaces use and wait for; a key is a git host, an owner the URL of a repository. */
  limiter: Pick<FairLimiter, 'held' | 'uses' | 'waits'>
  /**
   * Runs git when its memory is free, within the limits that go with it. `work` may be aborted by its signal and called again. Throws the
   * signal's reason, and what `work` throws.
   */
  run<Result>(
    size: CallSize,
    user: MemoryUser,
    signal: AbortSignal,
    work: (limits: MemoryLimits, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result>
}

const mebibyte = 1024 * 1024

/**
 * `weight` is the memory that git and its helpers really take: 9 MiB to list refs over https, 10 to 15 for packs of 100 MB, 45 for two similar texts
 * of 20 MB (docs/development/benchmarks.md). `maxMemoryBytes` limits each process at any time, `maxTogetherBytes` all of them when they are
 * measured: processes that take as much as they may are still within what the container has beside the controller.
 */
const sizes = {
  question: { limits: { maxMemoryBytes: 16 * mebibyte, maxTogetherBytes: 12 * mebibyte }, weight: 8 * mebibyte },
  small: { limits: { maxMemoryBytes: 16 * mebibyte, maxTogetherBytes: 18 * mebibyte }, weight: 14 * mebibyte },
  large: { limits: { maxMemoryBytes: 56 * mebibyte, maxTogetherBytes: 50 * mebibyte }, weight: 42 * mebibyte },
}

/** Limits of a git that reads refs, commits and tags, but no files. */
export function smallLimits(limits: GitLimits): GitLimits {
  return { ...limits, maxMemoryBytes: Math.min(limits.maxMemoryBytes, sizes.small.limits.maxMemoryBytes) }
}

/** The 128 MiB of the container, minus 48 for the controller and the reserve below. */
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
    perTenant: sizes.small.weight + sizes.question.weight,
    clock,
  })
  return {
    limiter,
    async run(size, { namespace, host, repository }, signal, work) {
      const { limits, weight } = sizes[size]
      const request = { tenant: namespace, key: host, owner: repository, amount: weight }
      const done = await limiter.run(request, signal, (own) => work(limits, own))
      if (done === undefined) throw new Error('unreachable: the limiter of git memory has no queue limit')
      return done.result
    },
  }
}
