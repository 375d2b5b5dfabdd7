/**
 * The gates that every change passes before its tests: types, lint, format, what nothing uses, generated files.
 */
import { spawn } from 'node:child_process'

/** What a gate remembers of files that have not changed since; with it a check of one change takes a third of the time. */
const caches = 'node_modules/.cache/gates'

const types = ['tsc', ['-p', '.', '--incremental', '--tsBuildInfoFile', `${caches}/tsc.tsbuildinfo`]] as const
const prettier = ['--check', '--log-level=warn', '--cache', '--cache-strategy=content', `--cache-location=${caches}/prettier`]

type Gate = readonly [command: string, args: readonly string[]]

/** What is told about some files alone; what nothing uses and what is generated concerns all. */
function gatesFor(files: readonly string[]): readonly Gate[] {
  const ofFiles: Gate[] = [
    ['oxlint', files],
    ['prettier', [...prettier, ...(files.length === 0 ? ['.'] : files)]],
  ]
  if (files.length > 0) return [types, ...ofFiles]
  return [
    types,
    ...ofFiles,
    ['knip', ['--no-progress', '--treat-config-hints-as-errors']],
    ['node', ['scripts/generate/main.ts', '--check']],
  ]
}

/** Runs every gate, whatever the others say; returns how many failed. `files`: only what concerns these; none means everything. */
export async function runGates(files: readonly string[] = []): Promise<number> {
  let failed = 0
  for (const [command, args] of gatesFor(files)) if ((await run(command, args)) !== 0) failed += 1
  return failed
}

function run(command: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit' })
    child.on('error', reject)
    child.on('close', (code) => {
      if (code !== 0) process.stdout.write(`failed: ${command} ${args.join(' ')}\n`)
      resolve(code ?? 1)
    })
  })
}
