/**
 * `cluster-sync drift`: what was changed on a gateway itself.
 */
import type { Command } from 'commander'
import { Fault } from '../fault.ts'
import { printFault } from './print-fault.ts'
import type { DriftOptions } from './drift-folder.ts'

const exitChanges = 1
const exitFailed = 2

export function register(program: Command): void {
  program
    .command('drift')
    .description(
      'show what was changed in a data directory since the last sync, by resource; writes nothing. Exit 0: nothing, 1: changes, 2: it cannot be said',
    )
    .requiredOption('-f, --file <file>', 'YAML file with one GatewaySync')
    .requiredOption('--data <dir>', "the gateway's data directory")
    .option('--profile <name>', 'profile of spec.sync.profiles (default: "default")')
    .option('--mode <name>', 'deployment mode of the gateway; default: the one that it was last synced for')
    .option('--secrets <dir>', 'folder that stands for Secrets: <dir>/<name>/<key>')
    .option('--format <format>', 'text or json', 'text')
    .action(async (options: DriftOptions) => {
      try {
        if (!['text', 'json'].includes(options.format)) throw new Fault('InvalidConfiguration', '--format must be text or json')
        const { driftOfFolder } = await import('./drift-folder.ts')
        const { text, changes } = await driftOfFolder(options)
        process.stdout.write(text)
        process.exitCode = changes ? exitChanges : 0
      } catch (error) {
        if (!(error instanceof Fault)) throw error
        printFault(error)
        process.exitCode = exitFailed
      }
    })
}
