/**
 * What a check is given and what it gives back. Pure.
 */
import type { Damage } from '../model/json-damage.ts'
import type { ScriptFault } from '../model/python-scan.ts'
import type { CollectionsByName } from '../model/inheritance.ts'
import type { ParsedMode, ParsedResource } from '../model/manifests.ts'
import type { Resource } from '../model/resources.ts'
import { aboveRepository, type Collection, type Tree } from '../model/tree.ts'

/** One violation. `path` is relative to the repository; a `severity` here lowers the rule's default. */
export type Found = { path: string; message: string; collection?: string; severity?: 'warning' }

/** What checks of names are given: one root, its tree and the manifests of its collections. */
export type TreeFacts = {
  root: string
  /** Projects are laid out as collections are, and inherit from each other alike. */
  kind: 'collections' | 'projects'
  tree: Tree
  family: CollectionsByName
  /** Parsed `config-mode.json` by the name of its collection. */
  modes: ReadonlyMap<string, ParsedMode>
  /** What is wrong with such a file, by the name of its collection. */
  damagedModes: ReadonlyMap<string, Damage>
  /** The modes that gateways run with; undefined: not known. */
  modesInUse: readonly string[] | undefined
  /** Whether gateways get `core` from this tree. */
  coreDelivered: boolean
  /** Whether the tree has any deployment mode. */
  hasModes: boolean
  /** Files of the folder beside the collections in which a gateway keeps its keys. */
  keys: readonly string[]
  /** Whether a project is in another folder of projects of the repository: several may be delivered into one. */
  isElsewhere(project: string): boolean
  /** No folder has a `config-mode.json`: the files are to be laid over a whole tree, which may hold what is missing here. */
  isFragment: boolean
  /** A whole tree, over which such a fragment is laid, stands elsewhere in the repository. */
  isLaidOver: boolean
}

/** How many of the deployment modes, by themselves or by a parent above core, replace a resource of `core`. */
export type Overridden = 'nowhere' | 'somewhere' | 'everywhere'

/** What is compared between a resource and what it overrides. */
export type Digest = { digest: string; overridable: boolean }

/** What checks of contents are given: one resource, read. */
export type ResourceFacts = {
  collection: Collection
  resource: Resource
  /** Path of the resource's folder, relative to the repository. */
  path: string
  parsed: ParsedResource
  /** SHA-256 in hex of a file by its name within the resource; undefined where there is none. */
  hash(file: string): string | undefined
  /** The JSON value of each file that was small enough to be searched. */
  json: ReadonlyMap<string, unknown>
  /** Paths of files that are pointers of Git LFS. */
  pointers: readonly string[]
  /** What is wrong with JSON files, by path. */
  damaged: ReadonlyMap<string, Damage>
  /** Why scripts cannot be run, by path. */
  scripts: ReadonlyMap<string, ScriptFault>
  /** The nearest resource that this one overrides. */
  base: (Digest & { collection: string }) | undefined
  /** Known where a resource of that name exists in several collections. */
  own: Digest | undefined
  overridden: Overridden
}

/** A rule about a whole collections root. */
export type TreeCheck = (facts: TreeFacts) => Iterable<Found>
/** What the checks of a resource need of its tree. */
export type ResourceContext = Pick<TreeFacts, 'root' | 'kind' | 'hasModes' | 'isFragment' | 'isLaidOver'>
/** A rule about one resource, asked again only where a commit changed it. */
export type ResourceCheck = (resource: ResourceFacts, context: ResourceContext) => Iterable<Found>

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
