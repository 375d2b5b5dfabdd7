/**
 * What one gateway runs: the one source of the SyncReport's TypeScript types, run-time validation and CRD schema. Pure.
 */
import * as v from 'valibot'
import { modeOrigins } from '../../collections/model/mode.ts'
import { crd } from './rule.ts'

const text = (max: number) => v.pipe(v.string(), v.maxLength(max))
const time = v.pipe(v.string(), v.maxLength(64), crd({ format: 'date-time' }))
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const hash = v.pipe(v.string(), v.regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/))
const path = text(4096)

export const phases = ['Pending', 'Syncing', 'Synced', 'Paused', 'DryRun', 'Blocked', 'Drifted', 'Failed'] as const

/** The finding of a gateway that was let start without any commit; the controller tells it in an Event. */
export const startedWithoutCommitRule = 'started-without-commit'

export const syncReportSpec = v.object({
  gatewaySync: v.pipe(text(253), v.description('Name of the GatewaySync that this gateway follows.')),
  podUid: v.pipe(text(64), v.description('The uid of the pod that writes this report.')),
})

const counts = v.object({ added: count, changed: count, removed: count, unchanged: count, bytes: count })
const scanTime = v.object({ finishedAt: time })

export const syncReportStatus = v.object({
  phase: v.picklist(phases),
  commit: v.optional(v.pipe(hash, v.description('The commit whose files are in place, whole.'))),
  ref: v.optional(text(255)),
  syncHash: v.optional(
    v.pipe(v.string(), v.regex(/^(v[0-9]{1,3}-)?[0-9a-f]{64}$/), v.description('Which sync configuration was applied.')),
  ),
  gateway: v.optional(text(253)),
  profile: v.optional(text(63)),
  mode: v.optional(v.object({ name: text(255), from: v.picklist(modeOrigins) })),
  files: v.optional(counts),
  drift: v.optional(v.object({ count, paths: v.pipe(v.array(path), v.maxLength(20)) })),
  scan: v.optional(
    v.object({
      projects: v.optional(scanTime),
      config: v.optional(scanTime),
      finishedAt: v.optional(time),
      problems: v.optional(v.pipe(v.array(text(1024)), v.maxLength(10))),
    }),
  ),
  projects: v.optional(v.pipe(v.array(text(255)), v.maxLength(100))),
  designers: v.optional(v.pipe(v.array(text(255)), v.maxLength(20))),
  findings: v.optional(v.pipe(v.array(v.object({ rule: text(63), path, message: text(1024) })), v.maxLength(20))),
  dryRun: v.optional(
    v.object({
      added: count,
      changed: count,
      removed: count,
      paths: v.pipe(v.array(text(4200)), v.maxLength(100)),
      diff: v.optional(text(16384)),
    }),
  ),
  reason: v.optional(text(64)),
  message: v.optional(text(1024)),
  startedAt: v.optional(time),
  finishedAt: v.optional(time),
  agentVersion: v.optional(text(64)),
  ignoredFields: v.optional(
    v.pipe(v.array(text(256)), v.maxLength(20), v.description('Fields of the GatewaySync that this agent is too old to know.')),
  ),
  history: v.optional(
    v.pipe(v.array(v.object({ commit: hash, phase: v.picklist(phases), reason: v.optional(text(64)), finishedAt: time })), v.maxLength(5)),
  ),
})

export type SyncReportStatus = v.InferOutput<typeof syncReportStatus>
