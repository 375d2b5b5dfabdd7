/**
 * Runs the command line as a user does: a process with arguments, output and an exit code.
 */
import { spawn } from 'node:child_process'
import path from 'node:path'

const cli = path.resolve(import.meta.dirname, '../../runtime/cli.ts')

export type CliResult = { code: number | null; stdout: string; stderr: string }

export function runCli(args: readonly string[], options: { cwd?: string; timeoutMs?: number } = {}): Promise<CliResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [cli, ...args], {
      cwd: options.cwd,
      timeout: options.timeoutMs ?? 60_000,
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
