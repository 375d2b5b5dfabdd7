/**
 * Registers `cluster-sync check`: verifies an installation, and prints the next step for each problem.
 */
import type { Command } from 'commander'
import type { ClusterOptions } from '../fleet/options.ts'
import { type Format, formatOption, print, standardOutput, exitNo, exitYes, exitWith } from '../output/output.ts'
import { helpFooter } from '../command.ts'

type CheckOptions = Omit<ClusterOptions, 'namespace'> & { operatorNamespace?: string; format: Format }

export function register(program: Command): void {
  program
    .command('check')
    .summary('Verify an installation, from the API server to each gateway')
    .description('Verify an installation, from the API server to each gateway. Changes nothing.')
    .option('--operator-namespace <name>', 'namespace of the operator (default: search all)')
    .option('--kubeconfig <file>', 'kubeconfig file (default: $KUBECONFIG, ~/.kube/config, or the account of the pod)')
    .option('--context <name>', 'context of the kubeconfig (default: the current one)')
    .addOption(formatOption())
    .addHelpText(
      'after',
      helpFooter({ exits: { 0: 'no problems', 1: 'problems', 2: 'the check could not run' }, page: 'docs/how-to/check.md' }),
    )
    .action((options: CheckOptions) => exitWith(() => checkCommand(options)))
}

async function checkCommand({ operatorNamespace, format, ...options }: CheckOptions): Promise<number> {
  const { gatherFacts } = await import('./gather.ts')
  const { check } = await import('../../fleet/check/check.ts')
  const { checkText } = await import('../../fleet/check/report.ts')
  const { inCluster } = await import('../fleet/cluster.ts')
  const { systemClock } = await import('../../platform/clock.ts')
  const facts = await inCluster(options, (cluster) => gatherFacts(cluster, operatorNamespace))
  const report = check(facts, systemClock.now())
  const output = standardOutput()
  print(output, format === 'json' ? [JSON.stringify(report, undefined, 2)] : checkText(report, output.style))
  return report.level === 'error' ? exitNo : exitYes
}
