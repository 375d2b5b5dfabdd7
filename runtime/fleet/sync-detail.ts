/**
 * What somebody who looks at one GatewaySync wants to know besides its view: what came before, what was changed on gateways and what becomes
 * of that, who works in a Designer, and what is out of the ordinary. Pure.
 */
import * as v from 'valibot'
import { resolveProfile } from '../gatewaysync/decide/profile.ts'
import { type GatewaySyncSpec, gatewaySyncSpec } from '../gatewaysync/schema/spec.ts'
import { countSkews } from '../metrics/version-skew.ts'
import { version } from '../version.ts'
import type { FleetFacts, SyncFacts } from './facts.ts'
import { type HistoryEntry, historyView } from './history.ts'
import { lastAsked } from './last-asked.ts'
import type { SyncView } from './view.ts'

/** What happens to local changes: told of only, put back at the next look, or kept, while a commit that would undo them waits. */
export type DriftPolicy = GatewaySyncSpec['sync']['defaults']['drift']

/** `paths` are the first of `count` files; `policy` undefined: the spec or the profile is not known. */
export type LocalChanges = {
  pod: string
  gateway: string | undefined
  count: number
  paths: readonly string[]
  policy: DriftPolicy | undefined
}

/** `before`: the commit that was published until then, with which this one is compared; undefined where none is known. */
export type ChangeEntry = HistoryEntry & { before: string | undefined }

/** Something that everybody who looks should see first. `count`: how many gateways it is about; undefined: all. */
export type Notice = { kind: 'paused' | 'dryRun' | 'outdatedAgents' | 'otherVersion'; count: number | undefined }

export type SyncDetail = {
  /** Newest first. */
  history: ChangeEntry[]
  localChanges: LocalChanges[]
  /** Sessions of Designers that were open at the last report. */
  designers: { pod: string; gateway: string | undefined; names: readonly string[] }[]
  notices: Notice[]
  /** How often the git host is asked besides at pushes, such as `5m`; `never`: only then; undefined where the spec is not known. */
  polling: string | undefined
  /**
   * When it answered last, where the status tells of its last answer: a status is written once an hour at most for an answer that says nothing
   * new, so while all is well it tells of that for one interval only.
   */
  lastLook: Temporal.Instant | undefined
  /** When it is asked next by itself, give or take a tenth of the interval; undefined where that is not known. */
  nextLook: Temporal.Instant | undefined
}

const schema = gatewaySyncSpec({ allowLocal: true })

/** `sync` is the view of a GatewaySync of the facts. */
export function syncDetail(facts: FleetFacts, sync: SyncView, now: Temporal.Instant): SyncDetail {
  const own = facts.syncs.find(({ namespace, name }) => namespace === sync.namespace && name === sync.name)
  const reports = facts.reports.filter(({ namespace, gatewaySync }) => namespace === sync.namespace && gatewaySync === sync.name)
  const byPod = new Map(reports.map((report) => [report.pod, report]))
  const entries = own === undefined ? [] : (historyView({ ...facts, syncs: [own], reports })?.entries ?? [])
  const spec = specOf(own)
  const told = sync.gateways.map(({ pod, gateway }) => ({ pod, gateway, told: byPod.get(pod)?.told }))
  return {
    history: entries.map((entry, index) => ({
      ...entry,
      before: publishedBefore(entries, index),
      // Reports outlive their pods for a while; the page must count as its tiles do.
      gateways: entry.gateways === 0 ? 0 : sync.gateways.filter(({ commit }) => commit === entry.commit).length,
    })),
    localChanges: told.flatMap(({ pod, gateway, told }) => {
      const { count, paths } = told?.drift ?? { count: 0, paths: [] }
      return count === 0 ? [] : [{ pod, gateway, count, paths, policy: policyOf(spec, told?.profile) }]
    }),
    designers: told.flatMap(({ pod, gateway, told }) => {
      const names = told?.designers ?? []
      return names.length === 0 ? [] : [{ pod, gateway, names }]
    }),
    notices: noticesOf(own, sync, spec),
    polling: spec?.polling.enabled === false ? 'never' : spec?.polling.interval,
    ...looksOf(sync, now),
  }
}

function looksOf({ wanted }: SyncView, now: Temporal.Instant): Pick<SyncDetail, 'lastLook' | 'nextLook'> {
  const last = lastAsked(wanted, now)
  return last?.kind === 'asked' ? { lastLook: last.at, nextLook: last.next } : { lastLook: undefined, nextLook: undefined }
}

function publishedBefore(entries: readonly HistoryEntry[], index: number): string | undefined {
  const { commit } = entries[index] ?? {}
  return entries.slice(index + 1).find((entry) => entry.outcome === 'Published' && entry.commit !== commit)?.commit
}

function specOf(sync: SyncFacts | undefined): GatewaySyncSpec | undefined {
  const parsed = v.safeParse(schema, sync?.spec)
  return parsed.success ? parsed.output : undefined
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
