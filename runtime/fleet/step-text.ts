/**
 * Formats each next step as a sentence or command for the terminal. Pure.
 */
import { confirmDeletionsAnnotation, confirmOverwritesAnnotation, group } from '../api/names.ts'
import { shortCommit } from '../api/values.ts'
import { inContext, named, type NamedSync } from './named-sync.ts'
import type { SyncStep } from './steps.ts'

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
      return `If this lasts, check whether the operator runs: cluster-sync check${inContext(sync.context)}`
    case 'passes':
      return `The sync retries automatically; ${stays(step.published)}.`
    case 'waitsForChange':
      return `The operator retries when the GatewaySync, its Secret or the commit changes; ${stays(step.published)}.`
    case 'recreatePod':
      return `Recreate the pod (its owner starts a new one): ${kubectl} delete pod ${step.pod}`
    case 'confirmDeletions':
      return `If these deletions are intended: ${annotate(confirmDeletionsAnnotation, step.commit)}`
    case 'confirmOverwrites':
      return `To discard these changes: ${annotate(confirmOverwritesAnnotation, step.commit)}`
    case 'raiseMaxDeletions':
      return 'If these deletions are intended, raise spec.sync.defaults.maxDeletions.'
    case 'captureOrGiveUp':
      return 'To keep the changes: cluster-sync capture. To discard them, set spec.sync.defaults.drift to Report.'
    default:
      return `More: ${step.entry}`
  }
}

function stays(published: string | undefined): string {
  return published === undefined ? 'until then, nothing is published' : `until then, commit ${shortCommit(published)} stays published`
}
