/**
 * `cluster-sync check`: whether an installation works, line by line, and what to do where it does not.
 */
import type { Command } from 'commander'
import type { ClusterOptions } from '../fleet/options.ts'
import { exitNo, exitYes, telling } from '../fleet/exit.ts'
import { type Format, formatOption, print, standardOutput } from '../fleet/output.ts'

type CheckOptions = Omit<ClusterOptions, 'namespace'> & { operatorNamespace?: string; format: Format }

export function register(program: Command): void {
  program
    .command('check')
    .description(
      'look whether an installation works, from the API server to each gateway. Exit 0: nothing is broken, 1: something is, 2: it cannot be said',
    )
    .option('--operator-namespace <name>', 'look for the operator in this namespace only (default: in all)')
    .option('--kubeconfig <file>', 'kubeconfig file (default: $KUBECONFIG, ~/.kube/config, or the pod that this runs in)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .addOption(formatOption())
    .action((options: CheckOptions) => telling(() => checkCommand(options)))
}

async function checkCommand({ operatorNamespace, format, ...options }: CheckOptions): Promise<number> {
  const { gatherFacts } = await import('./gather.ts')
  const { check } = await import('../../fleet/check/check.ts')
  const { checkText } = await import('../../fleet/check/report.ts')
  const { inCluster } = await import('../fleet/cluster.ts')
  const { systemClock } = await import('../../clock.ts')
  const facts = await inCluster(options, (cluster) => gatherFacts(cluster, operatorNamespace))
  const report = check(facts, systemClock.now())
  const output = standardOutput()
  print(output, format === 'json' ? [JSON.stringify(report, undefined, 2)] : checkText(report, output.style))
  return report.level === 'error' ? exitNo : exitYes
}
