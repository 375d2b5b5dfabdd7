/**
 * `cluster-sync capture`: what was changed on a gateway becomes a commit, made here of a data directory or by the controller of a cluster.
 */
import { type Command, Option } from 'commander'
import { Fault } from '../../fault.ts'
import type { CaptureOptions } from './capture-folder.ts'
import { exitNo, exitYes, telling } from '../fleet/exit.ts'
import { type CaptureRequestOptions, withClusterOptions } from '../fleet/options.ts'
import { durationArgument, examples, formatOption, standardOutput } from '../fleet/output.ts'

type Options = CaptureRequestOptions & Omit<CaptureOptions, 'file' | 'data'> & Partial<Pick<CaptureOptions, 'file' | 'data'>>

const usualTimeout = '5m'

export function register(program: Command): void {
  const command = program
    .command('capture')
    .description(
      'make one commit of what was changed on a gateway since the last sync: of a data directory, or by the controller of a cluster; the directory is only read. Exit 0: done, 1: there is nothing to capture, or it was refused, 2: it could not be done',
    )
    .argument('[name]', 'of a cluster: the GatewaySync, whose spec.capture says where commits go')
    .option('--gateway <name>', 'of a cluster: only this gateway or pod')
  withClusterOptions(command)
    .addOption(
      new Option('--timeout <duration>', 'of a cluster: give up waiting after so long')
        .argParser(durationArgument)
        .default(durationArgument(usualTimeout), usualTimeout),
    )
    .addOption(formatOption())
    .option('-f, --file <file>', 'YAML file with one GatewaySync, for --data')
    .option('--data <dir>', "the gateway's data directory; the options below are for it")
    .option('--profile <name>', 'profile of spec.sync.profiles (default: "default")')
    .option('--mode <name>', 'deployment mode of the gateway; default: the one that it was last synced for')
    .option('--secrets <dir>', 'folder that stands for Secrets: <dir>/<name>/<key>')
    .option('--push', 'push the commit as a new branch of spec.git.repo, with the credentials of spec.git.auth')
    .option('--output <file>', 'write the commit to a file: a bundle where its name ends in .bundle, else a patch for git am')
    .option('--branch <name>', 'name of the branch (default: captured/<gateway>-<hash of the changes>)')
    .option('--author <author>', '"Name <address>" (default: who saved last in a Designer)')
    .option('--message <text>', 'message of the commit')
    .option('--include <glob>', 'also capture new files that match, in the data directory; repeatable', collect, [])
    .option('--dry-run', 'only say what would be captured')
    .addHelpText(
      'after',
      examples('capture plant --gateway press', 'capture -f gatewaysync.yaml --data /usr/local/bin/ignition/data --push'),
    )
    .action((name: string | undefined, options: Options) => telling(() => capture(name, options)))
}

async function capture(name: string | undefined, options: Options): Promise<number> {
  const { file, data } = options
  if (name !== undefined) {
    if (file !== undefined || data !== undefined)
      throw new Fault('InvalidConfiguration', 'the file names the GatewaySync: --file and --data take no name')
    const { captureCommand } = await import('../fleet/change-command.ts')
    return await captureCommand(name, options, standardOutput())
  }
  if (file === undefined || data === undefined)
    throw new Fault('InvalidConfiguration', 'name the GatewaySync of a cluster, or give -f <file> and --data <dir> for a data directory')
  if (options.push !== true && options.output === undefined && options.dryRun !== true)
    throw new Fault('InvalidConfiguration', 'say where the commit goes: --push, --output <file>, or --dry-run to see it')
  const { captureFolder } = await import('./capture-folder.ts')
  const { text, captured } = await captureFolder({ ...options, file, data })
  process.stdout.write(text)
  return captured ? exitYes : exitNo
}

function collect(value: string, before: string[]): string[] {
  return [...before, value]
}
