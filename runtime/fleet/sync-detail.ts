/**
 * Builds the details of one GatewaySync beyond its view: history, local changes and their policy, open Designer sessions, and notices. Pure.
 */
import { resolveProfile } from '../api/schema/profile.ts'
import { specOf } from '../api/schema/spec-of.ts'
import type { GatewaySyncSpec } from '../api/schema/spec.ts'
import type { Temporal } from '../platform/temporal.ts'
import { version, countSkews } from '../platform/version.ts'
import type { FleetFacts, SyncFacts } from './facts.ts'
import { type HistoryEntry, historyView } from './history.ts'
import { lastChecked } from './last-checked.ts'
import type { SyncView } from './view.ts'

/**
 * What happens to local changes: they are only reported, are reverted at the next sync, or are kept while a commit that would overwrite them is held.
 */
export type DriftPolicy = GatewaySyncSpec['sync']['defaults']['drift']

/** `paths` holds the first of `count` files; `policy` undefined: the spec or the profile is unknown. */
export type LocalChanges = {
  pod: string
  gateway: string | undefined
  count: number
  paths: readonly string[]
  policy: DriftPolicy | undefined
}

/** `before`: the previously published commit, to compare with; undefined if unknown. */
export type ChangeEntry = HistoryEntry & { before: string | undefined }

/** A notice at the top of the page. `count`: the number of affected gateways; undefined: all. */
export type Notice = { kind: 'paused' | 'dryRun' | 'outdatedAgents' | 'otherVersion'; count: number | undefined }

export type SyncDetail = {
  /** Newest first. */
  history: ChangeEntry[]
  localChanges: LocalChanges[]
  /** Designer sessions that were open at the last report. */
  designers: { pod: string; gateway: string | undefined; names: readonly string[] }[]
  notices: Notice[]
  /** The polling interval, such as `5m`; `never`: only pushes trigger a check; undefined if the spec is unknown. */
  polling: string | undefined
  /** Whether a push triggers a check; also if that is unknown. */
  onPush: boolean
  /**
   * When the git host was last polled, if the status shows it. The status records an unchanged answer at most once an hour, so while all is well it
   * shows the last poll for one interval only.
   */
  lastPoll: Temporal.Instant | undefined
  /** When the next poll is due, plus or minus a tenth of the interval; undefined if unknown. */
  nextPoll: Temporal.Instant | undefined
}

/** `sync` is the view of a GatewaySync of the facts. */
export function syncDetail(facts: FleetFacts, sync: SyncView, now: Temporal.Instant): SyncDetail {
  const own = facts.syncs.find(({ namespace, name }) => namespace === sync.namespace && name === sync.name)
  const reports = facts.reports.filter(({ namespace, gatewaySync }) => namespace === sync.namespace && gatewaySync === sync.name)
  const byPod = new Map(reports.map((report) => [report.pod, report]))
  const entries = own === undefined ? [] : (historyView({ ...facts, syncs: [own], reports })?.entries ?? [])
  const spec = specOf(own)
  const gateways = sync.gateways.map(({ pod, gateway }) => ({ pod, gateway, details: byPod.get(pod)?.details }))
  return {
    history: entries.map((entry, index) => ({
      ...entry,
      before: publishedBefore(entries, index),
      // Reports outlive their pods for a while; the count must match the tiles of the page.
      gateways: entry.gateways === 0 ? 0 : sync.gateways.filter(({ commit }) => commit === entry.commit).length,
    })),
    localChanges: gateways.flatMap(({ pod, gateway, details }) => {
      const { count, paths } = details?.drift ?? { count: 0, paths: [] }
      return count === 0 ? [] : [{ pod, gateway, count, paths, policy: policyOf(spec, details?.profile) }]
    }),
    designers: gateways.flatMap(({ pod, gateway, details }) => {
      const names = details?.designers ?? []
      return names.length === 0 ? [] : [{ pod, gateway, names }]
    }),
    notices: noticesOf(own, sync, spec),
    onPush: facts.receives !== false,
    polling: spec?.polling.enabled === false ? 'never' : spec?.polling.interval,
    ...pollsOf(sync, now),
  }
}

function pollsOf({ desired }: SyncView, now: Temporal.Instant): Pick<SyncDetail, 'lastPoll' | 'nextPoll'> {
  const last = lastChecked(desired, now)
  return last?.kind === 'checked' ? { lastPoll: last.at, nextPoll: last.next } : { lastPoll: undefined, nextPoll: undefined }
}

function publishedBefore(entries: readonly HistoryEntry[], index: number): string | undefined {
  const { commit } = entries[index] ?? {}
  return entries.slice(index + 1).find((entry) => entry.outcome === 'Published' && entry.commit !== commit)?.commit
}

function policyOf(spec: GatewaySyncSpec | undefined, profile = 'default'): DriftPolicy | undefined {
  return spec === undefined || !Object.hasOwn(spec.sync.profiles, profile) ? undefined : resolveProfile(spec.sync, profile).drift
}

function noticesOf(sync: SyncFacts | undefined, { gateways }: SyncView, spec: GatewaySyncSpec | undefined): Notice[] {
  const inState = (state: string): number => gateways.filter((gateway) => gateway.state === state).length
  const notice = (kind: Notice['kind'], count: number): Notice[] => (count === 0 ? [] : [{ kind, count }])
  const { older, newer } = countSkews(
    version,
    gateways.flatMap(({ agentVersion }) => agentVersion ?? []),
  )
  return [
    ...(spec?.paused === true ? [{ kind: 'paused' as const, count: undefined }] : notice('paused', inState('paused'))),
    ...(spec?.sync.defaults.dryRun === true ? [{ kind: 'dryRun' as const, count: undefined }] : notice('dryRun', inState('dryRun'))),
    ...notice('outdatedAgents', sync?.status.outdatedAgents ?? 0),
    ...notice('otherVersion', older + newer),
  ]
}
