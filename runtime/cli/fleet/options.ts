/**
 * Defines the options of the fleet commands.
 */
import type { Command } from 'commander'
import type { Format } from './output.ts'

export type ClusterOptions = { kubeconfig?: string; context?: string; namespace?: string }

/** Adds the options for cluster and namespace. */
export function withClusterOptions(command: Command): Command {
  return command
    .option('-n, --namespace <name>', 'namespace (default: from the context)')
    .option('--kubeconfig <file>', 'kubeconfig file (default: $KUBECONFIG, ~/.kube/config, or the account of the pod)')
    .option('--context <name>', 'context of the kubeconfig (default: the current one)')
}

export type StatusOptions = ClusterOptions & { allNamespaces?: true; state?: string; watch?: true; format: Format }

export type HistoryOptions = ClusterOptions & { state?: string; format: Format }

export type ChangeOptions = ClusterOptions & {
  /** Also wait until every gateway runs the commit. */
  wait?: true
  /** In milliseconds. */
  timeout: number
  format: Format
}
export type RequestOptions = ChangeOptions & { ref: string }
export type ApproveOptions = ChangeOptions & { stage?: string }
export type CaptureRequestOptions = ChangeOptions & { gateway?: string }
export type ChangesOptions = Omit<ChangeOptions, 'wait'> & { gateway?: string }
export type RollbackOptions = ChangeOptions & { to?: string }
