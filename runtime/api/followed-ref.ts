/**
 * Parses what `spec.git` follows: a ref, the default branch (`HEAD`), or the newest tag that a SemVer range or a pattern selects. Each has
 * one text form in requests and status: a selector begins with its field and a colon, which no ref contains, and has no space. Pure, except
 * for a cache.
 */
import { LRUCache } from 'lru-cache'
import semver from 'semver'
import { brokenRefGlobRule, createMatcher } from './glob/glob.ts'
import { digestIn } from './artifact-revision.ts'
import { isRefName, type RefName, shortRef } from './values.ts'

/** Selects tags: `semver:>=1.2,<2` or `tagPattern:plant-*`. */
export type TagSelector = `semver:${string}` | `tagPattern:${string}`
export type FollowedRef = RefName | TagSelector

/** The members of `spec.git` that select what is followed; at most one of them is set. */
export type FollowedMembers = { ref?: string | undefined; semver?: string | undefined; tagPattern?: string | undefined }

/** The git host's default branch, followed by default. */
export const defaultBranch = 'HEAD' as RefName

/** Returns what a validated `spec.git` follows. */
export function followedRef({ ref, semver: range, tagPattern }: FollowedMembers): FollowedRef {
  if (range !== undefined) return `semver:${range.trim().replace(/[\s,]+/g, ',')}`
  if (tagPattern !== undefined) return `tagPattern:${tagPattern}`
  return (ref ?? defaultBranch) as RefName
}

/** The members of `spec.git` and of `spec.oci` that select what is followed. */
export const membersThatFollow = {
  git: ['ref', 'semver', 'tagPattern'] satisfies (keyof FollowedMembers)[],
  oci: ['tag', 'semver', 'digest'],
} as const

/** Returns the members of `spec.git` for a `followedRef` result, as a merge patch: null removes a member. */
export function membersFor(followed: string): Record<keyof FollowedMembers, string | null> {
  const none = { ref: null, semver: null, tagPattern: null }
  if (!isTagSelector(followed)) return { ...none, ref: followed }
  const { field, text } = partsOf(followed)
  return { ...none, [field]: text }
}

/** As `membersFor`, of `spec.oci`: a digest also out of a revision. */
export function artifactMembersFor(followed: string): Record<'tag' | 'semver' | 'digest', string | null> {
  const none = { tag: null, semver: null, digest: null }
  const digest = digestIn(followed)
  if (digest !== undefined) return { ...none, digest }
  return isTagSelector(followed) ? { ...none, semver: partsOf(followed).text } : { ...none, tag: followed }
}

/** Whether a text is a valid git ref or a tag selector. */
export function isFollowedRef(text: string): text is FollowedRef {
  return isTagSelector(text) ? text.length <= 255 && !/\s/.test(text) : isRefName(text)
}

export function isTagSelector(text: string): text is TagSelector {
  return text.startsWith('semver:') || text.startsWith('tagPattern:')
}

/** A range is tested against every tag of a git host. */
const maxRangeAlternatives = 9

/** Whether a text is a range of node-semver with at most 8 `||`; commas between comparators, which other tools accept, count as spaces. */
export function isVersionRange(text: string): boolean {
  return rangeOf(text) !== undefined
}

/** Whether a selector selects a tag, given by its short or full name; other refs never match. */
export function selects(selector: TagSelector, ref: string): boolean {
  return (ref.startsWith('refs/tags/') || !ref.startsWith('refs/')) && selectionOf(selector).rank(shortRef(ref)) !== undefined
}

/** Returns the newest selected tag, as given: by version; for a pattern by name, in natural number order. */
export function newestTag(selector: TagSelector, tags: readonly string[]): string | undefined {
  const newest = new NewestTag(selector)
  return tags.filter((tag) => newest.offer(tag)).at(-1)
}

/** Compares tags one by one, each given by its short or full name, and keeps only the newest selected one. */
export class NewestTag {
  readonly #selection: Selection
  #newest: Ranked | undefined

  constructor(selector: TagSelector) {
    this.#selection = selectionOf(selector)
  }

  /** Whether the tag is selected and newer than all before it. */
  offer(tag: string): boolean {
    const ranked = this.#selection.rank(shortRef(tag))
    if (ranked === undefined || (this.#newest !== undefined && this.#selection.compare(ranked, this.#newest) <= 0)) return false
    this.#newest = ranked
    return true
  }
}

/**
 * Returns the common prefix of all tags a selector can match; may be empty. Contains only characters without a special meaning in patterns.
 */
export function commonPrefix(selector: TagSelector): string {
  const { field, text } = partsOf(selector)
  return field === 'semver' ? '' : (/^[\w./-]*/.exec(text)?.[0] ?? '')
}

/** Describes what is followed and its current resolution: `v1.4.0, the newest tag that matches semver ">=1.2 <2",`. */
export function describeFollowed(followed: string, resolvedRef: string | undefined): string {
  if (resolvedRef === undefined || !isIndirect(followed)) return shortRef(followed)
  if (!isTagSelector(followed)) return `${shortRef(resolvedRef)}, the default branch,`
  return `${shortRef(resolvedRef)}, the newest tag that matches ${selectorText(followed)},`
}

/** Whether the followed ref is resolved indirectly and may change: the default branch or a selector. */
export function isIndirect(followed: string): followed is typeof defaultBranch | TagSelector {
  return followed === defaultBranch || isTagSelector(followed)
}

/** Formats a selector for people: `semver ">=1.2 <2"`. */
export function selectorText(selector: TagSelector): string {
  const { field, text } = partsOf(selector)
  return `${field} "${field === 'semver' ? text.replaceAll(',', ' ') : text}"`
}

/** A selected tag by its short name; for a range with its version. */
type Ranked = { tag: string; version?: semver.SemVer }
/** `rank` is undefined for a tag that is not selected. */
type Selection = { rank(tag: string): Ranked | undefined; compare(a: Ranked, b: Ranked): number }

/** A call may name many tags, and a git host has many. */
const recent = new LRUCache<TagSelector, Selection>({ max: 8 })

function selectionOf(selector: TagSelector): Selection {
  const found = recent.get(selector)
  if (found !== undefined) return found
  const { field, text } = partsOf(selector)
  const selection = field === 'semver' ? byVersion(text) : byPattern(text)
  recent.set(selector, selection)
  return selection
}

function byVersion(text: string): Selection {
  const range = rangeOf(text)
  return {
    rank(tag) {
      const version = range === undefined ? null : versionIn(tag, range)
      return version !== null && range?.test(version) === true ? { tag, version } : undefined
    },
    compare(a, b) {
      const byNumber =
        a.version === undefined || b.version === undefined ? 0 : a.version.compare(b.version) || a.version.compareBuild(b.version)
      return byNumber || naturalOrder(a.tag, b.tag)
    },
  }
}

/** Parses a SemVer range; undefined if the text is none. */
function rangeOf(text: string): semver.Range | undefined {
  if (text.split('||').length > maxRangeAlternatives) return undefined
  // As with Flux, a range that names a pre-release selects all pre-releases within it.
  const includePrerelease = /\d-[0-9A-Za-z]/.test(text)
  try {
    return new semver.Range(text.replaceAll(',', ' '), { includePrerelease })
  } catch {
    return undefined
  }
}

function byPattern(pattern: string): Selection {
  const isMatch = brokenRefGlobRule(pattern) === undefined ? createMatcher([pattern], 'ref') : () => false
  return { rank: (tag) => (isMatch(tag) ? { tag } : undefined), compare: (a, b) => naturalOrder(a.tag, b.tag) }
}

/**
 * `v2` and `v2.0` are common tags for 2.0.0. node-semver parses a version again in each comparison if its options differ from those of the
 * range, and throws internally for an invalid version.
 */
function versionIn(tag: string, { includePrerelease }: semver.Range): semver.SemVer | null {
  const [, major, minor = '0', more] = /^v?(\d{1,16})(?:\.(\d{1,16}))?(\.\d{1,16}(?:[-+].*)?)?$/.exec(tag) ?? []
  if (major === undefined) return null
  const options: semver.RangeOptions = { includePrerelease }
  return semver.parse(more === undefined ? `${Number(major)}.${Number(minor)}.0` : tag, options)
}

const names = new Intl.Collator('en', { numeric: true })

/** `v1.10` is newer than `v1.9`, and `v1.10` newer than its pre-release `v1.10-rc1`. */
function naturalOrder(a: string, b: string): number {
  if (isPreRelease(a, b)) return -1
  if (isPreRelease(b, a)) return 1
  return names.compare(a, b) || (a < b ? -1 : Number(a > b))
}

function isPreRelease(tag: string, of: string): boolean {
  return tag.startsWith(of) && /^-[A-Za-z]/.test(tag.slice(of.length))
}

function partsOf(selector: TagSelector): { field: 'semver' | 'tagPattern'; text: string } {
  const colon = selector.indexOf(':')
  return { field: selector.slice(0, colon) as 'semver' | 'tagPattern', text: selector.slice(colon + 1) }
}
