/**
 * Runs git. Its environment is built, not inherited; its protocols are allowlisted; its memory, output and time are bounded; its error output becomes
 * a reason (faults.ts).
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { Socket } from 'node:net'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { Fault, shortages } from '../../platform/fault.ts'
import { faultOf, notGit } from './faults.ts'
import { anonymousBytes } from './process-memory.ts'
import type { GitTarget } from './error-patterns.ts'
import { ErrorOutput } from './http-trace.ts'
import { systemPath, settings } from './settings.ts'

/** Limits that the kernel enforces; a shell sets them before it becomes git. */
export type GitLimits = {
  /** RLIMIT_DATA of git and of each of its helpers: the memory of a delta has no other bound. */
  maxMemoryBytes: number
  /** Maximum memory of git and its helpers together, measured while they run. Default: not limited. */
  maxTogetherBytes?: number
  /** RLIMIT_FSIZE: the largest pack that a fetch may write. */
  maxPackBytes: number
}

/** One git call. */
export type GitRun = {
  /** Repository to work in. */
  folder: string
  args: readonly string[]
  /** The only protocols that this call may use; default: none. */
  protocols?: readonly ('https' | 'http' | 'ssh' | 'file')[]
  /** More git settings, `name=value`. Never a secret: they become arguments, which every process of the machine can read. */
  settings?: readonly string[]
  /** More environment variables for git; may hold secrets. */
  environment?: Readonly<Record<string, string>>
  /** Open files that git and its helpers inherit, as /proc/self/fd/3 and so on. */
  files?: readonly number[]
  /** An open file that git reads instead of a pipe from this process. */
  source?: number
  /** An open file that takes git's output instead of a pipe to this process. */
  output?: number
  /** The git host of the call, for the message of a fault. */
  about?: GitTarget
  /** Standard input; empty by default. */
  input?: string | Uint8Array
  timeoutMs: number
}

/** `signal` ends git with SIGTERM, and with SIGKILL two seconds later. `start` default: `startGit`. */
export type GitOptions = { limits: GitLimits; signal: AbortSignal; start?: StartGit | undefined }

/** How a git process ended; `error`: it did not start. */
export type GitEnd = { code: number | null; by: string | null; error: Error | undefined }

/** A running git process, started by this thread or by another (relayed-git.ts). */
export type GitProcess = {
  /** Undefined if another thread has started it, or if it did not start. */
  pid: number | undefined
  stdin: Writable
  stdout: Readable
  stderr: Readable
  /** Settles when git has ended and its output is closed; never rejects. */
  ended: Promise<GitEnd>
  /** Signals git and its helpers; ignores processes that have ended. */
  signal(name: 'SIGTERM' | 'SIGKILL'): void
  /** This process may end before git does. */
  unref(): void
}

/** `startGit`, or its replacement in a worker thread. */
export type StartGit = (run: GitRun, limits: GitLimits) => GitProcess

/** Longer standard output is a fault in `runGit`; streams have no such limit. */
const maxOutputBytes = 8 * 1024 * 1024
const measureEveryMs = 100
const measureAgainMs = 20
/** Time for git to end after SIGTERM. */
const graceMs = 2_000
/** The cause of the fault of a git process that failed without a signal and without output. */
const silentFailure = new Error('git ended without a message')
/**
 * Arguments: KiB of memory, blocks of 512 bytes of a file, and those of git. A lower limit of the machine stays. A write beyond the file
 * limit fails instead of ending git. Only the soft memory limit is set, which a git that reads a local repository may raise
 * (git/host/connect.ts). A stack of 3 MiB suffices for the deepest path that is accepted; each thread has one, which counts as memory before it is used. One shell takes a
 * millisecond less than a program for each limit.
 */
const underLimits = 'trap "" XFSZ && { ulimit -S -s 3072; ulimit -S -d "$1"; ulimit -f "$2"; shift 2; } 2>/dev/null && exec git "$@"'

/**
 * Starts git in its own process group, so that its helper processes can be ended with it. Throws a Fault when no process can be started.
 */
export function startGit(run: GitRun, limits: GitLimits): GitProcess {
  const protocols = run.protocols ?? []
  const configured = [...settings, ...protocols.map((name) => `protocol.${name}.allow=always`), ...(run.settings ?? [])]
  const command = [
    '-c',
    underLimits,
    'sh',
    String(Math.ceil(limits.maxMemoryBytes / 1024)),
    String(Math.ceil(limits.maxPackBytes / 512)),
    '-C',
    run.folder,
    ...configured.flatMap((setting) => ['-c', setting]),
    ...run.args,
  ]
  const child = started(run.folder, () =>
    spawn('sh', command, {
      stdio: [run.source ?? 'pipe', run.output ?? 'pipe', 'pipe', ...(run.files ?? [])] as ['pipe', 'pipe', 'pipe'],
      detached: true,
      cwd: run.folder,
      env: {
        PATH: systemPath,
        // Given, not discovered: in a damaged mirror git would otherwise work in a repository around its folder.
        GIT_DIR: run.folder,
        HOME: path.join(run.folder, 'no-home'),
        LC_ALL: 'C',
        MALLOC_ARENA_MAX: '1',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_TERMINAL_PROMPT: '0',
        GIT_NO_REPLACE_OBJECTS: '1',
        GIT_ALLOW_PROTOCOL: protocols.length === 0 ? 'none' : protocols.join(':'),
        ...run.environment,
      },
    }),
  )
  const { stdin, stdout, stderr } = child
  const ended = new Promise<GitEnd>((resolve) => {
    child.once('error', (error) => resolve({ code: null, by: null, error }))
    child.once('close', (code, by) => resolve({ code, by, error: undefined }))
  })
  const unref = (): void => {
    child.unref()
    for (const pipe of child.stdio) if (pipe instanceof Socket) pipe.unref()
  }
  // Without a free descriptor Node creates no pipes, and reports that only later.
  if ((stderr as unknown) == null) throw startFault(run.folder, new Error('EMFILE'))
  return { pid: child.pid, stdin, stdout, stderr, ended, signal: (name) => signalGroup(child.pid, name), unref }
}

/** Signals sent by the system, its administrator or a helper; a crash caused by damaged files has other signals. */
const outsideSignals: ReadonlySet<string> = new Set(['SIGKILL', 'SIGTERM', 'SIGHUP', 'SIGINT', 'SIGPIPE'])

/** Whether a process could not start because its program is missing; an error from another thread has only its message. */
export function isProgramMissing({ message }: Error): boolean {
  return / (?:ENOENT|EACCES)$/.test(message)
}

/** The missing resource if no program can be started, and what to do, by error code. */
const startShortages: Readonly<Record<string, string>> = {
  ...shortages,
  EAGAIN: 'no more processes may run; raise the limit of this user or container (ulimit -u, pids.max)',
}

/** A failure to start: of the repository's folder, of a program, or of a machine that lacks something. */
function startFault(folder: string, error: Error): Fault {
  const { message } = error
  // Node reports a missing program and a missing working directory with the same error.
  if (!existsSync(`${folder}/`)) return new Fault('GitFailed', `git cannot be started: ${message}`, { cause: error })
  if (isProgramMissing(error)) return new Fault('ToolMissing', `sh is not installed or cannot be run: ${message}`, { cause: error })
  // For an error from another thread, the code may be in the message only.
  const [code = ''] = /E[A-Z]+$/.exec(message) ?? []
  return new Fault('GitKilled', `git cannot be started: ${startShortages[code] ?? message}`, { cause: error })
}

/** Node throws some start failures, and emits others later. */
function started<Child>(folder: string, start: () => Child): Child {
  try {
    return start()
  } catch (error) {
    throw startFault(folder, error as Error)
  }
}

/** Runs git to completion and returns its output. Throws a Fault with a reason if git fails. */
export async function runGit(run: GitRun, options: GitOptions): Promise<Buffer> {
  const output = await runGitWithin(run, options)
  if (output === undefined) throw new Fault('GitFailed', `git ${run.args[0] ?? ''} wrote more than ${maxOutputBytes} bytes`)
  return output
}

/** As `runGit`, for calls with possibly long output: returns undefined if it is longer than 8 MiB. */
export async function runGitWithin(run: GitRun, { limits, signal, start = startGit }: GitOptions): Promise<Buffer | undefined> {
  const child = start(run, limits)
  const chunks: Buffer[] = []
  let size = 0
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= maxOutputBytes) chunks.push(chunk)
    else child.signal('SIGTERM')
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(run.input ?? '')
  const memory = watchMemory(child.pid, limits.maxTogetherBytes)
  try {
    await waitForEnd(child, run, memory === undefined ? signal : AbortSignal.any([signal, memory.exceeded]))
  } catch (error) {
    // We ended it because of too much output: its exit status means nothing.
    if (size <= maxOutputBytes) throw error
  } finally {
    memory?.end()
  }
  return size > maxOutputBytes ? undefined : Buffer.concat(chunks)
}

/** `exceeded` is aborted with GitOutOfMemory. Measured often, because a process takes memory as quickly as it can write to it. */
function watchMemory(pid: number | undefined, maxBytes: number | undefined): { exceeded: AbortSignal; end(): void } | undefined {
  if (pid === undefined || maxBytes === undefined) return undefined
  const tooMuch = new AbortController()
  const exceeds = (): boolean => anonymousBytes(pid) > maxBytes
  let again: NodeJS.Timeout | undefined
  const stop = (): void => {
    if (exceeds()) tooMuch.abort(new Fault('GitOutOfMemory', 'git and its helper processes together need more memory than they may use'))
  }
  // A helper counts the memory of the git that starts it a second time until it becomes another program.
  const timer = setInterval(() => {
    if (exceeds()) again = setTimeout(stop, measureAgainMs)
  }, measureEveryMs)
  const end = (): void => {
    clearInterval(timer)
    clearTimeout(again)
  }
  return { exceeded: tooMuch.signal, end }
}

/**
 * Settles when the child has exited with 0, and ends it at the deadline or the signal. Throws a Fault, or the signal's reason. A call that a page
 * instead of git answered has failed, although git exits with 0.
 */
export async function waitForEnd(child: GitProcess, run: GitRun, signal: AbortSignal): Promise<void> {
  const stop = AbortSignal.any([signal, AbortSignal.timeout(run.timeoutMs)])
  const output = new ErrorOutput()
  child.stderr.on('data', (chunk: Buffer) => output.add(chunk))
  const onStop = (): void => {
    child.signal('SIGTERM')
    const timer = setTimeout(() => child.signal('SIGKILL'), graceMs)
    void child.ended.then(() => clearTimeout(timer))
  }
  if (stop.aborted) onStop()
  else stop.addEventListener('abort', onStop, { once: true })
  const ended = await child.ended
  stop.removeEventListener('abort', onStop)
  const { answer } = output
  if (ended.code === 0 && !output.isNotGit) return
  signal.throwIfAborted()
  if (stop.aborted) throw new Fault('GitTimeout', `git ${run.args[0] ?? ''} did not end within ${Math.round(run.timeoutMs / 1000)} s`)
  if (ended.error !== undefined) throw startFault(run.folder, ended.error)
  const errors = output.text
  // A signal from outside, such as that of the kernel's OOM killer, does not depend on the repository.
  if (ended.by !== null && outsideSignals.has(ended.by)) {
    // Writing to a helper that has exited ends git with SIGPIPE; the helper may have said why.
    const fault = ended.by === 'SIGPIPE' ? faultOf(errors, run.args[0] ?? '', run.about, answer) : undefined
    if (fault !== undefined && fault.reason !== 'GitFailed') throw fault
    throw new Fault('GitKilled', `git ${run.args[0] ?? ''} was killed`)
  }
  if (run.about !== undefined && answer !== undefined && output.isNotGit) throw notGit(run.about, answer)
  // git reports errors of its files or of the host, but not that its transport helper was killed.
  if (run.about !== undefined && ended.code !== null && errors === '')
    throw new Fault('GitKilled', 'a helper process of git ended without a message, as if it was killed')
  const fault = faultOf(errors, run.args[0] ?? '', run.about, answer)
  throw ended.code !== null && errors === '' ? new Fault(fault.reason, fault.message, { cause: silentFailure }) : fault
}

/** Whether git exited with an error and no output, as `rev-parse --verify --quiet` does for a missing object. */
export function isSilentFailure(error: unknown): boolean {
  return error instanceof Fault && error.cause === silentFailure
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // Already gone.
  }
}
