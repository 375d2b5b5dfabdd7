/**
 * Programs that a release runs, in the root of the checkout.
 */
import { spawnSync } from 'node:child_process'
import path from 'node:path'

export const root = path.resolve(import.meta.dirname, '../..')

/** Runs a program whose output is progress. Throws if it fails. */
export function run(
  program: string,
  words: readonly string[],
  { cwd = root, env = {} }: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): void {
  const { status, error } = spawnSync(program, words, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error(`${[program, ...words].join(' ')} failed: ${error?.message ?? `it ended with ${status}`}`)
}

/** The output of a program. Throws if it fails. */
export function outputOf(program: string, words: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, words, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${[program, ...words].join(' ')} failed: ${error?.message ?? stderr.trim()}`)
  return stdout.trim()
}
