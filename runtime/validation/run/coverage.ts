import { belowFolder, coveredBelow, excluderOf, isGatewaysOwn } from '../../api/coverage.ts'
import type { ResolvedProfile } from '../../api/schema/profile.ts'
import { sourceRoots } from '../../api/schema/source-roots.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import { type CommitHash, foldName, isWithin, parseRelativePath, type RelativePath } from '../../api/values.ts'
import type { Verdict } from '../../reconcile/decide/observation.ts'
import { settingsFile } from '../rules/severities.ts'
import { canonicalJson } from '../../platform/text/json.ts'

/** The roots of a listing for validation: the sources of all profiles, and the repository's own settings. */
export function validatedRoots(profiles: readonly ResolvedProfile[]): RelativePath[] {
  const all = parseRelativePath('')
  const roots = [...new Set(profiles.flatMap((profile) => sourceRoots(profile)))]
  return roots.includes(all) ? [all] : [...roots, parseRelativePath(settingsFile)]
}

/** The part of a commit that reaches a gateway with one profile; profiles with the same key deliver the same. */
export type Coverage = {
  key: string
  delivered(path: string): boolean
  /** The folders and files that the profile names. */
  sources: readonly string[]
  /** Whether files below a root are rendered before delivery. */
  templated(root: string): boolean
}

/** One of each kind: most profiles do not differ in what the checks use. Throws InvalidSpec for a broken exclude pattern. */
export function coveragesOf(profiles: readonly ResolvedProfile[]): Coverage[] {
  return [...new Map(profiles.map((profile) => [coverageKey(profile), profile])).values()].map(coverage)
}

function coverage(profile: ResolvedProfile): Coverage {
  const covers: ((path: string) => boolean)[] = []
  const rendered: string[] = []
  const { collections, excludePatterns } = profile
  // One for all mappings: a profile may have many of both.
  const excluded = excluderOf(excludePatterns, 'excludePatterns')
  if (collections !== undefined) {
    const [root = ''] = sourceRoots({ collections, mappings: [] })
    covers.push((path) => {
      const [name, below] = inCollection(path, root)
      return name !== '' && foldName(name) !== 'local' && !excluded(below)
    })
  }
  for (const mapping of profile.mappings) {
    const [source = ''] = sourceRoots({ collections: undefined, mappings: [mapping] })
    // Only the agent knows the value of a template in a source, so every possible value counts.
    const type = source === parseRelativePath(mapping.source) ? mapping.type : 'Directory'
    const own = mapping.excludePatterns === undefined ? undefined : excluderOf(mapping.excludePatterns, 'excludePatterns')
    const covered = { source, type, excluded: (path: string) => excluded(path) || own?.(path) === true }
    if (mapping.template) rendered.push(source)
    covers.push((path) => coveredBelow(covered, path) !== undefined)
  }
  return {
    key: coverageKey(profile),
    sources: sourceRoots(profile),
    delivered: (path) => !isGatewaysOwn(foldName(path)) && covers.some((covered) => covered(path)),
    templated: (root) => rendered.some((source) => isWithin(root, source) || isWithin(source, root)),
  }
}

/** Name of the collection and the path in it; `''` outside collections. */
function inCollection(path: string, root: string): [name: string, below: string] {
  const below = belowFolder(path, root) ?? ''
  const slash = below.indexOf('/')
  return slash > 0 ? [below.slice(0, slash), below.slice(slash + 1)] : ['', '']
}

/** Equal for profiles that deliver the same files. */
export function coverageKey({ collections, excludePatterns, mappings }: ResolvedProfile): string {
  const sources = mappings.map(({ source, type, template, excludePatterns: own }) => ({ source, type, template, own }))
  return canonicalJson({ root: collections?.root, excludePatterns, sources })
}

/** A request to validate one commit. */
export type ValidationRequest = {
  /** Every profile of the GatewaySync. */
  profiles: readonly ResolvedProfile[]
  validation: GatewaySyncSpec['validation']
  /** Modes that gateways report; undefined: unknown, so every mode counts. */
  modesInUse: readonly string[] | undefined
  commit: CommitHash
  /** Whose cached results it adds to. Default: of no namespace. */
  namespace?: string
  /** Commits of one line are similar, so the state of one is reused for the next. For example a repository and a branch. */
  line: string
}

/** The size of a verdict in a cache: findings have texts of the commit, so that a number of verdicts bounds no memory. */
export function verdictBytes(verdict: Verdict): number {
  return 512 + JSON.stringify(verdict).length
}

/** The inputs of a verdict besides the rules of this version: content, its delivered part, severities, modes. */
export function verdictKey({ profiles, validation, modesInUse, commit }: ValidationRequest): string {
  const modes = modesInUse === undefined ? 'any' : [...new Set(modesInUse.map(foldName))].toSorted()
  return canonicalJson({ commit, modes, rules: validation.rules, delivered: profiles.map(coverageKey) })
}
