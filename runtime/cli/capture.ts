/**
 * `cluster-sync capture`: what was changed on a gateway becomes a commit.
 */
import type { Command } from 'commander'
import { Fault } from '../fault.ts'
import { printFault } from './print-fault.ts'
import type { CaptureOptions } from './capture-folder.ts'

const exitNothing = 1
const exitFailed = 2

export function register(program: Command): void {
  program
    .command('capture')
    .description(
      'make one commit of what was changed in a data directory since the last sync; the directory is only read. Exit 0: done, 1: there is nothing to capture, 2: it could not be done',
    )
    .requiredOption('-f, --file <file>', 'YAML file with one GatewaySync')
    .requiredOption('--data <dir>', "the gateway's data directory")
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
    .action(async (options: CaptureOptions) => {
      try {
        if (options.push !== true && options.output === undefined && options.dryRun !== true)
          throw new Fault('InvalidConfiguration', 'say where the commit goes: --push, --output <file>, or --dry-run to see it')
        const { captureFolder } = await import('./capture-folder.ts')
        const { text, captured } = await captureFolder(options)
        process.stdout.write(text)
        process.exitCode = captured ? 0 : exitNothing
      } catch (error) {
        if (!(error instanceof Fault)) throw error
        printFault(error)
        process.exitCode = exitFailed
      }
    })
}

function collect(value: string, before: string[]): string[] {
  return [...before, value]
}
