/**
 * A change of a file that a template or patches made, carried back to its source: possible where the change lies outside of the lines that
 * they wrote. Pure.
 */
import { diff } from 'node:util'
import { Fault } from '../fault.ts'

/** Comparing takes the square of what differs. */
const maxComparedLines = 2_000

/**
 * The source that `present` would be made of: `original` is the present source and `written` what was made of it. `make` renders a source and may
 * throw. Undefined where the change touches what was made, or nothing says which line came from which.
 */
export function unrender(
  original: Uint8Array,
  written: Uint8Array,
  present: Uint8Array,
  make: (source: Uint8Array) => Uint8Array,
): Uint8Array | undefined {
  const [sources, results, now] = [linesOf(original), linesOf(written), linesOf(present)]
  // With as many lines, each was made of the one in its place.
  if (sources.length !== results.length || results.length + now.length > maxComparedLines) return undefined
  const rebuilt: string[] = []
  let at = 0
  for (const [operation, line] of diff(now, results)) {
    if (operation === 1) {
      rebuilt.push(line)
      continue
    }
    const source = sources[at] ?? ''
    const isMade = source !== results[at]
    at += 1
    if (operation === 0) rebuilt.push(source)
    else if (isMade) return undefined
  }
  const source = Buffer.from(rebuilt.join('\n'), 'latin1')
  return isSame(make, source, present) ? source : undefined
}

/** One character for each byte, so that nothing is lost; a line keeps its carriage return. */
function linesOf(content: Uint8Array): string[] {
  return Buffer.from(content).toString('latin1').split('\n')
}

function isSame(make: (source: Uint8Array) => Uint8Array, source: Uint8Array, present: Uint8Array): boolean {
  try {
    return Buffer.compare(make(source), present) === 0
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return false
  }
}
