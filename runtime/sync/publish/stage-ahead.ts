/**
 * Stages new files while the listing that names them still arrives, so that a first sync does not wait for one answer before it asks for the
 * next. What is staged lies in the run's folder, where no gateway looks; whether it is used the plan decides, and what the plan does not want
 * exactly so is thrown away as a whole.
 */
import type { Source } from '../../delivery/protocol.ts'
import type { Clock } from '../../clock.ts'
import type { DesiredFile } from '../desired/desired-tree.ts'
import type { ListedFiles } from '../desired/diff.ts'
import { overlapping, type ResolvedMapping } from '../desired/mappings.ts'
import { type Folders, openFolders } from '../disk/folders.ts'
import type { Ownership } from '../disk/disk.ts'
import type { Finding } from '../model/findings.ts'
import type { FileStat } from '../model/manifest.ts'
import type { Wanted } from '../model/wanted.ts'
import { engineFolder } from '../../gatewaysync/names.ts'
import type { Observed } from '../plan/observed.ts'
import { createObserver, type Observer } from '../plan/observe.ts'
import type { Plan, PlannedPut } from '../plan/plan.ts'
import { type Boundary, type Places, removeRun } from './carry-out.ts'
import { noteLfsPointer } from './lfs-finding.ts'
import { createRunFolder, createStage, type Staged } from './stage.ts'

/** What was staged ahead of a plan that wants all of it. */
export type StagedAhead = {
  id: string
  places: Places
  /** The names in the run's folder of the folders that go into place as a whole. */
  trees: ReadonlyMap<string, string>
  /** Every folder that was made below the run's folder. */
  made: Set<string>
  /** By index in the plan's `puts`; `count`: how many there are. */
  stats: readonly (FileStat | undefined)[]
  count: number
  findings: readonly Finding[]
}

/** One for each cycle. Nothing of it ever fails a cycle: what goes wrong here the plan meets again, or nobody does. */
export type StageAhead = {
  listed: ListedFiles
  /** Gives away what it has seen of folders, once. */
  observer(): Observer | undefined
  /** Waits for what is under way. Undefined where nothing was staged, or the plan wants anything of it otherwise: then it is removed. */
  take(plan: Plan): Promise<StagedAhead | undefined>
  /** Ends what is under way and removes what was not taken; returns whether there was any. Never throws. */
  discard(): Promise<boolean>
}

/**
 * How many files are asked for at a time; the last number holds for all further calls, each of which begins a git at the controller, and is
 * below what one request may ask for. Equal for all agents, for those that ask for the same share an answer. Whoever has fewer files than the
 * first asks once, behind the listing and over its connection: another handshake would cost more than the time that it gains.
 */
export const aheadBatches: readonly number[] = [4_000, 16_000]

type Deps = { source: Source; clock: Pick<Clock, 'uuid'>; batches: readonly number[]; boundary: Boundary }
/** What is to be staged, and where: the topmost folder of each file that does not exist yet. No object of its own for each file. */
type Files = { files: DesiredFile[]; topmost: string[] }

/** Makes nothing before the first batch. `signal` ends what is under way. */
export function createStageAhead(deps: Deps, wanted: Wanted, ownership: Ownership, signal: AbortSignal): StageAhead {
  const over = new AbortController()
  const run = createRun(deps, wanted, ownership, AbortSignal.any([signal, over.signal]))
  /** Remembers thousands of folders, and is given away once the listing has ended. */
  let observer: Observer | undefined = createObserver(wanted.dataDir)
  let waiting: Files = { files: [], topmost: [] }
  let alone: readonly boolean[] = []
  let taken = false

  const begin = (): void => {
    run.stage(waiting)
    waiting = { files: [], topmost: [] }
  }
  const lookAt = (file: string): Observed | undefined => {
    try {
      return observer?.look(file)
    } catch {
      // The plan looks at it too.
      return undefined
    }
  }
  return {
    listed: {
      mappings(mappings: readonly ResolvedMapping[]) {
        const shared = overlapping(mappings)
        alone = mappings.map(({ recipe }, index) => recipe === undefined && shared[index] !== true)
      },
      add(file: DesiredFile) {
        if (alone[file.mapping] !== true) return
        const seen = lookAt(file.path)
        // Below a folder that is not there nothing can be the gateway's, ours already, or in the way.
        if (seen?.kind !== 'absent' || seen.topmost === file.path) return
        waiting.files.push(file)
        waiting.topmost.push(seen.topmost)
        const { batches } = deps
        if (waiting.files.length >= (batches[Math.min(run.batches(), batches.length - 1)] ?? 0)) begin()
      },
      end() {
        if (run.batches() > 0 && waiting.files.length > 0) begin()
      },
    },
    observer() {
      const given = observer
      observer = undefined
      return given
    },
    async take(plan) {
      if (run.batches() === 0) return undefined
      const isWell = await run.settled()
      const { files, topmost, stats: staged } = run.done
      const count = files.length
      const stats = isWell ? matched(run.done, plan) : undefined
      taken = stats !== undefined
      // The plan has objects of its own for these files, and the publish needs the memory.
      for (const list of [files, topmost, staged]) list.length = 0
      if (stats !== undefined) return { ...run.kept, stats, count }
      // The publish stages the same contents anew, and there may be no room for both.
      removeRun(run.kept.places)
      return undefined
    },
    async discard() {
      if (taken || run.batches() === 0) return false
      over.abort(new Error('nobody wants what is staged ahead'))
      await run.settled()
      removeRun(run.kept.places)
      return true
    },
  }
}

/** A run's folder that batches are staged into, one after the other. */
type StagingRun = {
  kept: Omit<StagedAhead, 'stats' | 'count'>
  done: Files & Pick<Staged, 'stats'>
  /** How many batches were begun. */
  batches(): number
  stage(batch: Files): void
  /** Settles when no batch is under way: whether all of them are staged. Never rejects. */
  settled(): Promise<boolean>
}

/** The folder is made with the first batch. */
function createRun(deps: Deps, wanted: Wanted, ownership: Ownership, signal: AbortSignal): StagingRun {
  const id = deps.clock.uuid()
  const places: Places = { dataDir: wanted.dataDir, run: `${engineFolder}/run-${id}` }
  const trees = new Map<string, string>()
  const made = new Set<string>([''])
  const findings: Finding[] = []
  const done: StagingRun['done'] = { files: [], topmost: [], stats: [] }
  let folders: Folders | undefined
  let batches = 0
  let running = Promise.resolve(true)

  const receive = async ({ files, topmost }: Files): Promise<void> => {
    signal.throwIfAborted()
    if (folders === undefined) {
      folders = openFolders(wanted.dataDir)
      createRunFolder(folders.at(places.run), ownership)
      deps.boundary('run created')
    }
    const puts = files.map((file, at): PlannedPut => ({ ...file, before: 'absent', topmost: topmost[at] ?? '' }))
    const stage = createStage({
      run: places.run,
      folders,
      ownership,
      puts,
      made,
      placeOf: (index) => placeOf(puts[index], trees),
      needsRender: () => false,
      render: () => undefined,
      inspect: (put, content) => noteLfsPointer(put.path, content, findings),
    })
    try {
      await deps.source.blobs({ commit: wanted.commit, profile: wanted.profile.name, ids: stage.ids }, stage.sink, signal)
      stage.finish()
    } catch (error) {
      stage.abandon()
      throw error
    }
    // Not spread into one call: its arguments have a limit.
    for (const file of files) done.files.push(file)
    for (const folder of topmost) done.topmost.push(folder)
    for (const stat of stage.staged.stats) done.stats.push(stat)
    deps.boundary('staged ahead')
  }
  return {
    kept: { id, places, trees, made, findings },
    done,
    batches: () => batches,
    stage(batch) {
      batches += 1
      for (const topmost of batch.topmost) if (!trees.has(topmost)) trees.set(topmost, `t${trees.size}`)
      running = running.then(async (isWell) => {
        if (!isWell) return false
        return await receive(batch).then(
          () => true,
          () => false,
        )
      })
    },
    async settled() {
      const isWell = await running
      folders?.[Symbol.dispose]()
      return isWell
    },
  }
}

/**
 * The stats of what was staged, by index in the plan's `puts`; undefined unless the plan wants every file of it in the same place. Both are gone
 * through in the order of the paths: a map of thousands would cost memory where most of it is in use.
 */
function matched({ files, topmost, stats }: StagingRun['done'], { puts }: Plan): (FileStat | undefined)[] | undefined {
  const inOrder = orderOf(files)
  const result: (FileStat | undefined)[] = Array.from(puts, () => undefined)
  let next = 0
  for (let index = 0; index < puts.length && next < files.length; index += 1) {
    const at = inOrder?.[next] ?? next
    const put = puts[index]
    const file = files[at]
    if (put === undefined || file?.path !== put.path) continue
    if (!isSame(file, put) || put.before !== 'absent' || put.topmost !== topmost[at]) return undefined
    result[index] = stats[at]
    next += 1
  }
  return next === files.length ? result : undefined
}

/** The indexes in the order of the paths; undefined where the files are in that order, as git lists them unless names are beyond Unicode's first plane. */
function orderOf(files: readonly DesiredFile[]): Uint32Array | undefined {
  let before = ''
  const isInOrder = files.every(({ path }) => {
    const follows = before <= path
    before = path
    return follows
  })
  if (isInOrder) return undefined
  return Uint32Array.from(files.keys()).toSorted((a, b) => ((files[a]?.path ?? '') < (files[b]?.path ?? '') ? -1 : 1))
}

function isSame(one: DesiredFile, other: DesiredFile): boolean {
  return one.id === other.id && one.exec === other.exec && one.mapping === other.mapping
}

function placeOf(put: PlannedPut | undefined, trees: ReadonlyMap<string, string>): string {
  return put === undefined ? '' : `${trees.get(put.topmost) ?? ''}${put.path.slice(put.topmost.length)}`
}
