/**
 * Matches all globs against a text at once: an automaton whose states are sets of positions in the globs, one bit each, so that a letter
 * costs a few instructions per 32 pieces. The sets are cached with the letters that lead from one to another (a lazy DFA), so that most
 * letters cost one table access. The cache is bounded. Pure, except for the cache.
 */
import type { Letters, Piece } from './grammar.ts'

/** `next` by class of letters; `isEnd`: a glob matches the text so far; `isDead`: no longer text can match. */
export type State = { places: Int32Array; isEnd: boolean; isDead: boolean; next: (State | undefined)[] }

/** How many numbers all cached states may hold together; each takes about 8 bytes. */
const maxKept = 65_536
const slash = 0x2f

/** Matches when any of the globs does. Run letter by letter: `after(after(start, a), b)`. */
export class Automaton {
  readonly start: State
  /** Each glob has a position before each piece, and one at its end. */
  readonly #places: readonly (Piece | undefined)[]
  readonly #none: Int32Array
  readonly #ends: Int32Array
  /** What may be skipped when it is reached, and remains at any letter but a slash. */
  readonly #skipped: Int32Array
  /** What may be skipped after each letter; `folders` only after a slash. */
  readonly #stars: Int32Array
  readonly #remainAtSlash: Int32Array
  readonly #classes: Classes
  /** By class of letters, the positions from which one of them leads to the next. */
  readonly #advance: (Int32Array | undefined)[] = []
  readonly #known = new Map<string, State>()
  #kept = 0

  constructor(globs: readonly (readonly Piece[])[]) {
    this.#places = globs.flatMap((pieces) => [...pieces, undefined])
    this.#classes = createClasses(globs.flat())
    this.#none = this.#setOf(() => false)
    this.#ends = this.#setOf((piece) => piece === undefined)
    this.#skipped = this.#setOf((piece) => piece !== undefined && piece.kind !== 'letter')
    this.#stars = this.#setOf((piece) => piece?.kind === 'name' || piece?.kind === 'any')
    this.#remainAtSlash = this.#setOf((piece) => piece?.kind === 'any' || piece?.kind === 'folders')
    const starts = this.#setOf((_piece, at) => at === 0 || this.#places[at - 1] === undefined)
    this.start = this.#step(this.#none, this.#none, this.#none, starts)
  }

  /** Returns the state after a letter, given as its code point. */
  after(state: State, letter: number): State {
    const kind = this.#classes.of(letter)
    const known = state.next[kind]
    if (known !== undefined) return known
    const advance = (this.#advance[kind] ??= this.#setOf((piece) => piece !== undefined && advances(piece, letter)))
    const after = this.#step(state.places, advance, letter === slash ? this.#remainAtSlash : this.#skipped, this.#none)
    state.next[kind] = after
    return after
  }

  /** Of the positions before a letter, `advance` lead to the next one and `remain` to themselves; `entered` are added. */
  #step(before: Int32Array, advance: Int32Array, remain: Int32Array, entered: Int32Array): State {
    const [skipped, stars, ends, places] = [this.#skipped, this.#stars, this.#ends, new Int32Array(before.length)]
    let carried = 0
    let all = 0
    let ended = 0
    for (let word = 0; word < places.length; word += 1) {
      const now = before[word] ?? 0
      const free = skipped[word] ?? 0
      const advancing = now & (advance[word] ?? 0)
      const remaining = now & (remain[word] ?? 0)
      let reached = (advancing << 1) | carried | (remaining & (stars[word] ?? 0)) | (entered[word] ?? 0)
      for (let added = reached & free; added !== 0; added &= free) {
        added = (added << 1) & ~reached
        reached |= added
      }
      carried = (advancing | (reached & free)) >>> 31
      places[word] = reached | remaining
      all |= reached | remaining
      ended |= reached & (ends[word] ?? 0)
    }
    return this.#keep({ places, isEnd: ended !== 0, isDead: all === 0, next: [] })
  }

  #keep(state: State): State {
    const key = Buffer.from(state.places.buffer).toString('latin1')
    const found = this.#known.get(key)
    if (found !== undefined) return found
    if (this.#kept > maxKept) {
      // States still in use keep their own tables; the others are computed again when needed.
      this.#known.clear()
      this.#kept = 0
    }
    this.#known.set(key, state)
    this.#kept += state.places.length + this.#classes.count
    return state
  }

  #setOf(isIn: (piece: Piece | undefined, at: number) => boolean): Int32Array {
    const set = new Int32Array(Math.ceil(this.#places.length / 32))
    for (const [at, piece] of this.#places.entries()) if (isIn(piece, at)) set[at >>> 5] = (set[at >>> 5] ?? 0) | (1 << (at & 31))
    return set
  }
}

/** Whether a letter leads from before a piece to its end; stars need none. */
function advances(piece: Piece, letter: number): boolean {
  return piece.kind === 'letter' ? holds(piece.letters, letter) : piece.kind === 'folders' && letter === slash
}

function holds(letters: Letters, letter: number): boolean {
  return letters.some(([from, to]) => from <= letter && letter <= to)
}

/** Where the classes of letters begin: those that no piece distinguishes. */
export function boundsOf(pieces: Iterable<Piece>): Set<number> {
  const bounds = new Set([0, slash, slash + 1])
  for (const piece of pieces) {
    if (piece.kind === 'letter') for (const [from, to] of piece.letters) bounds.add(from).add(to + 1)
  }
  return bounds
}

const asciiLetters = 128

type Classes = { count: number; of(letter: number): number }

function createClasses(pieces: readonly Piece[]): Classes {
  const sorted = [...boundsOf(pieces)].toSorted((a, b) => a - b)
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
