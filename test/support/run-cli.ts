/**
 * Runs the command line like a user: a process with arguments, output and an exit code.
 */
import type { Test } from 'tap'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const cli = path.resolve(import.meta.dirname, '../../runtime/cli.ts')

/** A state folder that is removed with the tests, instead of the default one of this user or machine. */
const stateDirectory = mkdtempSync(path.join(tmpdir(), 'cluster-sync-state-'))
process.once('exit', () => rmSync(stateDirectory, { recursive: true, force: true }))
const environment = { ...process.env, STATE_DIRECTORY: stateDirectory }

export type CliResult = { code: number | null; stdout: string; stderr: string }

export function runCli(
  args: readonly string[],
  options: { cwd?: string; timeoutMs?: number; under?: readonly string[]; env?: Record<string, string> } = {},
): Promise<CliResult> {
  return new Promise((resolve, reject) => {
    const command: string[] = [...(options.under ?? []), process.execPath, cli, ...args]
    const child = spawn(command[0] ?? '', command.slice(1), {
      cwd: options.cwd,
      env: { ...environment, ...options.env },
      timeout: options.timeoutMs ?? 240_000,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')))
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}

/** A process whose streams and signals belong to the caller; `under`: the program that starts it, with its arguments. */
export function spawnCli(
  args: readonly string[],
  { cwd, env, under = [] }: { cwd: string; env: Record<string, string>; under?: readonly string[] },
) {
  const [command = '', ...rest] = [...under, process.execPath, cli, ...args]
  return spawn(command, rest, { cwd, env: { ...environment, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
}

export type RunningCli = {
  /** Everything written to stdout so far. */
  output(): string
  /** Sends a signal and does not wait. */
  signal(name: NodeJS.Signals): void
  /** Resolves with the exit code. */
  ended: Promise<number | null>
  /** Stops it like a service manager; returns the exit code. */
  stop(): Promise<number | null>
  /** Kills it like a loss of power. */
  kill(): Promise<void>
}

/** Starts a command that runs until it is stopped. */
export function startCli(t: Pick<Test, 'teardown'>, args: readonly string[]): RunningCli {
  const child = spawn(process.execPath, [cli, ...args], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] })
  let stdout = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')))
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal)
    return await ended
  }
  // Otherwise a failing test would wait for its child until its timeout.
  t.teardown(async () => await end('SIGKILL'))
  return {
    output: () => stdout,
    signal: (name) => void child.kill(name),
    ended,
    stop: () => end('SIGTERM'),
    kill: async () => void (await end('SIGKILL')),
  }
}
