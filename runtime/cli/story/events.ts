/**
 * What `cluster-sync run` tells, as data: `narrate.ts` makes events of what happens, `render.ts` makes lines of events, and
 * `--format json` prints them as they are. Pure: types.
 */
import type { StatusFinding } from '../../gatewaysync/schema/status.ts'
import type { SyncReportStatus } from '../../gatewaysync/schema/report.ts'
import type { CommitWords } from '../../source/content/commit-words.ts'

export type NamedCommit = { commit: string; ref: string }

/** Paths below the data directory; the first of each kind, and `more` are not named. */
export type ChangedPaths = { added: string[]; changed: string[]; removed: string[]; more: number }

/** In files. */
export type ChangeCounts = { added: number; changed: number; removed: number; unchanged: number }

/** What of a failure every event tells alike. `stays`: the commit that gateways go on with; null where nothing was published yet. */
export type Failure = { reason: string; message: string; stays: NamedCommit | null }

/** `event` tells which one it is. Durations are in milliseconds. */
export type StoryEvent =
  | { event: 'following'; repo: string; ref: string; targets: string[] }
  /** `open`: whoever reaches the receiver may push. */
  | { event: 'listening'; url: string; open: boolean }
  /** Where the status page is. */
  | { event: 'serving'; url: string }
  | ({ event: 'published'; words?: CommitWords; durationMs?: number } & NamedCommit)
  /** The git host was asked and named the commit that is known already. */
  | ({ event: 'unchanged' } & NamedCommit)
  | ({ event: 'commitRefused'; words?: CommitWords; findings: StatusFinding[]; moreFindings: number } & Failure & NamedCommit)
  | ({ event: 'pushRefused'; ref: string } & Failure)
  /** Published although the checks found errors, as `spec.validation` permits. */
  | { event: 'findings'; errors: number; warnings: number; findings: StatusFinding[]; moreFindings: number }
  | ({ event: 'notReady' } & Failure)
  | { event: 'ready'; message: string }
  /** Files that have arrived of those that a sync writes. */
  | { event: 'progress'; target: string; done: number; total: number }
  | {
      event: 'target'
      target: string
      phase: SyncReportStatus['phase']
      commit?: string
      files?: ChangeCounts
      paths?: ChangedPaths
      /** What the gateway has read of it. */
      read: ('projects' | 'config')[]
      durationMs?: number
      reason?: string
      message?: string
    }
  /** Something to know of a target: a finding, a local change, a complaint of the gateway. */
  | { event: 'remark'; target: string; message: string }
  /** What keeps the run itself from working. */
  | { event: 'failed'; reason: string; message: string }
  | { event: 'note'; message: string }
  | { event: 'specChanged'; file: string }
  | { event: 'specRefused'; message: string }
  | { event: 'gaveUp'; reason: string; message: string }
  | { event: 'stopping' }
