/**
 * Makes events of what a run finds: one for each new commit, for what is refused and why, and for each new state of a gateway; none while
 * nothing changes, and none about what an earlier run found. It remembers what it told, and touches nothing.
 */
import { nothingPublished } from '../../agent/desired.ts'
import type { Fault } from '../../fault.ts'
import { remarksOf } from '../../gatewaysync/decide/remarks.ts'
import type { SyncReportStatus } from '../../gatewaysync/schema/report.ts'
import type { GatewaySyncStatus } from '../../gatewaysync/schema/status.ts'
import type { CommitWords } from '../../source/content/commit-words.ts'
import type { ChangedPaths, Failure, NamedCommit, StoryEvent } from './events.ts'

/** What is known of a commit besides its hash. `durationMs`: since the git host was asked for it. */
export type CommitFacts = { words?: CommitWords | undefined; durationMs?: number | undefined }

/** What the cycle behind a report did. */
export type CycleFacts = { durationMs?: number | undefined; paths?: ChangedPaths | undefined }

export type Narrator = {
  /** `answered`: the git host has answered in this run, well or with `fault`. */
  status(status: GatewaySyncStatus, answered: boolean, fault: Fault | undefined): void
  report(target: string, status: SyncReportStatus, cycle?: CycleFacts): void
  /** What keeps the run itself from working, such as a state folder that cannot be written. */
  failed(fault: Fault): void
}

type NarratedTarget = { name: string; gatewayUrl: string | undefined }

/** What was told last about each subject, and of each gateway's findings. */
export type Told = { last: Map<string, string>; remarks: Map<string, ReadonlySet<string>> }

/**
 * `about` tells what is known of a commit; `tell` takes each event once. `before` is what a narrator of an earlier version of the same file
 * told: that is not repeated.
 */
export function createNarrator(
  tell: (event: StoryEvent) => void,
  targets: readonly NarratedTarget[],
  about: (commit: string) => CommitFacts = () => ({}),
  { last: told, remarks }: Told = { last: new Map(), remarks: new Map() },
): Narrator {
  const inPlace = new Set<string>()
  let requests: ReadonlySet<string> | undefined
  told.delete('ready')
  /** Tells an event unless the last one about the same thing was equal in `what`. */
  const tellOnce = (subject: string, event: StoryEvent, what: unknown = event): void => {
    const text = JSON.stringify(what)
    if (told.get(subject) === text) return
    told.set(subject, text)
    tell(event)
  }
  const forget = (subject: string): void => void told.delete(subject)

  const tellRequests = (status: GatewaySyncStatus, answered: boolean): void => {
    const all = status.requests ?? []
    const known = requests ?? new Set(answered ? [] : all.map(({ id }) => id))
    for (const { id, ref, outcome, reason = outcome, message = 'no reason is known' } of all) {
      if (known.has(id) || outcome !== 'Refused') continue
      tell({ event: 'pushRefused', ref, ...failureOf(reason, message, status) })
    }
    requests = new Set([...known, ...all.map(({ id }) => id)])
  }

  const tellReady = (status: GatewaySyncStatus): void => {
    const [ready, gateways] = ['Ready', 'GatewaysSynced'].map((type) => status.conditions?.find((condition) => condition.type === type))
    if (ready === undefined) return
    const { message, reason } = ready
    if (ready.status === 'True') {
      const what = { message, commit: status.published?.commit }
      if (targets.every(({ name }) => inPlace.has(name))) tellOnce('ready', { event: 'ready', message }, what)
      return
    }
    // What gateways wait for, or why they failed, each of them tells itself.
    if (ready.status === 'Unknown' || (reason === gateways?.reason && gateways.status !== 'True')) return
    const event = refusedCommit(status, message, reason, about) ?? { event: 'notReady', ...failureOf(reason, message, status) }
    tellOnce('ready', event, { ...event, words: undefined })
  }

  return {
    status(status, answered, fault) {
      tellRequests(status, answered)
      if (!answered) return
      const { published, source, findings } = status
      if (published !== undefined && fault === undefined) {
        const { commit, ref } = published
        tellOnce('published', { event: 'published', commit, ref, ...present(about(commit)) }, { commit, ref })
      }
      if (source?.held === undefined && (findings?.errors ?? 0) > 0 && findings !== undefined) {
        const { errors, warnings, items } = findings
        tellOnce('findings', { event: 'findings', errors, warnings, findings: items, moreFindings: errors + warnings - items.length })
      }
      tellReady(status)
    },
    report(target, status, cycle = {}) {
      // While nothing is published there is nothing to say of a gateway; why, the source tells.
      const waits = status.phase === 'Pending' && status.message === nothingPublished && status.commit === undefined
      if (status.phase === 'Syncing' || waits) return
      if (status.phase === 'Synced' || status.phase === 'Drifted') inPlace.add(target)
      else inPlace.delete(target)
      const hasGateway = targets.some(({ name, gatewayUrl }) => name === target && gatewayUrl !== undefined)
      const event = targetEvent(target, status, hasGateway)
      // A later look at the same commit that finds nothing to do says nothing new.
      const { files: _files, read: _read, ...what } = event
      const isBusy = (event.files?.added ?? 0) + (event.files?.changed ?? 0) + (event.files?.removed ?? 0) > 0
      if (isBusy) forget(target)
      tellOnce(target, { ...event, ...present(cycle) }, what)
      if (status.finishedAt === undefined) return
      const now = new Set(remarksOf(status))
      for (const message of now) if (remarks.get(target)?.has(message) !== true) tell({ event: 'remark', target, message })
      remarks.set(target, now)
    },
    failed({ reason, message }) {
      tellOnce('failed', { event: 'failed', reason, message })
    },
  }
}

function targetEvent(target: string, status: SyncReportStatus, hasGateway: boolean): Extract<StoryEvent, { event: 'target' }> {
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

/** Undefined where no commit is held back. */
function refusedCommit(
  status: GatewaySyncStatus,
  message: string,
  reason: string,
  about: (commit: string) => CommitFacts,
): StoryEvent | undefined {
  const { source, findings } = status
  if (source?.held === undefined || source.commit === undefined) return undefined
  const { commit, ref } = source
  const { items = [], errors = 0, warnings = 0 } = source.held === 'CollectionsInvalid' ? (findings ?? {}) : {}
  const { words } = about(commit)
  const more = { findings: items, moreFindings: errors + warnings - items.length }
  return { event: 'commitRefused', commit, ref, ...failureOf(reason, message, status), ...(words === undefined ? {} : { words }), ...more }
}

function failureOf(reason: string, message: string, { published }: GatewaySyncStatus): Failure {
  const stays: NamedCommit | null = published === undefined ? null : { commit: published.commit, ref: published.ref }
  return { reason, message, stays }
}

/** Without the members that are undefined. */
function present({ words, durationMs, paths }: CommitFacts & CycleFacts) {
  return {
    ...(words === undefined ? {} : { words }),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(paths === undefined ? {} : { paths }),
  }
}
