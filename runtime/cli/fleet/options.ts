/**
 * Defines the options of the fleet commands.
 */
import { type Command, Option } from 'commander'
import type { Format } from '../output/output.ts'
import { collect } from '../command.ts'

export type ClusterOptions = { kubeconfig?: string; context?: string; namespace?: string }

/** Adds the options for cluster and namespace; `several`: `--context` is repeatable. */
export function withClusterOptions(command: Command, { several = false } = {}): Command {
  const context = new Option('--context <name>', `context of the kubeconfig (default: the current one)${several ? '; repeatable' : ''}`)
  if (several) context.argParser(collect)
  return command
    .option('-n, --namespace <name>', 'namespace (default: from the context)')
    .option('--kubeconfig <file>', 'kubeconfig file (default: $KUBECONFIG, ~/.kube/config, or the account of the pod)')
    .addOption(context)
}

export type StatusOptions = Omit<ClusterOptions, 'context'> & {
  context?: readonly string[]
  allNamespaces?: true
  state?: string
  watch?: true
  format: Format
}

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
export type CaptureRequestOptions = ChangeOptions & { only?: string }
export type ChangesOptions = Omit<ChangeOptions, 'wait'> & { only?: string }
export type RollbackOptions = ChangeOptions & { to?: string }
