/**
 * Input of the checks between resources of a root: the notes of single resources, and the names that each deployment mode has. Small enough
 * to be kept from one commit to the next, because it holds only the few resources that others refer to. Pure.
 */
import { foldName } from '../../api/values.ts'
import { ancestryIn, isUserMode, userModes } from '../model/inheritance.ts'
import type { Notes } from '../model/notes.ts'
import { tagDefinitionType, tagTypeType, targets } from '../model/references.ts'
import { decodeName } from '../model/resources.ts'
import { type Violation, type TreeFacts, typeOf } from './input.ts'
import type { RuleId } from './rules.ts'

/** A deployment mode, `''` for none, with the folded names of the collections that its gateways read, in order of decreasing precedence. */
export type View = { mode: string; chain: readonly string[] }

/** The data that follows from names and the manifests of collections. */
export type Names = {
  root: string
  kind: TreeFacts['kind']
  elsewhere: TreeFacts['elsewhere']
  views: readonly View[]
  /** The folded names of resources that others refer to, by type and folded collection. */
  names: ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>
  /** The folded names of everything that a collection inherits from. */
  ancestors: ReadonlyMap<string, ReadonlySet<string>>
  /** The first folder of each provider's tags in each collection. */
  tagFolders: readonly { collection: string; provider: string; folder: string }[]
  /** Whether gateways get everything of this kind from this root. */
  isWhole: boolean
}

/** A resource that has notes or exists in several collections. `key` is folded. */
export type Noted = { collection: string; folder: string; key: string; notes: Notes | undefined }

/** `holders`: the collections of keys that exist more than once. */
export type Overview = Names & { noted: readonly Noted[]; holders: ReadonlyMap<string, ReadonlySet<string>> }

/** The names of resources that others refer to, in one mode. */
export function namesOf(facts: TreeFacts): Names {
  const { root, kind, elsewhere, tree, family, coreDelivered, isFragment } = facts
  const names = new Map<string, Map<string, Set<string>>>()
  const tagFolders = new Map<string, Names['tagFolders'][number]>()
  for (const { name: collection, resources } of tree.collections) {
    const folded = foldName(collection)
    for (const resource of resources) {
      const type = typeOf(resource)
      if (Object.hasOwn(targets, type)) {
        const byCollection = names.get(type) ?? new Map<string, Set<string>>()
        const own = byCollection.get(folded) ?? new Set<string>()
        names.set(type, byCollection.set(folded, own.add(foldName(resource.key.slice(type.length + 1)))))
      } else if (type === tagDefinitionType || type === tagTypeType) {
        const [, module = '', kind = '', provider = ''] = resource.folder.split('/')
        const id = `${collection}/${provider}`
        const folder = `${collection}/${module}/${kind}/${provider}`
        if (provider !== '' && !tagFolders.has(id)) tagFolders.set(id, { collection, provider: decodeName(provider), folder })
      }
    }
  }
  const ancestors = new Map([...family.byName.keys()].map((name) => [name, new Set(ancestryIn(family, name).names.slice(1))]))
  const isProjects = kind === 'projects'
  // Gateways read the same projects in every mode.
  const views = isProjects ? [] : viewsOf(facts)
  const isWhole = isProjects || (coreDelivered && !isFragment)
  return { root, kind, elsewhere, views, names, ancestors, tagFolders: [...tagFolders.values()], isWhole }
}

/** More environments than any plant has. */
const maxViews = 100

/** The modes that gateways run with, if known; else the modes that no other mode inherits from. */
function viewsOf({ family, modesInUse }: Pick<TreeFacts, 'family' | 'modesInUse'>): View[] {
  // A folder without a manifest is not a mode.
  const modes = userModes(family).filter((mode) => family.byName.get(foldName(mode))?.collection.manifest !== undefined)
  const used = (modesInUse ?? []).filter((mode) => mode === '' || (isUserMode(mode) && family.byName.has(foldName(mode))))
  const parents = new Set(modes.flatMap((mode) => ancestryIn(family, mode).names.slice(1)))
  const leaves = modes.filter((mode) => !parents.has(foldName(mode)))
  const chosen = used.length > 0 ? used : leaves.length > 0 ? leaves : modes
  const all = chosen.length > 0 ? [...new Set(chosen)] : ['']
  return all.slice(0, maxViews).map((mode) => ({ mode, chain: ancestryIn(family, mode === '' ? 'core' : mode).names }))
}

/** `known` are resources by their folder; `isRepeated`: it exists in several collections. */
export function overviewOf(names: Names, known: NotedResources): Overview {
  const noted: Noted[] = []
  const holders = new Map<string, Set<string>>()
  for (const [folder, { notes, isRepeated }] of known) {
    if (notes === undefined && !isRepeated) continue
    const [collection = '', module = '', type = '', ...below] = folder.split('/')
    const key = foldName([module, type, ...below.map(decodeName)].join('/'))
    if (isRepeated) holders.set(key, (holders.get(key) ?? new Set()).add(foldName(collection)))
    // No gateway reads the `local` of a repository.
    if (notes !== undefined && foldName(collection) !== 'local') noted.push({ collection, folder, key, notes })
  }
  return { ...names, noted, holders }
}

/** Whether gateways of a mode read this resource, and not one that overrides it. */
export function isEffective({ holders }: Overview, { chain }: View, { collection, key }: Noted): boolean {
  const at = chain.indexOf(foldName(collection))
  const others = holders.get(key)
  return at >= 0 && !chain.slice(0, at).some((name) => others?.has(name) === true)
}

/** Notes of resources by their folder. */
export type NotedResources = Iterable<readonly [string, { notes: Notes | undefined; isRepeated: boolean }]>

/** The checks between resources of a root. They keep only its names. */
export type CrossFindings = (noted: NotedResources) => Iterable<readonly [RuleId, Violation]>
