/**
 * The next steps for a GatewaySync or a gateway: as data, which the status page renders as localized text, and as sentences and commands
 * for the terminal. Pure.
 */
import { reasons } from '../platform/fault.ts'
import { confirmDeletionsAnnotation, confirmOverwritesAnnotation, group } from '../api/names.ts'
import { shortCommit } from '../api/values.ts'
import { docsPage } from '../platform/version.ts'

/** `published`: the commit that stays published until then; undefined: none is published. */
type Until = { published: string | undefined }

/** Steps for a GatewaySync and for its gateways as a group. */
export type SyncStep =
  | { kind: 'approve'; stage: string }
  | { kind: 'resumeRollout' | 'abortRollout' | 'retryRollout' }
  | ({ kind: 'correctFindings' | 'sign' } & Until)
  | { kind: 'resume' | 'resumeInFile' | 'leaveDryRun' | 'checkOperator' }
  /** The operator retries automatically, or when something changes. */
  | ({ kind: 'passes' | 'waitsForChange' } & Until)
  | { kind: 'recreatePod'; pod: string }
  | { kind: 'confirmDeletions' | 'confirmOverwrites'; commit: string }
  /** Without a cluster, annotations are in the file. */
  | { kind: 'confirmDeletionsInFile' | 'confirmOverwritesInFile'; commit: string }
  /** `entry`: the address of the section, such as `docs/how-to/runbook.md#scanfailed`. */
  | { kind: 'runbook'; reason: string; entry: string }

/** Further steps for one gateway: its page shows the files that were changed locally; its agent retries automatically, or when something changes. */
export type Step = SyncStep | { kind: 'lookAtChanges' | 'gatewayTriesAgain' | 'gatewayWaitsForChange' }

/** Returns the runbook entry of a reason; undefined if the reason is not a fault. */
export function runbookEntry(reason: string | undefined): string | undefined {
  return reason !== undefined && Object.hasOwn(reasons, reason) ? docsPage(`docs/how-to/runbook.md#${reason.toLowerCase()}`) : undefined
}

/** `context`: the context of the kubeconfig that the user named; without one, commands use the current context. */
export type NamedSync = { namespace: string; name: string; context?: string | undefined }

/** The arguments of `cluster-sync`: `plant -n line-1 --context plant-a`. */
export function named({ namespace, name, context }: NamedSync): string {
  return `${name} -n ${namespace}${inContext(context)}`
}

/** The option `--context`, which `kubectl` has too, with a space in front; empty without a context. */
export function inContext(context: string | undefined): string {
  return context === undefined ? '' : ` --context ${shellWord(context)}`
}

/** Quotes a text that contains shell metacharacters, as refs, selectors and contexts may. */
export function shellWord(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** The step as a sentence or a command for the terminal. */
export function stepText(sync: NamedSync, step: SyncStep): string {
  const kubectl = `kubectl${inContext(sync.context)} -n ${sync.namespace}`
  const annotate = (annotation: string, commit: string): string =>
    `${kubectl} annotate gatewaysyncs.${group} ${sync.name} --overwrite ${annotation}=${commit}`
  switch (step.kind) {
    case 'approve':
      return `Approve stage ${step.stage}: cluster-sync approve ${named(sync)}`
    case 'resumeRollout':
      return `When the cause is fixed, continue: cluster-sync resume ${named(sync)}`
    case 'abortRollout':
      return `Return to the previous commit: cluster-sync abort ${named(sync)}`
    case 'retryRollout':
      return `Push a corrected commit, or retry this one: cluster-sync resume ${named(sync)}`
    case 'correctFindings':
      return `Fix the reported problems, check with "cluster-sync lint", and push; ${stays(step.published)}.`
    case 'sign':
      return `Sign the commit with a key that spec.git.verify or spec.oci.verify accepts, and push; ${stays(step.published)}.`
    case 'resume':
      return `Resume: cluster-sync resume ${named(sync)}`
    case 'resumeInFile':
      return 'Resume: set spec.paused to false in the file.'
    case 'leaveDryRun':
      return 'To write, set spec.sync.defaults.dryRun (or that of the profile) to false.'
    case 'checkOperator':
      return `If this persists, check whether the operator is running: cluster-sync check${inContext(sync.context)}`
    case 'passes':
      return `The sync retries automatically; ${stays(step.published)}.`
    case 'waitsForChange':
      return `The operator retries when the GatewaySync, its Secret or the commit changes; ${stays(step.published)}.`
    case 'recreatePod':
      return `Recreate the pod (its owner starts a new one): ${kubectl} delete pod ${step.pod}`
    case 'confirmDeletions':
      return `If these deletions are intended: ${annotate(confirmDeletionsAnnotation, step.commit)}`
    case 'confirmOverwrites':
      return `To discard these changes, or if a merged file differs from the one on the gateway: ${annotate(confirmOverwritesAnnotation, step.commit)}`
    case 'confirmDeletionsInFile':
      return `If these deletions are intended, add to metadata.annotations in the file: ${confirmDeletionsAnnotation}: ${step.commit}`
    case 'confirmOverwritesInFile':
      return `To keep the changes, use "cluster-sync capture" and merge. To discard them, or if a merged file differs from the one on the gateway, add to metadata.annotations in the file: ${confirmOverwritesAnnotation}: ${step.commit}`
    default:
      return `More: ${step.entry}`
  }
}

function stays(published: string | undefined): string {
  return published === undefined ? 'until then, nothing is published' : `until then, commit ${shortCommit(published)} stays published`
}
