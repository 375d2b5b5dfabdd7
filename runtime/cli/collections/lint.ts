/**
 * `cluster-sync lint`: checks resource collections and projects, here or in a repository. Exit codes: 0 clean, 1 findings at or above `--fail-on`, 2
 * usage or unreadable input.
 */
import { realpathSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { type Command, Option } from 'commander'
import type { CheckFinding } from '../../validation/rules/findings.ts'
import { Fault } from '../../platform/fault.ts'
import type { Input } from './collections-input.ts'
import type { Fixed } from './lint-fix.ts'
import type { Format, LintResult } from './lint-formats.ts'
import { workSignal } from '../stop.ts'
import { helpFooter } from '../command.ts'

type Options = { ref?: string; root?: string; format: Format; failOn: 'error' | 'warning'; fix?: true }

const maxFindings = 10_000
const timeoutMs = 600_000

/**
 * Keeps the young generation small, and grows the heap in small steps: 25 MiB less at 10,000 resources. From Node 26 on, the Maglev compiler
 * is enabled by default and fast enough: TurboFan would cost a run more time than it saves, and 10 MiB.
 */
const heapFlags = [
  '--semi-space-growth-factor=1',
  '--heap-growing-percent=40',
  Number.parseInt(process.versions.node, 10) >= 26 ? '--no-turbofan' : '--optimize-for-size',
]

export function register(program: Command): void {
  program
    .command('lint')
    .summary('Validate resource collections and projects')
    .description(
      'Check whether a gateway would start with these resource collections and projects. .clustersync.yaml at the top of the repository sets severities.',
    )
    .argument('[path]', 'directory or repository URL', '.')
    .option('--ref <ref>', 'check this branch, tag or commit instead of the files of the directory')
    .option('--root <dir>', 'folder that contains the collections, below the path (default: all that are found)')
    .addOption(new Option('--format <format>', 'output format').choices(['text', 'json', 'sarif', 'github', 'gitlab']).default('text'))
    .addOption(new Option('--fail-on <severity>', 'lowest severity that causes exit code 1').choices(['error', 'warning']).default('error'))
    .option(
      '--fix',
      'fix unambiguous findings: a missing config-mode.json, missing attributes, a listed thumbnail.png or backupConfig.json that does not exist, a byte order mark, a stale signature',
    )
    .addHelpText(
      'after',
      helpFooter({
        exits: { 0: 'no findings at or above --fail-on', 1: 'findings at or above --fail-on', 2: 'invalid options or settings' },
        calls: ['lint', 'lint --fix services', 'lint https://git.example.com/plant.git --ref main'],
        page: 'docs/reference/rules.md',
      }),
    )
    .action(async (where: string, options: Options) => {
      for (const flag of heapFlags) setFlagsFromString(flag)
      const [{ formats }, { print, standardOutput }, { systemClock }] = await Promise.all([
        import('./lint-formats.ts'),
        import('../output/output.ts'),
        import('../../platform/clock.ts'),
      ])
      const startedMs = systemClock.monotonicMs()
      const signal = workSignal(timeoutMs)
      const fixed = options.fix === true ? await fixAll(where, options, signal) : undefined
      const { result } = await lintAt(where, options, signal)
      const timed = { ...result, ...(fixed === undefined ? {} : { fixed }), durationMs: systemClock.monotonicMs() - startedMs }
      const output = standardOutput()
      print(output, [formats[options.format](timed, output.style)])
      const { errors, warnings } = result.summary
      process.exitCode = errors > 0 || (options.failOn === 'warning' && warnings > 0) ? 1 : 0
    })
}

/** Lints once for each rule, because a fix changes what the next rule finds. */
async function fixAll(where: string, options: Options, signal: AbortSignal): Promise<Fixed[]> {
  const [{ fixable, fixFindings }, { locate }] = await Promise.all([import('./lint-fix.ts'), import('./collections-input.ts')])
  if (options.ref !== undefined) throw new Fault('InvalidConfiguration', '--fix changes the files of a directory: omit --ref')
  const fixed: Fixed[] = []
  for (const rule of fixable) {
    const { result } = await lintAt(where, options, signal)
    const { top } = locate(realpathSync(where))
    fixed.push(...(await fixFindings(top, rule, result.findings, signal)))
  }
  return fixed
}

async function lintAt(where: string, { ref, root }: Options, signal: AbortSignal): Promise<{ result: LintResult }> {
  const [{ openInput }, { placeFindings }] = await Promise.all([
    import('./collections-input.ts'),
    import('../../validation/run/place-findings.ts'),
  ])
  const input = await openInput(where, ref, signal)
  try {
    const result = await lint(input, root, signal)
    const findings = await placeFindings(input.listing, (path) => input.files.find(path), result.findings, signal)
    return { result: { ...result, findings } }
  } finally {
    await input.close()
  }
}

/**
 * Checks the collections and projects of a directory or a commit. `root`: the folder to check; undefined: all that are found. Throws
 * faults of git and of the disk.
 */
export async function lint(input: Input, root: string | undefined, signal: AbortSignal): Promise<LintResult> {
  const [{ projectRootsOf, rootsOf }, { checkCollections }, { repositorySeverity }] = await Promise.all([
    import('./collections-input.ts'),
    import('../../validation/run/check-root.ts'),
    import('../../validation/rules/severities.ts'),
  ])
  const projectRoots = projectRootsOf(input, root)
  const roots = root !== undefined && projectRoots.length > 0 ? [] : rootsOf(input, root, projectRoots.length > 0)
  const findings: CheckFinding[] = []
  const summary = { errors: 0, warnings: 0, resources: 0, collections: 0, projects: 0 }
  const check = async (each: string, kind: 'collections' | 'projects'): Promise<void> => {
    const options = {
      root: each,
      kind,
      roots: { collections: roots, projects: projectRoots },
      files: input.files,
      severity: repositorySeverity(input.settings),
      maxFindings,
    }
    const report = await checkCollections(input.listing, options, signal)
    findings.push(...report.findings)
    for (const key of ['errors', 'warnings', 'resources'] as const) summary[key] += report.summary[key]
    summary[kind] += report.summary.collections
  }
  for (const each of roots) await check(each, 'collections')
  for (const each of projectRoots) await check(each, 'projects')
  if (root !== undefined && summary.resources + summary.collections + summary.projects === 0) {
    throw new Fault('InvalidConfiguration', `--root ${root} contains no collections`)
  }
  return { roots: [...roots, ...projectRoots], findings, summary }
}
