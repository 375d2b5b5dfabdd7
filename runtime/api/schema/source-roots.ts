/**
 * Determines which part of a repository a profile reads. Separate from profile.ts so that the validation worker does not load the schemas.
 * Pure.
 */
import { parseRelativePath, type RelativePath } from '../values.ts'
import type { ResolvedProfile } from './profile.ts'

/**
 * Returns the folders and files of the repository that a profile reads, canonical and without nested ones; `''` is the whole repository. A
 * source with a template counts up to its last folder before the first `{{` or `{%`.
 */
export function sourceRoots(profile: Pick<ResolvedProfile, 'collections' | 'mappings'>): RelativePath[] {
  const sources = profile.mappings.map((mapping) => parseRelativePath(beforeTemplate(mapping.source)))
  if (profile.collections !== undefined) sources.push(parseRelativePath(profile.collections.root))
  const sorted = [...new Set(sources)].toSorted()
  return sorted.filter((path) => !sorted.some((other) => other !== path && (other === '' || path.startsWith(`${other}/`))))
}

/** Returns the part of a path up to its last folder before the first template. */
export function beforeTemplate(source: string): string {
  const start = source.search(/\{\{|\{%/)
  return start < 0 ? source : source.slice(0, source.lastIndexOf('/', start) + 1)
}
