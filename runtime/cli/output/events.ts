/**
 * The events of `cluster-sync run`: `narrate.ts` creates them, `render.ts` formats them as lines, and `--format json` prints them unchanged. Pure:
 * types.
 */
import type { StatusFinding } from '../../api/schema/status.ts'
import type { SyncReportStatus } from '../../api/schema/report.ts'
import type { CommitWords } from '../../git/content/commit-words.ts'

export type NamedCommit = { commit: string; ref: string }

/** Paths below the data directory; the first of each kind, and `more` is the number of omitted ones. */
export type ChangedPaths = { added: string[]; changed: string[]; removed: string[]; more: number }

/** Numbers of files. */
export type ChangeCounts = { added: number; changed: number; removed: number; unchanged: number }

/** The common fields of failure events. `stays`: the commit that gateways keep; null if none was published yet. */
export type Failure = { reason: string; message: string; stays: NamedCommit | null }

/** `event` is the kind of event. Durations are in milliseconds. */
export type RunEvent =
  | { event: 'following'; repo: string; ref: string; targets: string[] }
  /** `open`: the receiver accepts pushes without authentication. */
  | { event: 'listening'; url: string; open: boolean }
  /** The URL of the status page. */
  | { event: 'serving'; url: string }
  | ({ event: 'published'; words?: CommitWords; durationMs?: number } & NamedCommit)
  /** The git host was polled and returned the known commit. */
  | ({ event: 'unchanged' } & NamedCommit)
  | ({ event: 'commitRefused'; words?: CommitWords; findings: StatusFinding[]; moreFindings: number } & Failure & NamedCommit)
  /** The git host does not show the pushed ref yet and is polled again. */
  | ({ event: 'pushPending'; ref: string } & Failure)
  /** A pending push has its answer; `commit`: the commit of its ref. */
  | { event: 'pushHandled'; ref: string; commit?: string }
  | { event: 'pushSuperseded'; ref: string }
  /** `waited`: the push was pending before. */
  | ({ event: 'pushRefused'; ref: string; waited?: true } & Failure)
  /** Published although validation found errors, as `spec.validation` permits. */
  | { event: 'findings'; errors: number; warnings: number; findings: StatusFinding[]; moreFindings: number }
  | ({ event: 'notReady' } & Failure)
  | { event: 'ready'; message: string }
  /** Number of received files of those that a sync writes. */
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
  /** A note about a target: a finding, a local change, an error of the gateway. */
  | { event: 'remark'; target: string; message: string }
  /** The run itself does not work. */
  | { event: 'failed'; reason: string; message: string }
  | { event: 'note'; message: string }
  | { event: 'specChanged'; file: string }
  | { event: 'specRefused'; message: string }
  | { event: 'gaveUp'; reason: string; message: string }
  | { event: 'stopping' }
