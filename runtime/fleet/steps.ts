/**
 * What somebody can do about a GatewaySync or a gateway, as data: a terminal says it as a command, a page in the words of its reader.
 */

/** `published`: the commit that stays until then; undefined: none is published. */
type Until = { published: string | undefined }

/** What can be done about a GatewaySync, and about gateways of it by who looks at all of them. */
export type SyncStep =
  | { kind: 'approve'; stage: string }
  | { kind: 'resumeRollout' | 'abortRollout' | 'retryRollout' }
  | ({ kind: 'correctFindings' | 'sign' } & Until)
  | { kind: 'resume' | 'resumeInFile' | 'leaveDryRun' | 'checkOperator' }
  /** It is tried again: by itself, or when something has changed. */
  | ({ kind: 'passes' | 'waitsForChange' } & Until)
  | { kind: 'recreatePod'; pod: string }
  | { kind: 'confirmDeletions' | 'confirmOverwrites'; commit: string }
  | { kind: 'raiseMaxDeletions' | 'captureOrGiveUp' }
  /** `entry`: where it stands in this repository, such as `docs/runbook.md#scanfailed`. */
  | { kind: 'runbook'; reason: string; entry: string }

/** And about one gateway: its own page says more of files that were changed on it; and it tries again by itself, or after a change. */
export type Step = SyncStep | { kind: 'lookAtChanges' | 'gatewayTriesAgain' | 'gatewayWaitsForChange' }
