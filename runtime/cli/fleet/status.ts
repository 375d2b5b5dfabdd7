/**
 * `cluster-sync status`: which gateways run what, and why one of them does not.
 */
import type { Command } from 'commander'
import { exitUnknown, telling } from './exit.ts'
import { type StatusOptions, withClusterOptions } from './options.ts'
import { examples, formatOption, standardOutput } from './output.ts'

export function register(program: Command): void {
  const command = program
    .command('status')
    .description(
      `show which gateways run which commit, and why one does not. Exit 0: all ready, 1: not all, ${exitUnknown}: it cannot be said`,
    )
    .argument('[name]', 'one GatewaySync, with its gateways, findings and requests')
  withClusterOptions(command)
    .option('-A, --all-namespaces', 'GatewaySyncs of all namespaces')
    .option('--state <dir>', 'of a standalone run instead of a cluster: the folder that "cluster-sync run --state" keeps')
    .option('-w, --watch', 'go on and show every change, until Ctrl-C')
    .addOption(formatOption())
    .addHelpText('after', examples('status -A', 'status plant -n line-1 --watch', 'status --state /var/lib/cluster-sync/data-1a2b3c4d5e6f'))
    .action((name: string | undefined, options: StatusOptions) =>
      telling(async () => {
        const { statusCommand } = await import('./status-command.ts')
        return await statusCommand(name, options, standardOutput())
      }),
    )
}
