/**
 * Stages the files of a first sync while they arrive with the listing that names them, so that it needs only one response. The staged files
 * are in the folder of the run, which no gateway reads; the plan decides whether they are used, and anything that it does not need exactly
 * so is discarded as a whole.
 */
import type { Clock } from '../../platform/clock.ts'
import { engineFolder } from '../../api/names.ts'
import { encryptionOf } from '../../validation/model/json-damage.ts'
import { isLfsPointer } from '../../validation/model/lfs-pointer.ts'
import type { DesiredFile } from '../desired/desired-tree.ts'
import { overlapping } from '../desired/mappings.ts'
import { type ArrivingContents, skipContents } from '../desired/read-listing.ts'
import type { Ownership } from '../disk/disk.ts'
import { type Folders, openFolders } from '../disk/folders.ts'
import type { Finding } from '../model/findings.ts'
import type { FileStat } from '../model/manifest.ts'
import type { SyncTarget } from '../model/desired.ts'
import { createObserver, type Observer } from '../plan/observe.ts'
import type { Plan } from '../plan/plan.ts'
import { type Boundary, type RunLocation, removeRun } from './carry-out.ts'
import { createReceiver, createStageFolders, type Staged } from './receive-blobs.ts'
import { createRunFolder } from './stage.ts'

/** Content staged before a plan that needs all of it. */
export type StagedAhead = {
  id: string
  location: RunLocation
  /** The names in the run's folder of the folders that are renamed as a whole. */
  trees: ReadonlyMap<string, string>
  /** Every folder created below the run's folder. */
  made: Set<string>
  /** By index in the plan's `puts`; `count`: how many there are. */
  stats: readonly (FileStat | undefined)[]
  count: number
  findings: readonly Finding[]
}

/** Limit on content that is not desired, such as excluded files, beyond as much as is desired; above it a listing is requested instead. */
const maxUnusedBytes = 1024 * 1024

type Deps = { clock: Pick<Clock, 'uuid'>; boundary: Boundary }

/** Created once per cycle. Never fails a cycle: an error that matters occurs again when the plan is made. */
export class StageAhead {
  readonly #deps: Deps
  readonly #target: SyncTarget
  readonly #ownership: Ownership
  /** Caches thousands of folders, and is handed over once the listing has ended. */
  #observer: Observer | undefined
  #alone: readonly boolean[] = []
  #run: StagingRun | undefined
  #isSkipped = false
  #stagedBytes = 0
  #inVainBytes = 0
  #isWell = true
  #isTaken = false

  /** Creates nothing on the disk before the first file. */
  constructor(deps: Deps, target: SyncTarget, ownership: Ownership) {
    this.#deps = deps
    this.#target = target
    this.#ownership = ownership
    this.#observer = createObserver(target.dataDir)
  }

  /** Receives the contents that come with a listing. */
  readonly contents: ArrivingContents = {
    takes: (mappings) => {
      const shared = overlapping(mappings)
      this.#alone = mappings.map(({ recipe }, index) => recipe === undefined && shared[index] !== true)
      return this.#alone.includes(true)
    },
    begin: (file) => {
      const topmost = this.#newFolderOf(file)
      this.#isSkipped = topmost === undefined
      if (file === undefined || topmost === undefined) return
      this.#attempt(() => {
        this.#run ??= createRun(this.#deps, this.#target, this.#ownership)
        this.#run.begin(file, topmost)
      })
    },
    data: (chunk) => this.#data(chunk),
    end: () => {
      if (this.#isSkipped) return
      this.#attempt(() => this.#run?.end())
      this.#deps.boundary('staged ahead')
    },
    over: () => {
      if (this.#run?.finish() === 'unusable') this.#isWell = false
    },
  }

  /** Returns the observer with its cached folders, once. */
  observer(): Observer | undefined {
    const given = this.#observer
    this.#observer = undefined
    return given
  }

  /** Returns the staged content; undefined if there is none, or if the plan differs from it and it was removed. */
  async take(plan: Plan): Promise<StagedAhead | undefined> {
    if (this.#run === undefined) return undefined
    const { done, kept } = this.#run
    const count = done.files.length
    const stats = this.#isWell ? matched(done, plan) : undefined
    this.#isTaken = stats !== undefined
    // The plan has its own objects for these files, and the apply needs the memory.
    for (const list of [done.files, done.topmost, done.stats]) list.length = 0
    if (stats !== undefined) return { ...kept, stats, count }
    // The apply stages the same contents again, and the disk may not have space for both.
    await removeRun(kept.location)
    return undefined
  }

  /** Removes what was not taken; returns whether there was anything. Never fails. */
  async discard(): Promise<boolean> {
    if (this.#isTaken || this.#run === undefined) return false
    this.#run.close()
    await removeRun(this.#run.kept.location)
    return true
  }

  #data(chunk: Uint8Array): void {
    if (this.#isSkipped) {
      this.#inVainBytes += chunk.length
      if (this.#inVainBytes > maxUnusedBytes + this.#stagedBytes) throw skipContents
      return
    }
    this.#stagedBytes += chunk.length
    this.#attempt(() => this.#run?.data(chunk))
  }

  /** The topmost folder above a file that does not exist yet; undefined if the file is not to be staged here. */
  #newFolderOf(file: DesiredFile | undefined): string | undefined {
    if (file === undefined || this.#alone[file.mapping] !== true) return undefined
    try {
      const seen = this.#observer?.observe(file.path)
      // Nothing below a missing folder can belong to the gateway, be owned already, or be in the way.
      return seen?.kind === 'absent' && seen.topmost !== file.path ? seen.topmost : undefined
    } catch {
      // The plan inspects it too.
      return undefined
    }
  }

  /** Any error here occurs again later, because the apply then stages everything. */
  #attempt(work: () => void): void {
    try {
      work()
    } catch {
      this.#isWell = false
      throw skipContents
    }
  }
}

/** A run's folder into which files are staged as they arrive. */
type StagingRun = {
  kept: Omit<StagedAhead, 'stats' | 'count'>
  /** The staged files, each with the topmost folder that does not exist yet. Parallel lists, to avoid an object per file. */
  done: { files: DesiredFile[]; topmost: string[]; stats: Staged['stats'] }
  /** All three throw what `createReceiver` throws. */
  begin(file: DesiredFile, topmost: string): void
  data(chunk: Uint8Array): void
  end(): void
  /** Writes what has arrived. Never throws; unusable if a file was cut off or could not be written. */
  finish(): 'staged' | 'unusable'
  /** Stops staging; may be called again. */
  close(): void
}

/** Creates the folder. Throws faults of the disk. */
function createRun(deps: Deps, target: SyncTarget, ownership: Ownership): StagingRun {
  const id = deps.clock.uuid()
  const location: RunLocation = { dataDir: target.dataDir, run: `${engineFolder}/run-${id}` }
  const trees = new Map<string, string>()
  const made = new Set<string>([''])
  const findings: Finding[] = []
  const done: StagingRun['done'] = { files: [], topmost: [], stats: [] }
  let isWithinFile = false
  let all: Folders | undefined = openFolders(target.dataDir)
  const placeOf = (index: number): string => {
    const topmost = done.topmost[index] ?? ''
    return `${trees.get(topmost) ?? ''}${done.files[index]?.path.slice(topmost.length) ?? ''}`
  }
  const receiver = createReceiver({
    folders: createStageFolders({ run: location.run, folders: all, ownership, placeOf, made }),
    ownership,
    staged: { stats: done.stats, rendered: new Map() },
    needsRender: () => false,
    render: () => undefined,
    inspect: (put, content) => noteContent(put.path, content, findings),
  })
  const close = (): void => {
    receiver.abandon()
    all?.close()
    all = undefined
  }
  createRunFolder(all.at(location.run), ownership)
  deps.boundary('run created')
  return {
    kept: { id, location, trees, made, findings },
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
 * Returns the stats of what was staged, by index in the plan's `puts`; undefined unless the plan needs every file of it in the same place.
 * Both are iterated in the order of the paths: a map of thousands would cost memory at the point of peak usage.
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

/**
 * Returns the indexes in the order of the paths; undefined if the files are in that order, as git lists them unless names are beyond
 * Unicode's first plane.
 */
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

/** Adds a finding if the content is a pointer of Git LFS, or encrypted by git-crypt or SOPS. */
export function noteContent(path: string, content: Uint8Array, findings: Finding[]): void {
  if (isLfsPointer(content)) {
    findings.push({ rule: 'lfs-pointer', path, message: 'is a Git LFS pointer and not the content; keep the file in git itself' })
    return
  }
  const encryption = encryptionOf(content)
  if (encryption === undefined) return
  const message = `${encryption.problem}, and nothing decrypts it; keep it unencrypted, and without secrets`
  findings.push({ rule: 'encrypted-file', path, message })
}
