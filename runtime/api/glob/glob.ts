/**
 * Parses and matches the globs of exclude patterns, patches, allowed refs and repository settings, in time proportional to pattern times
 * text, because both are untrusted. Pure.
 */
import { Fault } from '../../platform/fault.ts'
import { type Dialect, parseGlob, type Piece, type Letters } from './grammar.ts'

/** Never delivered: placeholders that keep folders in git, and the cache that a gateway rebuilds. */
export const defaultExcludes = ['**/.gitkeep', '**/.resources/**'] as const

/** Normalizes a pattern: `./a` is `a`, and `a/` is everything below `a`. */
export function canonicalGlob(pattern: string): string {
  let start = 0
  while (pattern.startsWith('./', start)) start += 2
  let end = pattern.length
  while (end > start && pattern[end - 1] === '/') end -= 1
  return pattern.slice(start, end) + (end < pattern.length ? '/**' : '')
}

/** Returns the problem of a path pattern, as the end of a sentence; undefined for a valid one. */
export function brokenGlobRule(pattern: string): string | undefined {
  const canonical = canonicalGlob(pattern)
  if (canonical === '') return 'is empty'
  if (canonical.startsWith('/')) return 'must be relative'
  if (`/${canonical}/`.includes('/../')) return 'must not contain a .. segment'
  if (canonical.startsWith('!')) return 'must not begin with !; a negated pattern would match nearly everything'
  return brokenGrammar(canonical, 'path')
}

/** Returns the problem of a ref pattern, as the end of a sentence; undefined for a valid one. */
export function brokenRefGlobRule(pattern: string): string | undefined {
  return pattern === '' ? 'is empty' : brokenGrammar(pattern, 'ref')
}

/** Limits on the globs of one list: a letter of a text costs time for each 32 pieces, and memory for each class of letters. */
const [defaultMaxListPieces, maxListBounds] = [8192, 1024]

/**
 * Returns the problem of a list of valid patterns, as the end of a sentence; undefined if a text is matched in about a millisecond.
 * Patterns without wildcards are not counted. `maxListPieces`: less, when many texts are matched at once.
 */
export function brokenGlobListRule(
  patterns: readonly string[],
  dialect: Dialect,
  maxListPieces = defaultMaxListPieces,
): string | undefined {
  const globs = patterns
    .filter(isWildcard)
    .map((pattern) => parseGlob(pattern, dialect))
    .filter((parsed) => parsed.kind === 'glob')
  if (globs.reduce((sum, { pieces }) => sum + pieces, 0) > maxListPieces)
    return `must have at most ${maxListPieces} characters in patterns with wildcards, with all alternatives written out`
  const bounds = boundsOf(globs.flatMap(({ alternatives }) => alternatives().flat()))
  return bounds.size > maxListBounds ? `must use at most ${maxListBounds / 2} different characters in patterns with wildcards` : undefined
}

function brokenGrammar(pattern: string, dialect: Dialect): string | undefined {
  const parsed = parseGlob(pattern, dialect)
  return parsed.kind === 'broken' ? parsed.why : undefined
}

/** Returns the canonical form of a path pattern. Throws InvalidSpec naming `where` for an invalid one. */
export function requireGlob(pattern: string, where: string): string {
  const broken = brokenGlobRule(pattern)
  if (broken === undefined) return canonicalGlob(pattern)
  throw new Fault('InvalidSpec', `${where}: pattern "${pattern}" ${broken}`)
}

/**
 * Returns whether a text matches one of the patterns; a text equal to a pattern also matches it. Throws InvalidSpec for an invalid pattern.
 */
export function createMatcher(patterns: readonly string[], dialect: Dialect = 'path'): (text: string) => boolean {
  const run = createRun(patterns, dialect)
  return (text) => run(text, false)
}

/**
 * Returns whether a path, or a folder above it, matches one of the patterns; leading dots are not special. Throws InvalidSpec for an
 * invalid pattern.
 */
export function createExcluder(patterns: readonly string[]): (path: string) => boolean {
  const run = createRun(patterns, 'path')
  return (path) => run(path, true)
}

const slash = 0x2f

/** Runs all patterns in one pass; `folders`: a pattern that matches a folder covers everything below it. */
function createRun(patterns: readonly string[], dialect: Dialect): (text: string, folders: boolean) => boolean {
  if (patterns.length === 0) return () => false
  const automaton = new Automaton(patterns.flatMap((pattern) => wildcardsOf(pattern, dialect)))
  const isLiteral = createLiterals(patterns.filter((pattern) => /[[{]/.test(pattern) || !isWildcard(pattern)))
  return (text, folders) => {
    if (isLiteral(text, folders)) return true
    let state: State = automaton.start
    for (let at = 0; at < text.length;) {
      const letter = text.codePointAt(at) ?? 0
      if (folders && letter === slash && state.isEnd && at > 0) return true
      if (state.isDead) return false
      state = automaton.after(state, letter)
      at += letter > 0xffff ? 2 : 1
    }
    return state.isEnd
  }
}

function isWildcard(pattern: string): boolean {
  return /[*?[{]/.test(pattern)
}

/** The alternatives of a pattern; none for one that matches only itself. Throws InvalidSpec. */
function wildcardsOf(pattern: string, dialect: Dialect): Piece[][] {
  const parsed = parseGlob(pattern, dialect)
  if (parsed.kind === 'broken') throw new Fault('InvalidSpec', `pattern "${pattern}" ${parsed.why}`)
  return isWildcard(pattern) ? parsed.alternatives() : []
}

/** Returns whether a text, or a folder above it, is one of these. */
function createLiterals(texts: readonly string[]): (text: string, folders: boolean) => boolean {
  if (texts.length === 0) return () => false
  const [known, lengths] = [new Set(texts), new Set(texts.map(({ length }) => length))]
  return (text, folders) => {
    if (known.has(text)) return true
    for (let at = folders ? text.indexOf('/', 1) : -1; at > 0; at = text.indexOf('/', at + 1)) {
      if (lengths.has(at) && known.has(text.slice(0, at))) return true
    }
    return false
  }
}

/** `next` by class of letters; `isEnd`: a glob matches the text so far; `isDead`: no longer text can match. */
type State = { places: Int32Array; isEnd: boolean; isDead: boolean; next: (State | undefined)[] }

/** How many numbers all cached states may hold together; each takes about 8 bytes. */
const maxKept = 65_536

/**
 * An automaton whose states are sets of positions in the globs, one bit each, so that a letter costs a few instructions per 32 pieces. The
 * sets are cached with the letters that lead from one to another (a lazy DFA), so that most letters cost one table access. The cache is
 * bounded. Matches when any of the globs does. Run letter by letter: `after(after(start, a), b)`.
 */
class Automaton {
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
function boundsOf(pieces: Iterable<Piece>): Set<number> {
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
