/**
 * Globs of exclude patterns and patches. A pattern that matches a folder stands for everything below it; names that begin with a dot
 * are ordinary names. Pure.
 */
import picomatch from 'picomatch'
import { parentOf } from './paths.ts'
import { Fault } from '../fault.ts'

/** What is never delivered: placeholders that keep folders in git, and the cache that a gateway rebuilds. */
export const defaultExcludes = ['**/.gitkeep', '**/.resources/**'] as const

/** Throws InvalidSpec naming `where` for a pattern that could not match anything. */
export function parseGlob(pattern: string, where: string): string {
  const canonical = pattern.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '/**')
  const broken = brokenGlobRule(canonical)
  if (broken === undefined) return canonical
  throw new Fault('InvalidSpec', `${where}: pattern "${pattern}" ${broken}`)
}

function brokenGlobRule(pattern: string): string | undefined {
  if (pattern === '') return 'is empty'
  if (pattern.startsWith('/')) return 'must be relative'
  if (pattern.includes('\\')) return 'must use / and not \\'
  if (`/${pattern}/`.includes('/../')) return 'must not hold a .. segment'
  if (pattern.startsWith('!')) return 'must not begin with !; a negated pattern would match nearly everything'
  for (const [open, close] of ['[]', '{}', '()']) {
    if (count(pattern, open) !== count(pattern, close)) return `has an unbalanced ${open} or ${close}`
  }
  return undefined
}

function count(text: string, character: string | undefined): number {
  return character === undefined ? 0 : text.split(character).length - 1
}

/** Whether a path, or a folder above it, matches one of the patterns. */
export function createMatcher(patterns: readonly string[]): (path: string) => boolean {
  if (patterns.length === 0) return () => false
  const matches = picomatch([...patterns], { dot: true, strictSlashes: true })
  const folders = new Map<string, boolean>()
  const folderMatches = (folder: string): boolean => {
    if (folder === '') return false
    const known = folders.get(folder)
    if (known !== undefined) return known
    const result = matches(folder) || folderMatches(parentOf(folder))
    folders.set(folder, result)
    return result
  }
  return (path) => matches(path) || folderMatches(parentOf(path))
}
