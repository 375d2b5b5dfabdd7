/**
 * Registers `cluster-sync capture`: turns local changes of a gateway into a commit, here from a data directory or by the controller of a cluster.
 */
import { type Command, Option } from 'commander'
import { Fault } from '../../platform/fault.ts'
import type { CaptureOptions } from './capture-folder.ts'
import { type CaptureRequestOptions, withClusterOptions } from '../fleet/options.ts'
import { helpFooter, collect } from '../command.ts'
import { durationArgument, formatOption, print, standardOutput, exitNo, exitYes, exitWith } from '../output/output.ts'

type Options = CaptureRequestOptions & Omit<CaptureOptions, 'file' | 'data'> & Partial<Pick<CaptureOptions, 'file' | 'data'>>

const defaultTimeout = '5m'

export function register(program: Command): void {
  const command = program
    .command('capture')
    .summary('Capture local changes of a gateway as a commit')
    .description(
      'Capture, as one commit, the changes made on a gateway since its last sync: from a data directory with --data, otherwise through the controller of a cluster. The data directory is not changed.',
    )
    .argument('[name]', 'in a cluster: the GatewaySync; its spec.capture sets the branch')
    .option('--only <name>', 'in a cluster: only this gateway or pod')
  withClusterOptions(command)
    .addOption(
      new Option('--timeout <duration>', 'in a cluster: maximum time to wait')
        .argParser(durationArgument)
        .default(durationArgument(defaultTimeout), defaultTimeout),
    )
    .addOption(formatOption())
    .option('-f, --file <file>', 'YAML file with one GatewaySync, for --data')
    .option('--data <dir>', "the gateway's data directory; requires --file and permits the options below")
    .option('--profile <name>', 'profile of spec.sync.profiles (default: "default")')
    .option('--mode <name>', 'deployment mode of the gateway (default: that of the last sync)')
    .option('--secrets <dir>', 'folder with the Secrets: <dir>/<name>/<key>')
    .option('--push', 'push the commit as a new branch of spec.git.repo, with the credentials of spec.git.auth')
    .option('--output <file>', 'write the commit to a file: a bundle if its name ends in .bundle, otherwise a patch for git am')
    .option('--branch <name>', 'name of the branch (default: captured/<gateway>-<hash of the changes>)')
    .option('--author <author>', '"Name <address>" (default: the user who last saved in a Designer)')
    .option('--message <text>', 'commit message')
    .option('--include <glob>', 'also capture new files of the data directory that match; repeatable', collect, [])
    .option('--dry-run', 'list what would be captured, and capture nothing')
    .addHelpText(
      'after',
      helpFooter({
        exits: { 0: 'done', 1: 'nothing to capture, or refused', 2: 'failed' },
        calls: ['capture plant --only press', 'capture -f gatewaysync.yaml --data /usr/local/bin/ignition/data --push'],
        page: 'docs/how-to/capture.md',
      }),
    )
    .action((name: string | undefined, options: Options) => exitWith(() => capture(name, options)))
}

async function capture(name: string | undefined, options: Options): Promise<number> {
  const { file, data } = options
  if (name !== undefined) {
    if (file !== undefined || data !== undefined)
      throw new Fault('InvalidConfiguration', '--file already names the GatewaySync: omit the name')
    const { captureCommand } = await import('../fleet/change-command.ts')
    return await captureCommand(name, options, standardOutput())
  }
  if (file === undefined || data === undefined)
    throw new Fault('InvalidConfiguration', 'specify the GatewaySync of a cluster, or -f <file> and --data <dir> for a data directory')
  if (options.push !== true && options.output === undefined && options.dryRun !== true)
    throw new Fault('InvalidConfiguration', 'specify what to do with the commit: --push, --output <file>, or --dry-run to list its files')
  const { captureFolder } = await import('./capture-folder.ts')
  const { text, captured } = await captureFolder({ ...options, file, data })
  print(standardOutput(), [text.replace(/\n$/, '')])
  return captured ? exitYes : exitNo
}
