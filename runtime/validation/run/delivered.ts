/**
 * The delivered files of a commit that are in collections, for validation. The files of one commit are kept, so that the next one needs a
 * list of changes and not a list of everything.
 */
import type { CommitHash } from '../../api/values.ts'
import type { LocatedResource } from './read-resources.ts'
import type { Coverage } from './coverage.ts'
import type { Difference, FileEntry, Listing, VersionedListing } from '../model/listing.ts'
import { FileTable } from '../model/file-table.ts'
import type { Remembered, Previous } from './incremental-cache.ts'
import { unaryName } from '../model/resources.ts'
import { settingsFile } from '../rules/severities.ts'
import {
  createProjectFinder,
  findProjectRoots,
  type ProjectFinder,
  isProjectFile,
  chooseRoots,
  findRoots,
  rootOf,
} from '../model/projects.ts'
import { aboveRepository, buildTree, manifestName, modeManifest, nameOf, projectManifest, unaryManifestName } from '../model/tree.ts'

/** The content of a commit for one coverage. */
export type DeliveredContent = {
  /** The repository's own settings. */
  settings: FileEntry | undefined
  roots: readonly string[]
  /** The folders that hold projects, and the state of others that may become one. */
  projectRoots: readonly string[]
  projects: ProjectFinder
  /** The delivered files below the roots. */
  files: FileTable
  /** The kept state of a root, and the changes since. */
  memory(root: string, kind: 'collections' | 'projects'): Previous
}

/** The state of a coverage that is kept after a check, by kind and root. */
export type Kept = Pick<DeliveredContent, 'settings' | 'roots' | 'projectRoots' | 'projects' | 'files'> & {
  commit: CommitHash
  learned: ReadonlyMap<string, Remembered | undefined>
}

/** A difference with more changes than this takes longer than a full list. */
const maxChanges = 5_000
/** Each change moves all later files. */
const maxChangesInPlace = 200

/**
 * Returns the contents of the coverages sequentially, so that no two are in memory at the same time. The kept state of an earlier commit is
 * used up; undefined: none was kept. Throws what listing throws.
 */
export function contentReader(listing: VersionedListing, coverages: readonly Coverage[]) {
  let first: ReturnType<typeof findContents> | undefined
  let difference: { from: CommitHash; changes: readonly Difference[] | undefined } | undefined
  return async (coverage: Coverage, kept: Kept | undefined, signal: AbortSignal): Promise<DeliveredContent> => {
    if (kept !== undefined) {
      if (difference?.from !== kept.commit) difference = { from: kept.commit, changes: await differenceFrom(listing, kept.commit, signal) }
      const content = difference.changes === undefined ? undefined : changed(kept, difference.changes, coverage)
      if (content !== undefined) return content
    }
    first ??= findContents(listing, coverages, signal)
    const { settings, roots } = await first
    return await listContent(
      listing,
      coverage,
      { settings, ...(roots.get(coverage) ?? { roots: new Set(), projects: createProjectFinder() }) },
      signal,
    )
  }
}

function entryOf(path: string, id: string | undefined): FileEntry {
  return id === undefined || id === '' ? { path } : { path, id }
}

/** Returns the changes since a commit; undefined if the listing does not know it, or too much has changed. */
async function differenceFrom(
  listing: VersionedListing,
  from: CommitHash,
  signal: AbortSignal,
): Promise<readonly Difference[] | undefined> {
  const changes: Difference[] = []
  try {
    for await (const batch of listing.changesSince(from, signal)) {
      changes.push(...batch)
      if (changes.length > maxChanges) return undefined
    }
    return changes
  } catch {
    signal.throwIfAborted()
    // The earlier commit may be gone from the mirror; the full listing reports faults of the mirror itself.
    return undefined
  }
}

/** The kept state with the changes; undefined if they create or remove a root, because the kept state is useless then. */
function changed(kept: Kept, changes: readonly Difference[], { delivered, sources }: Coverage): DeliveredContent | undefined {
  const puts = changes.filter(({ path, gone }) => !gone && delivered(path))
  if (puts.some(({ path }) => isNewRoot(rootOf(path, sources), kept.roots))) return undefined
  const all = [...kept.roots, ...kept.projectRoots]
  const inRoots = puts.filter(({ path }) => all.some((root) => isBelow(path, root)))
  for (const { path } of puts) kept.projects.take(path)
  if (kept.projects.roots().some((root) => !kept.projectRoots.includes(root))) return undefined
  const gone = changes.filter(({ path, gone: isGone }) => isGone && kept.files.has(path))
  const onlyContents =
    gone.length === 0 &&
    inRoots.every(({ path }) => nameOf(path) !== modeManifest && nameOf(path) !== projectManifest && kept.files.has(path))
  const files = changedFiles(kept.files, gone, inRoots)
  const roots = gone.length === 0 ? kept.roots : findRoots(files.paths(), sources)
  const projectRoots = gone.length === 0 ? kept.projectRoots : findProjectRoots(files.paths())
  if (roots.length !== kept.roots.length || projectRoots.length !== kept.projectRoots.length) return undefined
  return {
    settings: settingsAfter(kept, changes),
    roots,
    projectRoots,
    projects: kept.projects,
    files,
    memory: (root, kind) => ({
      learned: kept.learned.get(`${kind} ${root}`),
      changedFolders: foldersAbove(changes, root),
      foldersWithChangedManifest: findFoldersWithChangedManifest(changes, root),
      resourceAt: onlyContents && root !== aboveRepository ? (folder) => resourceAt(files, folder, root) : undefined,
    }),
  }
}

function isNewRoot(root: string | undefined, roots: readonly string[]): boolean {
  return root !== undefined && !roots.includes(root)
}

function settingsAfter(kept: Kept, changes: readonly Difference[]): FileEntry | undefined {
  const change = changes.find(({ path }) => path === settingsFile)
  if (change === undefined) return kept.settings
  return change.gone ? undefined : entryOf(settingsFile, change.id)
}

/** In place if that is faster than a new list. */
function changedFiles(files: FileTable, gone: readonly Difference[], puts: readonly Difference[]): FileTable {
  if (gone.length + puts.length <= maxChangesInPlace) {
    for (const { path } of gone) files.remove(path)
    for (const { path, id } of puts) files.put(entryOf(path, id))
    return files
  }
  return files.merged(
    gone.map(({ path }) => path),
    puts.map(({ path, id }) => entryOf(path, id)),
  )
}

/** The resource in a folder of a root, unless a folder above makes it a part of another resource. */
function resourceAt(files: FileTable, folder: string, root: string): LocatedResource | undefined {
  const inside = root === '' ? '' : `${root}/`
  const holds = (above: string, name: string): boolean => files.has(`${inside}${above}/${name}`)
  if (!holds(folder, manifestName) && !holds(folder, unaryManifestName)) return undefined
  const segments = folder.split('/')
  for (let depth = 3; depth < segments.length; depth += 1) {
    const above = segments.slice(0, depth).join('/')
    if (holds(above, manifestName) || (segments[depth] === unaryName && holds(above, unaryManifestName))) return undefined
  }
  for (const collection of buildTree(files.entriesBelow(`${inside}${folder}`), root).collections) {
    const resource = collection.resources.find((each) => each.folder === folder)
    if (resource !== undefined) return { collection, resource }
  }
  return undefined
}

type Roots = { roots: ReadonlySet<string>; projects: ProjectFinder }
type RootsFound = { settings: FileEntry | undefined; roots: ReadonlyMap<Coverage, Roots> }

/** The facts needed before files are listed, so that no more of a large repository is held than the checked files. */
async function findContents(listing: Listing, coverages: readonly Coverage[], signal: AbortSignal): Promise<RootsFound> {
  const found = new Map(coverages.map((coverage) => [coverage, { roots: new Set<string>(), projects: createProjectFinder() }]))
  const everywhere = coverages.flatMap(({ sources }) => sources)
  let settings: FileEntry | undefined
  for await (const batch of listing.list(signal)) {
    settings ??= batch.find(({ path }) => path === settingsFile)
    for (const { path } of batch) {
      const isOfProject = isProjectFile(path)
      if (!isOfProject && rootOf(path, everywhere) === undefined) continue
      for (const [coverage, { roots, projects }] of found) {
        if (isOfProject && coverage.delivered(path)) projects.take(path)
        const root = rootOf(path, coverage.sources)
        if (root !== undefined && !roots.has(root) && coverage.delivered(path)) roots.add(root)
      }
    }
  }
  const chosen = [...found].map(([coverage, { roots, projects }]) => {
    return [coverage, { roots: new Set(chooseRoots(roots, coverage.sources)), projects }] as const
  })
  return { settings, roots: new Map(chosen) }
}

async function listContent(
  listing: Listing,
  { delivered }: Coverage,
  { settings, roots, projects }: Roots & { settings: FileEntry | undefined },
  signal: AbortSignal,
): Promise<DeliveredContent> {
  const files = new FileTable()
  const projectRoots = projects.roots()
  const all = new Set([...roots, ...projectRoots])
  if (all.size > 0) {
    for await (const batch of listing.list(signal)) {
      for (const entry of batch) if (isBelowAny(entry.path, all) && delivered(entry.path)) files.append(entry)
    }
  }
  return {
    settings,
    roots: [...roots].toSorted(),
    projectRoots,
    projects,
    files: files.sorted(),
    memory: () => ({ learned: undefined, changedFolders: new Set(), foldersWithChangedManifest: new Set(), resourceAt: undefined }),
  }
}

function isBelowAny(path: string, roots: ReadonlySet<string>): boolean {
  for (const root of roots) if (isBelow(path, root)) return true
  return false
}

function isBelow(path: string, root: string): boolean {
  return root === '' || root === aboveRepository || (path.startsWith(root) && path[root.length] === '/')
}

/** Every folder above a change; relative to the root. */
function foldersAbove(changes: readonly Difference[], root: string): Set<string> {
  const folders = new Set<string>()
  for (const { path } of changes) {
    if (!isBelow(path, root)) continue
    const inside = inRootOf(path, root)
    for (let end = inside.lastIndexOf('/'); end > 0; end = inside.lastIndexOf('/', end - 1)) folders.add(inside.slice(0, end))
  }
  return folders
}

/** The folders with a changed manifest; relative to the root. */
function findFoldersWithChangedManifest(changes: readonly Difference[], root: string): Set<string> {
  const manifests = changes.filter(({ path }) => isBelow(path, root) && [manifestName, unaryManifestName].includes(nameOf(path)))
  return new Set(manifests.map(({ path }) => inRootOf(path.slice(0, path.lastIndexOf('/')), root)))
}

/** A path below a root, relative to it. */
function inRootOf(path: string, root: string): string {
  if (root === aboveRepository) return `/${path}`
  return root === '' ? path : path.slice(root.length + 1)
}
