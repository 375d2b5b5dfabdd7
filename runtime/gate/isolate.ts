/**
 * Judges commits in a thread with its own heap and time limit, because a repository holds whatever its committers put there. If a commit ends
 * the thread, that becomes a finding about the commit; the next commit gets a new thread.
 *
 * Node gives a thread whose heap is full 16 MiB more to end in, and ends the whole process if that does not suffice. So no single uninterrupted
 * step, such as parsing one file, may need more: `json-scan.ts` limits what is parsed at all.
 */
import { hash } from 'node:crypto'
import { constrainedMemory } from 'node:process'
import type { Clock } from '../clock.ts'
import { coverageKey } from '../collections/gate/coverage.ts'
import type { GateMemory } from '../collections/gate/handover.ts'
import { type GateRequest, verdictKey } from '../collections/gate/request.ts'
import { Fault } from '../fault.ts'
import type { Verdict } from '../gatewaysync/decide/observation.ts'
import { canonicalJson } from '../gatewaysync/canonical-json.ts'
import { printable } from '../gatewaysync/values.ts'
import type { Log } from '../log.ts'
import type { Repository } from '../source/content/mirror-listing.ts'
import { version } from '../version.ts'
import type { AttemptMarks } from './marks.ts'
import { startThread, type Thread } from './thread.ts'

/** The gate, from the outside. */
export type IsolatedGate = {
  /**
   * The verdict on a commit that the repository holds. `again`: somebody asked for it explicitly, so earlier failures do not count. Throws what
   * reading the commit throws.
   */
  check(repository: Repository, request: GateRequest, again: boolean, signal: AbortSignal): Promise<Verdict>
  /** To be called when a commit will soon have to be judged: the thread starts while the commit is fetched. */
  prepare(): void
  /** How many threads have ended; the memory of each is returned by the next garbage collection of the process. */
  endedThreads(): number
  close(): Promise<void>
}

/** Limits of the thread, and where attempts are recorded. */
export type IsolateOptions = {
  clock: Clock
  log: Log
  /** Records attempts on disk, so that a commit that ends the process is not tried for ever. */
  marks: AttemptMarks
  /** The heap of the thread. Default: three eighths of the container's memory, from 48 to 512 MiB. */
  heapMiB?: number
  /** How long the thread may compute for one commit; waiting for git does not count. */
  maxBusyMs?: number
  /** How long the thread waits for another commit before it ends. */
  restAfterMs?: number
}

/** After so many attempts that ended the process itself a commit is not tried again. */
const maxAttempts = 2
/** A thread takes 10 MiB, and some 50 ms to start, which repeated pushes do not wait for. */
const usualRestMs = 30_000
/** A full check of 20,000 files takes a second; on a busy machine, ten. */
const usualBusyMs = 120_000
const mib = 1024 * 1024
const keptFailures = 200

/** The key under which a failed check is remembered: version of the checks, commit, delivered content and severities. */
export function checkId({ commit, profiles, validation }: Pick<GateRequest, 'commit' | 'profiles' | 'validation'>): string {
  const subject = canonicalJson({ commit, rules: validation.rules, delivered: profiles.map(coverageKey) })
  return `${version} ${hash('sha256', subject, 'hex').slice(0, 16)}`
}

/** Nothing is started before the first commit that has to be judged. */
export function openIsolatedGate(options: IsolateOptions): IsolatedGate {
  const { log, marks, maxBusyMs = usualBusyMs, restAfterMs = usualRestMs, heapMiB = usualHeapMiB(constrainedMemory()) } = options
  const failures = new Map<string, Verdict>()
  let thread: Thread | undefined
  let memory: GateMemory | undefined
  let ended = 0
  let idle = new AbortController()
  let queue: Promise<unknown> = Promise.resolve()

  const oneAtATime = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const run = queue.then(work, work)
    queue = run.catch(() => undefined)
    return await run
  }
  const failed = (id: string, request: GateRequest, why: string, path: string): Verdict => {
    log.error({ reason: 'CheckFailed', commit: request.commit, path, message: why }, 'the checks of a commit did not come to an end')
    const verdict = failedVerdict(id, why, path)
    failures.set(id, verdict)
    const [oldest] = failures.keys()
    if (failures.size > keptFailures && oldest !== undefined) failures.delete(oldest)
    return verdict
  }
  const threadNow = (): Thread => {
    if (thread !== undefined) return thread
    thread = startThread({ heapMiB, memory }, () => {
      thread = undefined
      ended += 1
    })
    memory = undefined
    return thread
  }
  /** Ends the thread and takes over what it remembers. */
  const rest = async (signal: AbortSignal): Promise<void> => {
    if (signal.aborted || thread === undefined) return
    memory = await thread.rest({ ...options, maxBusyMs })
  }
  const restLater = (): void => {
    idle.abort()
    idle = new AbortController()
    const { signal } = idle
    const resting = options.clock.wait(restAfterMs, signal).then(() => oneAtATime(() => rest(signal)))
    resting.catch(() => undefined)
  }
  const judge = async (repository: Repository, request: GateRequest, id: string, signal: AbortSignal): Promise<Verdict> => {
    const answer = await threadNow().check({ repository, request }, { ...options, maxBusyMs }, signal)
    if (answer.kind === 'verdict') return answer.verdict
    if (answer.kind === 'fault') throw new Fault(answer.reason, answer.message)
    signal.throwIfAborted()
    if (answer.kind === 'bug') log.error({ reason: 'Unexpected', commit: request.commit, message: answer.stack }, 'a check met a bug')
    return failed(id, request, answer.kind === 'bug' ? `met a bug: ${printable(answer.message, 512)}` : answer.why, answer.path)
  }

  return {
    async check(repository, request, again, signal) {
      if (request.validation.policy === 'Off' || request.profiles.length === 0) return { kind: 'notChecked' }
      const id = checkId(request)
      return await oneAtATime(async () => {
        signal.throwIfAborted()
        if (again) {
          failures.delete(id)
          marks.forget(id)
        }
        // A poll finds the commit that was judged before; while no thread runs, none is started for that.
        const known = failures.get(id) ?? memory?.verdicts.get(verdictKey(request))
        if (known !== undefined) return known
        if (marks.begin(id) > maxAttempts) return failed(id, request, 'ended the controller itself twice and were not tried again', '')
        try {
          return await judge(repository, request, id, signal)
        } finally {
          marks.end(id)
          restLater()
        }
      })
    },
    prepare() {
      threadNow()
      restLater()
    },
    endedThreads: () => ended,
    async close() {
      idle.abort()
      await thread?.end()
      thread = undefined
    },
  }
}

/** `available`: the container's memory in bytes; without a limit it is 0 or absurdly large. */
function usualHeapMiB(available: number): number {
  const share = available > 0 ? Math.floor((available / mib) * 0.375) : Number.POSITIVE_INFINITY
  return Math.min(512, Math.max(48, share))
}

/** The verdict on a commit whose check did not finish: it counts as one error, with the reason. */
export function failedVerdict(id: string, why: string, path: string): Verdict {
  const item = { rule: 'check-failed', severity: 'error', path, message: `the checks of this commit ${why}` } as const
  return { kind: 'checked', errors: 1, warnings: 0, items: [item], unfinished: id }
}
