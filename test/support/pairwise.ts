/**
 * Few combinations that contain every pair of settings with all of their values: a covering array of strength two. Pure.
 */

/** Whether a setting is on, by its name. */
export type Row = Readonly<Record<string, boolean>>
export type Setting = readonly [name: string, value: boolean]
export type Pair = readonly [Setting, Setting]

/**
 * Rows over all names; none contains a refused pair, and every possible pair occurs in a row. Greedy: each row begins with an uncovered
 * pair and grows by the setting that covers most.
 */
export function pairwise(names: readonly string[], refused: readonly Pair[]): Row[] {
  const isRefused = pairSet(refused)
  const left = new Map(allPairs(names).map((pair) => [keyOf(...pair), pair]))
  const rows: Row[] = []
  for (const [key, pair] of left) {
    const row = complete(new Map(pair), names, isRefused, left)
    left.delete(key)
    if (row === undefined) continue
    for (const covered of pairsIn([...row])) left.delete(keyOf(...covered))
    rows.push(Object.fromEntries(names.map((name) => [name, row.get(name) ?? false])))
  }
  return rows
}

/** All pairs of settings with different names. */
export function allPairs(names: readonly string[]): Pair[] {
  return names.flatMap((a, index) =>
    names.slice(index + 1).flatMap((b) =>
      [true, false].flatMap((x) =>
        [true, false].map((y): Pair => [
          [a, x],
          [b, y],
        ]),
      ),
    ),
  )
}

export function hasPair(row: Row, pair: Pair): boolean {
  return pair.every(([name, value]) => row[name] === value)
}

/**
 * Gives the name that covers most its better value, then continues with the next, and backtracks from refused pairs; undefined: no such row
 * exists.
 */
function complete(
  row: ReadonlyMap<string, boolean>,
  names: readonly string[],
  isRefused: (a: Setting, b: Setting) => boolean,
  left: ReadonlyMap<string, Pair>,
): ReadonlyMap<string, boolean> | undefined {
  if (pairsIn([...row]).some(([a, b]) => isRefused(a, b))) return undefined
  // Newly covered pairs count; ties are broken by pairs that could still be covered.
  const gain = ([name, value]: Setting): number => {
    const now = [...row].filter((other) => left.has(keyOf(other, [name, value]))).length
    const later = [...left.values()].filter((pair) => pair.some(([other, desired]) => other === name && desired === value)).length
    return now + later / (left.size + 1)
  }
  const [best] = names
    .filter((name) => !row.has(name))
    .map((name) => ({ name, gains: [gain([name, false]), gain([name, true])] as const }))
    .toSorted((a, b) => Math.max(...b.gains) - Math.max(...a.gains))
  if (best === undefined) return row
  for (const value of best.gains[1] > best.gains[0] ? [true, false] : [false, true]) {
    const whole = complete(new Map([...row, [best.name, value]]), names, isRefused, left)
    if (whole !== undefined) return whole
  }
  return undefined
}

function pairSet(pairs: readonly Pair[]): (a: Setting, b: Setting) => boolean {
  const keys = new Set(pairs.map((pair) => keyOf(...pair)))
  return (a, b) => keys.has(keyOf(a, b))
}

function pairsIn(settings: readonly Setting[]): Pair[] {
  return settings.flatMap((a, index) => settings.slice(index + 1).map((b): Pair => [a, b]))
}

/** The same key for both orders. */
function keyOf([a, x]: Setting, [b, y]: Setting): string {
  return a < b ? `${a} ${x} ${b} ${y}` : `${b} ${y} ${a} ${x}`
}
