/**
 * Input and output of checks. Pure.
 */
import type { Damage } from '../model/json-damage.ts'
import type { CollectionsByName } from '../model/inheritance.ts'
import type { ParsedMode, ParsedResource } from '../model/manifests.ts'
import type { Resource } from '../model/resources.ts'
import { aboveRepository, type Collection, type Tree } from '../model/tree.ts'

/** One violation. `path` is relative to the repository; a `severity` here lowers the rule's default. */
export type Violation = { path: string; message: string; collection?: string; severity?: 'warning' }

/** Input of checks of names: one root, its tree and the manifests of its collections. */
export type TreeFacts = {
  root: string
  /** Projects have the same layout and inheritance as collections. */
  kind: 'collections' | 'projects'
  tree: Tree
  family: CollectionsByName
  /** Parsed `config-mode.json` by the name of its collection. */
  modes: ReadonlyMap<string, ParsedMode>
  /** Damage of such a file, by the name of its collection. */
  damagedModes: ReadonlyMap<string, Damage>
  /** The modes that gateways run with; undefined: unknown. */
  modesInUse: readonly string[] | undefined
  /** Whether gateways get `core` from this tree. */
  coreDelivered: boolean
  /** Whether the tree has any deployment mode. */
  hasModes: boolean
  /** Files of the folder beside the collections in which a gateway keeps its keys. */
  keys: readonly string[]
  /** Folded names by type of the other kind of root in the repository; undefined if it has none that is complete. */
  elsewhere: ReadonlyMap<string, ReadonlySet<string>> | undefined
  /** The other roots of this kind in the repository. */
  otherRoots: readonly string[]
  /** Whether a project is in another projects folder of the repository, because several may be delivered into one. */
  isElsewhere(project: string): boolean
  /**
   * No folder has a manifest (`config-mode.json`, `project.json`): the files are copied over those of the gateway, which may contain the
   * files missing here.
   */
  isFragment: boolean
  /** The repository has a complete tree, over which such a fragment is copied. */
  isLaidOver: boolean
}

/** How many deployment modes, or their parents up to core, override a resource of `core`. */
export type Overridden = 'nowhere' | 'somewhere' | 'everywhere'

/** The compared properties of a resource and the one it overrides. */
export type Digest = { digest: string; overridable: boolean }

/** Input of checks of contents: one resource. */
export type ResourceFacts = {
  collection: Collection
  resource: Resource
  /** Path of the resource's folder, relative to the repository. */
  path: string
  parsed: ParsedResource
  /** SHA-256 in hex of a file by its name within the resource; undefined without it. */
  hash(file: string): string | undefined
  /** The JSON value of each file that was small enough to be searched. */
  json: ReadonlyMap<string, unknown>
  /** Paths of files that are pointers of Git LFS. */
  pointers: readonly string[]
  /** Damage of JSON files, by path. */
  damaged: ReadonlyMap<string, Damage>
  /** The nearest resource that this one overrides. */
  base: (Digest & { collection: string }) | undefined
  /** Set if a resource with that name exists in several collections. */
  own: Digest | undefined
  overridden: Overridden
}

/** A rule about a whole collections root. */
export type TreeCheck = (facts: TreeFacts) => Iterable<Violation>
/** The part of the tree that the checks of a resource need. */
export type ResourceContext = Pick<TreeFacts, 'root' | 'kind' | 'hasModes' | 'isFragment' | 'isLaidOver'>
/** A rule about one resource, checked again only if a commit changed it. */
export type ResourceCheck = (resource: ResourceFacts, context: ResourceContext) => Iterable<Violation>

/** A path below the root as a path of the repository. */
export function inRoot({ root }: Pick<TreeFacts, 'root'>, path: string): string {
  if (root === aboveRepository) return path.replace(/^\//, '')
  return root === '' ? path : `${root}/${path}`
}

/** Name of a file within its resource: what `files` lists. */
export function nameInResource({ manifest }: Resource, path: string): string {
  return path.slice(manifest.path.lastIndexOf('/') + 1)
}

/** `<module>/<type>`. */
export function typeOf({ module, type }: Resource): string {
  return `${module}/${type}`
}
