/**
 * A list of files as a gateway reads it: collections, and in each the resources of its modules and types. The walk follows gateway.md 1.
 * Pure.
 */
import type { Entry } from './listing.ts'

export type Resource = {
  /** `<module>/<type>[/<name>...]` with decoded names; a unary resource ends in `/_unary`. */
  key: string
  module: string
  type: string
  /** Relative to the collections root. */
  folder: string
  kind: 'singleton' | 'named' | 'unary'
  manifest: Entry
  /** The files beside the manifest and, unless it is unary, below it. */
  files: Entry[]
}

/** Files that belong to no resource: `data` stands where a resource's files would, `loose` anywhere else. */
export type Stray = { folder: string; kind: 'data' | 'loose'; files: Entry[] }

export type Collection = {
  name: string
  manifest: Entry | undefined
  resources: Resource[]
  strays: Stray[]
  /** Files in folders that a gateway passes over. */
  skipped: Entry[]
}

export type Tree = {
  /** By name, sorted. */
  collections: Collection[]
  /** Files directly in the root, without what gateways leave there themselves. */
  loose: Entry[]
  /** What gateways leave there, and placeholders of git. */
  ignored: Entry[]
  /** Files of the cache `.resources` and of other folders that begin with a dot. */
  skipped: Entry[]
}

export const modeManifest = 'config-mode.json'
export const cacheFolder = '.resources'
const manifestName = 'resource.json'
const unaryManifestName = 'unary-resource.json'
const unaryName = '_unary'

/**
 * A folder is a run of the sorted entries: those from `start` to before `end`, whose paths are the same up to `offset`. Nothing is built
 * for it, so that a large repository costs no more than its list of files.
 */
type Folder = { entries: readonly Entry[]; start: number; end: number; offset: number }

/** Builds the tree of the files below `root` (`''` is the top); the order of the entries does not matter. */
export function buildTree(entries: Iterable<Entry>, root: string): Tree {
  const prefix = root === '' ? '' : `${root}/`
  const sorted = inOrder([...entries].filter(({ path }) => path.startsWith(prefix)))
  const top: Folder = { entries: sorted, start: 0, end: sorted.length, offset: prefix.length }
  const tree: Tree = { collections: [], loose: [], ignored: [], skipped: [] }
  for (const file of filesOf(top)) {
    if (isPlaceholder(file.path) || isLeftover(nameOf(file.path))) tree.ignored.push(file)
    else tree.loose.push(file)
  }
  for (const [name, folder] of foldersOf(top)) {
    if (isSkipped(name)) collect(folder, tree.skipped)
    else addCollection(tree, name, folder)
  }
  tree.collections.sort((a, b) => (a.name < b.name ? -1 : 1))
  return tree
}

function addCollection(tree: Tree, name: string, folder: Folder): void {
  const collection: Collection = { name, manifest: undefined, resources: [], strays: [], skipped: [] }
  const own = filesOf(folder)
  const manifest = own.find(({ path }) => nameOf(path) === modeManifest)
  if (manifest !== undefined) collection.manifest = manifest
  const others = own.filter((file) => file !== manifest)
  addStray(collection, tree, name, 'loose', others)
  for (const [module, moduleFolder] of foldersOf(folder)) {
    if (isSkipped(module)) {
      collect(moduleFolder, collection.skipped)
      continue
    }
    addStray(collection, tree, `${name}/${module}`, 'loose', filesOf(moduleFolder))
    for (const [type, typeFolder] of foldersOf(moduleFolder)) {
      if (isSkipped(type)) collect(typeFolder, collection.skipped)
      else walk({ tree, collection, module, type }, [], [], typeFolder)
    }
  }
  const { resources, strays, skipped } = collection
  if (manifest !== undefined || resources.length + strays.length + skipped.length > 0) tree.collections.push(collection)
}

type Place = { tree: Tree; collection: Collection; module: string; type: string }

/** One folder of a type or of a name below it; `names` are decoded, `segments` as they stand. */
function walk(place: Place, names: readonly string[], segments: readonly string[], folder: Folder): void {
  const { tree, collection, module, type } = place
  const path = [collection.name, module, type, ...segments].join('/')
  const key = [module, type, ...names].join('/')
  const here = filesOf(folder)
  const own = here.find((file) => nameOf(file.path) === manifestName)
  if (own !== undefined) {
    const files: Entry[] = []
    collect(folder, files)
    const kind = names.length === 0 ? 'singleton' : 'named'
    collection.resources.push({ key, module, type, folder: path, kind, manifest: own, files: withoutPlaceholders(tree, files, own) })
    return
  }
  const unary = here.find((file) => nameOf(file.path) === unaryManifestName)
  if (unary !== undefined) {
    const files = withoutPlaceholders(tree, here, unary)
    collection.resources.push({ key: `${key}/${unaryName}`, module, type, folder: path, kind: 'unary', manifest: unary, files })
  } else addStray(collection, tree, path, 'data', here)
  for (const [name, child] of foldersOf(folder)) {
    if (isSkipped(name) || (unary !== undefined && name === unaryName)) collect(child, collection.skipped)
    else walk(place, [...names, decodeName(name)], [...segments, name], child)
  }
}

/** Names with `%` are form-encoded; one that cannot be decoded stands for itself. */
export function decodeName(name: string): string {
  if (!name.includes('%')) return name
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return name
  }
}

/** Every path of a tree, in no particular order. */
export function pathsOf(tree: Tree): string[] {
  const paths = [...tree.loose, ...tree.ignored, ...tree.skipped].map(({ path }) => path)
  for (const { manifest, resources, strays, skipped } of tree.collections) {
    if (manifest !== undefined) paths.push(manifest.path)
    for (const resource of resources) paths.push(resource.manifest.path, ...resource.files.map(({ path }) => path))
    for (const { files } of strays) paths.push(...files.map(({ path }) => path))
    paths.push(...skipped.map(({ path }) => path))
  }
  return paths
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function addStray({ strays }: Collection, tree: Tree, folder: string, kind: Stray['kind'], files: readonly Entry[]): void {
  const real = withoutPlaceholders(tree, files)
  if (real.length > 0) strays.push({ folder, kind, files: real })
}

/** An array that has room for no more than it holds: there is one for each resource. */
function withoutPlaceholders(tree: Tree, files: readonly Entry[], manifest?: Entry): Entry[] {
  for (const file of files) if (isPlaceholder(file.path)) tree.ignored.push(file)
  return files.filter((file) => file !== manifest && !isPlaceholder(file.path)).slice()
}

/** Files of git itself, which keep folders or say how files are treated. */
function isPlaceholder(path: string): boolean {
  return /(?:^|\/)\.git(?:keep|ignore|attributes)$/.test(path)
}

/** What a gateway leaves in the root: notes of a migration. */
function isLeftover(name: string): boolean {
  return /^migration-log-.*\.md$/.test(name)
}

/** Folders that a gateway passes over. */
function isSkipped(name: string): boolean {
  return name.startsWith('.') || name.includes('.deleted-') || name.endsWith('.tmp')
}

/** Sorted by path, so that each folder is a run; listings mostly are already. */
function inOrder(entries: Entry[]): Entry[] {
  const isSorted = entries.every(({ path }, index) => index === 0 || (entries[index - 1]?.path ?? '') < path)
  return isSorted ? entries : entries.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** The files that stand directly in a folder. */
function filesOf({ entries, start, end, offset }: Folder): Entry[] {
  const files: Entry[] = []
  for (let index = start; index < end; index += 1) {
    const entry = entries[index]
    if (entry !== undefined && !entry.path.includes('/', offset)) files.push(entry)
  }
  return files
}

function* foldersOf({ entries, start, end, offset }: Folder): Generator<[string, Folder]> {
  for (let index = start; index < end;) {
    const path = entries[index]?.path ?? ''
    const slash = path.indexOf('/', offset)
    if (slash < 0) {
      index += 1
      continue
    }
    const prefix = path.slice(0, slash + 1)
    let next = index + 1
    while (next < end && entries[next]?.path.startsWith(prefix) === true) next += 1
    yield [path.slice(offset, slash), { entries, start: index, end: next, offset: slash + 1 }]
    index = next
  }
}

function collect({ entries, start, end }: Folder, into: Entry[]): void {
  for (let index = start; index < end; index += 1) {
    const entry = entries[index]
    if (entry !== undefined) into.push(entry)
  }
}
