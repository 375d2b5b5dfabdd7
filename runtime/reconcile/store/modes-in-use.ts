/**
 * Determines the deployment modes in use by a GatewaySync's gateways: those that report, and those that will return.
 */
import { podAnnotations } from '../../api/names.ts'
import { defaultProfileName, type ResolvedProfile } from '../../api/schema/profile.ts'
import type { PodRecord, ReportRecord } from './records.ts'

/**
 * A gateway as validation sees it. `pod` undefined: it was deleted. `mode` undefined: unknown. `seenForMs`: how long this pod has existed.
 */
export type GatewayMode = { pod: PodRecord | undefined; mode: string | undefined; seenForMs: number }

/** A drained, recreated or rescheduled pod returns within minutes with the same mode. */
const keptMs = 3_600_000
/** Maximum deleted pods kept per namespace: creating and deleting pods must not fill the memory. */
const maxKept = 1_000
/** How long the mode of a pod is awaited; one that never starts or reports must not make unused modes count forever. */
const unreportedForMs = 600_000

/** Tracks since when each pod of one namespace exists, and the modes of deleted pods for an hour; times in monotonic ms. */
export function createPodModes() {
  const former = new Map<string, { gatewaySync: string; mode: string; untilMs: number }>()
  const since = new Map<string, number>()
  /** Oldest entries come first. */
  const drop = (nowMs: number): void => {
    for (const [pod, { untilMs }] of former) {
      if (untilMs > nowMs && former.size <= maxKept) return
      former.delete(pod)
    }
  }
  /** Keeps the mode when a pod or its report is deleted; a report of another pod is ignored. */
  const keep = (pod: PodRecord | undefined, report: ReportRecord | undefined, nowMs: number): void => {
    const mode = report?.podUid === pod?.uid ? modeOf(report) : undefined
    if (pod !== undefined && report !== undefined && mode !== undefined) {
      former.delete(pod.name)
      former.set(pod.name, { gatewaySync: report.gatewaySync, mode, untilMs: nowMs + keptMs })
    }
    drop(nowMs)
  }
  return {
    keep,
    /** Records a new pod. `before`: the pod that it replaces; `report`: the report of that pod. */
    added(name: string, before: PodRecord | undefined, report: ReportRecord | undefined, nowMs: number): void {
      keep(before, report, nowMs)
      since.set(name, nowMs)
    },
    removed(pod: PodRecord | undefined, report: ReportRecord | undefined, nowMs: number): void {
      keep(pod, report, nowMs)
      if (pod !== undefined) since.delete(pod.name)
    },
    seenForMs: (pod: string, nowMs: number): number => nowMs - (since.get(pod) ?? nowMs),
    /** Returns the last modes of a GatewaySync's deleted pods, by pod name. */
    formerOf(gatewaySync: string, nowMs: number): ReadonlyMap<string, string> {
      drop(nowMs)
      return new Map([...former].filter(([, kept]) => kept.gatewaySync === gatewaySync).map(([pod, { mode }]) => [pod, mode]))
    },
  }
}

/** Returns the reported mode; undefined if absent or unknown. */
export function modeOf(report: ReportRecord | undefined): string | undefined {
  const mode = report?.status?.mode
  return mode === undefined || (mode.from === 'None' && mode.name === '') ? undefined : mode.name
}

/**
 * Returns the modes to validate a commit for; undefined: all, if the GatewaySync has no gateways or a new one could have any mode. Gateways
 * whose profile sets the mode, or reads no collections, need not report one.
 */
export function modesInUse(gateways: readonly GatewayMode[], profiles: readonly ResolvedProfile[]): string[] | undefined {
  const modes = new Set<string>()
  for (const { pod, mode, seenForMs } of gateways) {
    if (pod === undefined) {
      if (mode !== undefined) modes.add(mode)
      continue
    }
    const name = pod.annotations[podAnnotations.profile] ?? defaultProfileName
    const collections = profiles.find((profile) => profile.name === name)?.collections
    // A pod without an agent receives nothing.
    if (collections === undefined || !pod.injected) continue
    const own = collections.mode === 'auto' ? mode : collections.mode
    if (own !== undefined) modes.add(own)
    else if (seenForMs < unreportedForMs) return undefined
  }
  modes.delete('')
  return modes.size === 0 ? undefined : [...modes]
}
