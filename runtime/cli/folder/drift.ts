/**
 * Registers `cluster-sync drift`: shows local changes of a gateway, in a data directory or as the agents of a cluster report them.
 */
import { type Command, Option } from 'commander'
import { Fault } from '../../platform/fault.ts'
import type { DriftOptions } from './drift-folder.ts'
import { type ChangesOptions, type HistoryOptions, withClusterOptions } from '../fleet/options.ts'
import { helpFooter } from '../command.ts'
import { durationArgument, formatOption, print, standardOutput, exitNo, exitYes, exitWith } from '../output/output.ts'

type Options = HistoryOptions &
  Partial<Pick<DriftOptions, 'file' | 'data'>> &
  Pick<DriftOptions, 'profile' | 'mode' | 'secrets'> &
  Pick<ChangesOptions, 'only' | 'timeout'> & { contents?: true }

const defaultTimeout = '2m'

export function register(program: Command): void {
  const command = program
    .command('drift')
    .summary('Show local changes of gateways')
    .description(
      'Show changes made on gateways since the last sync: in a data directory by resource, in a cluster by file, or with --contents by resource. Gateways are not changed.',
    )
    .argument('[name]', 'in a cluster: one GatewaySync (default: all of the namespace)')
    .option('-f, --file <file>', 'YAML file with one GatewaySync, for --data')
    .option('--data <dir>', "the gateway's data directory")
    .option('--profile <name>', 'for --data: profile of spec.sync.profiles (default: "default")')
    .option('--mode <name>', 'for --data: deployment mode of the gateway (default: that of the last sync)')
    .option('--secrets <dir>', 'for --data: folder with the Secrets: <dir>/<name>/<key>')
  withClusterOptions(command)
    .option('--contents', 'in a cluster: request the differences from the agents, including new files; needs permission to patch')
    .option('--only <name>', 'with --contents: only this gateway or pod')
    .addOption(
      new Option('--timeout <duration>', 'with --contents: maximum time to wait; agents drop a request after ten minutes')
        .argParser(durationArgument)
        .default(durationArgument(defaultTimeout), defaultTimeout),
    )
    .option('--state <dir>', 'without a cluster: the folder of "cluster-sync run --state"')
    .addOption(formatOption())
    .addHelpText(
      'after',
      helpFooter({
        exits: { 0: 'no changes', 1: 'changes', 2: 'unknown: no access, no response of an agent, or invalid options' },
        page: 'docs/how-to/capture.md',
        calls: [
          'drift plant -n line-1',
          'drift plant --contents --only press',
          'drift -f gatewaysync.yaml --data /usr/local/bin/ignition/data',
        ],
      }),
    )
    .action((name: string | undefined, options: Options) => exitWith(() => drift(name, options)))
}

async function drift(name: string | undefined, options: Options): Promise<number> {
  const { file, data, contents, only, state } = options
  if (contents === true) {
    if (name === undefined || file !== undefined || data !== undefined || state !== undefined)
      throw new Fault(
        'InvalidConfiguration',
        '--contents queries the agents of one GatewaySync: give its name, without --file, --data and --state',
      )
    const { changesCommand } = await import('../fleet/drift-command.ts')
    return await changesCommand(name, options, standardOutput())
  }
  if (only !== undefined) throw new Fault('InvalidConfiguration', '--only needs --contents')
  if (file === undefined && data === undefined) {
    const { driftCommand } = await import('../fleet/drift-command.ts')
    return await driftCommand(name, options, standardOutput())
  }
  if (file === undefined || data === undefined)
    throw new Fault('InvalidConfiguration', 'specify both -f <file> and --data <dir> for a data directory, or neither for a cluster')
  if (name !== undefined) throw new Fault('InvalidConfiguration', '--file already names the GatewaySync: omit the name')
  if (state !== undefined) throw new Fault('InvalidConfiguration', '--state shows the last report of a run: omit --file and --data')
  const { driftOfFolder } = await import('./drift-folder.ts')
  const { text, changes } = await driftOfFolder({ ...options, file, data })
  print(standardOutput(), [text.replace(/\n$/, '')])
  return changes ? exitNo : exitYes
}
