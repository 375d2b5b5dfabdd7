/**
 * The files of a list in the structure of a gateway: collections, and in each the resources of its modules and types. The traversal follows
 * the gateway's own. Pure.
 */
import type { FileEntry } from './listing.ts'
import { FileTable } from './file-table.ts'
import { createResources, isLitter, isPlaceholder, isReadme, type ResourceList, type Resources, unaryName } from './resources.ts'

/** Files outside resources: `data` is in a place of resource files, `loose` anywhere else. */
export type Stray = { folder: string; kind: 'data' | 'loose'; files: FileEntry[] }

/** A folder of the collections root, or a project. */
export type Collection = {
  name: string
  manifest: FileEntry | undefined
  resources: Resources
  strays: Stray[]
  /** Files in folders that a gateway ignores. */
  skipped: FileEntry[]
}

/** Every file below a root, each in exactly one place. */
export type Tree = {
  /** By name, sorted. */
  collections: Collection[]
  /** Files directly in the root, except those that gateways leave there. */
  loose: FileEntry[]
  /** Files that gateways, git or desktop systems leave there, and files for readers. */
  ignored: FileEntry[]
  /** Files of the cache `.resources` and of other folders that begin with a dot. */
  skipped: FileEntry[]
}

export const modeManifest = 'config-mode.json'
export const projectManifest = 'project.json'
export const manifestName = 'resource.json'
export const unaryManifestName = 'unary-resource.json'

/** The folder above a repository that is a project itself. The project then has no name: its resources are `/<module>/<type>/...`. */
export const aboveRepository = '.'

/** The folder of a module, the vendor's or any other. */
export function isModule(name: string): boolean {
  return name === 'ignition' || /^[a-z0-9-]+(?:\.[a-z0-9_-]+)+$/i.test(name)
}

/**
 * A folder is a range of the sorted files, from `start` to before `end`, with the same path up to `offset` bytes. No object is built for
 * it, so that a large repository costs no more than its list of files.
 */
type Folder = { files: FileTable; start: number; end: number; offset: number }

/** Builds the tree of the files below `root` (`''` is the top); the order of the entries does not matter. */
export function buildTree(entries: Iterable<FileEntry>, root: string): Tree {
  return treeOf(FileTable.of(entries), root)
}

/**
 * The same from a table; the tree reads from it and is valid only until it changes. `manifest` makes a folder of the root a collection, or
 * a project.
 */
export function treeOf(files: FileTable, root: string, manifest = modeManifest): Tree {
  const below = root === aboveRepository ? '' : root
  const offset = below === '' ? 0 : Buffer.byteLength(below) + 1
  const top: Folder = { files, ...files.rangeBelow(below), offset }
  const tree: Tree = { collections: [], loose: [], ignored: [], skipped: [] }
  if (root === aboveRepository) {
    addCollection(tree, '', top, manifest)
    return tree
  }
  for (const index of filesOf(top)) {
    const file = files.entry(index)
    if (isMeantForOthers(file.path) || isLeftover(nameOf(file.path))) tree.ignored.push(file)
    else tree.loose.push(file)
  }
  for (const [name, folder] of foldersOf(top)) {
    if (isSkipped(name)) collect(folder, tree.skipped)
    else addCollection(tree, name, folder, manifest)
  }
  tree.collections.sort((a, b) => (a.name < b.name ? -1 : 1))
  return tree
}

function addCollection(tree: Tree, name: string, folder: Folder, manifestFile: string): void {
  const offset = folder.offset - Buffer.byteLength(name) - 1
  const resources = createResources(folder.files, offset)
  const collection: Collection = { name, manifest: undefined, resources, strays: [], skipped: [] }
  const own = entriesAt(folder.files, filesOf(folder))
  const manifest = own.find(({ path }) => nameOf(path) === manifestFile)
  if (manifest !== undefined) collection.manifest = manifest
  const others = own.filter((file) => file !== manifest)
  addStray(collection, tree, name, 'loose', others)
  for (const [module, moduleFolder] of foldersOf(folder)) {
    if (isSkipped(module) || (name === '' && !isModule(module))) {
      collect(moduleFolder, collection.skipped)
      continue
    }
    addStray(collection, tree, `${name}/${module}`, 'loose', entriesAt(folder.files, filesOf(moduleFolder)))
    for (const [type, typeFolder] of foldersOf(moduleFolder)) {
      if (isSkipped(type)) collect(typeFolder, collection.skipped)
      else walk({ tree, collection, resources, offset, module, type }, 0, typeFolder)
    }
  }
  const { strays, skipped } = collection
  if (manifest !== undefined || resources.length + strays.length + skipped.length > 0) tree.collections.push(collection)
}

type TypeFolder = { tree: Tree; collection: Collection; resources: ResourceList; offset: number; module: string; type: string }

/** One folder of a type, or of a name `depth` below it. */
function walk(place: TypeFolder, depth: number, folder: Folder): void {
  const { tree, collection, resources, module, type } = place
  const { files, start, end } = folder
  const here = filesOf(folder)
  const own = here.find((index) => isNamed(folder, index, manifestName))
  if (own !== undefined) {
    ignorePlaceholders(tree, files, start, end)
    resources.add(module, type, { start, end, manifest: own, kind: depth === 0 ? 'singleton' : 'named' })
    return
  }
  const unary = here.find((index) => isNamed(folder, index, unaryManifestName))
  if (unary !== undefined) {
    for (const index of here) ignorePlaceholders(tree, files, index, index + 1)
    resources.add(module, type, { start, end, manifest: unary, kind: 'unary' })
  } else if (here.length > 0) addStray(collection, tree, folderOf(folder, place.offset), 'data', entriesAt(files, here))
  for (const [name, child] of foldersOf(folder)) {
    if (isSkipped(name) || (unary !== undefined && name === unaryName)) collect(child, collection.skipped)
    else walk(place, depth + 1, child)
  }
}

/** Relative to the root, from the path of a file in it. */
function folderOf({ files, start, offset }: Folder, rootOffset: number): string {
  return files.partFrom(start, rootOffset, offset - 1)
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

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function addStray({ strays }: Collection, tree: Tree, folder: string, kind: Stray['kind'], files: readonly FileEntry[]): void {
  for (const file of files) if (isMeantForOthers(file.path)) tree.ignored.push(file)
  const real = files.filter(({ path }) => !isMeantForOthers(path))
  if (real.length > 0) strays.push({ folder, kind, files: real })
}

/** Files outside resources that are not for a gateway. */
function isMeantForOthers(path: string): boolean {
  return isPlaceholder(path) || isLitter(path) || isReadme(path)
}

function ignorePlaceholders(tree: Tree, files: FileTable, start: number, end: number): void {
  for (let index = start; index < end; index += 1) {
    if (files.isHidden(index) && isPlaceholder(files.path(index))) tree.ignored.push(files.entry(index))
  }
}

/** What a gateway leaves in the root: notes of a migration. */
function isLeftover(name: string): boolean {
  return /^migration-log-.*\.md$/.test(name)
}

/** Folders that a gateway ignores. */
function isSkipped(name: string): boolean {
  return name.startsWith('.') || name.includes('.deleted-') || name.endsWith('.tmp')
}

/** The files directly in a folder. */
function filesOf({ files, start, end, offset }: Folder): number[] {
  const found: number[] = []
  for (let index = start; index < end; index += 1) if (files.slashAfter(index, offset) < 0) found.push(index)
  return found
}

function* foldersOf({ files, start, end, offset }: Folder): Generator<[string, Folder]> {
  for (let index = start; index < end;) {
    const at = files.slashAfter(index, offset)
    if (at < 0) {
      index += 1
      continue
    }
    const below = at + 1
    let next = index + 1
    while (next < end && files.isSamePart(index, next, offset, below)) next += 1
    yield [files.part(index, offset, at), { files, start: index, end: next, offset: below }]
    index = next
  }
}

/** Whether a file directly in the folder has this name, which is ASCII. */
function isNamed({ files, offset }: Folder, index: number, name: string): boolean {
  return files.isRest(index, offset, name)
}

function entriesAt(files: FileTable, indexes: readonly number[]): FileEntry[] {
  return indexes.map((index) => files.entry(index))
}

function collect({ files, start, end }: Folder, into: FileEntry[]): void {
  for (const entry of files.entries(start, end)) into.push(entry)
}
