/**
 * What one gateway runs: the one source of the SyncReport's TypeScript types, run-time validation and CRD schema. Pure.
 */
import * as v from 'valibot'
import { checkStates } from '../check-record.ts'
import { modeOrigins } from '../../collections/model/mode.ts'
import { crd } from './rule.ts'

const text = (max: number) => v.pipe(v.string(), v.maxLength(max))
const time = v.pipe(v.string(), v.maxLength(64), crd({ format: 'date-time' }))
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const hash = v.pipe(v.string(), v.regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/))
const path = text(4096)

/** How far a gateway is. Drifted: synced, with local changes; Blocked: somebody has to change something first. */
export const phases = ['Pending', 'Syncing', 'Synced', 'Paused', 'DryRun', 'Blocked', 'Drifted', 'Failed'] as const

/** An agent keeps so many entries of a report's history, the newest. */
export const keptSyncs = 5

/** The finding about a gateway that was allowed to start without any commit; the controller also writes an Event. */
export const startedWithoutCommitRule = 'started-without-commit'

/** Of what is told of local changes, in characters. */
export const mostToldText = 16_384

/** The schema of a SyncReport's `spec`. */
export const syncReportSpec = v.object({
  gatewaySync: v.pipe(text(253), v.description('Name of the GatewaySync that this gateway follows.')),
  podUid: v.pipe(text(64), v.description('The uid of the pod that writes this report.')),
})

const counts = v.object({
  added: v.pipe(count, v.description('Files that were added.')),
  changed: v.pipe(count, v.description('Files that were changed.')),
  removed: v.pipe(count, v.description('Files that were removed.')),
  unchanged: v.pipe(count, v.description('Files that were as they should be.')),
  bytes: v.pipe(count, v.description('Bytes that were written.')),
})
const scanTime = v.object({ finishedAt: v.pipe(time, v.description('When the gateway had read them.')) })

const columns = v.object({
  commit: v.optional(v.pipe(text(8), v.description('The first digits of the commit.'))),
  findings: v.optional(v.pipe(count, v.description('How many findings there are.'))),
  message: v.optional(v.pipe(text(60), v.description('The message, cut to what fits a line.'))),
})

/** The schema of a SyncReport's `status`. Every text is bounded, because the controller reads the reports of all agents. */
export const syncReportStatus = v.object({
  phase: v.pipe(v.picklist(phases), v.description('How far the gateway is.')),
  commit: v.optional(v.pipe(hash, v.description('The commit whose files are in place, whole.'))),
  ref: v.optional(v.pipe(text(255), v.description('The ref that the commit was published for.'))),
  syncHash: v.optional(
    v.pipe(v.string(), v.regex(/^(v[0-9]{1,3}-)?[0-9a-f]{64}$/), v.description('Which sync configuration was applied.')),
  ),
  gateway: v.optional(v.pipe(text(253), v.description('Name of the gateway.'))),
  profile: v.optional(v.pipe(text(63), v.description('Profile of spec.sync.profiles.'))),
  mode: v.optional(
    v.pipe(
      v.object({
        name: v.pipe(text(255), v.description('Empty: the gateway runs without a mode.')),
        from: v.pipe(v.picklist(modeOrigins), v.description('Where the mode is known from.')),
      }),
      v.description('Deployment mode of the gateway.'),
    ),
  ),
  files: v.optional(v.pipe(counts, v.description('What the last sync did.'))),
  drift: v.optional(
    v.pipe(
      v.object({
        count: v.pipe(count, v.description('How many files.')),
        paths: v.pipe(v.array(path), v.maxLength(20), v.description('The first of them.')),
      }),
      v.description('Files of ours that somebody changed or deleted locally.'),
    ),
  ),
  changes: v.optional(
    v.pipe(
      v.object({
        request: v.pipe(text(64), v.description('The request that asked for it.')),
        commit: v.pipe(hash, v.description('The commit that the files are compared with.')),
        changed: v.pipe(count, v.description('Files that were changed.')),
        added: v.pipe(count, v.description('Files that are new.')),
        removed: v.pipe(count, v.description('Files that are gone.')),
        ignored: v.pipe(count, v.description('Files that differ only in what a gateway writes by itself.')),
        text: v.pipe(
          text(mostToldText),
          v.description('The files by folder, with the lines that differ, without secrets; as many as there is room for.'),
        ),
      }),
      v.description('What was changed locally, for whoever asks by annotation; absent while nobody asks.'),
    ),
  ),
  scan: v.optional(
    v.pipe(
      v.object({
        projects: v.optional(v.pipe(scanTime, v.description('Of the projects.'))),
        config: v.optional(v.pipe(scanTime, v.description('Of the configuration.'))),
        finishedAt: v.optional(v.pipe(time, v.description('When the last of them had finished.'))),
        problems: v.optional(v.pipe(v.array(text(1024)), v.maxLength(10), v.description('What the gateway complained of.'))),
      }),
      v.description('When the gateway read what was written.'),
    ),
  ),
  health: v.optional(
    v.pipe(
      v.object({
        since: v.pipe(time, v.description('When files of this commit and configuration were put in place.')),
        newProblems: v.optional(
          v.pipe(v.array(text(1024)), v.maxLength(10), v.description('What the gateway complains of since, and did not before.')),
        ),
      }),
      v.description('How the gateway has been since it took the commit; absent where no file of it had to change.'),
    ),
  ),
  check: v.optional(
    v.pipe(
      v.object({
        state: v.pipe(v.picklist(checkStates), v.description('Unknown: nobody has answered, or not for long enough.')),
        since: v.pipe(time, v.description('Since when it stands so.')),
        message: v.optional(v.pipe(text(1024), v.description('Why it has not passed.'))),
      }),
      v.description('What the gateway answers to the check of its profile; absent while no rollout asks.'),
    ),
  ),
  projects: v.optional(v.pipe(v.array(text(255)), v.maxLength(100), v.description('Projects of the gateway.'))),
  designers: v.optional(v.pipe(v.array(text(255)), v.maxLength(20), v.description('Designer sessions that were open.'))),
  findings: v.optional(
    v.pipe(
      v.array(
        v.object({
          rule: v.pipe(text(63), v.description('A rule of docs/rules.md or docs/sync.md.')),
          path: v.pipe(path, v.description('The file or folder.')),
          message: v.pipe(text(1024), v.description('What was found.')),
        }),
      ),
      v.maxLength(20),
      v.description('What somebody should know of.'),
    ),
  ),
  dryRun: v.optional(
    v.pipe(
      v.object({
        added: v.pipe(count, v.description('Files that would be added.')),
        changed: v.pipe(count, v.description('Files that would be changed.')),
        removed: v.pipe(count, v.description('Files that would be removed.')),
        paths: v.pipe(v.array(text(4200)), v.maxLength(100), v.description('The first of them.')),
        diff: v.optional(v.pipe(text(16384), v.description('Lines that would differ, without secrets.'))),
      }),
      v.description('What a sync would do.'),
    ),
  ),
  attempt: v.optional(
    v.pipe(
      v.object({
        commit: v.pipe(hash, v.description('The commit that it was to bring.')),
        syncHash: v.pipe(text(80), v.description('The sync configuration that it was to apply.')),
      }),
      v.description('What the last sync was to bring, where it did not come to its end.'),
    ),
  ),
  reason: v.optional(v.pipe(text(64), v.description('Why it is not in step, in one word of docs/operations.md.'))),
  message: v.optional(v.pipe(text(1024), v.description('Why it is not in step, in one sentence.'))),
  startedAt: v.optional(v.pipe(time, v.description('When the last sync began.'))),
  finishedAt: v.optional(v.pipe(time, v.description('When the last sync ended.'))),
  agentVersion: v.optional(v.pipe(text(64), v.description('Version of the agent.'))),
  ignoredFields: v.optional(
    v.pipe(v.array(text(256)), v.maxLength(20), v.description('Fields of the GatewaySync that this agent is too old to know.')),
  ),
  history: v.optional(
    v.pipe(
      v.array(
        v.object({
          commit: v.pipe(hash, v.description('The commit whose files were in place.')),
          phase: v.pipe(v.picklist(phases), v.description('How the sync ended.')),
          reason: v.optional(v.pipe(text(64), v.description('Why, in one word.'))),
          finishedAt: v.pipe(time, v.description('When it ended.')),
        }),
      ),
      v.maxLength(keptSyncs),
      v.description('The last syncs, newest first.'),
    ),
  ),
  columns: v.optional(v.pipe(columns, v.description('What kubectl get prints, short enough for one line; nothing decides by it.'))),
})

/** What an agent writes about its gateway. */
export type SyncReportStatus = v.InferOutput<typeof syncReportStatus>

/** What somebody who asks for it is told of local changes. */
export type ToldChanges = NonNullable<SyncReportStatus['changes']>

/** What `kubectl get syncreports` prints of it. */
export type SyncReportColumns = v.InferOutput<typeof columns>
