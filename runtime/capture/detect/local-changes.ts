/**
 * Finds what was changed on a gateway since its last sync: compares every managed file with the commit in place. Files that a gateway
 * rewrites on its own are classified separately.
 */
import type { BlobId, Change, Source } from '../../content/protocol/protocol.ts'
import { type CommitHash, isCommitHash, parentOf, parseRelativePath } from '../../api/values.ts'
import { Fault } from '../../platform/fault.ts'
import { isInterrupted } from '../../sync/apply/journal.ts'
import { diffDesired } from '../../sync/desired/diff.ts'
import { recipeOf } from '../../sync/desired/mappings.ts'
import { readBlobs } from '../../sync/desired/small-blobs.ts'
import { readPresent, withFolders } from '../../sync/disk/folders.ts'
import { readManifest } from '../../sync/disk/manifest-file.ts'
import { emptyManifest, type Manifest } from '../../sync/model/manifest.ts'
import type { SyncTarget } from '../../sync/model/desired.ts'
import { differsInModificationOnly, isFirstBootRewrite, mayHoldModification } from '../../sync/plan/drift.ts'
import { loadRenderer, pathRenderer } from '../../sync/plan/make-plan.ts'
import { createObserver, listForeign, observe } from '../../sync/plan/observe.ts'
import { templateContext } from '../../sync/render/context.ts'
import type { Renderer } from '../../sync/render/render.ts'
import type { Published } from './reverse-mapping.ts'

/** One managed file that differs from its commit, or an added file in a managed folder. */
export type LocalChange = {
  /** Below the data directory. */
  path: string
  op: 'added' | 'changed' | 'removed'
  /**
   * `change` was made by a user; `companion` (who saved a resource and when, its signature, a thumbnail) only matters with a change of the
   * same folder; `rewrite` was made by the gateway.
   */
  kind: 'change' | 'companion' | 'rewrite'
  /** Whether the file is executable now. */
  exec: boolean
  /** Describes what exists at the path instead of a file. */
  obstacle?: string
}

/** `renderer` is undefined if the profile renders nothing. */
export type LocalChanges = {
  published: Published
  /** Sorted by path. */
  changes: LocalChange[]
  renderer: Renderer | undefined
  /** What the commit wrote to a path, before the local change; undefined if there is none or it is larger than 1 MiB. */
  written(path: string): Uint8Array | undefined
  /** The blob it was rendered from, before templates and patches. */
  original(path: string): Uint8Array | undefined
}

/** Limits on originals that are read for comparison: per file, and in total. */
const maxOriginalBytes = 1024 * 1024
const maxOriginals = 64 * 1024 * 1024
/** The current mappings may lead to another source than the one that the gateway got. */
const deliveredDifferently = 'is mapped differently since the last sync: the spec, the mode or labels were changed'

/**
 * Compares the data directory with the commit of `target`; writes nothing. `manifest` is the directory's own. Throws what resolving
 * mappings and the source throw, NotWritable.
 */
export async function findLocalChanges(source: Source, target: SyncTarget, manifest: Manifest, signal: AbortSignal): Promise<LocalChanges> {
  const context = templateContext(target)
  const renderer = await loadRenderer(target, context)
  const renderPath = pathRenderer(renderer)
  // An empty manifest makes the diff list every file that the commit delivers.
  const diff = await diffDesired({ source, renderPath }, target, context, emptyManifest(), signal)
  const { collections } = target.profile
  const published: Published = {
    sources: await listSources(source, target, signal),
    desired: diff.puts,
    mappings: diff.mappings,
    absent: diff.absent,
    collectionsRoot: collections === undefined ? undefined : parseRelativePath(collections.root),
  }
  const changes = [...(await changedFiles(published, target, manifest, signal)), ...addedFiles(published, target, manifest)]
  const originals = await readOriginals(source, target, published, changes, signal)
  const original = (path: string): Uint8Array | undefined => originals.get(published.desired.get(path)?.id ?? ('' as BlobId))
  const written = (path: string): Uint8Array | undefined => {
    const file = published.desired.get(path)
    const content = original(path)
    const mapping = file === undefined ? undefined : published.mappings[file.mapping]
    const recipe = mapping === undefined ? undefined : recipeOf(mapping, path)
    if (file === undefined || content === undefined || recipe === undefined || renderer === undefined) return content
    return renderer.file(path, file.id, content, recipe).content
  }
  const classified = classify(changes, target, written)
  return { published, renderer, original, written, changes: classified.toSorted((a, b) => (a.path < b.path ? -1 : 1)) }
}

async function listSources(source: Source, { commit, profile }: SyncTarget, signal: AbortSignal): Promise<Published['sources']> {
  const sources = new Map<string, { id: BlobId; size: number; isFile: boolean }>()
  for await (const batch of source.changes({ commit, from: null, profile: profile.name }, signal)) {
    for (const entry of batch) if (entry.op === 'put') sources.set(entry.path, { id: entry.id, size: entry.size, isFile: isFile(entry) })
  }
  return sources
}

function isFile({ mode }: Extract<Change, { op: 'put' }>): boolean {
  return mode !== '120000' && mode !== '160000'
}

async function changedFiles({ desired }: Published, { dataDir, commit }: SyncTarget, manifest: Manifest, signal: AbortSignal) {
  const observed = await observe(dataDir, desired.keys(), manifest.files, { like: commit, verifyContent: false }, signal)
  const changes: LocalChange[] = []
  for (const [path, file] of desired) {
    const owned = manifest.files.get(path)
    const seen = observed.get(path)
    const isGone = seen === undefined || seen.kind === 'absent'
    // What was never put in place is not removed.
    if (owned === undefined && isGone) continue
    // The disk holds what the last sync wrote there, even if spec, mode and labels changed since.
    const expected = owned?.rendered?.id ?? owned?.id ?? file.id
    const exec = (owned ?? file).exec
    const obstacle = owned?.id === file.id ? undefined : deliveredDifferently
    const change = (op: LocalChange['op'], isExec: boolean, own = obstacle): void =>
      void changes.push({ path, op, kind: 'change', exec: isExec, ...(own === undefined ? {} : { obstacle: own }) })
    if (isGone) change('removed', false)
    else if (seen.kind !== 'file') change('changed', false, obstacleOf(seen))
    else if (seen.id !== expected || seen.exec !== exec) change('changed', seen.exec)
  }
  return changes
}

function obstacleOf(seen: { kind: 'folder' } | { kind: 'special'; what: string } | { kind: 'under-file'; file: string }): string {
  if (seen.kind === 'folder') return 'is now a folder'
  if (seen.kind === 'under-file') return `is below "${seen.file}", which is now a file`
  return seen.what === 'link' ? 'is now a symbolic link' : 'is no longer a regular file'
}

/** Files in managed folders that neither the commit nor the last sync delivers; those that a mapping excludes are not managed. */
function addedFiles({ desired, mappings, absent }: Published, { dataDir }: SyncTarget, { files }: Manifest): LocalChange[] {
  const folders = mappings.flatMap(({ type, destination, excluded }, at) =>
    type === 'Directory' && !absent.includes(at) ? [{ destination, excluded }] : [],
  )
  const observer = createObserver(dataDir)
  const found = new Map<string, LocalChange>()
  for (const { destination, excluded } of folders) {
    for (const path of listForeign(dataDir, destination, (file) => desired.has(file) || files.has(file))) {
      const below = destination === '' ? path : path.slice(destination.length + 1)
      const seen = excluded(below) ? undefined : observer.observe(path)
      if (seen?.kind === 'file') found.set(path, { path, op: 'added', kind: 'change', exec: seen.exec })
    }
  }
  return [...found.values()]
}

async function readOriginals(
  source: Source,
  target: SyncTarget,
  { desired }: Published,
  changes: readonly LocalChange[],
  signal: AbortSignal,
): Promise<Map<BlobId, Uint8Array>> {
  let bytes = 0
  const ids = changes.flatMap(({ path }) => {
    const file = desired.get(path)
    if (file === undefined || file.size > maxOriginalBytes) return []
    bytes += file.size
    return bytes > maxOriginals ? [] : [file.id]
  })
  return await readBlobs(source, target, ids, maxOriginalBytes, signal)
}

function classify(changes: readonly LocalChange[], { dataDir, facts }: SyncTarget, written: LocalChanges['written']): LocalChange[] {
  return withFolders(dataDir, (folders) => {
    const saysNothing = ({ path, op }: LocalChange): boolean => {
      if (path.endsWith('/thumbnail.png')) return true
      if (op !== 'changed' || !mayHoldModification(path)) return false
      const [before, after] = [written(path), readPresent(folders, path, maxOriginalBytes)]
      return before !== undefined && after !== undefined && differsInModificationOnly(textOf(before), textOf(after))
    }
    const first = changes.map((change): LocalChange => {
      if (isFirstBootRewrite(change.path, facts.mode?.name)) return { ...change, kind: 'rewrite' }
      return saysNothing(change) ? { ...change, kind: 'companion' } : change
    })
    const touched = new Set(first.filter(({ kind }) => kind === 'change').map(({ path }) => parentOf(path)))
    return first.map((change) =>
      change.kind === 'companion' && !touched.has(parentOf(change.path)) ? { ...change, kind: 'rewrite' } : change,
    )
  })
}

function textOf(content: Uint8Array): string {
  return Buffer.from(content).toString('utf8')
}

/** The current content of a changed or added file; undefined if it is larger than `maxBytes`, or cannot be read. */
export function presentContent({ dataDir }: SyncTarget, path: string, maxBytes: number): Buffer | undefined {
  return withFolders(dataDir, (folders) => readPresent(folders, path, maxBytes))
}

/**
 * `at` is `target` with the commit and the mode in place; undefined while the folder is between two commits, or has none. Throws
 * StateUnreadable, and what reading and the source throw.
 */
export async function changesInPlace(
  source: Source,
  target: SyncTarget,
  signal: AbortSignal,
): Promise<{ at: SyncTarget & { commit: CommitHash }; found: LocalChanges } | undefined> {
  if (isInterrupted(target.dataDir)) return undefined
  const manifest = readManifest(target.dataDir)
  const { state } = manifest
  if (state?.commit === undefined || state.commit === null || !isCommitHash(state.commit)) return undefined
  if (manifest.suspectReason !== undefined)
    throw new Fault('StateUnreadable', 'the records of the data directory are damaged; the next sync repairs them')
  const facts = state.mode === undefined ? target.facts : { ...target.facts, mode: state.mode }
  const at = { ...target, commit: state.commit, ref: state.ref, facts }
  return { at, found: await findLocalChanges(source, at, manifest, signal) }
}
