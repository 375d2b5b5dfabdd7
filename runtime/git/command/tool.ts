/**
 * Runs a small program over untrusted data (gpgv, ssh-keygen): no environment, little memory, no writable file, a deadline. Data that the program
 * expects in files is passed as descriptors of unlinked files, so that nothing remains however the process ends.
 */
import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { deadline } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import { isProgramMissing } from './git.ts'
import { systemPath } from './settings.ts'
import { openUnnamedFile } from './unnamed-file.ts'

/** One call of a program. */
export type ToolRun = {
  command: string
  /** An argument `{name}` is replaced with the path of the file of that name. */
  args: readonly string[]
  files: Readonly<Record<string, Buffer>>
  input: Buffer
}

/** Where and how long it runs. */
export type ToolOptions = {
  /** On any disk; created when it does not exist. Files have a name in it only between two system calls. */
  folder: string
  timeoutMs: number
  signal: AbortSignal
}

/** Any exit of the program, successful or not. Both outputs are cut to about 64 KiB, one character for each byte. */
export type ToolResult = { code: number; stdout: string; stderr: string }

/** No core dump, 64 MiB of memory, no file. */
const underLimits = 'ulimit -c 0 && ulimit -d 65536 && ulimit -f 0 && exec "$@"'
/** Exit codes of a shell that cannot run the program. */
const shellFoundNone = [126, 127]
const maxOutputBytes = 64 * 1024
/** The first descriptor after the standard ones. */
const firstDescriptor = 3
/** Where a program finds its open files by name; dangling where /proc is not mounted. */
const descriptorFolder = '/dev/fd'

/**
 * Runs a program to its end, regardless of its exit code. Throws Timeout, GitKilled when a signal ended it, which does not depend on the
 * data, and ToolMissing when the machine lacks the program or the means to pass its files.
 */
export async function runTool(run: ToolRun, { folder, timeoutMs, signal }: ToolOptions): Promise<ToolResult> {
  const names = Object.keys(run.files)
  if (names.length > 0 && !existsSync(descriptorFolder))
    throw new Fault('ToolMissing', `${descriptorFolder} does not exist, and ${run.command} needs it to read its files; mount /proc`)
  if (names.length > 0) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const descriptors = names.map((name) => openUnnamedFile(folder, run.files[name] ?? Buffer.alloc(0)))
  try {
    const args = run.args.map((arg) => {
      const index = names.findIndex((name) => arg === `{${name}}`)
      return index < 0 ? arg : `${descriptorFolder}/${firstDescriptor + index}`
    })
    const stop = deadline(timeoutMs, signal)
    const child = spawn('sh', ['-c', underLimits, 'sh', run.command, ...args], {
      stdio: ['pipe', 'pipe', 'pipe', ...descriptors],
      env: { PATH: systemPath, LC_ALL: 'C' },
      signal: stop,
      killSignal: 'SIGKILL',
    })
    const [input, output, errors] = child.stdio as unknown as [Writable, Readable, Readable]
    const [stdout, stderr] = [gather(output), gather(errors)]
    input.on('error', () => undefined)
    input.end(run.input)
    const end = await new Promise<number | NodeJS.Signals | null | Error>((resolve) => {
      child.once('error', resolve)
      child.once('close', (code, by) => resolve(code ?? by))
    })
    signal.throwIfAborted()
    if (stop.aborted) throw new Fault('Timeout', `${run.command} did not end within ${Math.round(timeoutMs / 1000)} s`)
    if (end instanceof Error)
      throw new Fault(isProgramMissing(end) ? 'ToolMissing' : 'GitKilled', `sh cannot be started: ${end.message}`, { cause: end })
    if (typeof end !== 'number') throw new Fault('GitKilled', `${run.command} was ended by ${end ?? 'a signal'}`)
    if (shellFoundNone.includes(end)) throw new Fault('ToolMissing', `${run.command} is not installed or cannot be run`)
    return { code: end, stdout: stdout(), stderr: stderr() }
  } finally {
    descriptors.forEach((descriptor) => closeSync(descriptor))
  }
}

/** Collects the beginning of a program's output; the rest is read and dropped, so that the program can continue. */
function gather(stream: Readable): () => string {
  const chunks: Buffer[] = []
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    if (size < maxOutputBytes) chunks.push(chunk)
    size += chunk.length
  })
  return () => Buffer.concat(chunks).toString('latin1')
}
