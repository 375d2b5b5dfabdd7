/**
 * Parses Kubernetes quantities. Pure.
 */

/** Never negative, as no setting may be. Source: resource.Quantity of k8s.io/apimachinery. */
export const quantityPattern = /^([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$/

/** Decimal suffixes and their powers of ten. */
export const exponents: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
/** Binary suffixes and their multiples in bytes. */
export const multiples: Readonly<Record<string, number>> = {
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}

/** Returns the bytes or cores of a quantity; NaN for anything that does not match the pattern. */
export function amountOf(quantity: string): number {
  const [, number, suffix = ''] = quantityPattern.exec(quantity) ?? []
  if (number === undefined) return Number.NaN
  const exponent = exponents[suffix]
  if (exponent !== undefined) return Number(`${number}e${exponent}`)
  const multiple = multiples[suffix]
  return multiple === undefined ? Number(`${number}${suffix}`) : Number(number) * multiple
}
