/**
 * Stages the files of a first sync while they arrive with the listing that names them, so that it needs one answer and waits for no other. What
 * is staged lies in the run's folder, where no gateway looks; whether it is used the plan decides, and what the plan does not want exactly so
 * is thrown away as a whole.
 */
import type { Clock } from '../../clock.ts'
import { engineFolder } from '../../gatewaysync/names.ts'
import { type ArrivingContents, contentsInVain } from '../desired/arriving.ts'
import type { DesiredFile } from '../desired/desired-tree.ts'
import { overlapping } from '../desired/mappings.ts'
import type { Ownership } from '../disk/disk.ts'
import { type Folders, openFolders } from '../disk/folders.ts'
import type { Finding } from '../model/findings.ts'
import type { FileStat } from '../model/manifest.ts'
import type { Wanted } from '../model/wanted.ts'
import { createObserver, type Observer } from '../plan/observe.ts'
import type { Plan } from '../plan/plan.ts'
import { type Boundary, type Places, removeRun } from './carry-out.ts'
import { noteLfsPointer } from './lfs-finding.ts'
import { createReceiver, type Staged } from './receive-blobs.ts'
import { createRunFolder } from './stage.ts'
import { createStageFolders } from './stage-folders.ts'

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
  contents: ArrivingContents
  /** Gives away what it has seen of folders, once. */
  observer(): Observer | undefined
  /** Undefined where nothing was staged, or the plan wants anything of it otherwise: then it is removed. */
  take(plan: Plan): StagedAhead | undefined
  /** Removes what was not taken; returns whether there was any. Never throws. */
  discard(): boolean
}

/** How much may arrive that nobody wants, such as excluded files, on top of as much as is wanted; beyond that a listing is asked for. */
const mostInVainBytes = 1024 * 1024

type Deps = { clock: Pick<Clock, 'uuid'>; boundary: Boundary }

/** Makes nothing on the disk before the first file. */
export function createStageAhead(deps: Deps, wanted: Wanted, ownership: Ownership): StageAhead {
  /** Remembers thousands of folders, and is given away once the listing has ended. */
  let observer: Observer | undefined = createObserver(wanted.dataDir)
  let alone: readonly boolean[] = []
  let run: StagingRun | undefined
  let isSkipped = false
  let [stagedBytes, inVainBytes] = [0, 0]
  let [isWell, isTaken] = [true, false]

  /** The topmost folder that does not exist yet on the way to a file; undefined where the file is not to be staged here. */
  const newFolderOf = (file: DesiredFile | undefined): string | undefined => {
    if (file === undefined || alone[file.mapping] !== true) return undefined
    try {
      const seen = observer?.look(file.path)
      // Below a folder that is not there nothing can be the gateway's, ours already, or in the way.
      return seen?.kind === 'absent' && seen.topmost !== file.path ? seen.topmost : undefined
    } catch {
      // The plan looks at it too.
      return undefined
    }
  }
  /** Whatever fails here the plan meets again, for then it stages everything. */
  const attempt = (work: () => void): void => {
    try {
      work()
    } catch {
      isWell = false
      throw contentsInVain
    }
  }
  return {
    contents: {
      takes(mappings) {
        const shared = overlapping(mappings)
        alone = mappings.map(({ recipe }, index) => recipe === undefined && shared[index] !== true)
        return alone.includes(true)
      },
      begin(file) {
        const topmost = newFolderOf(file)
        isSkipped = topmost === undefined
        if (file === undefined || topmost === undefined) return
        attempt(() => {
          run ??= createRun(deps, wanted, ownership)
          run.begin(file, topmost)
        })
      },
      data(chunk) {
        if (isSkipped) {
          inVainBytes += chunk.length
          if (inVainBytes > mostInVainBytes + stagedBytes) throw contentsInVain
          return
        }
        stagedBytes += chunk.length
        attempt(() => run?.data(chunk))
      },
      end() {
        if (isSkipped) return
        attempt(() => run?.end())
        deps.boundary('staged ahead')
      },
      over() {
        if (run?.finish() === 'unusable') isWell = false
      },
    },
    observer() {
      const given = observer
      observer = undefined
      return given
    },
    take(plan) {
      if (run === undefined) return undefined
      const { done, kept } = run
      const count = done.files.length
      const stats = isWell ? matched(done, plan) : undefined
      isTaken = stats !== undefined
      // The plan has objects of its own for these files, and the publish needs the memory.
      for (const list of [done.files, done.topmost, done.stats]) list.length = 0
      if (stats !== undefined) return { ...kept, stats, count }
      // The publish stages the same contents anew, and there may be no room for both.
      removeRun(kept.places)
      return undefined
    },
    discard() {
      if (isTaken || run === undefined) return false
      run.close()
      removeRun(run.kept.places)
      return true
    },
  }
}

/** A run's folder that files are staged into as they arrive. */
type StagingRun = {
  kept: Omit<StagedAhead, 'stats' | 'count'>
  /** What is staged, and for each file the topmost folder that does not exist yet. No object of its own for each file. */
  done: { files: DesiredFile[]; topmost: string[]; stats: Staged['stats'] }
  /** All three throw what `createReceiver` throws. */
  begin(file: DesiredFile, topmost: string): void
  data(chunk: Uint8Array): void
  end(): void
  /** Writes what has come. Never throws; unusable where a file was cut off, or the disk says no. */
  finish(): 'staged' | 'unusable'
  /** Ends it where it is; may be called again. */
  close(): void
}

/** Makes the folder. Throws faults of the disk. */
function createRun(deps: Deps, wanted: Wanted, ownership: Ownership): StagingRun {
  const id = deps.clock.uuid()
  const places: Places = { dataDir: wanted.dataDir, run: `${engineFolder}/run-${id}` }
  const trees = new Map<string, string>()
  const made = new Set<string>([''])
  const findings: Finding[] = []
  const done: StagingRun['done'] = { files: [], topmost: [], stats: [] }
  let isWithinFile = false
  let all: Folders | undefined = openFolders(wanted.dataDir)
  const placeOf = (index: number): string => {
    const topmost = done.topmost[index] ?? ''
    return `${trees.get(topmost) ?? ''}${done.files[index]?.path.slice(topmost.length) ?? ''}`
  }
  const receiver = createReceiver({
    folders: createStageFolders({ run: places.run, folders: all, ownership, placeOf, made }),
    ownership,
    staged: { stats: done.stats, rendered: new Map() },
    needsRender: () => false,
    render: () => undefined,
    inspect: (put, content) => noteLfsPointer(put.path, content, findings),
  })
  const close = (): void => {
    receiver.abandon()
    all?.[Symbol.dispose]()
    all = undefined
  }
  createRunFolder(all.at(places.run), ownership)
  deps.boundary('run created')
  return {
    kept: { id, places, trees, made, findings },
    done,
    begin(file, topmost) {
      if (!trees.has(topmost)) trees.set(topmost, `t${trees.size}`)
      const index = done.files.push(file) - 1
      done.topmost.push(topmost)
      isWithinFile = true
      receiver.begin(file.id, file.size, [{ put: file, index }])
    },
    data: (chunk) => receiver.data(chunk),
    end() {
      receiver.end()
      isWithinFile = false
    },
    finish() {
      try {
        receiver.finish()
        return isWithinFile ? 'unusable' : 'staged'
      } catch {
        return 'unusable'
      } finally {
        close()
      }
    },
    close,
  }
}

/**
 * The stats of what was staged, by index in the plan's `puts`; undefined unless the plan wants every file of it in the same place. Both are gone
 * through in the order of the paths: a map of thousands would cost memory where most of it is in use.
 */
function matched({ files, topmost, stats }: StagingRun['done'], { puts }: Plan): (FileStat | undefined)[] | undefined {
  const inOrder = orderOf(files)
  const result: (FileStat | undefined)[] = Array.from({ length: puts.length })
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
