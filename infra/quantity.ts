/**
 * Quantities of Kubernetes and durations of Prometheus, read as numbers to compare them. Pure.
 */

/** Not negative: nothing that an installation is told can be. Source: resource.Quantity of k8s.io/apimachinery. */
export const quantityPattern = /^([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$/

const multiples: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}

/** Bytes or cores of a quantity that matches the pattern; NaN for anything else. */
export function amountOf(quantity: string): number {
  const [, number, suffix = ''] = quantityPattern.exec(quantity) ?? []
  if (number === undefined) return Number.NaN
  const multiple = multiples[suffix]
  return multiple === undefined ? Number(`${number}${suffix}`) : Number(number) * multiple
}

/** Units from large to small, each once; `0` alone is Prometheus' default. Source: the CRD of ServiceMonitor. */
export const durationPattern = /^(?:0|(?:([0-9]+)y)?(?:([0-9]+)w)?(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?(?:([0-9]+)ms)?)$/

const day = 86_400_000
const unitsMs = [365 * day, 7 * day, day, 3_600_000, 60_000, 1_000, 1]

/** 0 for an empty duration. */
export function millisecondsOf(duration: string): number {
  const [, ...counts] = durationPattern.exec(duration) ?? []
  return unitsMs.reduce((sum, unit, index) => sum + unit * Number(counts[index] ?? 0), 0)
}
