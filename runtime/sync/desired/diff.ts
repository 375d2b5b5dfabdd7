/**
 * Which files should change: compares the wanted commit and configuration with the manifest. Asks the source for the differences of two
 * commits if they suffice, otherwise for the whole listing, and for nothing when nothing has changed.
 */
import type { BlobId, Change, Source } from '../../delivery/protocol.ts'
import { Fault } from '../../fault.ts'
import { parseRelativePath, type RelativePath } from '../../gatewaysync/values.ts'
import { readBlobs } from './small-blobs.ts'
import { collectionManifestFolder, deliveredChain } from '../../collections/model/delivered-chain.ts'
import { maxModeBytes, parseMode } from '../../collections/model/manifests.ts'
import type { Finding } from '../model/findings.ts'
import { activeMode, type Wanted } from '../model/wanted.ts'
import { renderKey, type TemplateContext } from '../render/context.ts'
import { desiredDelta, desiredTree, type DesiredFile, type DesiredTree, missingSource } from './desired-tree.ts'
import type { Manifest, ManifestChange, Owned, State } from '../model/manifest.ts'
import { type Prune, recipeOf, type ResolvedMapping, resolveMappings, treeKey } from './mappings.ts'

/** What the wanted commit asks for, before a look at the disk. Maps and sets are keyed by destination path. */
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
  /** Indexes of mappings whose optional source the commit does not hold. */
  absent: number[]
  /** See `State.treeKey`. */
  treeKey: string
  findings: Finding[]
  /** Paths that were looked at again, at the source or at the destination; empty for `listing`, which looks at all. */
  touched: ReadonlySet<string>
}

/** Is told what a listing asks for while it arrives. Nothing of it throws. */
export type ListedFiles = {
  /** The mappings that the listing is read with; before the first file. */
  mappings(mappings: readonly ResolvedMapping[]): void
  add(file: DesiredFile): void
  /** The listing is complete. */
  end(): void
}

/** Renders a source or destination; `label` names it in a fault. Throws TemplateFailed. */
export type RenderPath = (text: string, label: string) => string

/**
 * Compares what is wanted with the manifest; `renderPath` renders a source or destination that is a template. Throws SourcePathMissing,
 * InvalidSpec, MappingConflict, DestinationNotAllowed, TemplateFailed and what the source throws.
 */
export async function diffDesired(
  deps: { source: Source; renderPath: RenderPath; listed?: ListedFiles | undefined },
  wanted: Wanted,
  context: TemplateContext,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<Diff> {
  const { state } = manifest
  // When the manifest is in doubt, only a whole listing says what the folder should hold.
  if (state !== undefined && manifest.doubt === undefined) {
    const known = await fromKnownBase(deps, wanted, context, { ...manifest, state }, signal)
    if (known !== undefined) return known
  }
  return fromListing(deps, wanted, context, manifest, signal)
}

async function fromKnownBase(
  { source, renderPath }: { source: Source; renderPath: RenderPath },
  wanted: Wanted,
  context: TemplateContext,
  manifest: { files: Manifest['files']; state: State },
  signal: AbortSignal,
): Promise<Diff | undefined> {
  const { state } = manifest
  const mappings = resolveMappings(wanted.profile, state.chain, renderPath)
  const key = treeKey(wanted.profile, activeMode(wanted, state)?.name, mappings)
  if (state.commit === null || state.treeKey !== key) return undefined
  const base = { mappings, chain: state.chain, absent: state.absent, treeKey: key, moved: [] }
  const outdated = outdatedRenders(manifest.files, mappings, state.absent, context)
  if (state.commit === wanted.commit)
    return { from: 'same', puts: outdated, removed: new Map(), findings: [], touched: new Set(outdated.keys()), ...base }
  // Where the base held none of the sources, the listing says what the differences would, and need not be held as a whole.
  if (manifest.files.size === 0 && mappings.length > 0 && state.absent.length === mappings.length) return undefined
  const changes = await differences(source, wanted, { from: state.commit, most: mostChanges(manifest.files.size) }, signal)
  if (changes === undefined) return undefined
  const collectionsRoot = collectionsRootOf(wanted)
  const delta = desiredDelta(changes, mappings, { files: manifest.files, absent: state.absent, collectionsRoot })
  if (delta.kind === 'needs-listing') return undefined
  const removed = new Map([...delta.removed].map((path) => [path, pruneOf(mappings, manifest.files.get(path), wanted)]))
  const stillOutdated = [...outdated].filter(([path]) => !delta.removed.has(path))
  const puts = new Map([...stillOutdated, ...delta.puts])
  const touched = new Set([...changes.map(({ path }): string => path), ...puts.keys(), ...removed.keys()])
  return { from: 'delta', puts, removed, findings: delta.findings, touched, ...base }
}

function collectionsRootOf({ profile }: Wanted): RelativePath | undefined {
  return profile.collections === undefined ? undefined : parseRelativePath(profile.collections.root)
}

function pruneOf(mappings: readonly ResolvedMapping[], owned: Owned | undefined, wanted: Wanted): Prune {
  return (owned === undefined ? undefined : mappings[owned.mapping]?.prune) ?? wanted.profile.prune
}

/**
 * How many differences are read where so many files are ours. Beyond that, a listing is hardly longer and need not be held: 20,000 files on top of one took
 * the engine 10 MiB more as differences, and a third more processor time. A power of two: agents that ask for the same share an answer, and
 * hardly two of them hold the same number of files.
 */
function mostChanges(files: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(fewChanges, files)))
}

const fewChanges = 512

/** Undefined when the source does not know the base commit, or there are more differences than `most`. */
async function differences(
  source: Source,
  wanted: Wanted,
  { from, most }: { from: NonNullable<State['commit']>; most: number },
  signal: AbortSignal,
): Promise<Change[] | undefined> {
  try {
    const changes: Change[] = []
    const request = { commit: wanted.commit, from, profile: wanted.profile.name, most }
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

/** Rendered files with the same blob but other variables. Mappings without a source are skipped: the commit holds no blob for them. */
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

/** Whether the present recipe and variables would make the same content of the same blob. */
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
  { source, renderPath, listed }: { source: Source; renderPath: RenderPath; listed?: ListedFiles | undefined },
  wanted: Wanted,
  context: TemplateContext,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<Diff> {
  const request = { commit: wanted.commit, from: null, profile: wanted.profile.name }
  const listing = putsOf(source.changes(request, signal))
  const root = collectionsRootOf(wanted)
  // Which collections are delivered follows from the whole listing; without collections only the wanted files are held.
  const held = root === undefined ? undefined : await Array.fromAsync(listing)
  const { chain, findings } =
    root === undefined || held === undefined ? noChain : await findChain(source, wanted, { root, listing: held }, manifest.state, signal)
  const mappings = resolveMappings(wanted.profile, chain, renderPath)
  const building = desiredTree(mappings)
  // A listing that is held takes the memory that contents would need meanwhile.
  const told = held === undefined ? listed : undefined
  told?.mappings(mappings)
  for await (const batch of held ?? listing) {
    for (const entry of batch) {
      const file = building.add(entry)
      if (file !== undefined) told?.add(file)
    }
  }
  const missing = building.missing()
  if (missing !== undefined) {
    const near = await nearTo(source, { commit: wanted.commit, missing: missing.source, isRoot: false }, signal)
    throw missingSource(missing, near)
  }
  told?.end()
  const tree = building.finish()
  return {
    from: 'listing',
    ...compare(manifest, tree, mappings, wanted, context),
    mappings,
    chain,
    absent: tree.absent,
    treeKey: treeKey(wanted.profile, activeMode(wanted, manifest.state)?.name, mappings),
    findings: [...findings, ...tree.findings],
    touched: new Set(),
  }
}

/** What may have been meant; that it cannot be looked for takes nothing from what is missing. */
async function nearTo(source: Source, request: Parameters<NonNullable<Source['near']>>[0], signal: AbortSignal) {
  try {
    return await source.near?.(request, signal)
  } catch (error) {
    if (signal.aborted) throw error
    return undefined
  }
}

type Put = Extract<Change, { op: 'put' }>

async function* putsOf(changes: AsyncIterable<readonly Change[]>): AsyncGenerator<readonly Put[]> {
  for await (const batch of changes) yield batch.filter((change) => change.op === 'put')
}

const noChain: { chain: string[]; findings: Finding[] } = { chain: [], findings: [] }

async function findChain(
  source: Source,
  wanted: Wanted,
  { root, listing }: { root: RelativePath; listing: readonly (readonly Put[])[] },
  state: State | undefined,
  signal: AbortSignal,
) {
  const found = new Map<string, { id: BlobId; size: number }>()
  for (const { path, id, size } of listing.flat()) {
    const folder = collectionManifestFolder(root, path)
    if (folder !== undefined) found.set(folder, { id, size })
  }
  if (!listing.some((batch) => batch.some(({ path }) => root === '' || path.startsWith(`${root}/`)))) {
    const near = await nearTo(source, { commit: wanted.commit, missing: root, isRoot: true }, signal)
    const step = near === undefined ? 'correct it in the profile' : `did you mean "${near}"?`
    throw new Fault('SourcePathMissing', `collections.root: the commit holds no "${root}"; ${step}`)
  }
  const small = [...found].filter(([, { size }]) => size <= maxModeBytes)
  const contents = await readBlobs(
    source,
    wanted,
    small.map(([, { id }]) => id),
    maxModeBytes,
    signal,
  )
  const manifests = new Map([...found].map(([folder, { id }]) => [folder, parseMode(contents.get(id))]))
  return deliveredChain(activeMode(wanted, state)?.name, manifests, state?.chain ?? [])
}

/** Removes from the tree what is right already, so that it ends up as `puts`; a second map of its size would cost memory. */
function compare(
  manifest: Manifest,
  { files, absent }: Pick<DesiredTree, 'files' | 'absent'>,
  mappings: readonly ResolvedMapping[],
  wanted: Wanted,
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
      removed.set(path, (index === undefined ? undefined : mappings[index]?.prune) ?? wanted.profile.prune)
    }
  }
  return { puts: files, removed, moved }
}
