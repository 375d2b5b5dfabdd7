/**
 * Compares two texts line by line, without context lines. Pure.
 */
import { diff } from 'node:util'

/** How many lines are compared one by one: memory grows with the square, and is 4 MiB for this many. */
const maxComparedLines = 500

/** Returns removed (`-`) and added (`+`) lines, grouped by place; undefined if one side is binary. */
export function lineDiff(before: Uint8Array | undefined, after: Uint8Array): string | undefined {
  if (before?.includes(0) === true || after.includes(0)) return undefined
  const [old, made] = [lines(before), lines(after)]
  const start = commonLength(old, made, (index) => index)
  const end = commonLength(old.slice(start), made.slice(start), (index) => -1 - index)
  const hunks = hunksOf(old.slice(start, old.length - end), made.slice(start, made.length - end))
  return hunks.flatMap(({ removed, added }) => [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)]).join('\n')
}

type Hunk = { removed: string[]; added: string[] }

/** If too much differs, all of it is one hunk. */
function hunksOf(old: string[], made: string[]): Hunk[] {
  if (old.length === 0 || made.length === 0 || old.length + made.length > maxComparedLines) return [{ removed: old, added: made }]
  const hunks: Hunk[] = [{ removed: [], added: [] }]
  for (const [operation, line] of diff(made, old)) {
    if (operation === 0) hunks.push({ removed: [], added: [] })
    else hunks.at(-1)?.[operation === 1 ? 'added' : 'removed'].push(line)
  }
  return hunks
}

/** How many lines are the same on both sides, counted from one end. */
function commonLength(a: readonly string[], b: readonly string[], at: (index: number) => number): number {
  const most = Math.min(a.length, b.length)
  let count = 0
  while (count < most && a.at(at(count)) === b.at(at(count))) count += 1
  return count
}

/** A missing newline at the end is a separate line, as in git. */
function lines(content: Uint8Array | undefined): string[] {
  if (content === undefined || content.length === 0) return []
  const found = Buffer.from(content).toString('utf8').split('\n')
  const last = found.pop() ?? ''
  return last === '' ? found : [...found, last, '\\ No newline at end of file']
}
