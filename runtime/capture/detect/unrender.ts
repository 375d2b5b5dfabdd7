/**
 * Maps a local change of a rendered file back to its source: possible if the change lies outside the lines that a template or patch
 * produced. Pure.
 */
import { diff } from 'node:util'
import { Fault } from '../../platform/fault.ts'

/** Comparing takes quadratic time in the differing lines. */
const maxComparedLines = 2_000

/**
 * Returns the source that would render to `present`: `original` is the current source and `written` what it rendered to. `make` renders a
 * source and may throw. Undefined if the change touches rendered lines, or lines cannot be matched.
 */
export function unrender(
  original: Uint8Array,
  written: Uint8Array,
  present: Uint8Array,
  make: (source: Uint8Array) => Uint8Array,
): Uint8Array | undefined {
  const [sources, results, now] = [linesOf(original), linesOf(written), linesOf(present)]
  // With the same number of lines, each line was rendered from the one at its position.
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

/** One character per byte, so that nothing is lost; a line keeps its carriage return. */
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
