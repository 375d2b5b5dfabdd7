/**
 * Runs globs over a text in one pass, all of them at once, in time that grows with the size of the globs times the length of the text and
 * no faster, whoever wrote either. The sets of places at which the globs can be are made as texts need them and kept, so that most letters
 * cost one look into a table; what is kept is bounded. Pure but for that table.
 */
import type { Glob, Letters } from './grammar.ts'

/** A place within the globs: what the next letter may be and where it leads, or where it leads without one. */
type Place = { letters: Letters | undefined; next: number; free: readonly number[] }

/** A set of places, where each class of letters leads from it, and whether some glob has come to its end. */
export type State = { places: readonly number[]; isEnd: boolean; next: (State | undefined)[] }

/** Numbers that are kept in all states together; each is some 8 bytes. */
const maxKept = 65_536
const end = 0

export type Automaton = {
  start(): State
  /** Where a letter, given by its code point, leads. */
  after(state: State, letter: number): State
}

/** Follows all globs at once, one character after another, so that the time to match is linear in the text. */
export function createAutomaton(globs: readonly Glob[]): Automaton {
  const places: Place[] = [{ letters: undefined, next: end, free: [] }]
  const starts = globs.map((glob) => place(glob, end))
  const classes = createClasses(places)
  const known = new Map<string, State>()
  let kept = 0

  function place(glob: Glob, next: number): number {
    if (glob.kind === 'letter') return places.push({ letters: glob.letters, next, free: [] }) - 1
    if (glob.kind === 'sequence') return glob.parts.reduceRight((after, part) => place(part, after), next)
    if (glob.kind === 'either') {
      const free = glob.choices.map((choice) => place(choice, next))
      return places.push({ letters: undefined, next: end, free }) - 1
    }
    return places.push({ letters: glob.letters, next: places.length, free: [next] }) - 1
  }

  /** All places that can be reached from some without a letter. */
  const closure = (from: readonly number[]): State => {
    const reached = new Set<number>(from)
    for (const number of reached) for (const next of places[number]?.free ?? []) reached.add(next)
    const numbers = [...reached].filter((number) => number === end || places[number]?.letters !== undefined).toSorted((a, b) => a - b)
    const key = numbers.join(' ')
    const found = known.get(key)
    if (found !== undefined) return found
    if (kept > maxKept) {
      // A state that is still in use leads on by itself; the others are made again.
      known.clear()
      kept = 0
    }
    const state: State = { places: numbers, isEnd: numbers[0] === end, next: [] }
    known.set(key, state)
    kept += numbers.length + classes.count
    return state
  }

  const step = ({ places: from }: State, letter: number): State =>
    closure([
      ...new Set(
        from.flatMap((number) => {
          const { letters, next } = places[number] ?? { letters: undefined, next: end }
          return letters !== undefined && holds(letters, letter) ? [next] : []
        }),
      ),
    ])

  const first = closure(starts)
  return {
    start: () => first,
    after(state, letter) {
      const number = classes.of(letter)
      const after = state.next[number]
      if (after !== undefined) return after
      const made = step(state, letter)
      state.next[number] = made
      return made
    },
  }
}

function holds(letters: Letters, letter: number): boolean {
  return letters.some(([from, to]) => from <= letter && letter <= to)
}

const asciiLetters = 128

/** Letters that no glob tells apart are one class. */
function createClasses(places: readonly Place[]): { count: number; of(letter: number): number } {
  const bounds = new Set([0])
  for (const { letters } of places) for (const [from, to] of letters ?? []) bounds.add(from).add(to + 1)
  const sorted = [...bounds].toSorted((a, b) => a - b)
  const find = (letter: number): number => {
    let [low, high] = [0, sorted.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((sorted[middle] ?? 0) <= letter) low = middle
      else high = middle - 1
    }
    return low
  }
  const ascii = Uint16Array.from({ length: asciiLetters }, (_, letter) => find(letter))
  return { count: sorted.length, of: (letter) => (letter < asciiLetters ? (ascii[letter] ?? 0) : find(letter)) }
}
