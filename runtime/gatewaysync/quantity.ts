/**
 * Quantities of Kubernetes, read as numbers. Pure.
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
