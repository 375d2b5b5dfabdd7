/**
 * Runs a part of the product in its own process, bundled and started as in its image, so that its time, CPU and memory are separate from
 * those of the measuring process. The program answers each message with one message.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { build, type BuildOptions } from 'esbuild'
import { plainBuiltins } from '../../scripts/plain-builtins.ts'
import type { MemoryCgroup } from './memory-cgroup.ts'

export type Process = {
  pid: number
  /** Sends a message and resolves with the answer; throws the error that the process reports. */
  ask<Answer>(message: object): Promise<Answer>
  stop(): Promise<void>
}

/** The answer timeout in milliseconds. */
const answerWithinMs = 300_000

const bundled = {
  bundle: true,
  minify: true,
  platform: 'node',
  format: 'esm',
  target: 'node22.18',
  // A file of its own, as in the images: Node 26 does not read it.
  alias: { 'temporal-polyfill': './temporal.mjs' },
  external: ['./temporal.mjs'],
  plugins: [plainBuiltins],
  // Some dependencies are CommonJS and load built-in modules with require().
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  logLevel: 'error',
} satisfies BuildOptions

/** Bundles the programs into a folder, since imported code counts toward a process's memory. Returns the files in the given order. */
export async function bundlePrograms(sources: readonly string[], folder: string): Promise<string[]> {
  await bundleBeside(folder)
  return await Promise.all(
    sources.map(async (source) => {
      const outfile = path.join(folder, `${path.basename(source, '.ts')}.mjs`)
      await build({ ...bundled, entryPoints: [source], outfile })
      return outfile
    }),
  )
}

/** The validation worker and the polyfill are files beside the program that loads them. */
async function bundleBeside(folder: string): Promise<void> {
  await build({ ...bundled, entryPoints: ['runtime/validation/worker/worker.ts'], outfile: path.join(folder, 'isolate.mjs') })
  await build({ ...bundled, entryPoints: ['node_modules/temporal-polyfill/index.js'], outfile: path.join(folder, 'temporal.mjs') })
}

/** Bundles the command line so that each command loads only the modules it uses; returns its file. */
export async function bundleCommand(folder: string): Promise<string> {
  const outdir = path.join(folder, 'program')
  await bundleBeside(outdir)
  await build({ ...bundled, entryPoints: ['runtime/cli.ts'], outdir, outExtension: { '.js': '.mjs' }, splitting: true })
  return path.join(outdir, 'cli.mjs')
}

/** `within`: its memory limit. */
export async function startProcess(
  program: string,
  args: readonly string[],
  flags: readonly string[] = [],
  within?: MemoryCgroup,
  environment: Readonly<Record<string, string>> = {},
): Promise<Process> {
  const limited = within === undefined ? {} : { execPath: within.enter.program }
  const execArgv = within === undefined ? [...flags] : [...within.enter.args, process.execPath, ...flags]
  const child = fork(program, args, {
    ...limited,
    execArgv,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  await nextMessage(child)
  return {
    pid: child.pid ?? 0,
    async ask<Answer>(message: object) {
      const answered = nextMessage(child)
      child.send(message)
      const answer = (await answered) as { error?: string }
      if (answer.error !== undefined) throw new Error(answer.error)
      return answer as Answer
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function nextMessage(child: ChildProcess): Promise<unknown> {
  const over = new AbortController()
  const signal = AbortSignal.any([AbortSignal.timeout(answerWithinMs), over.signal])
  const gone = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`a measured process ended with ${code}`)
  })
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal }), gone])) as [unknown]
    return message
  } finally {
    gone.catch(() => undefined)
    over.abort()
  }
}

/** Handles the messages of a measured program; signals that it is ready. */
export function answerMessages(answer: (message: never) => Promise<object>): void {
  process.on('message', (message) => {
    answer(message as never).then(
      (result) => process.send?.(result),
      (error: unknown) => process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    )
  })
  process.send?.({ ready: true })
}

/** CPU time of this process without its children, in milliseconds. */
export function ownCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/**
 * CPU time of this process and of its exited and running children, in milliseconds. Reads every process of the machine, which takes time
 * itself: do not call it during a time measurement.
 */
export function cpuMs(): number {
  const running = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const children = running.map(statOf).filter((fields) => fields[parentField] === String(process.pid))
  return [statOf('self'), ...children].reduce((sum, fields) => sum + cpuOf(fields), 0)
}

/** Fields of proc(5) stat from the third on; empty if the process has exited meanwhile. */
function statOf(pid: string): readonly string[] {
  try {
    // UTF-8 takes one system call; any other encoding allocates a buffer of 64 KiB per file.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}

const parentField = 1

/** Fields 14 to 17, at 100 ticks a second. */
function cpuOf(fields: readonly string[]): number {
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0)
}

export type Memory = { anonymousMiB: number; residentMiB: number }

export function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mib = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) / 1024
  return { anonymousMiB: mib('RssAnon'), residentMiB: mib('VmRSS') }
}

/** IDs of the child processes that run a program with that file name. */
export function childrenRunning(file: string): number[] {
  const parent = new RegExp(`^PPid:\\s+${process.pid}$`, 'm')
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => {
      try {
        const [status, command] = [readFileSync(`/proc/${pid}/status`, 'utf8'), readFileSync(`/proc/${pid}/cmdline`, 'utf8')]
        return parent.test(status) && command.split('\0').some((argument) => path.basename(argument) === file)
      } catch {
        return false
      }
    })
    .map(Number)
}

/** Peak values while `work` runs, sampled every 5 ms. */
export async function peakWhile<Result>(pid: number, work: () => Promise<Result>): Promise<{ result: Result; peak: Memory }> {
  const peak = memoryOf(pid)
  const timer = setInterval(() => {
    const now = memoryOf(pid)
    peak.anonymousMiB = Math.max(peak.anonymousMiB, now.anonymousMiB)
    peak.residentMiB = Math.max(peak.residentMiB, now.residentMiB)
  }, 5)
  try {
    return { result: await work(), peak }
  } finally {
    clearInterval(timer)
  }
}
