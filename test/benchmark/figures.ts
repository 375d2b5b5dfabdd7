/**
 * The output of benchmarks.
 */

/** One figure: name, value and unit; a reference value is printed beside it. */
export type Figure = { name: string; value: number; unit: string }

export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

/** The nearest-rank percentile; `p` from 0 to 100. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil((p / 100) * sorted.length) - 1)] ?? Number.NaN
}
