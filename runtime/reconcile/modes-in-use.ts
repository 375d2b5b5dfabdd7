/**
 * The deployment modes that the gateways of a GatewaySync run with: of those that report, and of those that will be back.
 */
import { podAnnotations } from '../gatewaysync/names.ts'
import { defaultProfileName, type ResolvedProfile } from '../gatewaysync/decide/profile.ts'
import type { PodRecord, ReportRecord } from './records.ts'

/**
 * A gateway as a commit is judged for it. `pod` undefined: it has gone a while ago. `mode` undefined: nobody knows. `seenForMs`: for how long this
 * pod has been seen.
 */
export type GatewayMode = { pod: PodRecord | undefined; mode: string | undefined; seenForMs: number }

/** A pod that is drained, recreated or scheduled anew is back within minutes, and has then the mode that it had. */
const keptMs = 3_600_000
/** Of so many pods of a namespace that went last: whoever makes pods and takes them away must not fill the memory. */
const mostKept = 1_000
/** So long the mode of a pod is waited for; one that never starts, or never tells, must not have unused modes decide for ever. */
const untoldForMs = 600_000

/** Since when each pod of one namespace is seen, and the modes of pods when they went, for an hour; times in monotonic ms. */
export function createPodModes() {
  const former = new Map<string, { gatewaySync: string; mode: string; untilMs: number }>()
  const since = new Map<string, number>()
  /** The oldest stand first. */
  const drop = (nowMs: number): void => {
    for (const [pod, { untilMs }] of former) {
      if (untilMs > nowMs && former.size <= mostKept) return
      former.delete(pod)
    }
  }
  /** A pod goes, or its report; a report that is not of this pod proves nothing. */
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
    /** A pod is there, in the place of `before` with its report. */
    appears(name: string, before: PodRecord | undefined, report: ReportRecord | undefined, nowMs: number): void {
      keep(before, report, nowMs)
      since.set(name, nowMs)
    },
    goes(pod: PodRecord | undefined, report: ReportRecord | undefined, nowMs: number): void {
      keep(pod, report, nowMs)
      if (pod !== undefined) since.delete(pod.name)
    },
    seenForMs: (pod: string, nowMs: number): number => nowMs - (since.get(pod) ?? nowMs),
    /** The last modes of a GatewaySync's pods, by the names of these. */
    formerOf(gatewaySync: string, nowMs: number): ReadonlyMap<string, string> {
      drop(nowMs)
      return new Map([...former].filter(([, kept]) => kept.gatewaySync === gatewaySync).map(([pod, { mode }]) => [pod, mode]))
    },
  }
}

/** The mode that a report tells; undefined: it tells none, or that nobody knows. */
export function modeOf(report: ReportRecord | undefined): string | undefined {
  const mode = report?.status?.mode
  return mode === undefined || (mode.from === 'none' && mode.name === '') ? undefined : mode.name
}

/**
 * The modes for which a commit is judged; undefined: all, where no gateway has one, or one that is new could have any. Gateways whose profile
 * names its mode, or reads no collections, need tell nothing.
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
    // Without an agent nothing is brought to it.
    if (collections === undefined || !pod.injected) continue
    const own = collections.mode === 'auto' ? mode : collections.mode
    if (own !== undefined) modes.add(own)
    else if (seenForMs < untoldForMs) return undefined
  }
  modes.delete('')
  return modes.size === 0 ? undefined : [...modes]
}
