/**
 * Globs of exclude patterns and patches. A pattern that matches a folder stands for everything below it; names that begin with a dot
 * are ordinary names. Pure.
 */
import picomatch from 'picomatch'
import { parentOf } from './paths.ts'
import { Fault } from '../fault.ts'
import { brokenGlobRule, canonicalGlob } from '../gatewaysync/glob.ts'

/** What is never delivered: placeholders that keep folders in git, and the cache that a gateway rebuilds. */
export const defaultExcludes = ['**/.gitkeep', '**/.resources/**'] as const

/** Throws InvalidSpec naming `where` for a pattern that could not match anything. */
export function parseGlob(pattern: string, where: string): string {
  const broken = brokenGlobRule(pattern)
  if (broken === undefined) return canonicalGlob(pattern)
  throw new Fault('InvalidSpec', `${where}: pattern "${pattern}" ${broken}`)
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
