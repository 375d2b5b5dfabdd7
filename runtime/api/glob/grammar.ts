/**
 * Parses globs: `*`, `**`, `?`, `[a-z]`, `[!a]`, `{a,b}`, and literal letters. Pure.
 */

/** Inclusive ranges of code points, in order. */
export type Letters = readonly (readonly [number, number])[]

/** `letter`: one of these letters; `name`: `*`; `any`: `**`; `folders`: `**` and a slash, or nothing. */
export type Piece = { kind: 'letter'; letters: Letters } | { kind: 'name' } | { kind: 'any' } | { kind: 'folders' }

/** A parsed glob. */
type Glob = Piece | { kind: 'sequence'; parts: readonly Glob[] } | { kind: 'either'; choices: readonly Glob[] }

/** `path`: `**` is a whole segment and matches any number of folders, also none. `ref`: `**` matches anything, at any position. */
export type Dialect = 'path' | 'ref'

/** `alternatives`: without braces, with `pieces` in total; `why` is the end of a sentence about the pattern. */
export type ParsedGlob = { kind: 'glob'; pieces: number; alternatives(): Piece[][] } | { kind: 'broken'; why: string }

/** Maximum number of pieces of all alternatives of one glob. */
const maxPieces = 2048

const slash = 0x2f
const lastLetter = 0x10ffff
const notSlash: Letters = [
  [0, slash - 1],
  [slash + 1, lastLetter],
]
const nothing: Glob = { kind: 'sequence', parts: [] }

/** Characters with a meaning in other glob dialects but not here; taken literally they would silently match something else. */
const foreign: Readonly<Record<string, string>> = {
  '(': 'must not contain parentheses: write {a,b} for alternatives, and ? or [(] for a literal parenthesis',
  ')': 'must not contain parentheses: write {a,b} for alternatives, and ? or [)] for a literal parenthesis',
  '|': 'must not contain |: write {a,b} for alternatives, and ? or [|] for a literal |',
  '"': 'must not contain a quotation mark: write ? instead',
}

/** Never throws: a pattern that is invalid, or that other dialects would read differently, is `broken`. */
export function parseGlob(pattern: string, dialect: Dialect): ParsedGlob {
  const letters = Array.from(pattern)
  const problem = problemOf(letters, dialect)
  if (problem !== undefined) return { kind: 'broken', why: problem }
  const parser = createParser(letters, dialect)
  const glob = parser.sequence(0)
  if (!parser.isAtEnd()) return { kind: 'broken', why: 'has an unbalanced { or }' }
  const { count, pieces } = sizeOf(glob)
  // Never true for NaN, which represents too many.
  if (count + pieces <= maxPieces) return { kind: 'glob', pieces, alternatives: () => alternativesOf(glob) }
  const why = `has more than ${maxPieces} characters with all alternatives written out; use fewer of {a,b} and [ab]`
  return { kind: 'broken', why }
}

/** The number of alternatives without braces, and of the pieces of all of them. */
function sizeOf(glob: Glob): { count: number; pieces: number } {
  if (glob.kind === 'sequence') {
    const join = (a: { count: number; pieces: number }, b: { count: number; pieces: number }) => ({
      count: a.count * b.count,
      pieces: a.pieces * b.count + b.pieces * a.count,
    })
    return glob.parts.map(sizeOf).reduce(join, { count: 1, pieces: 0 })
  }
  if (glob.kind !== 'either') return { count: 1, pieces: 1 }
  const sizes = glob.choices.map(sizeOf)
  return { count: sizes.reduce((sum, { count }) => sum + count, 0), pieces: sizes.reduce((sum, { pieces }) => sum + pieces, 0) }
}

function alternativesOf(glob: Glob): Piece[][] {
  if (glob.kind === 'either') return glob.choices.flatMap(alternativesOf)
  if (glob.kind !== 'sequence') return [[glob]]
  let all: Piece[][] = [[]]
  for (const part of glob.parts) {
    const [first = [], ...others] = alternativesOf(part)
    if (others.length > 0) all = all.flatMap((begin) => [first, ...others].map((rest) => [...begin, ...rest]))
    else for (const begin of all) begin.push(...first)
  }
  return all
}

function problemOf(letters: readonly string[], dialect: Dialect): string | undefined {
  let open = 0
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at] ?? ''
    if (letter === '\\') return 'must use / and not \\; write [*] for a literal *'
    if (letter === '[') {
      const end = classEnd(letters, at)
      if (end === undefined) return 'has an unbalanced [ or ]'
      if (letters.slice(at, end).includes('/')) return 'must not contain / in []'
      if (rangesOf(letters.slice(at + 1, end)) === undefined) return 'contains a range in [] whose end comes before its beginning'
      at = end
    } else if (letter === ']') return 'has an unbalanced [ or ]'
    else if (letter === '{') open += 1
    else if (letter === '}') open -= 1
    else if (letter === '*' && dialect === 'path' && !isStarsAlone(letters, at)) {
      return 'must contain ** only as a whole name between slashes: write **/*.bak for all files with that ending'
    } else if (letter === '.' && letters[at + 1] === '.' && open > 0) return 'must not contain a range in {}: write [1-3] or {1,2,3}'
    else if (dialect === 'path' && Object.hasOwn(foreign, letter)) return foreign[letter]
    else if (letter === '+' && /[\]}]/.test(letters[at - 1] ?? '')) return 'must not repeat a group with +; write [+] for a literal +'
    if (open < 0) return 'has an unbalanced { or }'
  }
  return open === 0 ? undefined : 'has an unbalanced { or }'
}

/** Whether the star is single, or one of two between slashes or in braces. */
function isStarsAlone(letters: readonly string[], at: number): boolean {
  if (letters[at + 1] !== '*' || letters[at - 1] === '*') return letters[at - 1] !== '*' || letters[at - 2] !== '*'
  return /^[/{,]?$/.test(letters[at - 1] ?? '') && /^[/},]?$/.test(letters[at + 2] ?? '')
}

/** The index of the `]` that closes the class opened at `open`; a `]` directly after the opening is a letter. */
function classEnd(letters: readonly string[], open: number): number | undefined {
  const negated = letters[open + 1] === '!' || letters[open + 1] === '^'
  const end = letters.indexOf(']', open + (negated ? 3 : 2))
  return end < 0 ? undefined : end
}

/** Returns the letters of a class without its brackets; undefined for a reversed range. A class never matches a slash. */
function rangesOf(content: readonly string[]): Letters | undefined {
  const negated = content[0] === '!' || content[0] === '^'
  const letters = negated ? content.slice(1) : content
  const ranges: [number, number][] = []
  for (let at = 0; at < letters.length; at += 1) {
    const from = letters[at]?.codePointAt(0) ?? 0
    const isRange = letters[at + 1] === '-' && letters[at + 2] !== undefined
    const to = isRange ? (letters[at + 2]?.codePointAt(0) ?? 0) : from
    if (to < from) return undefined
    ranges.push([from, to])
    if (isRange) at += 2
  }
  return negated ? complement([...ranges, [slash, slash]]) : ranges.flatMap((range) => within(range, notSlash))
}

function within([from, to]: readonly [number, number], letters: Letters): [number, number][] {
  return letters.map(([first, last]): [number, number] => [Math.max(from, first), Math.min(to, last)]).filter(([a, b]) => a <= b)
}

function complement(ranges: Letters): Letters {
  const left: [number, number][] = []
  let from = 0
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (first > from) left.push([from, first - 1])
    from = Math.max(from, last + 1)
  }
  if (from <= lastLetter) left.push([from, lastLetter])
  return left
}

function createParser(letters: readonly string[], dialect: Dialect) {
  let at = 0
  const sequence = (depth: number): Glob => {
    const parts: Glob[] = []
    while (at < letters.length) {
      const letter = letters[at] ?? ''
      if (depth > 0 && (letter === ',' || letter === '}')) break
      parts.push(letter === '{' ? braces(depth) : letter === '*' ? stars() : letter === '[' ? characters() : one(letter))
    }
    return { kind: 'sequence', parts }
  }
  const one = (letter: string): Glob => {
    at += 1
    return letter === '?' ? { kind: 'letter', letters: notSlash } : literal(letter)
  }
  const braces = (depth: number): Glob => {
    const choices: Glob[] = []
    do {
      at += 1
      choices.push(sequence(depth + 1))
    } while (letters[at] === ',')
    at += 1
    // Without a comma the braces are literal.
    const [only = nothing] = choices
    return choices.length > 1 ? { kind: 'either', choices } : { kind: 'sequence', parts: [literal('{'), only, literal('}')] }
  }
  const stars = (): Glob => {
    const first = at
    while (letters[at] === '*') at += 1
    if (at - first === 1) return { kind: 'name' }
    if (dialect === 'ref' || letters[at] !== '/') return { kind: 'any' }
    // Includes the slash, because `**/` also matches no folder at all.
    at += 1
    return { kind: 'folders' }
  }
  const characters = (): Glob => {
    const end = classEnd(letters, at) ?? letters.length
    const content = letters.slice(at + 1, end)
    at = end + 1
    const letter: Glob = { kind: 'letter', letters: rangesOf(content) ?? [] }
    // Names such as `pump[1]` are common: brackets around plain letters match themselves too.
    const isPlain = !content.some((each) => /[-*+?.^${}(|)[\]!]/.test(each))
    return isPlain ? { kind: 'either', choices: [letter, literalGlob(`[${content.join('')}]`)] } : letter
  }
  return { sequence, isAtEnd: () => at >= letters.length }
}

function literal(letter: string): Glob {
  const code = letter.codePointAt(0) ?? 0
  return { kind: 'letter', letters: [[code, code]] }
}

/** Returns a glob that matches only this text. */
function literalGlob(text: string): Glob {
  return { kind: 'sequence', parts: Array.from(text, literal) }
}
