/**
 * `cluster-sync plan`: what a sync would do to a folder, or a change of the repository to all gateways, without doing it.
 */
import { type Command, Option } from 'commander'
import { Fault } from '../../fault.ts'
import type { PlanView } from './plan-text.ts'
import { printFault } from '../print-fault.ts'

type Options = {
  file: string
  data?: string
  base?: string
  repo?: string
  head?: string
  gateway?: string
  apiKeyFile?: string
  profile?: string
  mode?: string
  ref?: string
  secrets?: string
  summary?: true
  full?: true
  format: 'text' | 'json' | 'markdown' | (typeof lintFormats)[number]
}

/** What code hosts read, about the findings that a change brings. */
const lintFormats = ['github', 'gitlab', 'sarif'] as const

const exitChanges = 1
const exitFailed = 2

export function register(program: Command): void {
  program
    .command('plan')
    .description(
      'show what a sync would change in a data directory, or with --base what a change of the repository would do to all gateways; writes nothing. Exit 0: nothing, 1: there are changes or local ones, or it would be refused (with --base only that), 2: the plan could not be computed',
    )
    .requiredOption('-f, --file <file>', 'YAML file with one GatewaySync')
    .option('--data <dir>', "the gateway's data directory")
    .addOption(
      new Option(
        '--base <ref>',
        'compare two commits instead of looking at a data directory: the branch, tag or commit to merge into',
      ).conflicts(['data', 'gateway', 'apiKeyFile', 'ref', 'secrets']),
    )
    .option('--repo <dir>', 'with --base: a folder of the clone (default: ".")')
    .option('--head <ref>', 'with --base: the commit with the change (default: "HEAD")')
    .option('--gateway <url>', 'URL of the running gateway, which is asked for its deployment mode')
    .option('--api-key-file <file>', "file with the gateway's API key, <name>:<secret>")
    .option('--profile <name>', 'profile of spec.sync.profiles (default: "default")')
    .option('--mode <name>', 'deployment mode of the gateway; default: what --gateway says, else its ignition.conf')
    .option('--ref <ref>', 'another ref than spec.git.ref')
    .option('--secrets <dir>', 'folder that stands for Secrets: <dir>/<name>/<key>')
    .addOption(new Option('--summary', 'only the counts and what is to be known').conflicts('full'))
    .option('--full', 'every file with its lines, also where there are more than 30')
    .addOption(
      new Option('--format <format>', 'text for people, json for programs; with --base also what code hosts show')
        .choices(['text', 'json', 'markdown', ...lintFormats])
        .default('text'),
    )
    .action(async (options: Options) => {
      try {
        if (options.base !== undefined) return await printChange({ ...options, base: options.base })
        const data = dataOf(options)
        const [{ planFolder }, { isQuiet, planText }, { standardOutput, print }] = await Promise.all([
          import('./plan-folder.ts'),
          import('./plan-text.ts'),
          import('../fleet/output.ts'),
        ])
        const report = await planFolder({ ...options, data })
        const output = standardOutput()
        const view = viewOf(options)
        const { counts, changes, ...rest } = report
        const document = { ...rest, ...counts, ...(options.summary === true ? {} : { changes }) }
        print(output, options.format === 'json' ? [JSON.stringify(document, undefined, 2)] : planText(report, view, output.style))
        process.exitCode = isQuiet(report) ? 0 : exitChanges
      } catch (error) {
        if (!(error instanceof Fault)) throw error
        printFault(error)
        process.exitCode = exitFailed
      }
    })
}

function viewOf({ summary, full }: Options): PlanView {
  return summary === true ? 'summary' : full === true ? 'full' : 'grouped'
}

/** Throws InvalidConfiguration where the options are those of the other plan. */
function dataOf({ data, repo, head, format }: Options): string {
  if (data === undefined) throw new Fault('InvalidConfiguration', 'say of what: --data <dir> of a gateway, or --base <ref> of a repository')
  if (repo !== undefined || head !== undefined) throw new Fault('InvalidConfiguration', '--repo and --head need --base')
  if (format !== 'text' && format !== 'json') throw new Fault('InvalidConfiguration', `--format ${format} needs --base`)
  return data
}

async function printChange(options: Options & { base: string }): Promise<void> {
  const [{ isRefused, planChange }, { changeMarkdown, changeText }, { formats }, { standardOutput, print }] = await Promise.all([
    import('./plan-change.ts'),
    import('./change-text.ts'),
    import('../collections/lint-formats.ts'),
    import('../fleet/output.ts'),
  ])
  const { file, base, repo = '.', head = 'HEAD', profile, mode, format } = options
  const asked = { file, base, repo, head, modes: mode === undefined ? [] : [mode], ...(profile === undefined ? {} : { profile }) }
  const report = await planChange(asked)
  const output = standardOutput()
  const { lint, ...rest } = report
  const shown = format === 'text' ? changeText(report, viewOf(options), output.style) : undefined
  if (shown !== undefined) print(output, shown)
  else if (format === 'json') print(output, [JSON.stringify({ ...rest, findings: lint.findings }, undefined, 2)])
  else if (format === 'markdown') print(output, [changeMarkdown(report)])
  else if (format !== 'text') {
    const formatted: (result: typeof lint, style: typeof output.style) => string = formats[format]
    print(output, [formatted(lint, output.style)])
  }
  process.exitCode = isRefused(report) ? exitChanges : 0
}
