/**
 * Creates the events of `cluster-sync run` from its states: one for each new commit, each refusal with its reason, and each new state of a
 * gateway; none while nothing changes, and none for findings of an earlier run. Remembers the last events; has no other effects. `render.ts`
 * formats events as lines, and `--format json` prints them unchanged.
 */
import { nothingPublished } from '../../agent/desired.ts'
import type { Fault } from '../../platform/fault.ts'
import type { SyncReportStatus } from '../../api/schema/report.ts'
import type { GatewaySyncStatus, StatusFinding } from '../../api/schema/status.ts'
import type { CommitSummary } from '../../git/content/commit-summary.ts'
import { isFinal } from '../../reconcile/decide/request-outcomes.ts'
import { shortRef } from '../../api/values.ts'
import { remarksOf } from '../../reconcile/decide/report-details.ts'

type NamedCommit = { commit: string; ref: string }

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
  | ({ event: 'published'; summary?: CommitSummary; durationMs?: number } & NamedCommit)
  /** The git host was polled and returned the known commit. */
  | ({ event: 'unchanged' } & NamedCommit)
  | ({ event: 'commitRefused'; summary?: CommitSummary; findings: StatusFinding[]; moreFindings: number } & Failure & NamedCommit)
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
      /** What the gateway has read in this cycle. */
      read: readonly ('projects' | 'config')[]
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

/** Details of a commit besides its hash. `durationMs`: the time since the request to the git host. */
export type CommitFacts = { summary?: CommitSummary | undefined; durationMs?: number | undefined }

/** The result of the cycle that led to a report. */
export type CycleFacts = {
  durationMs?: number | undefined
  paths?: ChangedPaths | undefined
  read?: readonly ('projects' | 'config')[] | undefined
}

type NarratedTarget = { name: string }

/** The last event of each subject, and the remarks of each gateway. */
export type Emitted = { last: Map<string, string>; remarks: Map<string, ReadonlySet<string>> }

/** Creates the events of one version of the file. */
export class Narrator {
  readonly #emit: (event: RunEvent) => void
  readonly #targets: readonly NarratedTarget[]
  readonly #about: (commit: string) => CommitFacts
  readonly #emitted: Emitted['last']
  readonly #remarks: Emitted['remarks']
  readonly #inPlace = new Set<string>()
  #requests: ReadonlySet<string> | undefined

  /**
   * `about` returns the known details of a commit; `emit` receives each event once. `before`: the events for an earlier version of the same
   * file, which are not repeated.
   */
  constructor(
    emit: (event: RunEvent) => void,
    targets: readonly NarratedTarget[],
    about: (commit: string) => CommitFacts = () => ({}),
    before: Emitted = { last: new Map(), remarks: new Map() },
  ) {
    this.#emit = emit
    this.#targets = targets
    this.#about = about
    this.#emitted = before.last
    this.#remarks = before.remarks
    this.#emitted.delete('ready')
  }

  /** `answered`: the git host has answered in this run, successfully or with `fault`. */
  status(status: GatewaySyncStatus, answered: boolean, fault: Fault | undefined): void {
    this.#emitRequests(status, answered)
    if (!answered) return
    const { published, source, findings } = status
    if (published !== undefined && fault === undefined) {
      const { commit } = published
      const ref = shortRef(published.ref)
      this.#emitOnce('published', { event: 'published', commit, ref, ...present(this.#about(commit)) }, { commit, ref })
    }
    if (source?.held === undefined && (findings?.errors ?? 0) > 0 && findings !== undefined) {
      const { errors, warnings, items } = findings
      this.#emitOnce('findings', { event: 'findings', errors, warnings, findings: items, moreFindings: errors + warnings - items.length })
    }
    this.#emitReady(status)
  }

  report(target: string, status: SyncReportStatus, cycle: CycleFacts = {}): void {
    // While nothing is published, a gateway has no news; the source reports the reason.
    const waits = status.phase === 'Pending' && status.message === nothingPublished && status.commit === undefined
    if (status.phase === 'Syncing' || waits) return
    if (status.phase === 'Synced' || status.phase === 'Drifted') this.#inPlace.add(target)
    else this.#inPlace.delete(target)
    const event = targetEvent(target, status, cycle)
    // A later check of the same commit without changes is not new.
    const { files: _files, read: _read, ...what } = event
    const isBusy = (event.files?.added ?? 0) + (event.files?.changed ?? 0) + (event.files?.removed ?? 0) > 0
    if (isBusy) this.#emitted.delete(target)
    this.#emitOnce(target, { ...event, ...present(cycle) }, what)
    if (status.finishedAt === undefined) return
    const now = new Set(remarksOf(status))
    for (const message of now) if (this.#remarks.get(target)?.has(message) !== true) this.#emit({ event: 'remark', target, message })
    this.#remarks.set(target, now)
  }

  /** The run itself does not work, for example because the state folder cannot be written. */
  failed({ reason, message }: Fault): void {
    this.#emitOnce('failed', { event: 'failed', reason, message })
  }

  /** Emits an event unless the last one of the same subject had an equal `what`. */
  #emitOnce(subject: string, event: RunEvent, what: unknown = event): void {
    const text = JSON.stringify(what)
    if (this.#emitted.get(subject) === text) return
    this.#emitted.set(subject, text)
    this.#emit(event)
  }

  #emitRequests(status: GatewaySyncStatus, answered: boolean): void {
    const all = status.requests ?? []
    const known = this.#requests ?? new Set(answered ? [] : all.filter(isFinal).map(({ id }) => id))
    for (const { id, ref, outcome, reason = outcome, message = 'no reason is known' } of all) {
      const subject = `request ${id}`
      const event = { ref: shortRef(ref), ...failureOf(reason, message, status) }
      if (outcome === 'Pending') {
        this.#emitOnce(subject, { event: 'pushPending', ...event }, reason)
        continue
      }
      const wasPending = this.#emitted.delete(subject)
      if (outcome === 'Refused' && !known.has(id)) this.#emit({ event: 'pushRefused', ...event, ...(wasPending ? { waited: true } : {}) })
      else if (outcome === 'Superseded' && wasPending) this.#emit({ event: 'pushSuperseded', ref: event.ref })
      else if (outcome === 'Handled' && wasPending) this.#emit(handledPush(event.ref, status))
    }
    this.#requests = new Set([...known, ...all.filter(isFinal).map(({ id }) => id)])
  }

  #emitReady(status: GatewaySyncStatus): void {
    const [ready, gateways] = ['Ready', 'GatewaysSynced'].map((type) => status.conditions?.find((condition) => condition.type === type))
    if (ready === undefined) return
    const { message, reason } = ready
    if (ready.status === 'True') {
      const what = { message, commit: status.published?.commit }
      if (this.#targets.every(({ name }) => this.#inPlace.has(name))) this.#emitOnce('ready', { event: 'ready', message }, what)
      return
    }
    // Gateways report what they wait for or why they failed.
    if (ready.status === 'Unknown' || (reason === gateways?.reason && gateways.status !== 'True')) return
    const event = refusedCommit(status, message, reason, this.#about) ?? { event: 'notReady', ...failureOf(reason, message, status) }
    this.#emitOnce('ready', event, { ...event, summary: undefined })
  }
}

function handledPush(ref: string, { source }: GatewaySyncStatus): RunEvent {
  return source?.commit === undefined ? { event: 'pushHandled', ref } : { event: 'pushHandled', ref, commit: source.commit }
}

function targetEvent(target: string, status: SyncReportStatus, { read = [] }: CycleFacts): Extract<RunEvent, { event: 'target' }> {
  const { phase, commit, files, reason, message } = status
  return {
    event: 'target',
    target,
    phase,
    ...(commit === undefined ? {} : { commit }),
    ...(files === undefined ? {} : { files: countsOf(files) }),
    read,
    ...(phase === 'Synced' || message === undefined ? {} : { message, ...(reason === undefined ? {} : { reason }) }),
  }
}

function countsOf({ added, changed, removed, unchanged }: NonNullable<SyncReportStatus['files']>) {
  return { added, changed, removed, unchanged }
}

/** Returns the event of a commit that is held back; undefined if there is none. */
function refusedCommit(
  status: GatewaySyncStatus,
  message: string,
  reason: string,
  about: (commit: string) => CommitFacts,
): RunEvent | undefined {
  const { source, findings } = status
  if (source?.held === undefined || source.commit === undefined) return undefined
  const { commit } = source
  const ref = shortRef(source.ref)
  const { items = [], errors = 0, warnings = 0 } = source.held === 'CollectionsInvalid' ? (findings ?? {}) : {}
  const { summary } = about(commit)
  const more = { findings: items, moreFindings: errors + warnings - items.length }
  return {
    event: 'commitRefused',
    commit,
    ref,
    ...failureOf(reason, message, status),
    ...(summary === undefined ? {} : { summary }),
    ...more,
  }
}

function failureOf(reason: string, message: string, { published }: GatewaySyncStatus): Failure {
  const stays: NamedCommit | null = published === undefined ? null : { commit: published.commit, ref: shortRef(published.ref) }
  return { reason, message, stays }
}

/** Removes undefined members. */
function present({ summary, durationMs, paths }: CommitFacts & CycleFacts) {
  return {
    ...(summary === undefined ? {} : { summary }),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(paths === undefined ? {} : { paths }),
  }
}
