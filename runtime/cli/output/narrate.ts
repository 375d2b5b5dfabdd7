/**
 * Creates the events of a run from its states: one for each new commit, each refusal with its reason, and each new state of a gateway. Creates none
 * while nothing changes, nor for the findings of an earlier run. Remembers the last events; has no other effects.
 */
import { nothingPublished } from '../../agent/desired.ts'
import type { Fault } from '../../platform/fault.ts'
import type { SyncReportStatus } from '../../api/schema/report.ts'
import type { GatewaySyncStatus } from '../../api/schema/status.ts'
import type { CommitWords } from '../../git/content/commit-words.ts'
import type { ChangedPaths, Failure, NamedCommit, RunEvent } from './events.ts'
import { isFinal } from '../../reconcile/decide/request-outcomes.ts'
import { shortRef } from '../../api/values.ts'
import { remarksOf } from '../../reconcile/decide/report-details.ts'

/** Details of a commit besides its hash. `durationMs`: the time since the request to the git host. */
export type CommitFacts = { words?: CommitWords | undefined; durationMs?: number | undefined }

/** The result of the cycle that led to a report. */
export type CycleFacts = { durationMs?: number | undefined; paths?: ChangedPaths | undefined }

type NarratedTarget = { name: string; gatewayUrl: string | undefined }

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
   * `about` returns what is known of a commit; `emit` receives each event once. `before`: the events for an earlier version of the same
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
    const hasGateway = this.#targets.some(({ name, gatewayUrl }) => name === target && gatewayUrl !== undefined)
    const event = targetEvent(target, status, hasGateway)
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
    // Gateways report themselves what they wait for or why they failed.
    if (ready.status === 'Unknown' || (reason === gateways?.reason && gateways.status !== 'True')) return
    const event = refusedCommit(status, message, reason, this.#about) ?? { event: 'notReady', ...failureOf(reason, message, status) }
    this.#emitOnce('ready', event, { ...event, words: undefined })
  }
}

function handledPush(ref: string, { source }: GatewaySyncStatus): RunEvent {
  return source?.commit === undefined ? { event: 'pushHandled', ref } : { event: 'pushHandled', ref, commit: source.commit }
}

function targetEvent(target: string, status: SyncReportStatus, hasGateway: boolean): Extract<RunEvent, { event: 'target' }> {
  const { phase, commit, files, scan, reason, message } = status
  const isRead = hasGateway && (phase === 'Synced' || phase === 'Drifted')
  // A gateway that has yet to read this commit may have read another one long ago.
  const read = isRead ? (['projects', 'config'] as const).filter((kind) => scan?.[kind] !== undefined) : []
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

/** Undefined if no commit is held back. */
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
  const { words } = about(commit)
  const more = { findings: items, moreFindings: errors + warnings - items.length }
  return { event: 'commitRefused', commit, ref, ...failureOf(reason, message, status), ...(words === undefined ? {} : { words }), ...more }
}

function failureOf(reason: string, message: string, { published }: GatewaySyncStatus): Failure {
  const stays: NamedCommit | null = published === undefined ? null : { commit: published.commit, ref: shortRef(published.ref) }
  return { reason, message, stays }
}

/** Removes undefined members. */
function present({ words, durationMs, paths }: CommitFacts & CycleFacts) {
  return {
    ...(words === undefined ? {} : { words }),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(paths === undefined ? {} : { paths }),
  }
}
