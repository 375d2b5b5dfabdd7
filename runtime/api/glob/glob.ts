/**
 * Parses and matches the globs of exclude patterns, patches, allowed refs and repository settings, in time proportional to pattern times
 * text, because both are untrusted. Pure.
 */
import { Fault } from '../../platform/fault.ts'
import { Automaton, boundsOf, type State } from './automaton.ts'
import { type Dialect, parseGlob, type Piece } from './grammar.ts'

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

/** Of the globs of one list: a letter of a text costs time for each 32 pieces, and memory for each class of letters. */
const [maxListPieces, maxListBounds] = [8192, 1024]

/**
 * Returns the problem of a list of valid patterns, as the end of a sentence; undefined if a text is matched in about a millisecond.
 * Patterns without wildcards are not counted.
 */
export function brokenGlobListRule(patterns: readonly string[], dialect: Dialect): string | undefined {
  const globs = patterns
    .filter(isWildcard)
    .map((pattern) => parseGlob(pattern, dialect))
    .filter((parsed) => parsed.kind === 'glob')
  if (globs.reduce((sum, { pieces }) => sum + pieces, 0) > maxListPieces)
    return `must hold at most ${maxListPieces} characters in patterns with wildcards, with all alternatives written out`
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
