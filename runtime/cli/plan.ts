/**
 * `cluster-sync plan`: what a sync would do to a folder, without doing it.
 */
import type { Command } from 'commander'
import { Fault } from '../fault.ts'

type Options = { file: string; data: string; profile?: string; mode?: string; ref?: string; secrets?: string; format: string }

const exitChanges = 1
const exitFailed = 2

export function register(program: Command): void {
  program
    .command('plan')
    .description('show what a sync would change in a data directory; writes nothing. Exit 0: nothing, 1: changes, 2: it cannot be said')
    .requiredOption('-f, --file <file>', 'YAML file with one GatewaySync')
    .requiredOption('--data <dir>', "the gateway's data directory")
    .option('--profile <name>', 'profile of spec.sync.profiles (default: "default")')
    .option('--mode <name>', 'deployment mode of the gateway; default: that of its ignition.conf')
    .option('--ref <ref>', 'another ref than spec.git.ref')
    .option('--secrets <dir>', 'folder that stands for Secrets: <dir>/<name>/<key>')
    .option('--format <format>', 'text or json', 'text')
    .action(async (options: Options) => {
      try {
        if (options.format !== 'text' && options.format !== 'json') throw new Fault('InvalidConfiguration', '--format must be text or json')
        const { planFolder } = await import('./plan-folder.ts')
        const { text, changes } = await planFolder({ ...options, format: options.format })
        process.stdout.write(text)
        process.exitCode = changes ? exitChanges : 0
      } catch (error) {
        if (!(error instanceof Fault)) throw error
        process.stderr.write(`cluster-sync: ${error.message} (${error.reason})\n`)
        process.exitCode = exitFailed
      }
    })
}
