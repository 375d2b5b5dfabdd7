/**
 * sha256sums.txt: the checksums of all other files of a release, as `sha256sum --check` takes them.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

export const checksumsFile = 'sha256sums.txt'

/** Every file of a release besides the checksums, with its SHA-256. */
export function checksumsOf(folder: string): { name: string; sha256: string }[] {
  return readdirSync(folder)
    .filter((name) => name !== checksumsFile)
    .toSorted()
    .map((name) => ({
      name,
      sha256: createHash('sha256')
        .update(readFileSync(path.join(folder, name)))
        .digest('hex'),
    }))
}

export function writeChecksums(folder: string): void {
  writeFileSync(path.join(folder, checksumsFile), textOf(folder))
}

/** Throws if a file was added, removed or changed since. */
export function verifyChecksums(folder: string): void {
  if (readFileSync(path.join(folder, checksumsFile), 'utf8') !== textOf(folder))
    throw new Error(`${folder} does not contain the files of its ${checksumsFile}; create the release again`)
}

function textOf(folder: string): string {
  return checksumsOf(folder)
    .map(({ name, sha256 }) => `${sha256}  ${name}\n`)
    .join('')
}
