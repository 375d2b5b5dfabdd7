/**
 * Separates local changes from changes that gateways make themselves, and selects those to revert.
 */
import type { Source } from '../../content/protocol/protocol.ts'
import type { Diff } from '../desired/diff.ts'
import { recipeOf } from '../desired/mappings.ts'
import { readBlobs } from '../desired/small-blobs.ts'
import { readPresent, withFolders } from '../disk/folders.ts'
import type { DriftVerdict, Manifest, ManifestChange, Owned } from '../model/manifest.ts'
import { activeMode, type SyncTarget } from '../model/desired.ts'
import type { Renderer } from '../render/render.ts'
import { differsInModificationOnly, isFirstBootRewrite, knownVerdict, mayHoldModification } from './drift.ts'
import type { DriftedFile } from './observe.ts'
import type { Observed } from './observed.ts'

/** Which local changes are reverted: as the profile configures, all (after a power loss), or also files that a first boot rewrote. */
export type Repair = 'as-configured' | 'verify-content' | 'after-commissioning'

/** Limit on the originals that one cycle fetches to compare with files that a gateway saved; each at most 1 MiB. */
export const comparedFiles = 200
export const comparedBytes = 1024 * 1024

/** An owned file that differs from what was written. `known`: an earlier cycle has classified it in this state. */
export type Drifted = DriftedFile & { owned: Owned; known: boolean }
type Classified = { drifted: Drifted[]; harmless: Drifted[]; learned: ManifestChange[] }

/** What is needed to render the written version of a file again, to compare it with the one on disk. */
export type Originals = { source: Source; renderer: Renderer | undefined }

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
export async function savedByGateway(
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
