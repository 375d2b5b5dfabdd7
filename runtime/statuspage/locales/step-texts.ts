/**
 * Localized next steps for users without a terminal: the action, and the button or role that performs it. Pure.
 */
import type { Step } from '../../fleet/steps.ts'
import { confirmDeletionsAnnotation, confirmOverwritesAnnotation } from '../../api/names.ts'
import { shortCommit } from '../../api/values.ts'
import type { ActionName } from '../actions/action.ts'
import type { Language } from './texts.ts'

export type StepTexts = {
  sentence(step: Step): string
  /** The reader sees the button `label` on this page. */
  byButton(label: string): string
  byOthers: string
}

/** The action that performs a step. */
export const actionOfStep: Readonly<Partial<Record<Step['kind'], ActionName>>> = {
  approve: 'approve',
  resumeRollout: 'resume',
  abortRollout: 'abort',
  retryRollout: 'resume',
  resume: 'resume',
  confirmDeletions: 'confirm-deletions',
  confirmOverwrites: 'confirm-overwrites',
}

function english(step: Step): string {
  const stays = (published: string | undefined): string =>
    published === undefined ? 'until then, nothing is published' : `until then, commit ${shortCommit(published)} stays published`
  switch (step.kind) {
    case 'approve':
      return `Stage ${step.stage} begins after approval.`
    case 'resumeRollout':
      return 'When the cause is fixed, resume the rollout.'
    case 'abortRollout':
      return 'Or abort the rollout: all gateways return to the previous commit.'
    case 'retryRollout':
      return 'Push a corrected commit, or retry this one.'
    case 'correctFindings':
      return `Fix the findings in the repository and push; ${stays(step.published)}.`
    case 'sign':
      return `Sign the commit with a key that is accepted for this repository, and push; ${stays(step.published)}.`
    case 'resume':
      return 'Nothing is written to the gateways until the GatewaySync is resumed.'
    case 'resumeInFile':
      return 'To continue, set spec.paused to false in its file.'
    case 'leaveDryRun':
      return 'Nothing is written while dryRun is true in the spec or in the profile. The owner of the GatewaySync can change that.'
    case 'checkOperator':
      return 'If this persists, ask the cluster administrator whether the Cluster Sync Operator is running.'
    case 'passes':
      return `The sync retries automatically; ${stays(step.published)}.`
    case 'waitsForChange':
      return `The Cluster Sync Operator retries when the GatewaySync, its Secret or the commit changes; ${stays(step.published)}.`
    case 'recreatePod':
      return `Ask the cluster administrator to delete the pod ${step.pod}: it is recreated with the required agent.`
    case 'confirmDeletions':
      return `If these deletions are intended, confirm them for commit ${shortCommit(step.commit)}.`
    case 'confirmOverwrites':
      return `To discard these changes, or if a merged file differs from the one on the gateway, let commit ${shortCommit(step.commit)} overwrite them.`
    case 'confirmDeletionsInFile':
      return `If these deletions are intended, add to metadata.annotations in the file: ${confirmDeletionsAnnotation}: ${step.commit}.`
    case 'confirmOverwritesInFile':
      return `To keep the changes, use "cluster-sync capture" and merge. To discard them, or if a merged file differs from the one on the gateway, add to metadata.annotations in the file: ${confirmOverwritesAnnotation}: ${step.commit}.`
    case 'gatewayTriesAgain':
      return 'The sync retries automatically.'
    case 'gatewayWaitsForChange':
      return 'The agent retries when the GatewaySync, its Secret or the commit changes.'
    case 'lookAtChanges':
      return "The gateway's page lists the changed files and shows what the next sync will do with them."
    default:
      return `See ${step.reason} in the runbook of the Cluster Sync Operator.`
  }
}

function german(step: Step): string {
  const stays = (published: string | undefined): string =>
    published === undefined ? 'bis dahin ist nichts veröffentlicht' : `bis dahin bleibt Commit ${shortCommit(published)} veröffentlicht`
  switch (step.kind) {
    case 'approve':
      return `Stufe ${step.stage} beginnt nach der Freigabe.`
    case 'resumeRollout':
      return 'Sobald die Ursache behoben ist, kann der Rollout fortgesetzt werden.'
    case 'abortRollout':
      return 'Oder der Rollout wird abgebrochen: Alle Gateways kehren zum vorigen Commit zurück.'
    case 'retryRollout':
      return 'Pushen Sie einen korrigierten Commit, oder versuchen Sie es mit diesem noch einmal.'
    case 'correctFindings':
      return `Beheben Sie die Befunde im Repository und pushen Sie; ${stays(step.published)}.`
    case 'sign':
      return `Signieren Sie den Commit mit einem Schlüssel, der für dieses Repository gilt, und pushen Sie; ${stays(step.published)}.`
    case 'resume':
      return 'Auf die Gateways wird nichts geschrieben, bis die Synchronisierung fortgesetzt wird.'
    case 'resumeInFile':
      return 'Es geht weiter, sobald spec.paused in der Datei false ist.'
    case 'leaveDryRun':
      return 'Geschrieben wird, sobald dryRun in der Spezifikation (oder im Profil) false ist: Das kann der Verantwortliche des GatewaySync ändern.'
    case 'checkOperator':
      return 'Wenn das so bleibt, fragen Sie die Betreiber des Clusters, ob der Cluster Sync Operator läuft.'
    case 'passes':
      return `Es wird von selbst erneut versucht; ${stays(step.published)}.`
    case 'waitsForChange':
      return `Es wird erneut versucht, sobald sich der GatewaySync, sein Secret oder der Commit geändert hat; ${stays(step.published)}.`
    case 'recreatePod':
      return `Bitten Sie die Betreiber des Clusters, den Pod ${step.pod} zu löschen: Er wird mit dem benötigten Agenten neu erzeugt.`
    case 'confirmDeletions':
      return `Wenn diese Löschungen richtig sind, müssen sie für Commit ${shortCommit(step.commit)} bestätigt werden.`
    case 'confirmOverwrites':
      return `Wenn diese Änderungen verloren gehen dürfen, oder wenn sich eine zusammengeführte Datei von der auf dem Gateway unterscheidet, kann Commit ${shortCommit(step.commit)} sie überschreiben.`
    case 'confirmDeletionsInFile':
      return `Wenn diese Löschungen richtig sind, ergänzen Sie in der Datei unter metadata.annotations: ${confirmDeletionsAnnotation}: ${step.commit}.`
    case 'confirmOverwritesInFile':
      return `Um die Änderungen zu behalten, sichern Sie sie mit „cluster-sync capture“ und führen Sie sie zusammen. Um sie zu verwerfen, oder wenn sich eine zusammengeführte Datei von der auf dem Gateway unterscheidet, ergänzen Sie in der Datei unter metadata.annotations: ${confirmOverwritesAnnotation}: ${step.commit}.`
    case 'gatewayTriesAgain':
      return 'Es wird von selbst erneut versucht.'
    case 'gatewayWaitsForChange':
      return 'Es wird erneut versucht, sobald sich der GatewaySync, sein Secret oder der Commit geändert hat.'
    case 'lookAtChanges':
      return 'Die Seite des Gateways zeigt, welche Dateien lokal geändert wurden und was die nächste Synchronisierung damit macht.'
    default:
      return `Mehr dazu steht im Runbook des Cluster Sync Operator unter ${step.reason}.`
  }
}

const inEnglish: StepTexts = {
  sentence: english,
  byButton: (label) => `Click “${label}”.`,
  byOthers: 'Users who may change this GatewaySync can do this.',
}

const inGerman: StepTexts = {
  sentence: german,
  byButton: (label) => `Verwenden Sie die Schaltfläche „${label}“.`,
  byOthers: 'Das können Benutzer, die diesen GatewaySync ändern dürfen.',
}

export function stepTextsIn(language: Language): StepTexts {
  return language === 'de' ? inGerman : inEnglish
}
