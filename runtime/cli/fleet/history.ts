/**
 * Registers `cluster-sync history`: published and refused commits, who requested them, and their outcomes.
 */
import type { Command } from 'commander'
import { type HistoryOptions, withClusterOptions } from './options.ts'
import { formatOption, type Output, print, standardOutput, exitYes, exitWith } from '../output/output.ts'
import { helpFooter } from '../command.ts'

export function register(program: Command): void {
  const command = program
    .command('history')
    .description('Show the last commits, whether each was published or refused, and which gateways run it')
    .argument('[name]', 'the GatewaySync; optional with --state')
  withClusterOptions(command)
    .option('--state <dir>', 'without a cluster: the folder of "cluster-sync run --state"')
    .addOption(formatOption())
    .addHelpText(
      'after',
      helpFooter({
        exits: { 0: 'success', 2: 'the history cannot be read' },
        calls: ['history plant -n line-1'],
        page: 'docs/how-to/fleet.md',
      }),
    )
    .action((name: string | undefined, options: HistoryOptions) => exitWith(() => historyCommand(name, options, standardOutput())))
}

/** Returns the exit code. */
export async function historyCommand(name: string | undefined, options: HistoryOptions, output: Output): Promise<number> {
  const { historyText, historyView } = await import('../../fleet/history.ts')
  const { systemClock } = await import('../../platform/clock.ts')
  const { readOne } = await import('./read-fleet.ts')
  const view = historyView(await readOne(name, options))
  if (view === undefined) return exitYes
  print(output, options.format === 'json' ? [JSON.stringify(view, undefined, 2)] : historyText(view, systemClock.now(), output.style))
  return exitYes
}
