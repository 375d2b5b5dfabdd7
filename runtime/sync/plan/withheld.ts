/**
 * With `drift: Hold`, finds the local changes that a commit would overwrite or delete: they stop it until they are captured or discarded.
 */
import type { BlobId } from '../../content/protocol/protocol.ts'
import type { Diff } from '../desired/diff.ts'
import { recipeOf } from '../desired/mappings.ts'
import { readBlobs } from '../desired/small-blobs.ts'
import { readPresent, withFolders } from '../disk/folders.ts'
import type { Manifest } from '../model/manifest.ts'
import { activeMode, type SyncTarget } from '../model/desired.ts'
import { differsInModificationOnly, isFirstBootRewrite, knownVerdict, mayHoldModification } from './drift.ts'
import { comparedBytes, comparedFiles, type Drifted, type Originals, savedByGateway } from './classify-drift.ts'
import type { Observations } from './observed.ts'

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
  const same = await broughtAsTheyAre(originals, situation, unsure, signal)
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
async function broughtAsTheyAre(
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
