/**
 * Reads the desired files of a whole commit: the delivered collections, the mappings that follow from them, and each file.
 */
import { collectionManifestFolder, deliveredChain } from '../../validation/model/delivered-chain.ts'
import { maxModeBytes, parseMode } from '../../validation/model/manifests.ts'
import type { BlobId, Change, FileSink, Put, Source } from '../../content/protocol/protocol.ts'
import { Fault, type Reason } from '../../platform/fault.ts'
import type { RelativePath } from '../../api/values.ts'
import type { Finding } from '../model/findings.ts'
import type { State } from '../model/manifest.ts'
import { activeMode, type SyncTarget } from '../model/desired.ts'
import { type DesiredFile, desiredTree, type DesiredTree, type DesiredTreeBuilder, missingSource } from './desired-tree.ts'
import { collectionsRootOf, type ResolvedMapping, resolveMappings } from './mappings.ts'
import { readBlobs } from './small-blobs.ts'

/** Renders a source or destination; `label` names it in a fault. Throws TemplateFailed. */
export type RenderPath = (text: string, label: string) => string

/** `contents` receives what comes with a listing; undefined: a listing is read without contents. */
export type ListingDeps = { source: Source; renderPath: RenderPath; contents?: ArrivingContents | undefined }

/** A commit as a profile reads it. `chain`: the collections to deliver, first to last. */
export type CommitTree = { tree: DesiredTree; mappings: ResolvedMapping[]; chain: string[]; findings: Finding[] }

/**
 * Reads the listing of the desired commit. Throws SourcePathMissing, InvalidSpec, MappingConflict, DestinationNotAllowed, TemplateFailed
 * and what the source throws.
 */
export async function readDesired(
  { source, renderPath, contents }: ListingDeps,
  target: SyncTarget,
  state: State | undefined,
  signal: AbortSignal,
): Promise<CommitTree> {
  const root = collectionsRootOf(target.profile)
  // The delivered collections follow from the whole listing; without collections only the desired files are held.
  const listed = root === undefined ? undefined : await Array.fromAsync(listing(source, target, signal))
  const { chain, findings } =
    root === undefined || listed === undefined ? noChain : await findChain(source, target, { root, listing: listed }, state, signal)
  const mappings = resolveMappings(target.profile, chain, renderPath)
  // A listing that is held takes the memory that contents would need meanwhile.
  const arrived =
    listed !== undefined || contents === undefined ? undefined : await readWithContents(source, contents, target, mappings, signal)
  const building = arrived ?? (await readInto(desiredTree(mappings), listed ?? listing(source, target, signal)))
  const missing = building.missing()
  if (missing !== undefined) {
    const near = await nearTo(source, { commit: target.commit, missing: missing.source, isRoot: false }, signal)
    throw missingSource(missing, near)
  }
  const tree = building.finish()
  return { tree, mappings, chain, findings: [...findings, ...tree.findings] }
}

async function readInto(
  building: DesiredTreeBuilder,
  batches: AsyncIterable<readonly Put[]> | Iterable<readonly Put[]>,
): Promise<DesiredTreeBuilder> {
  for await (const batch of batches) for (const entry of batch) building.add(entry)
  return building
}

async function* listing(source: Source, { commit, profile }: SyncTarget, signal: AbortSignal): AsyncGenerator<readonly Put[]> {
  const changes: AsyncIterable<readonly Change[]> = source.changes({ commit, from: null, profile: profile.name }, signal)
  for await (const batch of changes) yield batch.filter((change) => change.op === 'put')
}

/** Suggests a similar path; a failed search does not hide that the source is missing. */
async function nearTo(source: Source, request: Parameters<NonNullable<Source['near']>>[0], signal: AbortSignal) {
  try {
    return await source.near?.(request, signal)
  } catch (error) {
    if (signal.aborted) throw error
    return undefined
  }
}

const noChain: { chain: string[]; findings: Finding[] } = { chain: [], findings: [] }

async function findChain(
  source: Source,
  target: SyncTarget,
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
    const near = await nearTo(source, { commit: target.commit, missing: root, isRoot: true }, signal)
    const step = near === undefined ? 'correct it in the profile' : `did you mean "${near}"?`
    throw new Fault('SourcePathMissing', `collections.root: the commit contains no "${root}"; ${step}`)
  }
  const small = [...found].filter(([, { size }]) => size <= maxModeBytes)
  const contents = await readBlobs(
    source,
    target,
    small.map(([, { id }]) => id),
    maxModeBytes,
    signal,
  )
  const manifests = new Map([...found].map(([folder, { id }]) => [folder, parseMode(contents.get(id))]))
  return deliveredChain(activeMode(target, state)?.name, manifests, state?.chain ?? [])
}

/** Receives contents that arrive with a listing. Its methods throw nothing but `skipContents`. */
export type ArrivingContents = {
  /** Whether to receive any content; called before the first file. */
  takes(mappings: readonly ResolvedMapping[]): boolean
  /** A file whose content follows; undefined: not desired. */
  begin(file: DesiredFile | undefined): void
  data(chunk: Uint8Array): void
  end(): void
  /** Nothing more arrives, whether complete or not. */
  over(): void
}

/** Thrown to skip the rest of the contents: a listing names the files, and the desired ones can be requested. */
export const skipContents = new Error('the remaining contents are not needed')

/**
 * Reasons after which the plain listing is read: it succeeds, or reports more. They come from an older controller, one with an older git or
 * without named pipes, a commit with a submodule or beyond the delivery limits, and a truncated or damaged response.
 */
const needsListing: readonly Reason[] = ['NotFound', 'ToolMissing', 'GitFailed', 'CommitGone', 'DeliveryFailed', 'RepositoryTooLarge']

/**
 * Reads the desired files of a commit and passes them to `contents`; undefined if the listing has to be read separately. Throws what the
 * tree and the source throw.
 */
async function readWithContents(
  source: Source,
  contents: ArrivingContents,
  { commit, profile }: SyncTarget,
  mappings: readonly ResolvedMapping[],
  signal: AbortSignal,
): Promise<DesiredTreeBuilder | undefined> {
  if (!contents.takes(mappings)) return undefined
  const building = desiredTree(mappings)
  const sink: FileSink = {
    begin: (file) => contents.begin(building.add(file)),
    data: (chunk) => contents.data(chunk),
    end: () => contents.end(),
  }
  try {
    await source.files({ commit, profile: profile.name }, sink, signal)
    return building
  } catch (error) {
    signal.throwIfAborted()
    if (error === skipContents || (error instanceof Fault && needsListing.includes(error.reason))) return undefined
    throw error
  } finally {
    contents.over()
  }
}
