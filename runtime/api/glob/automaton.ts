/**
 * Matches all globs against a text at once, in time proportional to the size of the globs times the length of the text: a non-deterministic
 * automaton whose state sets are computed on demand and cached (a lazy DFA), so that most letters cost one table access. The cache is
 * bounded. Pure, except for the cache.
 */
import type { Glob, Letters } from './grammar.ts'

/** A position in the globs: the letters that lead to `next`, and the transitions without a letter. */
type AutomatonState = { letters: Letters | undefined; next: number; free: readonly number[] }

/** A set of positions; `next` by class of letters; `isEnd`: a glob matches the text so far. */
export type State = { places: readonly number[]; isEnd: boolean; next: (State | undefined)[] }

/** How many numbers all cached states may hold together; each takes about 8 bytes. */
const maxKept = 65_536
const end = 0

/** Run letter by letter: `after(after(start(), a), b)`. */
export type Automaton = {
  start(): State
  /** Returns the state after a letter, given as its code point. */
  after(state: State, letter: number): State
}

/** Returns an automaton that matches when any of the globs does. */
export function createAutomaton(globs: readonly Glob[]): Automaton {
  const places: AutomatonState[] = [{ letters: undefined, next: end, free: [] }]
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

  /** All positions reachable without a letter. */
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

/** Letters that no glob distinguishes form one class. */
function createClasses(places: readonly AutomatonState[]): { count: number; of(letter: number): number } {
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
