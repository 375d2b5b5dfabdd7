/**
 * Registers `cluster-sync plan`: shows the effect of a sync on a folder, or of a repository change on all gateways, without applying it.
 */
import { type Command, Option } from 'commander'
import { Fault } from '../../platform/fault.ts'
import type { PlanView } from './plan-text.ts'
import { helpFooter } from '../command.ts'
import { printFault } from '../output/output.ts'

type Options = {
  file: string
  data?: string
  base?: string
  path?: string
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

/** Formats for code hosts, for the findings that a change adds. */
const lintFormats = ['github', 'gitlab', 'sarif'] as const

const exitChanges = 1
const exitFailed = 2

export function register(program: Command): void {
  program
    .command('plan')
    .summary('Show what a sync would change')
    .description(
      'Show what a sync would change in a data directory, or with --base, the effect of a repository change on all gateways. Writes nothing.',
    )
    .requiredOption('-f, --file <file>', 'YAML file with one GatewaySync')
    .option('--data <dir>', "the gateway's data directory")
    .addOption(
      new Option('--base <ref>', 'compare two commits instead of a data directory: the branch, tag or commit to merge into').conflicts([
        'data',
        'gateway',
        'apiKeyFile',
        'ref',
        'secrets',
      ]),
    )
    .option('--path <dir>', 'with --base: a folder of the clone (default: ".")')
    .option('--head <ref>', 'with --base: the commit with the change (default: "HEAD")')
    .option('--gateway <url>', 'URL of the running gateway, to read its deployment mode')
    .option('--api-key-file <file>', "file with the gateway's API key, <name>:<secret>")
    .option('--profile <name>', 'profile of spec.sync.profiles (default: "default")')
    .option('--mode <name>', 'deployment mode of the gateway (default: from --gateway, from its ignition.conf, or that of the last sync)')
    .option('--ref <ref>', 'ref to plan instead of spec.git.ref')
    .option('--secrets <dir>', 'folder with the Secrets: <dir>/<name>/<key>')
    .addOption(new Option('--summary', 'show only counts and findings').conflicts('full'))
    .option('--full', 'list every file with its changes, even if there are more than 30')
    .addOption(
      new Option('--format <format>', 'output format; all but text and json need --base')
        .choices(['text', 'json', 'markdown', ...lintFormats])
        .default('text'),
    )
    .addHelpText(
      'after',
      helpFooter({
        exits: {
          0: 'no changes; with --base: the change would be published',
          1: 'changes, or the sync would be refused; with --base: only if it would be refused',
          2: 'the plan could not be computed',
        },
        calls: ['plan -f gatewaysync.yaml --data /usr/local/bin/ignition/data', 'plan -f gatewaysync.yaml --base main'],
        page: 'docs/reference/commands.md',
      }),
    )
    .action(run)
}

async function run(options: Options): Promise<void> {
  try {
    if (options.base === undefined) await printFolder(options)
    else await printChange({ ...options, base: options.base })
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    printFault(error)
    process.exitCode = exitFailed
  }
}

function viewOf({ summary, full }: Options): PlanView {
  return summary === true ? 'summary' : full === true ? 'full' : 'grouped'
}

/** Throws InvalidConfiguration if the options belong to the other kind of plan. */
function dataOf({ data, path, head, format }: Options): string {
  if (data === undefined) throw new Fault('InvalidConfiguration', 'specify --data <dir> of a gateway, or --base <ref> of a repository')
  if (path !== undefined || head !== undefined) throw new Fault('InvalidConfiguration', '--path and --head need --base')
  if (format !== 'text' && format !== 'json') throw new Fault('InvalidConfiguration', `--format ${format} needs --base`)
  return data
}

async function printFolder(options: Options): Promise<void> {
  const data = dataOf(options)
  const [{ planFolder }, { isQuiet, planText }, { standardOutput, print }] = await Promise.all([
    import('./plan-folder.ts'),
    import('./plan-text.ts'),
    import('../output/output.ts'),
  ])
  const report = await planFolder({ ...options, data })
  const output = standardOutput()
  const view = viewOf(options)
  const { counts, changes, ...rest } = report
  const document = { ...rest, ...counts, ...(options.summary === true ? {} : { changes }) }
  print(output, options.format === 'json' ? [JSON.stringify(document, undefined, 2)] : planText(report, view, output.style))
  process.exitCode = isQuiet(report) ? 0 : exitChanges
}

async function printChange(options: Options & { base: string }): Promise<void> {
  const [{ isRefused, planChange }, { changeMarkdown, changeText }, { formats }, { standardOutput, print }] = await Promise.all([
    import('./plan-change.ts'),
    import('./change-text.ts'),
    import('../collections/lint-formats.ts'),
    import('../output/output.ts'),
  ])
  const { file, base, path = '.', head = 'HEAD', profile, mode, format } = options
  const asked = { file, base, path, head, modes: mode === undefined ? [] : [mode], ...(profile === undefined ? {} : { profile }) }
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
