/**
 * The next steps for a GatewaySync or a gateway, as data: the CLI renders them as commands, the status page as localized text.
 */
import { reasons } from '../platform/fault.ts'
import { docsPage } from '../platform/docs-page.ts'

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
  | { kind: 'raiseMaxDeletions' | 'captureOrGiveUp' }
  /** `entry`: the address of the section, such as `docs/how-to/runbook.md#scanfailed`. */
  | { kind: 'runbook'; reason: string; entry: string }

/** Further steps for one gateway: its page shows the files that were changed locally; its agent retries automatically, or when something changes. */
export type Step = SyncStep | { kind: 'lookAtChanges' | 'gatewayTriesAgain' | 'gatewayWaitsForChange' }

/** Undefined for a reason that is not a fault. */
export function runbookEntry(reason: string | undefined): string | undefined {
  return reason !== undefined && Object.hasOwn(reasons, reason) ? docsPage(`docs/how-to/runbook.md#${reason.toLowerCase()}`) : undefined
}
