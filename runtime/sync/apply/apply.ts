/**
 * The writing half of a cycle: stage -> journal -> apply -> manifest. Until the journal is written everything can be dropped without a
 * trace; after that it runs to its end without awaiting, or is undone.
 */
import type { Clock } from '../../platform/clock.ts'
import type { BlobsRequest, Source } from '../../content/protocol/protocol.ts'
import { Fault } from '../../platform/fault.ts'
import { dropClean } from '../disk/clean-marker.ts'
import type { DesiredFile } from '../desired/desired-tree.ts'
import type { Finding } from '../model/findings.ts'
import type { SyncTarget } from '../model/desired.ts'
import { engineFolder } from '../../api/names.ts'
import { diskFault, type Ownership, withDiskFault } from '../disk/disk.ts'
import { type Folders, openFolders } from '../disk/folders.ts'
import { dropJournal, type Journal, writeJournal } from './journal.ts'
import { layOut, type Layout } from './steps.ts'
import { confirmLock } from '../disk/lock.ts'
import type { Manifest, ManifestChanges, State } from '../model/manifest.ts'
import { changeLines, inPieces } from '../model/manifest-lines.ts'
import { appendManifest } from '../disk/manifest-file.ts'
import { recipeOf } from '../desired/mappings.ts'
import type { Prepared } from '../plan/make-plan.ts'
import { type Boundary, entriesOf, type RunLocation, removeEmptied, removeRun } from './carry-out.ts'
import { type Effects, applySteps } from './apply-order.ts'
import type { GatewayStatus } from '../../gateway/gateway.ts'
import { noteContent, type StageAhead } from './stage-ahead.ts'
import type { Staged } from './receive-blobs.ts'
import { createRunFolder, createStage, type Stage, type StageOptions } from './stage.ts'

/** Staged new content, and how it will be put in place. `classified`: folders of the validated resources. */
export type StagedRun = {
  id: string
  location: RunLocation
  layout: Layout
  staged: Staged
  findings: Finding[]
  classified: ReadonlySet<string>
}

/** One apply: the desired commit, the manifest, the plan, the owner of new files, and the gateway's status at the start of the cycle. */
export type Run = {
  target: SyncTarget
  manifest: Manifest
  prepared: Prepared
  ownership: Ownership
  status: GatewayStatus | undefined
  /** The problems that the gateway reported before anything was written; undefined: unknown. */
  problems: string[] | undefined
}

/** Writes all new content into the run's folder. A failure or an abort leaves no files. Throws what `createStage` and the source throw. */
export async function stageAll(
  deps: { source: Source; clock: Clock; ahead?: Pick<StageAhead, 'take'>; watch?: Pick<StageOptions, 'arrived'> },
  { target, prepared, ownership }: Run,
  boundary: Boundary,
  signal: AbortSignal,
): Promise<StagedRun> {
  const { plan, diff, renderer } = prepared
  const ahead = await deps.ahead?.take(plan)
  const id = ahead?.id ?? deps.clock.uuid()
  const location = ahead?.location ?? { dataDir: target.dataDir, run: `${engineFolder}/run-${id}` }
  const layout = layOut(plan, ahead?.trees)
  const findings: Finding[] = [...(ahead?.findings ?? [])]
  const before = ahead?.count ?? 0
  const recipe = (put: DesiredFile) => {
    const mapping = diff.mappings[put.mapping]
    return mapping === undefined ? undefined : recipeOf(mapping, put.path)
  }
  const folders = openFolders(target.dataDir)
  try {
    if (ahead === undefined) createRunFolder(folders.at(location.run), ownership)
    let stage: Stage | undefined
    try {
      stage = createStage({
        run: location.run,
        folders,
        ownership,
        puts: plan.puts,
        placeOf: (index) => layout.placeOf(index),
        ...(ahead === undefined ? {} : { made: ahead.made, present: ahead.stats }),
        needsRender: (put) => recipe(put) !== undefined,
        render(put, content) {
          const wants = recipe(put)
          if (wants === undefined || renderer === undefined) return undefined
          const made = renderer.file(put.path, put.id, content, wants)
          findings.push(...made.findings)
          return made
        },
        arrived: (done, total) => deps.watch?.arrived?.(before + done, before + total),
        inspect: (put, content) => noteContent(put.path, content, findings),
      })
      if (ahead === undefined) boundary('run created')
      if (stage.ids.length > 0) {
        await receive(deps.source, { commit: target.commit, profile: target.profile.name, ids: stage.ids }, stage, signal)
      }
      stage.finish()
      boundary('staged')
      return { id, location, layout, staged: stage.staged, findings, classified: new Set() }
    } catch (error) {
      stage?.abandon()
      await removeRun(location)
      throw error
    }
  } finally {
    folders.close()
  }
}

/** Creates the folders while the response begins, which takes a while for thousands of blobs. */
async function receive(source: Source, request: BlobsRequest, stage: Stage, signal: AbortSignal): Promise<void> {
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  const content = source.blobs(request, stage.sink, either)
  content.catch((error: unknown) => failed.abort(error))
  try {
    await stage.makeFolders(either)
  } catch (error) {
    failed.abort(error)
    await content.catch(() => undefined)
    throw error
  }
  await content
}

/** Removes the staged content. */
export async function discard(run: StagedRun): Promise<void> {
  await removeRun(run.location)
}

/**
 * Puts everything in place, or nothing: if a step fails, the folder is restored to the old commit. Awaits only at the end, when the staged
 * and the kept files are removed. Throws a fault of the disk; if the journal still exists afterwards, the next start finishes or undoes the apply.
 */
export async function applyRun({ target, manifest, prepared }: Run, staged: StagedRun, state: State, boundary: Boundary): Promise<void> {
  const { dataDir } = target
  const { location } = staged
  const changes = manifestChanges(manifest, staged, prepared)
  const lines = [...inPieces(changeLines(changes))]
  const journal: Journal = {
    run: `run-${staged.id}`,
    bootId: state.bootId,
    base: manifest.state?.publish ?? null,
    steps: staged.layout.steps,
    emptied: staged.layout.emptied,
    changes,
    state,
  }
  const folders = openFolders(dataDir)
  try {
    const effects = diskEffects(folders, location, journal, () => appendManifest(dataDir, manifest, changes, state, lines))
    const begin = (): void => {
      confirmLock(dataDir)
      dropClean(dataDir)
      writeJournal(dataDir, journal, lines)
    }
    const whole = { ...effects, writeJournal: () => withDiskFault(begin, '.cluster-sync/journal') }
    await applySteps(whole, journal.steps, boundary)
  } catch (error) {
    throw diskFault(error, engineFolder)
  } finally {
    folders.close()
  }
}

/** The manifest's changes once the run is applied; `run` undefined if no file is written. */
export function manifestChanges(
  manifest: Manifest,
  run: Pick<StagedRun, 'staged'> | undefined,
  { plan, learned }: Prepared,
): ManifestChanges {
  const gone = [...plan.deletes.filter(({ path }) => manifest.files.has(path)).map(({ path }) => path), ...plan.released]
  const puts = run === undefined ? [] : plan.puts
  return {
    length: gone.length + learned.length + plan.adopts.length + puts.length,
    *[Symbol.iterator]() {
      for (const path of gone) yield { path, owned: undefined }
      yield* learned
      for (const { path, id, exec, mapping, stat } of plan.adopts) {
        yield { path, owned: { id, exec, mapping, stat, rendered: undefined, driftVerdict: undefined } }
      }
      for (let index = 0; index < puts.length; index += 1) {
        const put = puts[index]
        const stat = run?.staged.stats[index]
        if (put === undefined || stat === undefined) throw new Fault('Unexpected', 'a file was not staged')
        const { path, id, exec, mapping } = put
        yield { path, owned: { id, exec, mapping, stat, rendered: run?.staged.rendered.get(index), driftVerdict: undefined } }
      }
    },
  }
}

/** `record`: writes the manifest. */
export function diskEffects(
  folders: Folders,
  location: RunLocation,
  { emptied }: Pick<Journal, 'emptied'>,
  record: () => void,
): Omit<Effects, 'writeJournal'> {
  return {
    ...entriesOf(location, folders),
    record: () => withDiskFault(record, '.cluster-sync/manifest'),
    removeEmptied: () => removeEmptied(location.dataDir, emptied),
    dropJournal: () => withDiskFault(() => dropJournal(location.dataDir), '.cluster-sync/journal'),
    removeRun: () => removeRun(location),
  }
}
