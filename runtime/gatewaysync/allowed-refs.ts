/**
 * Which refs a request may ask for (`spec.git.allowedRefs`). The receiver asks before it annotates, the controller again before it
 * resolves. Pure.
 */
import { isCommitHash, shortRef } from './values.ts'

/**
 * Without patterns: any branch or tag, but no hash and no other namespace of refs. A pattern is a glob in which `*` stands for anything
 * but `/` and `**` for anything; one that begins with `refs/` is matched against the whole ref, every other against branch and tag
 * names. A hash is allowed only where a pattern is that hash.
 */
export function isRefAllowed(ref: string, patterns: readonly string[] | undefined): boolean {
  if (isCommitHash(ref)) return patterns?.includes(ref) === true
  const named = shortRef(ref)
  const isBranchOrTag = named !== ref || !ref.startsWith('refs/')
  if (patterns === undefined) return isBranchOrTag
  return patterns.some((pattern) =>
    pattern.startsWith('refs/') ? matches(pattern, fullNames(ref)) : isBranchOrTag && matches(pattern, [named]),
  )
}

/** A short name may be a branch or a tag; git decides which when it is resolved. */
function fullNames(ref: string): string[] {
  return ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`]
}

function matches(pattern: string, names: readonly string[]): boolean {
  const source = pattern
    .split(/(\*\*|\*|\?)/)
    .map((part) => (part === '**' ? '.*' : part === '*' ? '[^/]*' : part === '?' ? '[^/]' : part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')))
    .join('')
  const expression = new RegExp(`^${source}$`, 'u')
  return names.some((name) => expression.test(name))
}
