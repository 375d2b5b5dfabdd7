/**
 * What of a commit is delivered, however it is listed: a repository holds whatever its committers put there. Pure.
 */
import { Fault } from '../fault.ts'
import { printable } from '../gatewaysync/values.ts'

/** A commit with more files than this is not a configuration but an attack. */
const maxListedFiles = 500_000
/** Deeper than any project, and than most file systems allow by the length of a path. */
const maxFolders = 100
/** A shorter path cannot be too deep, for each folder takes at least two characters: splitting it is saved. */
const shortestDeepPath = 2 * maxFolders
/** Longer than any file system allows: the engine, not delivery, should report a path that is too long for the disk. */
export const maxPathCharacters = 32_768
/** The largest file that is delivered: it travels and is staged whole. */
export const maxFileBytes = 256 * 1024 * 1024
const shownCharacters = 60

/** Throws RepositoryTooLarge. */
export function requireCount(files: number): void {
  if (files > maxListedFiles) throw new Fault('RepositoryTooLarge', `the commit holds more than ${maxListedFiles} files`)
}

/** Throws RepositoryTooLarge. */
export function requirePath(path: string): void {
  if (path.length > maxPathCharacters) throw pathTooLong()
  if (path.length < shortestDeepPath || path.split('/', maxFolders + 2).length <= maxFolders + 1) return
  throw new Fault('RepositoryTooLarge', `"${printable(path.slice(0, shownCharacters))}…" lies in more than ${maxFolders} folders`)
}

/** For a path that is not even read to its end. */
export function pathTooLong(): Fault {
  return new Fault('RepositoryTooLarge', `a path of the commit is longer than ${maxPathCharacters} characters`)
}

/** Throws RepositoryTooLarge for a file that is not delivered; `size` in bytes. */
export function requireSize({ path, size }: { path: string; size: number }): void {
  if (size <= maxFileBytes) return
  const [has, most] = [size, maxFileBytes].map((bytes) => Math.ceil(bytes / (1024 * 1024)))
  throw new Fault('RepositoryTooLarge', `"${printable(path)}" has ${has} MiB, and a file may have ${most} MiB`)
}
