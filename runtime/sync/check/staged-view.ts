/**
 * Shows the data directory as it will be after an apply: the staged files over those on the disk, without those that will be deleted.
 */
import * as fs from 'node:fs'
import path from 'node:path'
import { isMissing } from '../disk/disk.ts'
import type { Layout } from '../apply/steps.ts'
import type { Plan } from '../plan/plan.ts'
import type { RunLocation } from '../apply/carry-out.ts'

/** Valid until something is applied. */
export type StagedView = {
  /** Files to write, sorted. */
  puts: readonly string[]
  /** Whether the apply deletes a file. */
  isDeleted(file: string): boolean
  /** The current path of the content of a file, below the data directory. */
  place(file: string): string
  dataDir: string
}

/** A resource has a handful of files, a folder of nested ones some thousands; further ones are ignored. */
const maxFilesBelow = 20_000

/** Reads the disk on demand, not beforehand. */
export function viewStaged({ dataDir, run }: RunLocation, { puts, deletes }: Pick<Plan, 'puts' | 'deletes'>, layout: Layout): StagedView {
  const gone = new Set(deletes.map((deletion) => deletion.path))
  const paths = puts.map((put) => put.path)
  return {
    puts: paths,
    isDeleted: (file) => gone.has(file),
    place(file) {
      const index = indexOf(paths, file)
      return index === undefined ? file : `${run}/${layout.placeOf(index)}`
    },
    dataDir,
  }
}

/** Whether a regular file will exist at a path below the data directory. */
export function holdsFile({ puts, isDeleted, dataDir }: StagedView, file: string): boolean {
  if (indexOf(puts, file) !== undefined) return true
  return !isDeleted(file) && isFile(path.join(dataDir, file))
}

function isFile(file: string): boolean {
  try {
    return fs.lstatSync(file).isFile()
  } catch (error) {
    // ENOTDIR: below a file that a folder is about to replace.
    if (isMissing(error)) return false
    throw error
  }
}

/** The regular files below a folder, sorted, including those that are not owned; at most 20,000 from the disk. */
export function listFiles({ puts, isDeleted, dataDir }: StagedView, folder: string): string[] {
  const files = new Set<string>()
  for (let index = lowerBound(puts, `${folder}/`); puts[index]?.startsWith(`${folder}/`) === true; index += 1) files.add(puts[index] ?? '')
  for (const file of filesOnDisk(dataDir, folder)) {
    if (files.size >= maxFilesBelow) break
    if (!isDeleted(file)) files.add(file)
  }
  return [...files].toSorted()
}

/** The names of the folders directly in a folder, sorted. */
export function listFolders({ puts, dataDir }: StagedView, folder: string): string[] {
  const prefix = `${folder}/`
  const put = puts.filter((file) => file.startsWith(prefix)).map((file) => file.slice(prefix.length, file.indexOf('/', prefix.length)))
  const present = entriesOf(path.join(dataDir, folder)).filter((entry) => entry.isDirectory())
  return [...new Set([...put, ...present.map(({ name }) => name)])].toSorted()
}

function* filesOnDisk(dataDir: string, folder: string): Generator<string> {
  for (const entry of entriesOf(path.join(dataDir, folder))) {
    const name = `${folder}/${entry.name}`
    if (entry.isDirectory()) yield* filesOnDisk(dataDir, name)
    else if (entry.isFile()) yield name
  }
}

function entriesOf(folder: string): fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true })
  } catch {
    // Missing, or not a folder: then it will contain only planned files.
    return []
  }
}

function indexOf(sorted: readonly string[], text: string): number | undefined {
  const index = lowerBound(sorted, text)
  return sorted[index] === text ? index : undefined
}

/** Index of the first text that is not smaller. */
function lowerBound(sorted: readonly string[], text: string): number {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    if ((sorted[middle] ?? '') < text) from = middle + 1
    else to = middle
  }
  return from
}
