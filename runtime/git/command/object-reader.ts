/**
 * Reads objects with one git process that answers many requests: starting a process takes more processor time than a small validation. The process
 * ends a few seconds after the last request, because it keeps packs open, and with them the space of packs that a clean-up deletes. It also ends
 * after any failure, so that the next request reads the repository in its new state.
 */
import { statSync } from 'node:fs'
import { type Clock, deadline } from '../../platform/clock.ts'
import { framesReader } from '../../content/protocol/content-frames.ts'
import type { BlobSink } from '../../content/protocol/protocol.ts'
import { Fault } from '../../platform/fault.ts'
import { waitForEnd, type GitLimits, startGit, type StartGit } from './git.ts'

/** One request: objects of one type, by id or as `<commit>^{tree}`, in the order in which the sink gets them. */
export type ObjectsRequest = { type: 'blob' | 'tree'; names: readonly string[]; sink: BlobSink }

type Repository = { folder: string; limits: GitLimits; start?: StartGit }

/** Accepts one request at a time. */
export type ObjectReader = {
  /**
   * Throws CommitGone for an object that does not exist, GitTimeout after two minutes, DeliveryFailed when git ends early, the faults of git and
   * what the sink throws.
   */
  read(repository: Repository, request: ObjectsRequest, signal: AbortSignal): Promise<void>
  /** Ends the process, if there is one, and waits until it has ended. */
  end(): Promise<void>
}

type Process = {
  /** Another one for another repository, also for another folder of the same name. */
  repository: string
  untilMs: number
  hasEnded(): boolean
  /** `gone`: the process has answered before, and ended before it answered this. */
  read(request: ObjectsRequest): Promise<'answered' | 'gone'>
  end(reason: unknown): Promise<void>
}

const answerMs = 120_000
/** An older process accepts no new request, so that none is interrupted by its end. */
const ageMs = 600_000
/** Longer than the usual time between pushes of collaborating users. */
const idleMs = 5_000

/** Starts no process before the first request. `restAfterMs`: how long the process waits for another request. */
export function openObjectReader(clock: Pick<Clock, 'monotonicMs' | 'wait'>, restAfterMs = idleMs): ObjectReader {
  let process: Process | undefined
  let ended: Promise<void> = Promise.resolve()
  let idle = new AbortController()
  /** Settles when no process is left, whatever ended it. */
  const end = async (reason: unknown): Promise<void> => {
    idle.abort()
    if (process !== undefined) ended = process.end(reason)
    process = undefined
    await ended
  }
  const endLater = (): void => {
    idle = new AbortController()
    const { signal } = idle
    const resting = clock.wait(restAfterMs, signal).then(async () => {
      if (!signal.aborted) await end(new Error('the reader was idle'))
    })
    resting.catch(() => undefined)
  }
  /** The process to use; an earlier one that must not be used is ended. */
  const processNow = async ({ folder, limits, start }: Repository): Promise<Process> => {
    const repository = `${identityOf(folder)} ${limits.maxMemoryBytes} ${folder}`
    const isUsable = process?.repository === repository && clock.monotonicMs() <= process.untilMs && !process.hasEnded()
    if (!isUsable) await end(new Error('another process replaces it'))
    process ??= { repository, untilMs: clock.monotonicMs() + ageMs, ...startReader(folder, limits, start) }
    return process
  }
  /**
   * A waiting process may have been killed meanwhile, for example for lack of memory, which does not depend on the repository: a new one is
   * used.
   */
  const readWith = async (repository: Repository, request: ObjectsRequest, stop: AbortSignal): Promise<void> => {
    for (;;) {
      const own = await processNow(repository)
      stop.throwIfAborted()
      if ((await own.read(request)) === 'answered') return
      stop.throwIfAborted()
    }
  }
  return {
    async read(repository, request, signal) {
      signal.throwIfAborted()
      if (request.names.length === 0) return
      idle.abort()
      const stop = deadline(answerMs, signal)
      const onStop = (): void => void end(stop.reason)
      stop.addEventListener('abort', onStop, { once: true })
      try {
        await readWith(repository, request, stop)
      } catch (error) {
        await end(error)
        signal.throwIfAborted()
        if (stop.aborted) throw new Fault('GitTimeout', `git cat-file did not answer within ${answerMs / 1000} s`)
        throw error
      } finally {
        stop.removeEventListener('abort', onStop)
      }
      endLater()
    },
    end: async () => await end(new Error('the reader is closed')),
  }
}

/** Distinguishes a folder from another one in its place; an empty text if there is none, which git reports. */
function identityOf(folder: string): string {
  const found = statSync(folder, { throwIfNoEntry: false })
  return found === undefined ? '' : `${found.dev} ${found.ino}`
}

type Answer = { take(chunk: Buffer): void; fail(error: unknown): void }

/**
 * Throws only when no process can be started. Without `--buffer` git answers at once; `--batch-command`, which supports both, needs git
 * 2.36.
 */
function startReader(folder: string, limits: GitLimits, start: StartGit = startGit): Pick<Process, 'hasEnded' | 'read' | 'end'> {
  const run = { folder, args: ['cat-file', '--batch'], timeoutMs: ageMs + 2 * answerMs }
  const child = start(run, limits)
  const own = new AbortController()
  let answer: Answer | undefined
  let failure: unknown
  let hasAnswered = false
  const over = (error: unknown): void => {
    failure = error
    answer?.fail(error)
  }
  const ended = waitForEnd(child, run, own.signal).then(() => over(new Fault('DeliveryFailed', 'git ended early')), over)
  child.stdin.on('error', () => undefined)
  child.stdout.on('data', (chunk: Buffer) => {
    if (answer === undefined) own.abort(unexpectedAnswer())
    else answer.take(chunk)
  })
  return {
    hasEnded: () => failure !== undefined,
    async read({ type, names, sink }) {
      if (failure !== undefined) throw failure
      const frames = framesReader(sink, type)
      const { promise, resolve, reject } = Promise.withResolvers<'answered' | 'gone'>()
      let isBegun = false
      const fail = (error: unknown): void => {
        answer = undefined
        reject(error)
      }
      const take = (chunk: Buffer): void => {
        isBegun = true
        try {
          frames.take(chunk)
          if (frames.count() > names.length) throw unexpectedAnswer()
        } catch (error) {
          fail(error)
          return
        }
        if (frames.count() < names.length) return
        answer = undefined
        hasAnswered = true
        resolve('answered')
      }
      answer = { take, fail: (error) => (hasAnswered && !isBegun ? resolve('gone') : fail(error)) }
      child.stdin.write(`${names.join('\n')}\n`)
      return await promise
    },
    async end(reason) {
      own.abort(reason)
      await ended
    },
  }
}

function unexpectedAnswer(): Fault {
  return new Fault('DeliveryFailed', 'git returned an unexpected response')
}
