/**
 * The checks of every change before its tests: types, lint, format, language, unused exports, generated files.
 */
import { spawn } from 'node:child_process'

/** Results for unchanged files; they shorten a second check to a third. */
const caches = 'node_modules/.cache/gates'

const types = ['tsc', ['-p', '.', '--incremental', '--tsBuildInfoFile', `${caches}/tsc.tsbuildinfo`]] as const
const prettier = [
  '--check',
  '--ignore-unknown',
  '--log-level=warn',
  '--cache',
  '--cache-strategy=content',
  `--cache-location=${caches}/prettier`,
]

type Gate = readonly [command: string, args: readonly string[]]

/** Without files: every check. With files: types of all, the rest of these files. */
function gatesFor(files: readonly string[]): readonly Gate[] {
  const ofFiles: Gate[] = [
    // The given files may all be pages.
    ['oxlint', ['--no-error-on-unmatched-pattern', ...files]],
    ['prettier', [...prettier, ...(files.length === 0 ? ['.'] : files)]],
  ]
  const pages = files.filter((file) => file.endsWith('.md'))
  const prose: Gate = ['node', ['scripts/prose.ts', ...pages]]
  if (files.length > 0) return [types, ...ofFiles, ...(pages.length > 0 ? [prose] : [])]
  return [
    types,
    ...ofFiles,
    prose,
    ['knip', ['--no-progress', '--treat-config-hints-as-errors']],
    ['node', ['scripts/generate/main.ts', '--check']],
  ]
}

/** The types of everything; returns 1 if they are wrong. */
export async function checkTypes(): Promise<number> {
  return (await run(...types)) === 0 ? 0 : 1
}

/** Runs every check, also after one has failed; returns how many failed. `files`: check these only; none means everything. */
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
