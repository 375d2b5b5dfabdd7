/**
 * The delivered files of a commit that stand in collections, for the gate. What one commit held is kept, so that the next one costs a
 * list of what changed and not a list of everything.
 */
import type { CommitHash } from '../gatewaysync/values.ts'
import type { Delivery } from './delivery.ts'
import type { Difference, Entry, Listing, VersionedListing } from './listing.ts'
import type { Judged, Memory } from './recall.ts'
import { findRoots, rootOf } from './roots.ts'
import { settingsFile } from './severities.ts'

/** What one delivery has of a commit. */
export type DeliveredContent = {
  /** The repository's own settings. */
  settings: Entry | undefined
  roots: readonly string[]
  /** The delivered files below the roots. */
  files: readonly Entry[]
  /** What is remembered of the resources of a root, and what was changed since. */
  memory(root: string): Memory
}

/** What is kept of a delivery: see `DeliveredContent`. Files are two long texts, for there may be tens of thousands. */
export type Kept = {
  commit: CommitHash
  settings: Entry | undefined
  roots: readonly string[]
  paths: string
  ids: string
  count: number
  known: ReadonlyMap<string, Map<string, Judged>>
}

/** A difference with more changes than this costs more than a list. */
const maxChanges = 5_000
/** A NUL is in no path. */
const between = '\0'

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

/** What to keep of a content once it was judged; `known` is what was found, by root. */
export function keep(commit: CommitHash, { settings, roots, files }: DeliveredContent, known: Kept['known']): Kept {
  const paths = files.map(({ path }) => path).join(between)
  const ids = files.map(({ id }) => id ?? '').join(between)
  return { commit, settings, roots, paths, ids, count: files.length, known }
}

function unpack({ paths, ids, count }: Kept): Entry[] {
  const allIds = ids.split(between)
  return count === 0 ? [] : paths.split(between).map((path, index) => entryOf(path, allIds[index]))
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
  const files = changedFiles(kept, changes, puts)
  const settings = changes.find(({ path }) => path === settingsFile)
  return {
    settings: settings === undefined ? kept.settings : settings.gone ? undefined : entryOf(settingsFile, settings.id),
    roots: changes.some(({ gone }) => gone) ? findRoots(files.map(({ path }) => path)) : kept.roots,
    files,
    memory: (root) => ({ known: kept.known.get(root) ?? new Map(), touched: foldersAbove(changes, root) }),
  }
}

function isNewRoot(root: string | undefined, roots: readonly string[]): boolean {
  return root !== undefined && !roots.includes(root)
}

function changedFiles(kept: Kept, changes: readonly Difference[], puts: readonly Difference[]): Entry[] {
  const files = unpack(kept)
  if (changes.length === 0) return files
  const paths = new Set(changes.map(({ path }) => path))
  const others = files.filter(({ path }) => !paths.has(path))
  const added = puts.filter(({ path }) => kept.roots.some((root) => isBelow(path, root))).map(({ path, id }) => entryOf(path, id))
  return added.length === 0 ? others : [...others, ...added].toSorted((a, b) => (a.path < b.path ? -1 : 1))
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
  const memory = (): Memory => ({ known: new Map(), touched: new Set() })
  return new Map(found.map(({ delivery, roots, files }) => [delivery, { settings, roots: [...roots].toSorted(), files, memory }]))
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
