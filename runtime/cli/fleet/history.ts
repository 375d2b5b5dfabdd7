/**
 * `cluster-sync history`: which commits were published or refused, who asked for them, and what became of them.
 */
import type { Command } from 'commander'
import { exitYes, telling } from './exit.ts'
import { type HistoryOptions, withClusterOptions } from './options.ts'
import { formatOption, type Output, print, standardOutput } from './output.ts'

export function register(program: Command): void {
  const command = program
    .command('history')
    .description('show the last commits that were published or refused, why, and which gateways run them')
    .argument('[name]', 'the GatewaySync; may be left out with --state')
  withClusterOptions(command)
    .option('--state <dir>', 'of a standalone run instead of a cluster: the folder that "cluster-sync run --state" keeps')
    .addOption(formatOption())
    .action((name: string | undefined, options: HistoryOptions) => telling(() => historyCommand(name, options, standardOutput())))
}

/** Returns the exit code. */
export async function historyCommand(name: string | undefined, options: HistoryOptions, output: Output): Promise<number> {
  const { historyText, historyView } = await import('../../fleet/history.ts')
  const { systemClock } = await import('../../clock.ts')
  const { readOne } = await import('./read-fleet.ts')
  const view = historyView(await readOne(name, options))
  if (view === undefined) return exitYes
  print(output, options.format === 'json' ? [JSON.stringify(view, undefined, 2)] : historyText(view, systemClock.now(), output.style))
  return exitYes
}
