/**
 * Decides which refs a request may name (`spec.git.allowedRefs`). The receiver checks before it annotates, the controller again before it
 * resolves. Pure.
 */
import { brokenRefGlobRule, createMatcher } from '../../api/glob/glob.ts'
import { candidateRefs, isCommitHash, shortRef } from '../../api/values.ts'

/**
 * Without patterns, any branch or tag is allowed, but no hash and no other ref namespace. In a pattern `*` matches anything but `/` and
 * `**` matches anything. A pattern that begins with `refs/` is matched against the full ref, any other against branch and tag names. A hash
 * is allowed only if a pattern equals it. An invalid pattern allows nothing.
 */
export function isRefAllowed(ref: string, patterns: readonly string[] | undefined): boolean {
  if (isCommitHash(ref)) return patterns?.includes(ref) === true
  const named = shortRef(ref)
  const isBranchOrTag = named !== ref || !ref.startsWith('refs/')
  if (patterns === undefined) return isBranchOrTag
  const good = patterns.filter((pattern) => brokenRefGlobRule(pattern) === undefined)
  const [whole, short] = [good.filter(isWhole), good.filter((pattern) => !isWhole(pattern))]
  if (isBranchOrTag && short.length > 0 && createMatcher(short, 'ref')(named)) return true
  return whole.length > 0 && candidateRefs(ref).some(createMatcher(whole, 'ref'))
}

function isWhole(pattern: string): boolean {
  return pattern.startsWith('refs/')
}
