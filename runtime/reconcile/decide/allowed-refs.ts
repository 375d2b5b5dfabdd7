/**
 * Decides which refs a request may name (`spec.git.allowedRefs`). The receiver checks before it annotates, the controller again before it
 * resolves. Pure, except for a cache.
 */
import { LRUCache } from 'lru-cache'
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
  const { whole, short } = matchersOf(patterns)
  return (isBranchOrTag && short(named)) || candidateRefs(ref).some(whole)
}

type Matchers = { whole(ref: string): boolean; short(name: string): boolean }

/** A call may name many refs. */
const recent = new LRUCache<readonly string[], Matchers>({ max: 8 })

function matchersOf(patterns: readonly string[]): Matchers {
  const found = recent.get(patterns)
  if (found !== undefined) return found
  const good = patterns.filter((pattern) => brokenRefGlobRule(pattern) === undefined)
  const matchers = {
    whole: createMatcher(good.filter(isWhole), 'ref'),
    short: createMatcher(
      good.filter((pattern) => !isWhole(pattern)),
      'ref',
    ),
  }
  recent.set(patterns, matchers)
  return matchers
}

function isWhole(pattern: string): boolean {
  return pattern.startsWith('refs/')
}
