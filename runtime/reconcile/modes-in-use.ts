/**
 * The deployment modes that the gateways of a GatewaySync run with: of those that report, and of those that will be back. Pure.
 */
import { podAnnotations } from '../gatewaysync/names.ts'
import { defaultProfileName, type ResolvedProfile } from '../gatewaysync/decide/profile.ts'
import type { PodRecord, ReportRecord } from './records.ts'

/** A gateway as a commit is judged for it. `pod` undefined: it has gone a while ago. `mode` undefined: nobody knows. */
export type GatewayMode = { pod: PodRecord | undefined; mode: string | undefined }

/** A pod that is drained, recreated or scheduled anew is back within minutes, and has then the mode that it had. */
const keptMs = 3_600_000

/** The modes of pods of one namespace when they went, for an hour; times in monotonic ms. */
export function createFormerModes() {
  const known = new Map<string, { gatewaySync: string; mode: string; untilMs: number }>()
  const drop = (nowMs: number): void => {
    for (const [pod, { untilMs }] of known) if (untilMs <= nowMs) known.delete(pod)
  }
  return {
    /** A pod goes, or its report; a report that is not of this pod proves nothing. */
    keep(pod: PodRecord | undefined, report: ReportRecord | undefined, nowMs: number): void {
      drop(nowMs)
      const mode = report?.podUid === pod?.uid ? modeOf(report) : undefined
      if (pod !== undefined && report !== undefined && mode !== undefined)
        known.set(pod.name, { gatewaySync: report.gatewaySync, mode, untilMs: nowMs + keptMs })
    },
    /** The last modes of a GatewaySync's pods, by the names of these. */
    of(gatewaySync: string, nowMs: number): ReadonlyMap<string, string> {
      drop(nowMs)
      return new Map([...known].filter(([, former]) => former.gatewaySync === gatewaySync).map(([pod, { mode }]) => [pod, mode]))
    },
  }
}

/** The mode that a report tells; undefined: it tells none, or that nobody knows. */
export function modeOf(report: ReportRecord | undefined): string | undefined {
  const mode = report?.status?.mode
  return mode === undefined || (mode.from === 'none' && mode.name === '') ? undefined : mode.name
}

/**
 * The modes for which a commit is judged; undefined: all, where no gateway has one, or one could have any. Gateways whose profile names its mode,
 * or reads no collections, need tell nothing.
 */
export function modesInUse(gateways: readonly GatewayMode[], profiles: readonly ResolvedProfile[]): string[] | undefined {
  const modes = new Set<string>()
  for (const { pod, mode } of gateways) {
    if (pod === undefined) {
      if (mode !== undefined) modes.add(mode)
      continue
    }
    const name = pod.annotations[podAnnotations.profile] ?? defaultProfileName
    const collections = profiles.find((profile) => profile.name === name)?.collections
    // Without an agent nothing is brought to it.
    if (collections === undefined || !pod.injected) continue
    const own = collections.mode === 'auto' ? mode : collections.mode
    if (own === undefined) return undefined
    modes.add(own)
  }
  modes.delete('')
  return modes.size === 0 ? undefined : [...modes]
}
