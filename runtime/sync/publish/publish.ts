/**
 * The writing half of a cycle: stage -> journal -> publish -> manifest. Up to the journal everything can be abandoned without a trace; from
 * the journal on it runs to its end without awaiting, or is undone.
 */
import type { Clock } from '../../clock.ts'
import type { BlobsRequest, Source } from '../../delivery/protocol.ts'
import { Fault } from '../../fault.ts'
import type { Log } from '../../log.ts'
import { dropClean } from '../disk/clean-marker.ts'
import type { DesiredFile } from '../desired/desired-tree.ts'
import type { Finding } from '../model/findings.ts'
import type { Wanted } from '../model/wanted.ts'
import { engineFolder } from '../../gatewaysync/names.ts'
import { diskFault, type Ownership } from '../disk/disk.ts'
import { openFolders } from '../disk/folders.ts'
import { dropJournal, type Journal, writeJournal } from './journal.ts'
import { layOut, type Layout } from './steps.ts'
import { confirmLock } from '../disk/lock.ts'
import type { Manifest, ManifestChanges, State } from '../model/manifest.ts'
import { changeLines, inPieces } from '../model/manifest-lines.ts'
import { appendManifest } from '../disk/manifest-file.ts'
import { recipeOf } from '../desired/mappings.ts'
import type { Prepared } from '../plan/make-plan.ts'
import { type Boundary, carryOut, type Places, removeEmptied, removeRun, undo } from './carry-out.ts'
import type { GatewayStatus } from '../../gateway/gateway.ts'
import { noteLfsPointer } from './lfs-finding.ts'
import type { StageAhead } from './stage-ahead.ts'
import type { Staged } from './receive-blobs.ts'
import { createRunFolder, createStage, type Stage, type StageOptions } from './stage.ts'

/** New content that is staged, and how it will be put in place. `judged`: folders of the resources that were checked. */
export type StagedRun = {
  id: string
  places: Places
  layout: Layout
  staged: Staged
  findings: Finding[]
  judged: ReadonlySet<string>
}

/** One publish: what is wanted, what is ours, the plan, the owner of new files, and the gateway's status when the cycle began. */
export type Run = {
  wanted: Wanted
  manifest: Manifest
  prepared: Prepared
  ownership: Ownership
  status: GatewayStatus | undefined
  /** What the gateway complained of before anything was written; undefined: nobody can say. */
  problems: string[] | undefined
}

/** Writes all new content into the run's folder. A failure or an abort leaves nothing behind. Throws what `createStage` and the source throw. */
export async function stageAll(
  deps: { source: Source; clock: Clock; ahead?: Pick<StageAhead, 'take'>; watch?: Pick<StageOptions, 'arrived'> },
  { wanted, prepared, ownership }: Run,
  boundary: Boundary,
  signal: AbortSignal,
): Promise<StagedRun> {
  const { plan, diff, renderer } = prepared
  const ahead = deps.ahead?.take(plan)
  const id = ahead?.id ?? deps.clock.uuid()
  const places = ahead?.places ?? { dataDir: wanted.dataDir, run: `${engineFolder}/run-${id}` }
  const layout = layOut(plan, ahead?.trees)
  const findings: Finding[] = [...(ahead?.findings ?? [])]
  const before = ahead?.count ?? 0
  const recipe = (put: DesiredFile) => {
    const mapping = diff.mappings[put.mapping]
    return mapping === undefined ? undefined : recipeOf(mapping, put.path)
  }
  using folders = openFolders(wanted.dataDir)
  if (ahead === undefined) createRunFolder(folders.at(places.run), ownership)
  let stage: Stage | undefined
  try {
    stage = createStage({
      run: places.run,
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
      inspect: (put, content) => noteLfsPointer(put.path, content, findings),
    })
    if (ahead === undefined) boundary('run created')
    if (stage.ids.length > 0) {
      await receive(deps.source, { commit: wanted.commit, profile: wanted.profile.name, ids: stage.ids }, stage, signal)
    }
    stage.finish()
    boundary('staged')
    return { id, places, layout, staged: stage.staged, findings, judged: new Set() }
  } catch (error) {
    stage?.abandon()
    removeRun(places)
    throw error
  }
}

/** Makes the folders while the answer begins, which takes a while for thousands of blobs. */
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

/** Removes what was staged. */
export function discard(run: StagedRun): void {
  removeRun(run.places)
}

/**
 * Puts everything in place, or nothing: when a step fails, the folder is brought back to the old commit and the fault is thrown. Never awaits.
 */
export function publishRun(
  deps: { log: Log },
  { wanted, manifest, prepared }: Run,
  staged: StagedRun,
  state: State,
  boundary: Boundary,
): void {
  const { dataDir } = wanted
  const { places } = staged
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
  try {
    confirmLock(dataDir)
    dropClean(dataDir)
    writeJournal(dataDir, journal, lines)
  } catch (error) {
    removeRun(places)
    throw diskFault(error, '.cluster-sync')
  }
  boundary('journal')
  try {
    carryOut(places, journal.steps, false, boundary)
    appendManifest(dataDir, manifest, changes, state, lines)
  } catch (error) {
    rollBack(deps, places, journal, error)
    dropJournal(dataDir)
    removeRun(places)
    throw diskFault(error, '.cluster-sync/manifest')
  }
  boundary('manifest')
  removeEmptied(dataDir, journal.emptied)
  boundary('emptied')
  dropJournal(dataDir)
  boundary('journal dropped')
  removeRun(places)
  boundary('run removed')
}

/** Undoes a failed publish. If that fails too, the first fault is thrown all the same; the journal stays, and the next cycle ends it. */
function rollBack({ log }: { log: Log }, places: Places, journal: Journal, cause: unknown): void {
  try {
    undo(places, journal.steps)
  } catch (error) {
    log.error({ err: error, commit: journal.state.commit ?? '' }, 'a failed publish could not be undone yet; the next cycle tries again')
    const fault = diskFault(cause, 'publish')
    throw fault instanceof Fault
      ? new Fault(fault.reason, `${fault.message}; the folder holds a mixture until the next try`, { cause: error })
      : fault
  }
}

/** The manifest's changes once the run is published; `run` undefined when no file is written. */
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
        yield { path, owned: { id, exec, mapping, stat, rendered: undefined, judged: undefined } }
      }
      for (let index = 0; index < puts.length; index += 1) {
        const put = puts[index]
        const stat = run?.staged.stats[index]
        if (put === undefined || stat === undefined) throw new Fault('Unexpected', 'a file was not staged')
        const { path, id, exec, mapping } = put
        yield { path, owned: { id, exec, mapping, stat, rendered: run?.staged.rendered.get(index), judged: undefined } }
      }
    },
  }
}
