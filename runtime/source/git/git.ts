/**
 * Runs git. Its environment is built, not inherited; its protocols are listed, not filtered; its memory, output and time are bounded; what
 * it writes on stderr becomes a reason (faults.ts).
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { Socket } from 'node:net'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { Fault } from '../../fault.ts'
import { faultOf } from './faults.ts'
import type { GitTarget } from './meanings.ts'

/** Limits that the kernel enforces; a shell sets them before it becomes git. */
export type GitLimits = {
  /** RLIMIT_DATA of git: the memory of a delta has no other bound. */
  maxMemoryBytes: number
  /** RLIMIT_FSIZE: the largest pack that a fetch may write. */
  maxPackBytes: number
}

/** One call of git. */
export type GitRun = {
  /** Repository to work in. */
  folder: string
  args: readonly string[]
  /** The only protocols that this call may use; none by default. */
  protocols?: readonly ('https' | 'http' | 'ssh' | 'file')[]
  /** More settings of git, `name=value`. Never a secret: they become arguments, which every process of the machine can read. */
  settings?: readonly string[]
  /** More of git's environment; may hold secrets. */
  environment?: Readonly<Record<string, string>>
  /** Open files that git and its helpers inherit, as /proc/self/fd/3 and so on. */
  files?: readonly number[]
  /** An open file that git reads instead of a pipe from this process. */
  source?: number
  /** An open file that takes git's output instead of a pipe to this process. */
  output?: number
  /** The git host that is called, for the words of a fault. */
  about?: GitTarget
  /** Standard input; empty by default. */
  input?: string | Uint8Array
  timeoutMs: number
}

/** `signal` ends git with SIGTERM, and with SIGKILL two seconds later. */
export type GitOptions = { limits: GitLimits; signal: AbortSignal }

/** How a git ended; `error`: it did not start. */
export type GitEnd = { code: number | null; by: string | null; error: Error | undefined }

/** A git that runs, of this thread or of another (relayed-git.ts). */
export type GitProcess = {
  stdin: Writable
  stdout: Readable
  stderr: Readable
  /** Settles when git has ended and its output is closed; never rejects. */
  ended: Promise<GitEnd>
  /** For git and its helpers. Those that are gone already are fine. */
  signal(name: 'SIGTERM' | 'SIGKILL'): void
}

/** `startGit`, or how a thread has it done. */
export type StartGit = (run: GitRun, limits: GitLimits) => GitProcess

/** Standard output beyond this is a fault for `runGit`; streams have no such bound. */
const maxOutputBytes = 8 * 1024 * 1024
/** Of standard error no more is read. */
export const maxErrorBytes = 64 * 1024
/** git gets this long to end after SIGTERM. */
const graceMs = 2_000
/** Cause of the fault of a git that was not ended by anybody and said nothing. */
const saidNo = new Error('git ended by itself and said nothing')

/** Where the system's programs are, whatever PATH this process has. */
export const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Settings against hostile repositories and for little memory; docs/performance.md has the figures. */
const settings = [
  'protocol.version=2',
  'protocol.allow=never',
  'core.hooksPath=/dev/null',
  'core.symlinks=false',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'submodule.recurse=false',
  'fetch.fsckObjects=true',
  'transfer.fsckObjects=true',
  'http.followRedirects=false',
  'http.lowSpeedLimit=1000',
  'credential.helper=',
  'core.deltaBaseCacheLimit=8m',
  'core.bigFileThreshold=1m',
  // A fetch of one change adds each folder that it changes whole; the thousands of ids in a large one are compressed for a tenth of its time, and in vain.
  'core.looseCompression=0',
  'pack.threads=2',
  'fetch.unpackLimit=1',
  'gc.auto=0',
  'maintenance.auto=false',
  'repack.writeBitmaps=false',
]

/**
 * Arguments: KiB of memory, blocks of 512 bytes of a file, and those of git. A write beyond the bound of a file fails instead of ending git. Only the
 * soft bound of memory, which a git that reads a repository of this machine may raise (local-repository.ts). A shell does all of it in a
 * millisecond less than a program for each.
 */
const underLimits = 'trap "" XFSZ && ulimit -S -d "$1" && ulimit -f "$2" && shift 2 && exec git "$@"'

/**
 * Starts git in a process group of its own, so that its helpers can be ended with it. Throws a Fault when no process can
 * be started. `unref`: this process may end before git does.
 */
export function startGit(run: GitRun, limits: GitLimits): GitProcess & { unref(): void } {
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
  // Without a free descriptor Node makes no pipes, and tells of that only later.
  if ((stderr as unknown) == null) throw startFault(run.folder, new Error('no descriptor is free for its pipes'))
  return { stdin, stdout, stderr, ended, signal: (name) => signalGroup(child.pid, name), unref }
}

/** By which a machine or its owner ends a process, or a helper that is gone; a crash over damaged files has others. */
const outsideSignals: ReadonlySet<string> = new Set(['SIGKILL', 'SIGTERM', 'SIGHUP', 'SIGINT', 'SIGPIPE'])

/** Whether a process could not be started for want of its program; of an error that came from another thread only the message is left. */
export function isProgramMissing({ message }: Error): boolean {
  return / (?:ENOENT|EACCES)$/.test(message)
}

/** A failure to start: of the repository's folder, of a program, or of a machine that is short of something. */
function startFault(folder: string, error: Error): Fault {
  const { message } = error
  // Node reports a missing program and a missing working directory with the same error.
  if (!existsSync(`${folder}/`)) return new Fault('GitFailed', `git cannot be started: ${message}`, { cause: error })
  if (isProgramMissing(error)) return new Fault('ToolMissing', `sh is not installed or cannot be run: ${message}`, { cause: error })
  return new Fault('GitKilled', `git cannot be started, for this machine is short of something: ${message}`, { cause: error })
}

/** Node throws some failures to start, and tells of others later. */
function started<Child>(folder: string, start: () => Child): Child {
  try {
    return start()
  } catch (error) {
    throw startFault(folder, error as Error)
  }
}

/** Runs git to its end and returns its output. Throws a Fault with a reason for every other ending than success. */
export async function runGit(run: GitRun, options: GitOptions): Promise<Buffer> {
  const output = await runGitWithin(run, options)
  if (output === undefined) throw new Fault('GitFailed', `git ${run.args[0] ?? ''} wrote more than ${maxOutputBytes} bytes`)
  return output
}

/** The same where a long output is no fault of the repository: undefined, it is longer than 8 MiB. */
export async function runGitWithin(run: GitRun, { limits, signal }: GitOptions): Promise<Buffer | undefined> {
  const child = startGit(run, limits)
  const chunks: Buffer[] = []
  let size = 0
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= maxOutputBytes) chunks.push(chunk)
    else child.signal('SIGTERM')
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(run.input ?? '')
  await ending(child, run, signal).catch((error: unknown) => {
    // Ended by us for writing too much: how it ended says nothing.
    if (size <= maxOutputBytes) throw error
  })
  return size > maxOutputBytes ? undefined : Buffer.concat(chunks)
}

/** Settles when the child has ended with 0, and ends it at the deadline or the signal. Throws a Fault, or the signal's reason. */
export async function ending(child: GitProcess, run: GitRun, signal: AbortSignal): Promise<void> {
  const stop = AbortSignal.any([signal, AbortSignal.timeout(run.timeoutMs)])
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    if (errors.length < maxErrorBytes) errors += chunk.toString('utf8')
  })
  const onStop = (): void => {
    child.signal('SIGTERM')
    const timer = setTimeout(() => child.signal('SIGKILL'), graceMs)
    void child.ended.then(() => clearTimeout(timer))
  }
  if (stop.aborted) onStop()
  else stop.addEventListener('abort', onStop, { once: true })
  const ended = await child.ended
  stop.removeEventListener('abort', onStop)
  if (ended.code === 0) return
  signal.throwIfAborted()
  if (stop.aborted) throw new Fault('GitTimeout', `git ${run.args[0] ?? ''} did not end within ${Math.round(run.timeoutMs / 1000)} s`)
  if (ended.error !== undefined) throw startFault(run.folder, ended.error)
  // Somebody else's signal, such as the kernel's for lack of memory, says nothing about the repository.
  if (ended.by !== null && outsideSignals.has(ended.by)) throw new Fault('GitKilled', `git ${run.args[0] ?? ''} was ended from outside`)
  // git says what it finds wrong with its files or the host, but not that the helper was killed that calls the host.
  if (run.about !== undefined && ended.code !== null && errors === '')
    throw new Fault('GitKilled', 'a helper of git ended without a word, as one does that is ended from outside')
  const fault = faultOf(errors, run.args[0] ?? '', run.about)
  throw ended.code !== null && errors === '' ? new Fault(fault.reason, fault.message, { cause: saidNo }) : fault
}

/** Whether git ended by itself without a word, by which a command such as `rev-parse --verify --quiet` says that there is no such thing. */
export function isSilentNo(error: unknown): boolean {
  return error instanceof Fault && error.cause === saidNo
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // Already gone.
  }
}
