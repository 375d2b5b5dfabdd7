/**
 * Which files of a commit the profiles of a GatewaySync deliver: what the gate judges. Pure.
 */
import { createExcluder, defaultExcludes, requireGlob } from '../gatewaysync/glob.ts'
import { canonicalJson } from '../gatewaysync/canonical-json.ts'
import { type ResolvedProfile, sourceRoots } from '../gatewaysync/profile.ts'
import { isWithin, parseRelativePath, type RelativePath } from '../gatewaysync/values.ts'
import { foldName } from './inheritance.ts'
import { settingsFile } from './severities.ts'

/** What a listing for the gate must hold: the sources of all profiles, and the repository's own settings. */
export function gateRoots(profiles: readonly ResolvedProfile[]): RelativePath[] {
  const all = parseRelativePath('')
  const roots = [...new Set(profiles.flatMap((profile) => sourceRoots(profile)))]
  return roots.includes(all) ? [all] : [...roots, parseRelativePath(settingsFile)]
}

/** What of a commit reaches a gateway by one profile; profiles with the same key deliver the same. */
export type Delivery = {
  key: string
  delivered(path: string): boolean
  /** Whether files below a root are rendered on the way. */
  templated(root: string): boolean
}

/** One of each kind: most profiles differ in what does not concern the checks. Throws InvalidSpec for a broken exclude pattern. */
export function deliveriesOf(profiles: readonly ResolvedProfile[]): Delivery[] {
  return [...new Map(profiles.map((profile) => [deliveryKey(profile), profile])).values()].map(delivery)
}

function excluder(patterns: readonly string[]): (path: string) => boolean {
  return createExcluder([...defaultExcludes, ...patterns.map((pattern) => requireGlob(pattern, 'excludePatterns'))])
}

function delivery(profile: ResolvedProfile): Delivery {
  const covers: ((path: string) => boolean)[] = []
  const rendered: string[] = []
  const { collections, excludePatterns } = profile
  if (collections !== undefined) {
    const [root = ''] = sourceRoots({ collections, mappings: [] })
    const excluded = excluder(excludePatterns)
    covers.push((path) => {
      const below = belowFolder(path, root)
      if (below === undefined) return false
      const slash = below.indexOf('/')
      return slash > 0 && foldName(below.slice(0, slash)) !== 'local' && !excluded(below.slice(slash + 1))
    })
  }
  for (const mapping of profile.mappings) {
    const [source = ''] = sourceRoots({ collections: undefined, mappings: [mapping] })
    const excluded = excluder([...excludePatterns, ...(mapping.excludePatterns ?? [])])
    if (mapping.template) rendered.push(source)
    if (mapping.type !== 'dir') continue
    covers.push((path) => {
      const below = belowFolder(path, source)
      return below !== undefined && !excluded(below)
    })
  }
  return {
    key: deliveryKey(profile),
    delivered: (path) => !isCache(path) && covers.some((covered) => covered(path)),
    templated: (root) => rendered.some((source) => isWithin(root, source) || isWithin(source, root)),
  }
}

function belowFolder(path: string, folder: string): string | undefined {
  if (folder === '') return path
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : undefined
}

function isCache(path: string): boolean {
  return `/${path}`.includes('/.resources/')
}

export function deliveryKey({ collections, excludePatterns, mappings }: ResolvedProfile): string {
  const sources = mappings.map(({ source, type, template, excludePatterns: own }) => ({ source, type, template, own }))
  return canonicalJson({ root: collections?.root, excludePatterns, sources })
}
