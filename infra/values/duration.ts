/**
 * Parses Prometheus durations, to compare them. Pure.
 */

/** Units from large to small, each once; a plain `0` is Prometheus' default. Source: the CRD of ServiceMonitor. */
export const durationPattern = /^(?:0|(?:([0-9]+)y)?(?:([0-9]+)w)?(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?(?:([0-9]+)ms)?)$/

const day = 86_400_000
/** Milliseconds of each unit, in the order of the pattern. */
const unitsMs = [365 * day, 7 * day, day, 3_600_000, 60_000, 1_000, 1]

/** 0 for an empty duration. */
export function millisecondsOf(duration: string): number {
  const [, ...counts] = durationPattern.exec(duration) ?? []
  return unitsMs.reduce((sum, unit, index) => sum + unit * Number(counts[index] ?? 0), 0)
}
