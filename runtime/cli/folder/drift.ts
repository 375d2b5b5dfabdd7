/**
 * `cluster-sync drift`: what was changed on a gateway itself, in a data directory or as the agents of a cluster report it.
 */
import { type Command, Option } from 'commander'
import { Fault } from '../../fault.ts'
import type { DriftOptions } from './drift-folder.ts'
import { exitNo, exitYes, telling } from '../fleet/exit.ts'
import { type ChangesOptions, type HistoryOptions, withClusterOptions } from '../fleet/options.ts'
import { durationArgument, examples, formatOption, standardOutput } from '../fleet/output.ts'

type Options = HistoryOptions &
  Partial<Pick<DriftOptions, 'file' | 'data'>> &
  Pick<DriftOptions, 'profile' | 'mode' | 'secrets'> &
  Pick<ChangesOptions, 'gateway' | 'timeout'> & { contents?: true }

const usualTimeout = '2m'

export function register(program: Command): void {
  const command = program
    .command('drift')
    .description(
      'show what was changed on gateways since the last sync: in a data directory by resource, else in a cluster by file, and with --contents by resource; changes no gateway. Exit 0: nothing, 1: changes, 2: it cannot be said',
    )
    .argument('[name]', 'of a cluster: one GatewaySync; default: all of the namespace')
    .option('-f, --file <file>', 'YAML file with one GatewaySync, for --data')
    .option('--data <dir>', "the gateway's data directory")
    .option('--profile <name>', 'for --data: profile of spec.sync.profiles (default: "default")')
    .option('--mode <name>', 'for --data: deployment mode of the gateway; default: the one that it was last synced for')
    .option('--secrets <dir>', 'for --data: folder that stands for Secrets: <dir>/<name>/<key>')
  withClusterOptions(command)
    .option('--contents', 'of a cluster: ask the agents what differs, new files too; asks by annotation, which needs the right to patch')
    .option('--gateway <name>', 'with --contents: only this gateway or pod')
    .addOption(
      new Option('--timeout <duration>', 'with --contents: give up waiting after so long; agents answer for ten minutes')
        .argParser(durationArgument)
        .default(durationArgument(usualTimeout), usualTimeout),
    )
    .option('--state <dir>', 'of a standalone run instead of a cluster: the folder that "cluster-sync run --state" keeps')
    .addOption(formatOption())
    .addHelpText(
      'after',
      examples(
        'drift plant -n line-1',
        'drift plant --contents --gateway press',
        'drift -f gatewaysync.yaml --data /usr/local/bin/ignition/data',
      ),
    )
    .action((name: string | undefined, options: Options) => telling(() => drift(name, options)))
}

async function drift(name: string | undefined, options: Options): Promise<number> {
  const { file, data, contents, gateway, state } = options
  if (contents === true) {
    if (name === undefined || file !== undefined || data !== undefined || state !== undefined)
      throw new Fault('InvalidConfiguration', '--contents asks the agents of one GatewaySync: name it, without --file, --data and --state')
    const { changesCommand } = await import('../fleet/changes-command.ts')
    return await changesCommand(name, options, standardOutput())
  }
  if (gateway !== undefined) throw new Fault('InvalidConfiguration', '--gateway needs --contents')
  if (file === undefined && data === undefined) {
    const { driftCommand } = await import('../fleet/drift-command.ts')
    return await driftCommand(name, options, standardOutput())
  }
  if (file === undefined || data === undefined)
    throw new Fault('InvalidConfiguration', 'give both -f <file> and --data <dir> for a data directory, or neither for a cluster')
  if (name !== undefined) throw new Fault('InvalidConfiguration', 'the file names the GatewaySync: --data takes no name')
  const { driftOfFolder } = await import('./drift-folder.ts')
  const { text, changes } = await driftOfFolder({ ...options, file, data })
  process.stdout.write(text)
  return changes ? exitNo : exitYes
}
