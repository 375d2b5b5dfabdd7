/**
 * Determines the changes after which a data directory contains exactly the desired files, as data. Takes the desired files, the owned
 * files, and what was found on disk at those paths; nothing else is touched. Pure.
 */
import type { BlobId } from '../../content/protocol/protocol.ts'
import { type CommitHash, folderAbove, foldName, parentOf } from '../../api/values.ts'
import type { Finding } from '../model/findings.ts'
import { describeCollision, type FilePaths, findPathCollisions, type Aliases } from './path-collisions.ts'
import type { DesiredFile } from '../desired/desired-tree.ts'
import type { FileStat, Owned } from '../model/manifest.ts'
import type { Prune } from '../desired/mappings.ts'
import type { Observations } from './observed.ts'
import { type Problem, refusals } from './refusals.ts'
import { isForbidden, isGatewayIdentity, scanKind, type ScanKind, tooLong } from '../model/paths.ts'

/** A file to write. `before`: what is at its path now. */
export type PlannedPut = DesiredFile & {
  before: 'absent' | 'file' | 'folder'
  /** The topmost folder that does not exist yet: it is staged and renamed as a whole. The file's own path if all folders exist. */
  topmost: string
}
/** A file that has the right content already: only the manifest records it. */
export type Adopted = DesiredFile & { stat: FileStat }
/**
 * `gone`: owned, and no longer desired; `foreign`: not owned, deleted by `prune: All`. `isObstacle`: must be deleted before the new files are
 * written.
 */
export type PlannedDelete = { path: string; why: 'gone' | 'foreign'; isObstacle: boolean }

/** Files, except `bytes`: the size of the files to write. */
export type Counts = { added: number; changed: number; removed: number; unchanged: number; bytes: number }

/** The changes. Lists are in the order of their paths. */
export type Plan = {
  puts: PlannedPut[]
  adopts: Adopted[]
  deletes: PlannedDelete[]
  /** No longer owned, but not touched: already gone, or not to be pruned. */
  released: string[]
  problems: Problem[]
  findings: Finding[]
  /** Folders that are moved away as a whole, with the files in `deletes`, and return under another spelling. */
  respelled: string[]
  counts: Counts
  /** The scans by which the gateway reads the changed files. */
  scan: ScanKind[]
}

export type PlanInput = {
  /** Length in bytes of the data directory's own path. */
  rootBytes: number
  puts: ReadonlyMap<string, DesiredFile>
  /** Owned paths that are no longer desired, with the `prune` of their mapping. */
  removed: ReadonlyMap<string, Prune>
  /** Not owned, below a folder of a mapping with `prune: All`. */
  foreign: readonly string[]
  owned: ReadonlyMap<string, Owned>
  observed: Pick<Observations, 'get'>
  /** Desired paths that are other spellings of files to be deleted; folders only if they hold nothing else. */
  aliases: Aliases
  /** Paths that are being repaired: their local changes are overwritten without a finding. */
  repairing: ReadonlySet<string>
  /** Paths whose local changes must not be lost. */
  withheld: ReadonlySet<string>
  prunesAll(mapping: number): boolean
  /** Whether a template or patch renders the file from its blob, so that finding the blob itself there is not enough. */
  isRendered(file: DesiredFile): boolean
  maxDeletions: string | number
  commit: CommitHash
  confirmedDeletions: CommitHash | undefined
  /** The gateway's deployment mode; `''` or undefined: none. */
  mode: string | undefined
}

/**
 * Takes the files to write, the owned files, and what was found at those paths; returns puts, deletes, adoptions, problems and findings.
 * Never throws; a plan with problems must not be carried out.
 */
export function plan(input: PlanInput): Plan {
  const result: Plan = {
    puts: [],
    adopts: [],
    deletes: [],
    released: [],
    problems: [],
    findings: [],
    respelled: input.aliases.folders.map(({ from }) => from),
    counts: { added: 0, changed: 0, removed: 0, unchanged: input.owned.size, bytes: 0 },
    scan: [],
  }
  planDeletes(input, result)
  const goingFirst = new Set(input.aliases.files.values())
  for (const deletion of result.deletes) deletion.isObstacle ||= goingFirst.has(deletion.path)
  const going = new Map(result.deletes.map((deletion) => [deletion.path, deletion]))
  const returning = new Set(input.aliases.folders.map(({ to }) => to))
  for (const file of inOrder(input.puts.values())) planPut(input, result, file, { going, returning })
  findCollisions(input, result, going)
  result.problems.push(...refusals(input, result))
  const touches = (kind: ScanKind): boolean => [result.puts, result.deletes].some((all) => all.some(({ path }) => scanKind(path) === kind))
  result.scan = (['projects', 'config'] as const).filter(touches)
  result.counts.removed = result.deletes.length
  return result
}

function planDeletes(input: PlanInput, result: Plan): void {
  const staying = inodesOfStaying(input)
  for (const path of [...input.removed.keys()].toSorted()) {
    const seen = input.observed.get(path)
    result.counts.unchanged -= 1
    if (seen?.kind === 'file' && foldName(staying.get(seen.stat.ino) ?? '') === foldName(path)) {
      // Another spelling of a file that stays: deleting it would delete that file.
      result.released.push(path)
      continue
    }
    if (seen?.kind === 'file' && input.removed.get(path) !== 'None') {
      reportLocalChange(input, result, path, seen.id, 'deletes')
      result.deletes.push({ path, why: 'gone', isObstacle: false })
      continue
    }
    result.released.push(path)
    if (seen?.kind !== 'special') continue
    result.findings.push({ rule: 'left-in-place', path, message: `is no longer a managed file (${seen.what}) and is left unchanged` })
  }
  for (const path of input.foreign.toSorted()) result.deletes.push({ path, why: 'foreign', isObstacle: false })
}

function inodesOfStaying({ removed, owned, puts }: PlanInput): Map<number, string> {
  const result = new Map<number, string>()
  if (removed.size === 0) return result
  for (const [path, { stat }] of owned) if (!removed.has(path) && !puts.has(path)) result.set(stat.ino, path)
  return result
}

/** Sorts by path; most input is in that order already. */
function inOrder(files: Iterable<DesiredFile>): DesiredFile[] {
  return [...files].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** `going`: deletions by path; `returning`: folders that return under another spelling. */
type Moving = { going: Map<string, PlannedDelete>; returning: ReadonlySet<string> }

function planPut(input: PlanInput, result: Plan, file: DesiredFile, { going, returning }: Moving): void {
  const { path } = file
  const length = tooLong(path, input.rootBytes)
  if (length !== undefined) {
    const message = `a path is too long: ${length}; shorten or exclude "${path}"`
    result.problems.push({ reason: 'PathTooLong', message, path })
    return
  }
  const owned = input.owned.get(path)
  const seen = input.observed.get(path) ?? { kind: 'absent', topmost: path }
  if (owned !== undefined) result.counts.unchanged -= 1
  const put = (before: PlannedPut['before'], topmost: string): void => {
    result.puts.push({ ...file, before, topmost })
    result.counts[before === 'absent' && owned === undefined ? 'added' : 'changed'] += 1
    result.counts.bytes += file.size
  }
  const respelled = folderAbove(path, returning)
  if (respelled !== undefined) {
    put('absent', respelled)
  } else if (input.aliases.files.has(path)) {
    put('file', path)
  } else if (seen.kind === 'special') {
    const what = seen.what === 'link' ? 'the symbolic link' : 'the special file'
    const message = `${what} "${seen.at}" is in the way of "${path}"; remove it`
    result.problems.push({ reason: 'SymbolicLink', message })
  } else if (seen.kind === 'absent') {
    put('absent', seen.topmost)
  } else if (seen.kind === 'under-file') {
    const deletion = going.get(seen.spelled ?? seen.file)
    if (deletion !== undefined) {
      deletion.isObstacle = true
      put('absent', seen.file)
    } else if (input.prunesAll(file.mapping) && !isProtected(seen.file)) {
      const obstacle: PlannedDelete = { path: seen.file, why: 'foreign', isObstacle: true }
      result.deletes.push(obstacle)
      going.set(seen.file, obstacle)
      put('absent', seen.file)
    } else planObstacle(input, result, file, [seen.file], `the file "${seen.file}"`)
  } else if (seen.kind === 'folder') {
    const foreign = seen.files.filter((file) => !going.has(file))
    if (foreign.length === 0 || (input.prunesAll(file.mapping) && !foreign.some(isProtected))) {
      // The folder is deleted as a whole; its files are named so that they count as deletions.
      for (const file of foreign) result.deletes.push({ path: file, why: 'foreign', isObstacle: true })
      put('folder', path)
    } else planObstacle(input, result, file, foreign)
  } else if (seen.id === file.id && seen.exec === file.exec && !input.repairing.has(path) && !input.isRendered(file)) {
    result.adopts.push({ ...file, stat: seen.stat })
    if (owned === undefined || owned.id === file.id) result.counts.unchanged += 1
    else result.counts.changed += 1
  } else {
    if (!input.repairing.has(path)) reportLocalChange(input, result, path, seen.id, 'overwrites')
    put('file', path)
  }
}

/** Whether no setting allows a file to be deleted. A folder whose path is too long was not listed, so what it holds is unknown. */
function isProtected(file: string): boolean {
  return isForbidden(file) || isGatewayIdentity(file) || tooLong(file, 0) !== undefined
}

/**
 * Reports files in the way of a desired one, by one of them. The advice is one that works: no setting deletes a protected file, and no
 * folder that was not listed completely.
 */
function planObstacle(input: PlanInput, result: Plan, { path }: DesiredFile, files: readonly string[], named?: string): void {
  const file = files.find(isProtected) ?? files[0] ?? ''
  const what = named ?? `a folder with "${file}"`
  const report = (message: string): void => void result.problems.push({ reason: 'MappingConflict', message })
  if (tooLong(file, 0) !== undefined) {
    report(`a folder with a path that is too long to list is in the way of "${path}"; delete "${path}" on the gateway`)
  } else if (input.puts.has(file) || input.owned.has(file)) {
    report(`${what}, which another mapping delivers, is in the way of "${path}"; exclude one of the two`)
  } else if (isProtected(file)) {
    report(`${what}, which no sync deletes, is in the way of "${path}"; exclude "${path}", or delete "${file}" on the gateway`)
  } else {
    report(`${what}, which no commit delivered, is in the way of "${path}"; remove it, or set prune: All on the mapping`)
  }
}

/** Reports content from outside git that is lost, with its hash, so that it can be found in the gateway's own backups. */
function reportLocalChange(
  input: PlanInput,
  result: Plan,
  path: string,
  id: BlobId | null | undefined,
  fate: 'overwrites' | 'deletes',
): void {
  const owned = input.owned.get(path)
  if (id === undefined || (owned !== undefined && id === (owned.rendered?.id ?? owned.id))) return
  const what = owned === undefined ? 'was not written by a sync' : 'was changed locally'
  const hash = id === null ? 'content unreadable' : `content hash ${id}`
  result.findings.push({ rule: 'local-change', path, message: `${what} (${hash}); the commit ${fate} it` })
}

/** Only new paths can collide: the existing ones already coexist. */
function findCollisions(input: PlanInput, result: Plan, going: ReadonlyMap<string, unknown>): void {
  if (!input.puts.keys().some((path) => !input.owned.has(path))) return
  for (const conflict of findPathCollisions(filesAfter(input, going))) {
    result.problems.push({ reason: 'MappingConflict', message: describeCollision(conflict) })
  }
}

function filesAfter({ owned, puts, removed }: PlanInput, going: ReadonlyMap<string, unknown>): FilePaths {
  const stays = (path: string): boolean => !removed.has(path) && !going.has(path)
  function* all(): Generator<string> {
    for (const path of owned.keys()) if (stays(path) && !puts.has(path)) yield path
    yield* puts.keys()
  }
  return {
    each: () => (owned.size === 0 ? puts.keys() : all()),
    has: (path) => puts.has(path) || (owned.has(path) && stays(path)),
  }
}

/** Whether there is nothing to do, not even in the manifest. */
export function isEmptyPlan({ puts, adopts, deletes, released }: Plan): boolean {
  return puts.length + adopts.length + deletes.length + released.length === 0
}

/** Folders that the deletions may leave empty, deepest first. */
export function maybeEmptied(deletes: readonly { path: string }[]): string[] {
  const folders = new Set<string>()
  for (const { path } of deletes) {
    for (let folder = parentOf(path); folder !== '' && !folders.has(folder); folder = parentOf(folder)) folders.add(folder)
  }
  return [...folders].toSorted((a, b) => b.split('/').length - a.split('/').length || (a < b ? -1 : 1))
}
