/**
 * Which part of a repository a profile reads. Stands apart from what profiles are resolved by, so that the thread of the checks does without
 * the schemas. Pure.
 */
import { parseRelativePath, type RelativePath } from '../values.ts'
import type { ResolvedProfile } from './profile.ts'

/**
 * The folders and files of the repository that a profile reads, canonical and without one that lies below another; `''` is the whole
 * repository. A source that is a template counts up to its last folder before the first `{{` or `{%`.
 */
export function sourceRoots(profile: Pick<ResolvedProfile, 'collections' | 'mappings'>): RelativePath[] {
  const sources = profile.mappings.map((mapping) => parseRelativePath(beforeTemplate(mapping.source)))
  if (profile.collections !== undefined) sources.push(parseRelativePath(profile.collections.root))
  const sorted = [...new Set(sources)].toSorted()
  return sorted.filter((path) => !sorted.some((other) => other !== path && (other === '' || path.startsWith(`${other}/`))))
}

function beforeTemplate(source: string): string {
  const start = source.search(/\{\{|\{%/)
  return start < 0 ? source : source.slice(0, source.lastIndexOf('/', start) + 1)
}
