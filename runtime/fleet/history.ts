/**
 * Builds the history of a GatewaySync: published and refused commits, requests, and the syncs of each gateway. Pure.
 */
import { counted } from '../platform/text/counted.ts'
import { shortRevision } from '../api/artifact-revision.ts'
import type { GatewaySyncStatus } from '../api/schema/status.ts'
import { shortCommit, shortHashes, shortRef } from '../api/values.ts'
import { meaningOf } from '../api/schema/conditions.ts'
import { Temporal } from '../platform/temporal.ts'
import { ageOf } from './age.ts'
import type { FleetFacts } from './facts.ts'
import { type Column, folded, tableLines, heading, markOf, type Style } from './terminal.ts'
import type { Level } from './view.ts'

type PastStage = NonNullable<NonNullable<GatewaySyncStatus['history']>[number]['stages']>[number]

/** A commit of `status.history`, or a request of `status.requests` that led to no commit. */
export type HistoryEntry = {
  at: string
  /** The requested ref and the commit it resolved to; a request that failed earlier has no commit. */
  ref: string
  commit: string | undefined
  outcome: 'Published' | 'Refused' | 'Superseded'
  level: Level
  by: string | undefined
  signedBy: string | undefined
  /** Such as `1.2s`. */
  duration: string | undefined
  reason: string | undefined
  message: string | undefined
  meaning: string | undefined
  /** The stages of the rollout; empty if there was none or it is in progress. */
  stages: readonly PastStage[]
  /** This is the published commit. */
  isPublished: boolean
  /** The number of gateways that run it now; set on the newest entry of a commit only. */
  gateways: number
}

/** One sync of a gateway from its SyncReport; `at` is when it ended. */
export type GatewayEntry = { pod: string; at: string; commit: string; phase: string; reason: string | undefined }

export type HistoryView = {
  namespace: string
  name: string
  /** Newest first. */
  entries: HistoryEntry[]
  /** By pod, newest first. */
  gateways: GatewayEntry[]
}

/** The history of the first selected GatewaySync of the facts; undefined if there is none. */
export function historyView({ syncs, only, reports }: FleetFacts): HistoryView | undefined {
  const sync = syncs.find(({ name }) => only === undefined || name === only)
  if (sync === undefined) return undefined
  const { namespace, name, status } = sync
  const own = reports.filter((report) => report.namespace === namespace && report.gatewaySync === name)
  const running = (commit: string): number => own.filter(({ status }) => status?.commit === commit).length
  const entries = [...commitsOf(status, running), ...requestsOf(status)]
  return {
    namespace,
    name,
    entries: entries.toSorted(newestFirst),
    gateways: own.flatMap(({ pod, details }) =>
      (details?.history ?? [])
        .map(({ commit, phase, reason, finishedAt }) => ({ pod, at: finishedAt, commit, phase, reason }))
        .toSorted(newestFirst),
    ),
  }
}

/** Times have a resolution of one second; entries of the same second keep their order, newest first. */
function newestFirst(a: { at: string }, b: { at: string }): number {
  if (a.at === b.at) return 0
  return a.at < b.at ? 1 : -1
}

function commitsOf({ history = [], published }: GatewaySyncStatus, running: (commit: string) => number): HistoryEntry[] {
  const now = history.find(({ commit, outcome }) => outcome === 'Published' && commit === published?.commit)
  return history.map((entry) => ({
    at: entry.at,
    ref: shortRef(entry.ref),
    commit: entry.commit,
    outcome: entry.outcome,
    level: entry.outcome === 'Published' ? 'ok' : 'error',
    by: entry.by,
    signedBy: entry.signedBy,
    duration: entry.duration,
    reason: entry.reason,
    message: entry.message,
    meaning: entry.reason === undefined ? undefined : meaningOf(entry.reason),
    stages: entry.stages ?? [],
    isPublished: entry === now,
    gateways: history.find(({ commit }) => commit === entry.commit) === entry ? running(entry.commit) : 0,
  }))
}

/** Requests that left no commit. Handled requests appear as commits. */
function requestsOf({ requests = [], history = [] }: GatewaySyncStatus): HistoryEntry[] {
  return requests.flatMap(({ ref, outcome, reason, message, at }) => {
    if (outcome === 'Handled' || outcome === 'Pending') return []
    if (history.some((entry) => entry.outcome === 'Refused' && entry.ref === ref && entry.at === at)) return []
    return [
      {
        at,
        ref: shortRef(ref),
        commit: undefined,
        outcome,
        level: outcome === 'Refused' ? ('error' as const) : ('warning' as const),
        by: undefined,
        signedBy: undefined,
        duration: undefined,
        reason,
        message,
        meaning: reason === undefined ? undefined : meaningOf(reason),
        stages: [],
        isPublished: false,
        gateways: 0,
      },
    ]
  })
}

const columns: readonly Column[] = [
  { title: 'WHEN', max: 6 },
  { title: 'COMMIT', max: 8 },
  { title: 'REF', max: 24 },
  { title: 'BY', max: 32 },
  { title: 'OUTCOME', max: 10 },
  { title: 'TOOK', max: 8 },
  { title: 'NOW', max: 24 },
]
const gatewayColumns: readonly Column[] = [
  { title: 'POD', max: 40 },
  { title: 'WHEN', max: 6 },
  { title: 'COMMIT', max: 8 },
  { title: 'PHASE', max: 10 },
  { title: 'WHY', max: 32 },
]

/** Formats the history as lines of text, newest first. */
export function historyText(view: HistoryView, now: Temporal.Instant, style: Style): string[] {
  const { entries, gateways } = view
  const head = heading(`${view.namespace}/${view.name}`, style)
  if (entries.length === 0) return [`${head}: no commit has been published or refused yet`]
  const rows = entries.map((entry) => [
    ageOf(entry.at, now) ?? '-',
    entry.commit === undefined ? '-' : shortRevision(entry.commit, entry.ref),
    shortHashes(entry.ref),
    entry.by === 'generic' ? 'webhook' : (entry.by ?? '-'),
    entry.outcome.toLowerCase(),
    entry.duration ?? '-',
    nowText(entry),
  ])
  const width = style.width - (style.symbols ? 2 : 0)
  const [title = '', ...lines] = tableLines(columns, rows, width)
  const printed = lines.flatMap((line, index) => {
    const entry = entries[index]
    if (entry === undefined) return []
    const why =
      entry.message === undefined ? [] : folded(`${shortHashes(entry.message)} (${entry.reason ?? entry.outcome})`, style.width, '        ')
    const stages = entry.stages.length === 0 ? [] : folded(`stages: ${entry.stages.map(stageText).join('; ')}`, style.width, '        ')
    return [`${markOf(entry.level, style)}${line}`, ...why, ...stages]
  })
  const ofGateways =
    gateways.length === 0
      ? []
      : [
          '',
          ...tableLines(
            gatewayColumns,
            gateways.map(({ pod, at, commit, phase, reason }) => [pod, ageOf(at, now) ?? '-', shortCommit(commit), phase, reason ?? '']),
            style.width,
          ),
        ]
  return [head, `${style.symbols ? '  ' : ''}${heading(title, style)}`, ...printed, ...ofGateways]
}

/** Returns `plant: 3 gateways in 12m, approved by kim`. */
function stageText({ name, gateways, failed, silent, startedAt, finishedAt, approvedBy }: PastStage): string {
  const took = finishedAt === undefined ? undefined : ageOf(startedAt, Temporal.Instant.from(finishedAt))
  const parts = [
    `${counted(gateways, 'gateway')}${took === undefined ? '' : ` in ${took}`}`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(silent === undefined ? [] : [`${silent} not reporting`]),
    ...(finishedAt === undefined ? ['not done'] : []),
    ...(approvedBy === undefined ? [] : [`approved by ${approvedBy}`]),
  ]
  return `${name}: ${parts.join(', ')}`
}

function nowText({ isPublished, gateways }: HistoryEntry): string {
  const parts = [...(isPublished ? ['published'] : []), ...(gateways > 0 ? [counted(gateways, 'gateway')] : [])]
  return parts.join(', ')
}
