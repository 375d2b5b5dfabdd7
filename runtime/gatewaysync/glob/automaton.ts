/**
 * Runs all globs over a text in one pass, in time proportional to the size of the globs times the length of the text, whoever wrote either: a
 * non-deterministic automaton whose sets of places are computed as texts need them and kept (a lazy DFA), so that most letters cost one table
 * lookup. What is kept is bounded. Pure, except for that table.
 */
import type { Glob, Letters } from './grammar.ts'

/** A place within the globs: which letters lead from it to `next`, and where it leads without a letter. */
type Place = { letters: Letters | undefined; next: number; free: readonly number[] }

/** A set of places; `next` by class of letters; `isEnd`: some glob matches the text so far. */
export type State = { places: readonly number[]; isEnd: boolean; next: (State | undefined)[] }

/** How many numbers all kept states may hold together; each takes about 8 bytes. */
const maxKept = 65_536
const end = 0

/** To be run letter by letter: `after(after(start(), a), b)`. */
export type Automaton = {
  start(): State
  /** The state after a letter, given as its code point. */
  after(state: State, letter: number): State
}

/** An automaton that matches when any of the globs does. */
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
      // States still in use keep their own tables; the others are computed again when needed.
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
