/**
 * Separates local changes from changes that gateways make themselves, and selects those to revert, and those that stop a commit.
 */
import type { Source, BlobId } from '../../content/protocol/protocol.ts'
import type { Diff } from '../desired/diff.ts'
import { recipeOf } from '../desired/mappings.ts'
import { readBlobs } from '../desired/small-blobs.ts'
import { readPresent, withFolders } from '../disk/folders.ts'
import type { DriftVerdict, Manifest, ManifestChange, Owned } from '../model/manifest.ts'
import { activeMode, type SyncTarget } from '../model/desired.ts'
import type { Renderer } from '../render/render.ts'
import { differsInModificationOnly, isFirstBootRewrite, knownVerdict, mayHoldModification } from './drift.ts'
import type { DriftedFile } from './observe.ts'
import type { Observed, Observations } from './observed.ts'

/** Which local changes are reverted: as the profile configures, all (after a power loss), or also files that a first boot rewrote. */
export type Repair = 'as-configured' | 'verify-content' | 'after-commissioning'

/** Limit on the originals that one cycle fetches to compare with files that a gateway saved; each at most 1 MiB. */
const comparedFiles = 200
const comparedBytes = 1024 * 1024

/** An owned file that differs from what was written. `known`: an earlier cycle has classified it in this state. */
type Drifted = DriftedFile & { owned: Owned; known: boolean }
type Classified = { drifted: Drifted[]; harmless: Drifted[]; learned: ManifestChange[] }

/** What is needed to render the written version of a file again, to compare it with the one on disk. */
type Originals = { source: Source; renderer: Renderer | undefined }

/** Separates drift from changes that gateways are known to make themselves; `learned` are manifest changes that store the verdicts. */
export async function classifyDrift(
  originals: Originals,
  { target, manifest, diff }: { target: SyncTarget; manifest: Manifest; diff: Diff },
  changes: { drifted: DriftedFile[]; touched: DriftedFile[] },
  signal: AbortSignal,
): Promise<Classified> {
  const result: Classified = { drifted: [], harmless: [], learned: [] }
  for (const { path, seen } of changes.touched) {
    const owned = manifest.files.get(path)
    if (owned !== undefined && seen.kind === 'file')
      result.learned.push({ path, owned: { ...owned, stat: seen.stat, driftVerdict: undefined } })
  }
  const unknown: Drifted[] = []
  for (const change of changes.drifted) {
    const owned = manifest.files.get(change.path)
    if (owned === undefined) continue
    const verdict = change.seen.kind === 'file' ? knownVerdict(owned, change.seen.stat) : undefined
    if (verdict === 'harmless') result.harmless.push({ ...change, owned, known: true })
    else if (verdict === 'drift') result.drifted.push({ ...change, owned, known: true })
    else unknown.push({ ...change, owned, known: false })
  }
  const mode = activeMode(target, manifest.state)?.name
  const saved = await savedByGateway(originals, target, diff, unknown, signal)
  for (const change of unknown) {
    const harmless = change.seen.kind === 'file' && (isFirstBootRewrite(change.path, mode) || saved.has(change.path))
    result[harmless ? 'harmless' : 'drifted'].push(change)
    const driftVerdict = driftVerdictOf(change.seen, harmless ? 'harmless' : 'drift')
    if (driftVerdict !== undefined) result.learned.push({ path: change.path, owned: { ...change.owned, driftVerdict } })
  }
  return result
}

function driftVerdictOf(seen: Observed, verdict: DriftVerdict['verdict']): DriftVerdict | undefined {
  return seen.kind === 'file' ? { ...seen.stat, verdict, id: seen.id ?? null } : undefined
}

/** Returns the paths of resource manifests that differ from the written ones only in who saved them and when. */
async function savedByGateway(
  { source, renderer }: Originals,
  target: SyncTarget,
  diff: Diff,
  changes: readonly Drifted[],
  signal: AbortSignal,
): Promise<Set<string>> {
  const candidates = changes.filter(({ path, seen }) => seen.kind === 'file' && mayHoldModification(path)).slice(0, comparedFiles)
  const originals = await readBlobs(
    source,
    target,
    candidates.map(({ owned }) => owned.id),
    comparedBytes,
    signal,
  )
  const result = new Set<string>()
  return withFolders(target.dataDir, (folders) => {
    for (const { path: file, owned } of candidates) {
      const original = originals.get(owned.id)
      const present = readPresent(folders, file, comparedBytes)
      const mapping = diff.mappings[owned.mapping]
      if (original === undefined || present === undefined || mapping === undefined) continue
      const recipe = recipeOf(mapping, file)
      const wrote = recipe === undefined || renderer === undefined ? original : renderer.file(file, owned.id, original, recipe).content
      if (differsInModificationOnly(Buffer.from(wrote).toString('utf8'), present.toString('utf8'))) result.add(file)
    }
    return result
  })
}

/** The files whose local changes are reverted now. */
export function repairs({ drifted, harmless }: Classified, { profile }: SyncTarget, repair: Repair): Drifted[] {
  if (repair === 'after-commissioning') return [...drifted, ...harmless.filter(({ path }) => !mayHoldModification(path))]
  // After a power loss a difference already known is a local change; every other one is damage.
  if (repair === 'verify-content' && profile.drift !== 'Restore') return drifted.filter(({ known }) => !known)
  return profile.drift === 'Restore' ? drifted : []
}

type Change = Pick<Drifted, 'path' | 'seen'>

type Situation = {
  target: SyncTarget
  manifest: Manifest
  diff: Diff
  observed: Pick<Observations, 'get'>
  /** Paths that are damaged and will be restored. */
  repairing: ReadonlySet<string>
}

/**
 * Returns the paths of files that were changed, deleted or created on the gateway and that the commit changes differently or deletes. Files
 * that a gateway rewrites on its own, and files that equal the commit's, are left out. Empty unless the profile holds and the commit is not
 * confirmed. Throws what the source throws.
 */
export async function holdLocalChanges(originals: Originals, situation: Situation, signal: AbortSignal): Promise<Set<string>> {
  const { target, manifest, diff } = situation
  if (target.profile.drift !== 'Hold' || target.confirmOverwrites === target.commit) return new Set()
  const changes = localChanges(situation)
  const inFiles = changes.filter(({ seen }) => seen.kind === 'file')
  const saved = await savedByGateway(originals, target, diff, inFiles, signal)
  const mode = activeMode(target, manifest.state)?.name
  const isHarmless = ({ path }: Change): boolean => saved.has(path) || isFirstBootRewrite(path, mode) || path.endsWith('/thumbnail.png')
  const unsure = [...changes, ...foreignFiles(situation)].filter((change) => !isHarmless(change))
  const same = await sameAsCommit(originals, situation, unsure, signal)
  return new Set(unsure.map(({ path }) => path).filter((path) => !same.has(path)))
}

/**
 * Files at desired paths that the records do not name: created on the gateway or, if the records were damaged, owned with a local change.
 */
function foreignFiles({ manifest, diff, observed }: Situation): Change[] {
  return [...diff.puts.keys()].flatMap((path) => {
    const seen = observed.get(path)
    return manifest.files.has(path) || seen?.kind !== 'file' ? [] : [{ path, seen }]
  })
}

function localChanges({ manifest, diff, observed, repairing }: Situation): Drifted[] {
  const going = [...diff.removed].flatMap(([path, prune]) => (prune === 'None' ? [] : [path]))
  return [...diff.puts.keys(), ...going].flatMap((path) => {
    const owned = manifest.files.get(path)
    const seen = observed.get(path)
    if (owned === undefined || seen === undefined || repairing.has(path)) return []
    const wrote = owned.rendered?.id ?? owned.id
    // A file to be deleted that is already gone is not a conflict. A file that an earlier drift check found harmless is not read again.
    const isOthers = seen.kind === 'file' && seen.id !== undefined && seen.id !== wrote && knownVerdict(owned, seen.stat) !== 'harmless'
    const isChanged = seen.kind === 'file' ? isOthers : diff.puts.has(path)
    return isChanged ? [{ path, owned, seen, known: false }] : []
  })
}

/**
 * Of the held files, those that the commit changes to the same content except for who saved them and when: captured changes do not
 * conflict.
 */
async function sameAsCommit(
  { source, renderer }: Originals,
  { target, diff }: Situation,
  withheld: readonly Change[],
  signal: AbortSignal,
): Promise<Set<string>> {
  const result = new Set<string>()
  const toCompare: { path: string; id: BlobId; desiredContent(content: Uint8Array): Uint8Array }[] = []
  for (const { path, seen } of withheld) {
    const put = diff.puts.get(path)
    const mapping = put === undefined ? undefined : diff.mappings[put.mapping]
    if (put === undefined || mapping === undefined || seen.kind !== 'file') continue
    const recipe = recipeOf(mapping, path)
    if (recipe !== undefined && renderer !== undefined)
      toCompare.push({ path, id: put.id, desiredContent: (content) => renderer.file(path, put.id, content, recipe).content })
    else if (put.id === seen.id) result.add(path)
    else if (mayHoldModification(path)) toCompare.push({ path, id: put.id, desiredContent: (content) => content })
  }
  // Their contents are held in memory. Files beyond the limit stay held.
  const compared = toCompare.slice(0, comparedFiles)
  const ids = compared.map(({ id }) => id)
  const blobs = await readBlobs(source, target, ids, comparedBytes, signal)
  return withFolders(target.dataDir, (folders) => {
    for (const { path, id, desiredContent } of compared) {
      const blob = blobs.get(id)
      const present = readPresent(folders, path, comparedBytes)
      if (blob === undefined || present === undefined) continue
      const brought = desiredContent(blob)
      const isSame = Buffer.compare(brought, present) === 0
      if (isSame || (mayHoldModification(path) && differsInModificationOnly(textOf(brought), textOf(present)))) result.add(path)
    }
    return result
  })
}

function textOf(content: Uint8Array): string {
  return Buffer.from(content).toString('utf8')
}
