/**
 * Which files of a commit the profiles of a GatewaySync deliver: what the gate judges. Pure.
 */
import { canonicalJson } from '../../gatewaysync/canonical-json.ts'
import { belowFolder, coveredBelow, excluderOf, isGatewaysOwn } from '../../gatewaysync/coverage.ts'
import type { ResolvedProfile } from '../../gatewaysync/decide/profile.ts'
import { sourceRoots } from '../../gatewaysync/decide/source-roots.ts'
import { foldName, isWithin, parseRelativePath, type RelativePath } from '../../gatewaysync/values.ts'
import { settingsFile } from '../rules/severities.ts'

/** What a listing for the gate must hold: the sources of all profiles, and the repository's own settings. */
export function gateRoots(profiles: readonly ResolvedProfile[]): RelativePath[] {
  const all = parseRelativePath('')
  const roots = [...new Set(profiles.flatMap((profile) => sourceRoots(profile)))]
  return roots.includes(all) ? [all] : [...roots, parseRelativePath(settingsFile)]
}

/** What of a commit reaches a gateway by one profile; profiles with the same key deliver the same. */
export type Coverage = {
  key: string
  delivered(path: string): boolean
  /** The folders and files that the profile names. */
  sources: readonly string[]
  /** Whether files below a root are rendered on the way. */
  templated(root: string): boolean
}

/** One of each kind: most profiles differ in what does not concern the checks. Throws InvalidSpec for a broken exclude pattern. */
export function coveragesOf(profiles: readonly ResolvedProfile[]): Coverage[] {
  return [...new Map(profiles.map((profile) => [coverageKey(profile), profile])).values()].map(coverage)
}

function coverage(profile: ResolvedProfile): Coverage {
  const covers: ((path: string) => boolean)[] = []
  const rendered: string[] = []
  const { collections, excludePatterns } = profile
  if (collections !== undefined) {
    const [root = ''] = sourceRoots({ collections, mappings: [] })
    const excluded = excluderOf(excludePatterns, 'excludePatterns')
    covers.push((path) => {
      const [name, below] = inCollection(path, root)
      return name !== '' && foldName(name) !== 'local' && !excluded(below)
    })
  }
  for (const mapping of profile.mappings) {
    const [source = ''] = sourceRoots({ collections: undefined, mappings: [mapping] })
    // What a template makes of a source is known to the agent alone: everything that it may stand for counts.
    const type = source === parseRelativePath(mapping.source) ? mapping.type : 'dir'
    const excluded = excluderOf([...excludePatterns, ...(mapping.excludePatterns ?? [])], 'excludePatterns')
    if (mapping.template) rendered.push(source)
    covers.push((path) => coveredBelow({ source, type, excluded }, path) !== undefined)
  }
  return {
    key: coverageKey(profile),
    sources: sourceRoots(profile),
    delivered: (path) => !isGatewaysOwn(foldName(path)) && covers.some((covered) => covered(path)),
    templated: (root) => rendered.some((source) => isWithin(root, source) || isWithin(source, root)),
  }
}

/** Name of the collection and the path in it; `''` for what lies in none. */
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
