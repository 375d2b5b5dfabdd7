/**
 * Few combinations in which every two settings meet in all of their values: a covering array of strength two. Pure.
 */

/** Whether a setting is on, by its name. */
export type Row = Readonly<Record<string, boolean>>
export type Setting = readonly [name: string, value: boolean]
export type Pair = readonly [Setting, Setting]

/**
 * Rows over all names; none has a refused pair, and every pair that can be in such a row is in one of them. Greedy: each row begins with
 * a pair that is not covered yet and grows by what covers most.
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

/** Every two settings of different names. */
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
 * Gives the name that covers most the better of its values, then the next, and goes back where that leads to a refused pair; undefined:
 * there is no such row.
 */
function complete(
  row: ReadonlyMap<string, boolean>,
  names: readonly string[],
  isRefused: (a: Setting, b: Setting) => boolean,
  left: ReadonlyMap<string, Pair>,
): ReadonlyMap<string, boolean> | undefined {
  if (pairsIn([...row]).some(([a, b]) => isRefused(a, b))) return undefined
  // What is covered now counts; where that is equal, what could still be covered with a setting.
  const gain = ([name, value]: Setting): number => {
    const now = [...row].filter((other) => left.has(keyOf(other, [name, value]))).length
    const later = [...left.values()].filter((pair) => pair.some(([other, wanted]) => other === name && wanted === value)).length
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

/** The same for both orders. */
function keyOf([a, x]: Setting, [b, y]: Setting): string {
  return a < b ? `${a} ${x} ${b} ${y}` : `${b} ${y} ${a} ${x}`
}
