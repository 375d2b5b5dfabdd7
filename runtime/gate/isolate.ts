/**
 * Judges commits apart from the process that asks: in a thread with a heap and a time of its own, because a repository holds whatever its
 * committers put there. What ends the thread is a finding about the commit; the next commit gets a new thread.
 *
 * Node gives a thread that has used its heap up 16 MiB more to end in, and ends the process where that does not suffice. So nothing that
 * runs without a break, such as the parsing of one file, may need more: `json-scan.ts` says what is parsed at all.
 */
import { hash } from 'node:crypto'
import { constrainedMemory } from 'node:process'
import type { Clock } from '../clock.ts'
import { coverageKey } from '../collections/gate/coverage.ts'
import type { GateRequest } from '../collections/gate/gate.ts'
import type { GateMemory } from '../collections/gate/handover.ts'
import { Fault } from '../fault.ts'
import type { Verdict } from '../gatewaysync/decide/decide.ts'
import { canonicalJson } from '../gatewaysync/canonical-json.ts'
import { printable } from '../gatewaysync/values.ts'
import type { Log } from '../log.ts'
import type { Repository } from '../source/content/mirror-listing.ts'
import { version } from '../version.ts'
import type { AttemptMarks } from './marks.ts'
import { startThread, type Thread } from './thread.ts'

export type IsolatedGate = {
  /**
   * The verdict on a commit that the repository holds. `again`: somebody asks for it anew, so that earlier failures do not count. Throws
   * what reading the commit throws.
   */
  check(repository: Repository, request: GateRequest, again: boolean, signal: AbortSignal): Promise<Verdict>
  /** A commit will soon have to be judged: its thread starts while the commit is fetched. */
  prepare(): void
  /** How many threads have ended: what each has left behind is given back by the next collection of the process. */
  endedThreads(): number
  close(): Promise<void>
}

export type IsolateOptions = {
  clock: Clock
  log: Log
  /** What was begun and did not end before this process started. */
  marks: AttemptMarks
  /** The heap of the thread. Default: three eighths of the container's memory, from 48 to 512 MiB. */
  heapMiB?: number
  /** How long the thread may compute for one commit; waiting for git does not count. */
  maxBusyMs?: number
  /** How long the thread waits for another commit before it ends. */
  restAfterMs?: number
}

/** A commit with which the process itself has ended so often is not tried again. */
const maxAttempts = 2
/** A thread is 10 MiB more, and its start some 50 ms; those who push again and again do not wait for it. */
const usualRestMs = 30_000
/** A full check of 20,000 files takes a second; on a machine with much else to do, ten. */
const usualBusyMs = 120_000
const mib = 1024 * 1024
const keptFailures = 200

/** Tells apart what a failed check is remembered for: the version of the checks, the commit, and what of it is delivered and how it counts. */
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
  /** Ends the thread, which hands over what it remembers. */
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
        const known = failures.get(id)
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

/** `available`: the memory of the container in bytes; where there is no limit, none or more than there can be. */
function usualHeapMiB(available: number): number {
  const share = available > 0 ? Math.floor((available / mib) * 0.375) : Number.POSITIVE_INFINITY
  return Math.min(512, Math.max(48, share))
}

/** Held like any commit with an error, and told as what it is. */
export function failedVerdict(id: string, why: string, path: string): Verdict {
  const item = { rule: 'check-failed', severity: 'error', path, message: `the checks of this commit ${why}` } as const
  return { kind: 'checked', errors: 1, warnings: 0, items: [item], unfinished: id }
}
