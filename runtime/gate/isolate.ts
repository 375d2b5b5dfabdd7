/**
 * Judges commits apart from the process that asks: in a thread with a heap and a time of its own, because a repository holds whatever its
 * committers put there. What ends the thread is a finding about the commit; the next commit gets a new thread.
 *
 * Node gives a thread that has used its heap up 16 MiB more to end in, and ends the process where that does not suffice. So nothing that
 * runs without a break, such as the parsing of one file, may need more: `json-scan.ts` says what is parsed at all.
 */
import { hash } from 'node:crypto'
import type { EventLoopUtilization } from 'node:perf_hooks'
import { constrainedMemory } from 'node:process'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../clock.ts'
import { coverageKey } from '../collections/gate/coverage.ts'
import type { GateRequest } from '../collections/gate/gate.ts'
import { Fault } from '../fault.ts'
import type { Verdict } from '../gatewaysync/decide/decide.ts'
import { canonicalJson } from '../gatewaysync/canonical-json.ts'
import { printable } from '../gatewaysync/values.ts'
import type { Log } from '../log.ts'
import type { Repository } from '../source/content/mirror-listing.ts'
import { version } from '../version.ts'
import type { AttemptMarks } from './marks.ts'
import { type FromIsolate, judgedBytes, type ToIsolate } from './messages.ts'

export type IsolatedGate = {
  /**
   * The verdict on a commit that the repository holds. `again`: somebody asks for it anew, so that earlier failures do not count. Throws
   * what reading the commit throws.
   */
  check(repository: Repository, request: GateRequest, again: boolean, signal: AbortSignal): Promise<Verdict>
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
}

/** A commit with which the process itself has ended so often is not tried again. */
const maxAttempts = 2
/** A full check of 20,000 files takes a second; on a machine with much else to do, ten. */
const usualBusyMs = 120_000
const lookEachMs = 1_000
/** Three semi-spaces of 1 MiB, as the image sets for the process itself. */
const youngMiB = 3
const mib = 1024 * 1024
const keptFailures = 200

/** Beside the bundle that this is part of, or the source itself. */
const program = import.meta.url.endsWith('/gate/isolate.ts')
  ? new URL('worker.ts', import.meta.url)
  : new URL('isolate.mjs', import.meta.url)

/** Tells apart what a failed check is remembered for: the version of the checks, the commit, and what of it is delivered and how it counts. */
export function checkId({ commit, profiles, validation }: Pick<GateRequest, 'commit' | 'profiles' | 'validation'>): string {
  const subject = canonicalJson({ commit, rules: validation.rules, delivered: profiles.map(coverageKey) })
  return `${version} ${hash('sha256', subject, 'hex').slice(0, 16)}`
}

/** Nothing is started before the first commit that has to be judged. */
export function openIsolatedGate(options: IsolateOptions): IsolatedGate {
  const { log, marks, maxBusyMs = usualBusyMs, heapMiB = usualHeapMiB(constrainedMemory()) } = options
  const failures = new Map<string, Verdict>()
  let thread: Thread | undefined
  let queue: Promise<unknown> = Promise.resolve()

  const oneAtATime = async (work: () => Promise<Verdict>): Promise<Verdict> => {
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
  const judge = async (repository: Repository, request: GateRequest, id: string, signal: AbortSignal): Promise<Verdict> => {
    thread ??= startThread(heapMiB, () => (thread = undefined))
    const ended = await thread.ask({ kind: 'check', repository, request }, { ...options, maxBusyMs }, signal)
    if (ended.kind === 'verdict') return ended.verdict
    if (ended.kind === 'fault') throw new Fault(ended.reason, ended.message)
    signal.throwIfAborted()
    if (ended.kind === 'bug') log.error({ reason: 'Unexpected', commit: request.commit, message: ended.stack }, 'a check met a bug')
    return failed(id, request, ended.kind === 'bug' ? `met a bug: ${printable(ended.message, 512)}` : ended.why, ended.path)
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
        }
      })
    },
    async close() {
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

/** How a question to the thread ended; `gone`: the thread is no more. `path`: the file that was read last, where one was. */
type Ended =
  | Exclude<FromIsolate, { kind: 'bug' | 'ready' }>
  | (Extract<FromIsolate, { kind: 'bug' }> & { path: string })
  | { kind: 'gone'; why: string; path: string }

type Thread = {
  /** Never rejects; ends the thread that takes too long. An aborted question ends once the thread has seen it. */
  ask(message: ToIsolate, limits: { clock: Clock; maxBusyMs: number }, signal: AbortSignal): Promise<Ended>
  end(): Promise<void>
}

function startThread(heapMiB: number, gone: () => void): Thread {
  const judged = new SharedArrayBuffer(judgedBytes)
  const worker = new Worker(program, {
    workerData: { judged },
    // What this process was started with, such as the loader of a test runner, would take its part of the heap.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: youngMiB },
  })
  // The process may end while nothing is asked.
  worker.unref()
  let answer = Promise.withResolvers<Ended>()
  let why = 'ended their thread'
  let isReady = false
  const path = (): string => {
    const bytes = Buffer.from(judged)
    return bytes.toString('utf8', 2, 2 + Math.min(bytes.readUInt16LE(0), judgedBytes - 2))
  }
  worker.on('message', (message: FromIsolate) => {
    if (message.kind === 'ready') isReady = true
    else answer.resolve(message.kind === 'bug' ? { ...message, path: path() } : message)
  })
  worker.on('error', (error: Error & { code?: string }) => {
    why =
      error.code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? `needed more than ${heapMiB} MiB of memory`
        : `met a bug: ${printable(error.message, 512)}`
  })
  worker.on('exit', () => {
    gone()
    // A thread that did not come to its work says nothing of the commit.
    const notStarted = { kind: 'fault', reason: 'Unexpected', message: `the thread of the checks did not start: it ${why}` } as const
    answer.resolve(isReady ? { kind: 'gone', why, path: path() } : notStarted)
  })

  const say = (message: ToIsolate): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
    worker.postMessage(message)
  }
  const endWhenLate = async ({ clock, maxBusyMs }: { clock: Clock; maxBusyMs: number }, over: AbortSignal): Promise<void> => {
    let before: EventLoopUtilization | undefined
    for (;;) {
      await clock.wait(lookEachMs, over)
      if (!isReady) continue
      before ??= worker.performance.eventLoopUtilization()
      if (worker.performance.eventLoopUtilization(before).active < maxBusyMs) continue
      why = `took longer than ${Math.round(maxBusyMs / 1000)} s`
      await worker.terminate()
    }
  }
  return {
    async ask(message, limits, signal) {
      answer = Promise.withResolvers()
      const over = new AbortController()
      const cancel = (): void => say({ kind: 'cancel' })
      signal.addEventListener('abort', cancel, { once: true })
      endWhenLate(limits, over.signal).catch(() => undefined)
      worker.ref()
      say(message)
      try {
        return await answer.promise
      } finally {
        worker.unref()
        over.abort()
        signal.removeEventListener('abort', cancel)
      }
    },
    async end() {
      await worker.terminate()
    },
  }
}
