/**
 * Defines the SyncReport: the source of its TypeScript types, run-time validation and CRD schema. Pure.
 */
import * as v from 'valibot'
import { checkStates } from '../check-record.ts'
import { modeOrigins } from '../mode.ts'
import { crd } from './fields.ts'

const text = (max: number) => v.pipe(v.string(), v.maxLength(max))
const time = v.pipe(v.string(), v.maxLength(64), crd({ format: 'date-time' }))
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const hash = v.pipe(v.string(), v.regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/))

/** The progress of a gateway. Drifted: synced, with local changes; Blocked: needs a manual change. */
export const phases = ['Pending', 'Syncing', 'Synced', 'Paused', 'DryRun', 'Blocked', 'Drifted', 'Failed'] as const

/** Maximum number of entries in a report's history, the newest. */
export const keptSyncs = 5

/** The finding about a gateway that was allowed to start without any commit; the controller also records an Event. */
export const startedWithoutCommitRule = 'started-without-commit'

/** The finding about a data directory whose files may match no commit; the controller sets a condition. */
export const folderUnverifiedRule = 'folder-unverified'

/** Lengths of lists and of texts, in characters; an agent shortens what it writes to them. */
export const reportLimits = {
  messageCharacters: 1024,
  findings: 20,
  ruleCharacters: 63,
  pathCharacters: 4096,
  driftPaths: 20,
  /** Problems that the gateway reports. */
  problems: 10,
  projects: 100,
  designers: 20,
  dryRunPaths: 100,
  /** The length of a path with its mark. */
  dryRunPathCharacters: 4200,
  /** The length of all differences together. */
  diffCharacters: 16_384,
} as const

const message = text(reportLimits.messageCharacters)
const path = text(reportLimits.pathCharacters)

/** The schema of a SyncReport's `spec`. */
export const syncReportSpec = v.object({
  gatewaySync: v.pipe(text(253), v.description('Name of the GatewaySync that the gateway follows.')),
  podUid: v.pipe(text(64), v.description('UID of the pod that writes this report.')),
})

const counts = v.object({
  added: v.pipe(count, v.description('Number of files that were added.')),
  changed: v.pipe(count, v.description('Number of files that were changed.')),
  removed: v.pipe(count, v.description('Number of files that were removed.')),
  unchanged: v.pipe(count, v.description('Number of files that were up to date.')),
  bytes: v.pipe(count, v.description('Number of bytes that were written.')),
})
const scanTime = v.object({ finishedAt: v.pipe(time, v.description('When the scan finished.')) })

const columns = v.object({
  commit: v.optional(v.pipe(text(8), v.description('Abbreviated hash of the commit, or digest of the artifact.'))),
  findings: v.optional(v.pipe(count, v.description('Number of findings.'))),
  message: v.optional(v.pipe(text(60), v.description('The message, shortened to one line.'))),
})

/** The schema of a SyncReport's `status`. Every text is bounded, because the controller reads the reports of all agents. */
export const syncReportStatus = v.object({
  phase: v.pipe(v.picklist(phases), v.description('Phase of the gateway.')),
  commit: v.optional(v.pipe(hash, v.description('The commit that the gateway runs completely.'))),
  ref: v.optional(v.pipe(text(255), v.description('The ref that the commit was resolved from; for an artifact, <tag>@<digest>.'))),
  syncHash: v.optional(
    v.pipe(v.string(), v.regex(/^(v[0-9]{1,3}-)?[0-9a-f]{64}$/), v.description('Hash of the sync configuration that was applied.')),
  ),
  gateway: v.optional(v.pipe(text(253), v.description('Name of the gateway.'))),
  profile: v.optional(v.pipe(text(63), v.description('Profile of spec.sync.profiles.'))),
  mode: v.optional(
    v.pipe(
      v.object({
        name: v.pipe(text(255), v.description('Name of the deployment mode; empty if the gateway runs without one.')),
        from: v.pipe(v.picklist(modeOrigins), v.description('Where the mode was read from.')),
      }),
      v.description('Deployment mode of the gateway.'),
    ),
  ),
  files: v.optional(v.pipe(counts, v.description('File counts of the last sync.'))),
  drift: v.optional(
    v.pipe(
      v.object({
        count: v.pipe(count, v.description('Number of files.')),
        paths: v.pipe(v.array(path), v.maxLength(reportLimits.driftPaths), v.description('The first paths.')),
      }),
      v.description('Managed files that were changed or deleted locally.'),
    ),
  ),
  changes: v.optional(
    v.pipe(
      v.object({
        request: v.pipe(text(64), v.description('ID of the request that this answers.')),
        commit: v.pipe(hash, v.description('The commit that the files were compared with.')),
        changed: v.pipe(count, v.description('Number of files that were changed.')),
        added: v.pipe(count, v.description('Number of files that were added locally.')),
        removed: v.pipe(count, v.description('Number of files that were deleted locally.')),
        ignored: v.pipe(count, v.description('Number of files that differ only in content that a gateway writes automatically.')),
        text: v.pipe(text(reportLimits.diffCharacters), v.description('Diff of as many files as fit, by folder, with secrets masked.')),
      }),
      v.description('Local changes; present while an annotation requests them.'),
    ),
  ),
  scan: v.optional(
    v.pipe(
      v.object({
        projects: v.optional(v.pipe(scanTime, v.description('Scan of the projects.'))),
        config: v.optional(v.pipe(scanTime, v.description('Scan of the configuration.'))),
        finishedAt: v.optional(v.pipe(time, v.description('When the last scan finished.'))),
        problems: v.optional(
          v.pipe(v.array(message), v.maxLength(reportLimits.problems), v.description('Problems that the gateway reported.')),
        ),
      }),
      v.description('Scans that the gateway ran after the files were written.'),
    ),
  ),
  health: v.optional(
    v.pipe(
      v.object({
        since: v.pipe(time, v.description('When the files of this commit and configuration were applied.')),
        newProblems: v.optional(
          v.pipe(
            v.array(message),
            v.maxLength(reportLimits.problems),
            v.description('Problems that the gateway reports now but did not report before.'),
          ),
        ),
      }),
      v.description('Health of the gateway since it applied the commit; absent if no file had to change.'),
    ),
  ),
  healthCheck: v.optional(
    v.pipe(
      v.object({
        state: v.pipe(v.picklist(checkStates), v.description('Passed, Failed, or Unknown while there is no recent result.')),
        since: v.pipe(time, v.description('When the state of the check last changed.')),
        message: v.optional(v.pipe(message, v.description('Why the check has not passed.'))),
      }),
      v.description('Result of the health check of the profile; absent while no rollout requests it.'),
    ),
  ),
  projects: v.optional(v.pipe(v.array(text(255)), v.maxLength(reportLimits.projects), v.description('Projects of the gateway.'))),
  designers: v.optional(v.pipe(v.array(text(255)), v.maxLength(reportLimits.designers), v.description('Open Designer sessions.'))),
  findings: v.optional(
    v.pipe(
      v.array(
        v.object({
          rule: v.pipe(
            text(reportLimits.ruleCharacters),
            v.description('Rule, as listed in docs/reference/rules.md or docs/reference/sync.md.'),
          ),
          path: v.pipe(path, v.description('The affected file or folder.')),
          message: v.pipe(message, v.description('Description of the finding.')),
        }),
      ),
      v.maxLength(reportLimits.findings),
      v.description('Findings of the last sync.'),
    ),
  ),
  dryRun: v.optional(
    v.pipe(
      v.object({
        added: v.pipe(count, v.description('Number of files that would be added.')),
        changed: v.pipe(count, v.description('Number of files that would be changed.')),
        removed: v.pipe(count, v.description('Number of files that would be removed.')),
        paths: v.pipe(
          v.array(text(reportLimits.dryRunPathCharacters)),
          v.maxLength(reportLimits.dryRunPaths),
          v.description('The first paths.'),
        ),
        diff: v.optional(v.pipe(text(reportLimits.diffCharacters), v.description('Diff with secrets masked.'))),
      }),
      v.description('What a sync would change.'),
    ),
  ),
  attempt: v.optional(
    v.pipe(
      v.object({
        commit: v.pipe(hash, v.description('The commit to apply.')),
        syncHash: v.pipe(text(80), v.description('Hash of the sync configuration to apply.')),
      }),
      v.description('What the last sync tried to apply, if it did not complete.'),
    ),
  ),
  reason: v.optional(v.pipe(text(64), v.description('Reason why the gateway is not synced, as listed in the runbook.'))),
  message: v.optional(v.pipe(message, v.description('Human-readable explanation of the reason.'))),
  startedAt: v.optional(v.pipe(time, v.description('When the last sync started.'))),
  finishedAt: v.optional(v.pipe(time, v.description('When the last sync finished.'))),
  agentVersion: v.optional(v.pipe(text(64), v.description('Version of the agent.'))),
  ignoredFields: v.optional(
    v.pipe(
      v.array(text(256)),
      v.maxLength(20),
      v.description('Fields of the GatewaySync that this version of the agent does not support.'),
    ),
  ),
  history: v.optional(
    v.pipe(
      v.array(
        v.object({
          commit: v.pipe(hash, v.description('The commit that the gateway ran afterwards.')),
          phase: v.pipe(v.picklist(phases), v.description('Phase in which the sync ended.')),
          reason: v.optional(v.pipe(text(64), v.description('Machine-readable reason in CamelCase.'))),
          finishedAt: v.pipe(time, v.description('When the sync ended.')),
        }),
      ),
      v.maxLength(keptSyncs),
      v.description('The last syncs, newest first.'),
    ),
  ),
  columns: v.optional(v.pipe(columns, v.description('Values for the columns of kubectl get; not used for decisions.'))),
})

/** What an agent writes about its gateway. */
export type SyncReportStatus = v.InferOutput<typeof syncReportStatus>

/** Local changes reported on request. */
export type ReportedChanges = NonNullable<SyncReportStatus['changes']>

/** The columns of `kubectl get syncreports`. */
export type SyncReportColumns = v.InferOutput<typeof columns>
