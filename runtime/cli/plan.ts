/**
 * `cluster-sync plan`: what a sync would do to a folder, without doing it.
 */
import { type Command, Option } from 'commander'
import { Fault } from '../fault.ts'
import { printFault } from './print-fault.ts'

type Options = {
  file: string
  data: string
  gateway?: string
  apiKeyFile?: string
  profile?: string
  mode?: string
  ref?: string
  secrets?: string
  summary?: true
  full?: true
  format: 'text' | 'json'
}

const exitChanges = 1
const exitFailed = 2

export function register(program: Command): void {
  program
    .command('plan')
    .description(
      'show what a sync would change in a data directory; writes nothing. Exit 0: nothing, 1: there are changes or local ones, or it would be refused, 2: the plan could not be computed',
    )
    .requiredOption('-f, --file <file>', 'YAML file with one GatewaySync')
    .requiredOption('--data <dir>', "the gateway's data directory")
    .option('--gateway <url>', 'URL of the running gateway, which is asked for its deployment mode')
    .option('--api-key-file <file>', "file with the gateway's API key, <name>:<secret>")
    .option('--profile <name>', 'profile of spec.sync.profiles (default: "default")')
    .option('--mode <name>', 'deployment mode of the gateway; default: what --gateway says, else its ignition.conf')
    .option('--ref <ref>', 'another ref than spec.git.ref')
    .option('--secrets <dir>', 'folder that stands for Secrets: <dir>/<name>/<key>')
    .addOption(new Option('--summary', 'only the counts and what is to be known').conflicts('full'))
    .option('--full', 'every file with its lines, also where there are more than 30')
    .addOption(new Option('--format <format>', 'text for people, json for programs').choices(['text', 'json']).default('text'))
    .action(async (options: Options) => {
      try {
        const [{ planFolder }, { isQuiet, planText }, { standardOutput, print }] = await Promise.all([
          import('./plan-folder.ts'),
          import('./plan-text.ts'),
          import('./fleet/output.ts'),
        ])
        const report = await planFolder(options)
        const output = standardOutput()
        const view = options.summary === true ? 'summary' : options.full === true ? 'full' : 'grouped'
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
