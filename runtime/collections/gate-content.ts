/**
 * The delivered files of a commit that stand in collections, for the gate. What one commit held is kept, so that the next one costs a
 * list of what changed and not a list of everything.
 */
import type { CommitHash } from '../gatewaysync/values.ts'
import type { Delivery } from './delivery.ts'
import type { Difference, Entry, Listing, VersionedListing } from './listing.ts'
import { byPath, filesBelow, hasFile, type PackedFiles, packFiles, putFile, removeFile, unpackFiles } from './packed-files.ts'
import type { Learned, Memory } from './recall.ts'
import { findRoots, rootOf } from './roots.ts'
import { settingsFile } from './severities.ts'
import { modeManifest, nameOf } from './tree.ts'

/** What one delivery has of a commit. */
export type DeliveredContent = {
  /** The repository's own settings. */
  settings: Entry | undefined
  roots: readonly string[]
  /** The delivered files below the roots. */
  files(): readonly Entry[]
  /** What is remembered of a root, and what was changed since. */
  memory(root: string): Memory
  /** What to keep once it was judged. */
  keep(commit: CommitHash, learned: Kept['learned']): Kept
}

/** What is kept of a delivery, see `DeliveredContent`; what was learned is by root. */
export type Kept = {
  commit: CommitHash
  settings: Entry | undefined
  roots: readonly string[]
  files: PackedFiles
  learned: ReadonlyMap<string, Learned | undefined>
}

/** A difference with more changes than this costs more than a list. */
const maxChanges = 5_000
/** Each is looked for in everything that is kept. */
const maxChangesInPlace = 200

/** The content of each delivery, in their order. Throws what listing throws. */
export async function gatherContents(
  listing: VersionedListing,
  deliveries: readonly Delivery[],
  keptOf: (delivery: Delivery) => Kept | undefined,
  signal: AbortSignal,
): Promise<[Delivery, DeliveredContent][]> {
  const contents = new Map<Delivery, DeliveredContent>()
  const differences = new Map<CommitHash, readonly Difference[] | undefined>()
  for (const delivery of deliveries) {
    const kept = keptOf(delivery)
    if (kept === undefined) continue
    if (!differences.has(kept.commit)) differences.set(kept.commit, await differenceFrom(listing, kept.commit, signal))
    const changes = differences.get(kept.commit)
    const content = changes === undefined ? undefined : changed(kept, changes, delivery)
    if (content !== undefined) contents.set(delivery, content)
  }
  const others = deliveries.filter((delivery) => !contents.has(delivery))
  for (const [delivery, content] of await listContents(listing, others, signal)) contents.set(delivery, content)
  return deliveries.flatMap((delivery) => {
    const content = contents.get(delivery)
    return content === undefined ? [] : [[delivery, content]]
  })
}

function entryOf(path: string, id: string | undefined): Entry {
  return id === undefined || id === '' ? { path } : { path, id }
}

/** Undefined where the listing does not know the commit, or where too much has changed. */
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
    // The earlier commit may be gone from the mirror; what is wrong with the mirror itself, the full list will tell.
    return undefined
  }
}

/** What is kept, with the changes; undefined where they make a root that was none. */
function changed(kept: Kept, changes: readonly Difference[], { delivered }: Delivery): DeliveredContent | undefined {
  const puts = changes.filter(({ path, gone }) => !gone && delivered(path))
  if (puts.some(({ path }) => isNewRoot(rootOf(path), kept.roots))) return undefined
  const inRoots = puts.filter(({ path }) => kept.roots.some((root) => isBelow(path, root)))
  const settings = settingsAfter(kept, changes)
  const isInPlace = changesInPlace(kept, changes, inRoots)
  const files = isInPlace ? undefined : changedFiles(kept, changes, inRoots)
  const roots = files === undefined ? kept.roots : findRoots(files.map(({ path }) => path))
  return {
    settings,
    roots,
    files: () => files ?? changedFiles(kept, changes, inRoots),
    memory: (root) => ({
      learned: kept.learned.get(root),
      touched: foldersAbove(changes, root),
      filesBelow: isInPlace ? (folder) => withIds(filesBelow(kept.files, root === '' ? folder : `${root}/${folder}`), inRoots) : undefined,
    }),
    keep(commit, learned) {
      if (changes.length > maxChangesInPlace) return { commit, settings, roots, files: packFiles(files ?? []), learned }
      for (const { path, gone } of changes) if (gone) removeFile(kept.files, path)
      for (const { path, id } of inRoots) putFile(kept.files, entryOf(path, id))
      return { commit, settings, roots, files: kept.files, learned }
    },
  }
}

function isNewRoot(root: string | undefined, roots: readonly string[]): boolean {
  return root !== undefined && !roots.includes(root)
}

function settingsAfter(kept: Kept, changes: readonly Difference[]): Entry | undefined {
  const change = changes.find(({ path }) => path === settingsFile)
  if (change === undefined) return kept.settings
  return change.gone ? undefined : entryOf(settingsFile, change.id)
}

/** Whether only contents changed, and not those of a collection's manifest. */
function changesInPlace({ files }: Kept, changes: readonly Difference[], inRoots: readonly Difference[]): boolean {
  if (changes.length > maxChangesInPlace) return false
  return (
    inRoots.every(({ path }) => nameOf(path) !== modeManifest && hasFile(files, path)) &&
    changes.every(({ path, gone }) => !gone || !hasFile(files, path))
  )
}

function withIds(entries: readonly Entry[], changes: readonly Difference[]): Entry[] {
  return entries.map((entry) => {
    const change = changes.find(({ path }) => path === entry.path)
    return change === undefined ? entry : entryOf(entry.path, change.id)
  })
}

function changedFiles(kept: Kept, changes: readonly Difference[], inRoots: readonly Difference[]): Entry[] {
  const files = unpackFiles(kept.files)
  if (changes.length === 0) return files
  const paths = new Set(changes.map(({ path }) => path))
  const others = files.filter(({ path }) => !paths.has(path))
  return [...others, ...inRoots.map(({ path, id }) => entryOf(path, id))].toSorted(byPath)
}

/** Two passes, so that of a large repository no more is held than what is judged. */
async function listContents(
  listing: Listing,
  deliveries: readonly Delivery[],
  signal: AbortSignal,
): Promise<Map<Delivery, DeliveredContent>> {
  const found = deliveries.map((delivery) => ({ delivery, roots: new Set<string>(), files: [] as Entry[] }))
  if (found.length === 0) return new Map()
  let settings: Entry | undefined
  for await (const batch of listing.list(signal)) {
    settings ??= batch.find(({ path }) => path === settingsFile)
    for (const { path } of batch) {
      const root = rootOf(path)
      if (root === undefined) continue
      for (const { delivery, roots } of found) if (!roots.has(root) && delivery.delivered(path)) roots.add(root)
    }
  }
  const withRoots = found.filter(({ roots }) => roots.size > 0)
  if (withRoots.length > 0) {
    for await (const batch of listing.list(signal)) {
      for (const { delivery, roots, files } of withRoots) {
        for (const entry of batch) if (isBelowAny(entry.path, roots) && delivery.delivered(entry.path)) files.push(entry)
      }
    }
  }
  return new Map(found.map(({ delivery, roots, files }) => [delivery, listed(settings, [...roots].toSorted(), files.toSorted(byPath))]))
}

function listed(settings: Entry | undefined, roots: readonly string[], files: readonly Entry[]): DeliveredContent {
  return {
    settings,
    roots,
    files: () => files,
    memory: () => ({ learned: undefined, touched: new Set(), filesBelow: undefined }),
    keep: (commit, learned) => ({ commit, settings, roots, files: packFiles(files), learned }),
  }
}

function isBelowAny(path: string, roots: ReadonlySet<string>): boolean {
  for (const root of roots) if (isBelow(path, root)) return true
  return false
}

function isBelow(path: string, root: string): boolean {
  return root === '' || (path.startsWith(root) && path[root.length] === '/')
}

/** Every folder above a change; relative to the root. */
function foldersAbove(changes: readonly Difference[], root: string): Set<string> {
  const folders = new Set<string>()
  const start = root === '' ? 0 : root.length + 1
  for (const { path } of changes) {
    if (!isBelow(path, root)) continue
    for (let end = path.lastIndexOf('/'); end > start; end = path.lastIndexOf('/', end - 1)) folders.add(path.slice(start, end))
  }
  return folders
}
