/**
 * Finds the files that should change: compares the desired commit and configuration with the manifest. Requests the differences of two
 * commits if they suffice, otherwise the whole listing, and nothing if nothing has changed.
 */
import type { Change, Source } from '../../content/protocol/protocol.ts'
import { Fault } from '../../platform/fault.ts'
import type { Finding } from '../model/findings.ts'
import type { Manifest, ManifestChange, Owned, State } from '../model/manifest.ts'
import { activeMode, type SyncTarget } from '../model/desired.ts'
import { renderKey, type TemplateContext } from '../render/context.ts'
import { desiredDelta, type DesiredFile, type DesiredTree } from './desired-tree.ts'
import { collectionsRootOf, type Prune, recipeOf, type ResolvedMapping, resolveMappings, treeKey } from './mappings.ts'
import { type ListingDeps, readDesired, type RenderPath } from './read-listing.ts'

/** What the desired commit changes, before the disk is inspected. Maps and sets are keyed by destination path. */
export type Diff = {
  /** `same`: neither commit nor configuration changed; `delta`: differences sufficed; `listing`: everything was compared. */
  from: 'same' | 'delta' | 'listing'
  puts: Map<string, DesiredFile>
  removed: Map<string, Prune>
  /** Manifest entries that belong to another mapping now, with the same content. */
  moved: ManifestChange[]
  mappings: ResolvedMapping[]
  /** The collections to deliver, first to last. */
  chain: string[]
  /** Indexes of mappings whose optional source is not in the commit. */
  absent: number[]
  /** See `State.treeKey`. */
  treeKey: string
  findings: Finding[]
  /** Paths that were compared again, at the source or at the destination; empty for `listing`, which compares all. */
  touched: ReadonlySet<string>
}

/**
 * Compares the desired commit with the manifest; `renderPath` renders a source or destination that is a template. Throws SourcePathMissing,
 * InvalidSpec, MappingConflict, DestinationNotAllowed, TemplateFailed and what the source throws.
 */
export async function diffDesired(
  deps: ListingDeps,
  target: SyncTarget,
  context: TemplateContext,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<Diff> {
  const { state } = manifest
  // If the manifest is suspect, only a complete listing shows what the folder should hold.
  if (state !== undefined && manifest.suspectReason === undefined) {
    const known = await fromKnownBase(deps, target, context, { ...manifest, state }, signal)
    if (known !== undefined) return known
  }
  return fromListing(deps, target, context, manifest, signal)
}

async function fromKnownBase(
  { source, renderPath }: { source: Source; renderPath: RenderPath },
  target: SyncTarget,
  context: TemplateContext,
  manifest: { files: Manifest['files']; state: State },
  signal: AbortSignal,
): Promise<Diff | undefined> {
  const { state } = manifest
  const mappings = resolveMappings(target.profile, state.chain, renderPath)
  const key = treeKey(target.profile, activeMode(target, state)?.name, mappings)
  if (state.commit === null || state.treeKey !== key) return undefined
  const base = { mappings, chain: state.chain, absent: state.absent, treeKey: key, moved: [] }
  const outdated = outdatedRenders(manifest.files, mappings, state.absent, context)
  if (state.commit === target.commit)
    return { from: 'same', puts: outdated, removed: new Map(), findings: [], touched: new Set(outdated.keys()), ...base }
  // If the base held none of the sources, the listing contains what the differences would, and need not be held as a whole.
  if (manifest.files.size === 0 && mappings.length > 0 && state.absent.length === mappings.length) return undefined
  const changes = await differences(source, target, { from: state.commit, most: maxChanges(manifest.files.size) }, signal)
  if (changes === undefined) return undefined
  const collectionsRoot = collectionsRootOf(target.profile)
  const delta = desiredDelta(changes, mappings, { files: manifest.files, absent: state.absent, collectionsRoot })
  if (delta.kind === 'needs-listing') return undefined
  const removed = new Map([...delta.removed].map((path) => [path, pruneOf(mappings, manifest.files.get(path), target)]))
  const stillOutdated = [...outdated].filter(([path]) => !delta.removed.has(path))
  const puts = new Map([...stillOutdated, ...delta.puts])
  const touched = new Set([...changes.map(({ path }): string => path), ...puts.keys(), ...removed.keys()])
  return { from: 'delta', puts, removed, findings: delta.findings, touched, ...base }
}

function pruneOf(mappings: readonly ResolvedMapping[], owned: Owned | undefined, target: SyncTarget): Prune {
  return (owned === undefined ? undefined : mappings[owned.mapping]?.prune) ?? target.profile.prune
}

/**
 * Limit on the differences to read for this many owned files. Beyond it, a listing is not much longer and need not be held: 20,000 files on
 * top of one took the engine 10 MiB more as differences, and a third more processor time. A power of two: agents with the same request
 * share a response, and few of them hold the same number of files.
 */
function maxChanges(files: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(fewChanges, files)))
}

const fewChanges = 512

/** Reads the differences; undefined if the source does not know the base commit, or there are more than `most`. */
async function differences(
  source: Source,
  target: SyncTarget,
  { from, most }: { from: NonNullable<State['commit']>; most: number },
  signal: AbortSignal,
): Promise<Change[] | undefined> {
  try {
    const changes: Change[] = []
    const request = { commit: target.commit, from, profile: target.profile.name, most }
    for await (const batch of source.changes(request, signal)) {
      changes.push(...batch)
      if (changes.length > most) return undefined
    }
    return changes
  } catch (error) {
    if (error instanceof Fault && error.reason === 'UnknownBase') return undefined
    throw error
  }
}

/** Rendered files with the same blob but other variables. Mappings without a source are skipped: the commit has no blob for them. */
function outdatedRenders(
  files: ReadonlyMap<string, Owned>,
  mappings: readonly ResolvedMapping[],
  absent: readonly number[],
  context: TemplateContext,
): Map<string, DesiredFile> {
  const result = new Map<string, DesiredFile>()
  for (const [path, owned] of files) {
    const mapping = mappings[owned.mapping]
    if (owned.rendered === undefined || mapping === undefined || absent.includes(owned.mapping)) continue
    if (isCurrent(owned, mapping, path, context)) continue
    result.set(path, desiredOf(path, owned))
  }
  return result
}

/** Whether the current recipe and variables would render the same content from the same blob. */
function isCurrent(owned: Owned, mapping: ResolvedMapping, path: string, context: TemplateContext): boolean {
  const recipe = recipeOf(mapping, path)
  if (recipe === undefined || owned.rendered === undefined) return (recipe === undefined) === (owned.rendered === undefined)
  return owned.rendered.key === renderKey(recipe, owned.rendered.uses, context)
}

/** The file that the manifest records for a path; `size` is that of the file on disk. */
export function desiredOf(path: string, owned: Owned): DesiredFile {
  return { path, id: owned.id, size: owned.stat.size, exec: owned.exec, mapping: owned.mapping }
}

async function fromListing(
  deps: ListingDeps,
  target: SyncTarget,
  context: TemplateContext,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<Diff> {
  const { tree, mappings, chain, findings } = await readDesired(deps, target, manifest.state, signal)
  return {
    from: 'listing',
    ...compare(manifest, tree, mappings, target, context),
    mappings,
    chain,
    absent: tree.absent,
    treeKey: treeKey(target.profile, activeMode(target, manifest.state)?.name, mappings),
    findings,
    touched: new Set(),
  }
}

/** Removes unchanged files from the tree, so that it ends up as `puts`; a second map of its size would cost memory. */
function compare(
  manifest: Manifest,
  { files, absent }: Pick<DesiredTree, 'files' | 'absent'>,
  mappings: readonly ResolvedMapping[],
  target: SyncTarget,
  context: TemplateContext,
): Pick<Diff, 'puts' | 'removed' | 'moved'> {
  const removed = new Map<string, Prune>()
  const moved: ManifestChange[] = []
  const indexByKey = new Map(mappings.map(({ key }, index) => [key, index]))
  const present = (owned: Owned): number | undefined => indexByKey.get(manifest.state?.mappings[owned.mapping] ?? '')
  for (const [path, owned] of manifest.files) {
    const file = files.get(path)
    const mapping = file === undefined ? undefined : mappings[file.mapping]
    if (file !== undefined && mapping !== undefined) {
      if (owned.id !== file.id || owned.exec !== file.exec || !isCurrent(owned, mapping, path, context)) continue
      if (owned.mapping !== file.mapping) moved.push({ path, owned: { ...owned, mapping: file.mapping } })
      files.delete(path)
      continue
    }
    const index = present(owned)
    if (index !== undefined && absent.includes(index) && mappings[index]?.whenAbsent === 'keep') {
      if (index !== owned.mapping) moved.push({ path, owned: { ...owned, mapping: index } })
    } else {
      removed.set(path, (index === undefined ? undefined : mappings[index]?.prune) ?? target.profile.prune)
    }
  }
  return { puts: files, removed, moved }
}
