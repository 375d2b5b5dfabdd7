/**
 * Validates commits in a thread with its own heap and time limit, because committers control the contents of a repository. If a commit ends
 * the thread, that becomes a finding about the commit; the next commit gets a new thread.
 *
 * Node grants a thread with a full heap 16 MiB more to end, and ends the whole process if that does not suffice. So no single uninterrupted
 * step, such as parsing one file, may need more: `json.ts` limits what is parsed at all.
 */
import { hash } from 'node:crypto'
import { constrainedMemory } from 'node:process'
import type { Clock } from '../../platform/clock.ts'
import { coverageKey, type ValidationRequest, verdictBytes, verdictKey } from '../run/coverage.ts'
import { Fault } from '../../platform/fault.ts'
import type { Verdict } from '../../reconcile/decide/observation.ts'
import { printable } from '../../api/values.ts'
import type { Log } from '../../platform/log/log.ts'
import { FairCache } from '../../platform/async/fair-cache.ts'
import { FairLimiter } from '../../platform/async/fair-limiter.ts'
import type { Repository } from '../../git/content/mirror-listing.ts'
import { version } from '../../platform/version.ts'
import type { AttemptLog } from './attempt-log.ts'
import { type Ended, Thread, KeptThread } from './thread.ts'
import { canonicalJson } from '../../platform/text/json.ts'

/** Validation, as its callers use it. */
export type IsolatedValidator = {
  /**
   * The verdict on a commit of the repository, in a turn of the namespace. `name`: of the GatewaySync that waits for it. `again`: the check
   * was requested, so earlier failures do not count. Throws TooManyRequests, and what reading the commit throws.
   */
  validate(
    repository: Repository,
    request: ValidationRequest,
    by: { namespace: string; name?: string; again: boolean },
    signal: AbortSignal,
  ): Promise<Verdict>
  /** Call when a commit will soon be validated: the thread starts while the commit is fetched. */
  prepare(): void
  /** How many threads have ended; the memory of each is returned by the next garbage collection of the process. */
  endedThreads(): number
  /** The namespaces' use of validation time; a key is a repository and ref. */
  limiter: Pick<FairLimiter, 'uses' | 'waits'>
  close(): Promise<void>
}

/** Limits of the thread, and where attempts are recorded. */
export type IsolatedValidatorOptions = {
  clock: Clock
  log: Log
  /** Records attempts on disk, so that a commit that ends the process is not retried endlessly. */
  attemptLog: AttemptLog
  /** The heap of the thread. Default: three eighths of the container's memory, from 48 to 512 MiB. */
  heapMiB?: number
  /** How long the thread may compute for one commit; waiting for git does not count. */
  maxBusyMs?: number
  /** How long the thread waits for another commit before it ends. */
  restAfterMs?: number
}

/** After this number of attempts that ended the process itself a commit is not tried again. */
const maxAttempts = 2
/** A thread takes 10 MiB, and some 50 ms to start, which repeated pushes should not wait for. */
const defaultRestMs = 30_000
/** A full check of 20,000 files takes a second; on a busy machine, ten. */
const defaultBusyMs = 120_000
const mib = 1024 * 1024
const keptFailures = 200
/** Of `verdictBytes`. */
const maxFoundBytes = 1024 * 1024
/** A thread needs this for a small commit. */
const minHeapMiB = 24

/** The key of a failed check: version of the checks, commit, delivered content and severities. */
export function validationId({ commit, profiles, validation }: Pick<ValidationRequest, 'commit' | 'profiles' | 'validation'>): string {
  const subject = canonicalJson({ commit, rules: validation.rules, delivered: profiles.map(coverageKey) })
  return `${version} ${hash('sha256', subject, 'hex').slice(0, 16)}`
}

/**
 * One check at a time, and one more beside a check that takes longer than a second: a quick one, or one of a namespace without a running
 * check. It has its own thread, which ends with it. A check that takes longer than its turn is repeated later when a namespace that has
 * used less time waits. A check that was in progress when the process ended runs alone.
 */
export const checkSlots = { total: 2, reserve: 1, reserveAfterMs: 1_000, turnMs: 10_000, maxWaiting: 1_000 } as const

/** No thread is started before the first commit that must be validated. */
export function openIsolatedValidator(options: IsolatedValidatorOptions): IsolatedValidator {
  const limiter = new FairLimiter({ ...checkSlots, clock: options.clock })
  const checks = new Checks(options)
  return {
    async validate(repository, input, { namespace, name, again }, signal) {
      if (input.validation.policy === 'Off' || input.profiles.length === 0) return { kind: 'notChecked' }
      const request = { ...input, namespace }
      const check = { repository, request, id: validationId(request) }
      // Several validations may have been running when the process ended. Running each alone shows which one ends it.
      const amount = checks.wasInterrupted(check.id) ? checkSlots.total : 1
      const turn = { tenant: namespace, key: request.line, owner: name, urgent: again, amount }
      const done = await limiter.run(turn, signal, async (own, isReserve, leave) => {
        if (again) checks.forget(check.id)
        return await checks.run(check, own, isReserve ? leave : undefined)
      })
      if (done === undefined) throw new Fault('TooManyRequests', `too many commits of namespace "${namespace}" wait for validation`)
      return done.result
    },
    prepare: () => checks.prepare(),
    endedThreads: () => checks.endedThreads,
    limiter,
    close: () => checks.close(),
  }
}

type Check = { repository: Repository; request: ValidationRequest; id: string }

/** Runs checks in threads, and keeps their verdicts. */
class Checks {
  readonly #options: IsolatedValidatorOptions & { heapMiB: number; maxBusyMs: number }
  readonly #kept: KeptThread
  readonly #failures: ReturnType<typeof openFailures>
  readonly #attempts: ReturnType<typeof openAttempts>
  /** Verdicts of reserve threads. */
  readonly #found = new FairCache<Verdict>({ max: maxFoundBytes })
  #endedThreads = 0

  constructor(options: IsolatedValidatorOptions) {
    const { clock, log, attemptLog, maxBusyMs = defaultBusyMs, restAfterMs = defaultRestMs } = options
    const heapMiB = options.heapMiB ?? defaultHeapMiB(constrainedMemory())
    this.#options = { ...options, heapMiB, maxBusyMs }
    this.#kept = new KeptThread({ clock, heapMiB, maxBusyMs, restAfterMs }, () => this.#hasEnded())
    this.#failures = openFailures(log)
    this.#attempts = openAttempts(attemptLog)
  }

  get endedThreads(): number {
    return this.#endedThreads
  }

  prepare(): void {
    this.#kept.prepare()
  }

  async close(): Promise<void> {
    await this.#kept.close()
  }

  /** Whether the process ended during the last attempt. */
  wasInterrupted(id: string): boolean {
    return this.#attempts.wasInterrupted(id)
  }

  /** Earlier failures of a check no longer count. */
  forget(id: string): void {
    this.#failures.forget(id)
    this.#attempts.forget(id)
  }

  /** Returns the known verdict, or runs the check: in a new thread, whose turn `leave` ends, or in the kept thread. */
  async run(check: Check, own: AbortSignal, leave: (() => void) | undefined): Promise<Verdict> {
    const { id, request } = check
    const known = this.#known(id, verdictKey(request))
    if (known !== undefined) return known
    const verdict = await this.#attempts.run(id, () =>
      leave === undefined ? this.#checkInThread(check, own) : this.#checkInSpareThread(check, own, leave),
    )
    return verdict ?? this.#failures.add(id, request, 'crashed the controller twice and was not retried', '')
  }

  /** A poll finds the commit that was checked before; if no thread runs, none is started for it. */
  #known(id: string, key: string): Verdict | undefined {
    return this.#failures.get(id) ?? this.#kept.verdict(key) ?? this.#found.get(key)
  }

  async #checkInThread({ repository, request, id }: Check, own: AbortSignal): Promise<Verdict> {
    const answer = await this.#kept.validate({ repository, request }, own)
    if (answer.kind !== 'verdict' && answer.kind !== 'fault') own.throwIfAborted()
    return this.#failures.verdictOf(answer, id, request)
  }

  async #checkInSpareThread({ repository, request, id }: Check, own: AbortSignal, leave: () => void): Promise<Verdict> {
    const heapMiB = Math.max(minHeapMiB, this.#options.heapMiB / 2)
    const spare = new Thread({ heapMiB, memory: undefined }, () => this.#hasEnded())
    const end = (): void => void spare.end()
    own.addEventListener('abort', end, { once: true })
    try {
      const answer = await spare.validate({ repository, request }, this.#options, own)
      // It has less memory, so its end says nothing about the commit: the check is repeated in the other thread.
      if (answer.kind === 'gone') {
        leave()
        own.throwIfAborted()
      }
      const verdict = this.#failures.verdictOf(answer, id, request)
      this.#found.set(request.namespace ?? '', verdictKey(request), verdict, { size: verdictBytes(verdict) })
      return verdict
    } finally {
      own.removeEventListener('abort', end)
      await spare.end()
    }
  }

  #hasEnded(): void {
    this.#endedThreads += 1
  }
}

/** Counts the attempts to check a commit, for a process that a check may end. */
function openAttempts(attemptLog: AttemptLog) {
  /** The number of running checks of an id. Together they are one attempt, which ends with the last of them. */
  const underWay = new Map<string, number>()
  return {
    /** Runs `work` as an attempt. Undefined, without running it, if too many attempts ended the process. */
    async run(id: string, work: () => Promise<Verdict>): Promise<Verdict | undefined> {
      const others = underWay.get(id) ?? 0
      if (others === 0 && attemptLog.begin(id) > maxAttempts) return undefined
      underWay.set(id, others + 1)
      try {
        return await work()
      } finally {
        const left = (underWay.get(id) ?? 1) - 1
        if (left > 0) underWay.set(id, left)
        else {
          underWay.delete(id)
          attemptLog.end(id)
        }
      }
    },
    /** Whether the process ended during the last attempt. */
    wasInterrupted: (id: string): boolean => !underWay.has(id) && attemptLog.has(id),
    /** The entry of a running check stays: it counts if that check ends the process. */
    forget(id: string): void {
      if (!underWay.has(id)) attemptLog.forget(id)
    },
  }
}

/** Keeps the checks that did not end, so that no commit is checked repeatedly. */
function openFailures(log: Log) {
  const verdicts = new FairCache<Verdict>({ max: keptFailures })
  const add = (id: string, request: ValidationRequest, why: string, path: string): Verdict => {
    log.error({ reason: 'ValidationFailed', commit: request.commit, path, message: why }, 'the validation of a commit did not finish')
    const verdict = failedVerdict(id, why, path)
    verdicts.set(request.namespace ?? '', id, verdict)
    return verdict
  }
  return {
    add,
    get: (id: string): Verdict | undefined => verdicts.get(id),
    forget: (id: string) => verdicts.delete(id),
    /** Throws the fault that a check ended with. */
    verdictOf(answer: Ended, id: string, request: ValidationRequest): Verdict {
      if (answer.kind === 'verdict') return answer.verdict
      if (answer.kind === 'fault') throw new Fault(answer.reason, answer.message)
      if (answer.kind === 'bug')
        log.error({ reason: 'Unexpected', commit: request.commit, message: answer.stack }, 'validation failed unexpectedly')
      return add(id, request, answer.kind === 'bug' ? `failed unexpectedly: ${printable(answer.message, 512)}` : answer.why, answer.path)
    },
  }
}

/** `available`: the container's memory in bytes; without a limit it is 0 or absurdly large. */
function defaultHeapMiB(available: number): number {
  const share = available > 0 ? Math.floor((available / mib) * 0.375) : Number.POSITIVE_INFINITY
  return Math.min(512, Math.max(48, share))
}

/** The verdict on a commit whose check did not finish: it counts as one error, with the reason. */
export function failedVerdict(id: string, why: string, path: string): Verdict {
  const item = { rule: 'check-failed', severity: 'error', path, message: `the validation of this commit ${why}` } as const
  return { kind: 'checked', errors: 1, warnings: 0, items: [item], unfinished: id }
}
