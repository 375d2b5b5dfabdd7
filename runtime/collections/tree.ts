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

type Folder = { files: Entry[]; folders: Map<string, Folder> | undefined }

/** Builds the tree of the files below `root` (`''` is the top); the order of the entries does not matter. */
export function buildTree(entries: Iterable<Entry>, root: string): Tree {
  const top = folderOf(entries, root)
  const tree: Tree = { collections: [], loose: [], ignored: [], skipped: [] }
  for (const file of top.files) {
    if (isPlaceholder(file.path) || isLeftover(nameOf(file.path))) tree.ignored.push(file)
    else tree.loose.push(file)
  }
  for (const [name, folder] of foldersOf(top)) {
    if (isSkipped(name)) collect(folder, tree.skipped)
    else addCollection(tree, name, folder)
  }
  return tree
}

function addCollection(tree: Tree, name: string, folder: Folder): void {
  const collection: Collection = { name, manifest: undefined, resources: [], strays: [], skipped: [] }
  const manifest = folder.files.find(({ path }) => nameOf(path) === modeManifest)
  if (manifest !== undefined) collection.manifest = manifest
  addStray(
    collection,
    tree,
    name,
    'loose',
    folder.files.filter((file) => file !== manifest),
  )
  for (const [module, moduleFolder] of foldersOf(folder)) {
    if (isSkipped(module)) {
      collect(moduleFolder, collection.skipped)
      continue
    }
    addStray(collection, tree, `${name}/${module}`, 'loose', moduleFolder.files)
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
  const own = folder.files.find((file) => nameOf(file.path) === manifestName)
  if (own !== undefined) {
    const files: Entry[] = []
    collect(folder, files)
    const kind = names.length === 0 ? 'singleton' : 'named'
    collection.resources.push({ key, module, type, folder: path, kind, manifest: own, files: withoutPlaceholders(tree, files, own) })
    return
  }
  const unary = folder.files.find((file) => nameOf(file.path) === unaryManifestName)
  if (unary !== undefined) {
    const files = withoutPlaceholders(tree, folder.files, unary)
    collection.resources.push({ key: `${key}/${unaryName}`, module, type, folder: path, kind: 'unary', manifest: unary, files })
  } else addStray(collection, tree, path, 'data', folder.files)
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

function withoutPlaceholders(tree: Tree, files: readonly Entry[], manifest?: Entry): Entry[] {
  return files.filter((file) => {
    if (file === manifest) return false
    if (!isPlaceholder(file.path)) return true
    tree.ignored.push(file)
    return false
  })
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

function folderOf(entries: Iterable<Entry>, root: string): Folder {
  const top: Folder = { files: [], folders: undefined }
  const prefix = root === '' ? '' : `${root}/`
  for (const entry of entries) {
    if (!entry.path.startsWith(prefix)) continue
    const segments = entry.path.slice(prefix.length).split('/')
    segments.pop()
    let folder = top
    for (const segment of segments) {
      folder.folders ??= new Map()
      let next = folder.folders.get(segment)
      if (next === undefined) folder.folders.set(segment, (next = { files: [], folders: undefined }))
      folder = next
    }
    folder.files.push(entry)
  }
  return top
}

function foldersOf({ folders }: Folder): [string, Folder][] {
  return folders === undefined ? [] : [...folders].toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function collect(folder: Folder, into: Entry[]): void {
  for (const file of folder.files) into.push(file)
  for (const [, child] of foldersOf(folder)) collect(child, into)
}
