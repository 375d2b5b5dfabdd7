/**
 * Registers `cluster-sync status`: what each gateway runs, and why one is not in sync.
 */
import type { Command } from 'commander'
import { type StatusOptions, withClusterOptions } from './options.ts'
import { helpFooter } from '../command.ts'
import { formatOption, standardOutput, exitUnknown, exitWith } from '../output/output.ts'

export function register(program: Command): void {
  const command = program
    .command('status')
    .summary('Show which gateways run which commit')
    .description('Show which gateways run which commit, and the reason and next step for each problem.')
    .argument('[name]', 'one GatewaySync, with its gateways, findings and requests')
  withClusterOptions(command, { several: true })
    .option('-A, --all-namespaces', 'show the GatewaySyncs of all namespaces')
    .option('--state <dir>', 'without a cluster: the folder of "cluster-sync run --state"')
    .option('-w, --watch', 'show every change until Ctrl-C')
    .addOption(formatOption())
    .addHelpText(
      'after',
      helpFooter({
        exits: { 0: 'all ready', 1: 'not all ready', [exitUnknown]: 'the state is unknown: no access, no response, or invalid options' },
        calls: [
          'status -A',
          'status plant -n line-1 --watch',
          'status -A --context plant-a --context plant-b',
          'status --state /var/lib/cluster-sync/data-1a2b3c4d5e6f',
        ],
        page: 'docs/how-to/fleet.md',
      }),
    )
    .action(async (name: string | undefined, options: StatusOptions) => {
      await exitWith(async () => {
        const { statusCommand } = await import('./status-command.ts')
        return await statusCommand(name, options, standardOutput())
      })
      // A credential plugin of a cluster that did not respond in time may still be running, and would keep the process from ending.
      process.stdout.write('', (error) => {
        if (!error) process.exit()
      })
    })
}
