/**
 * A repository like those of plants: small JSON files, two per folder, with hashes and timestamps as half of their distinct content. In a
 * real project of 921 files the median is 418 bytes, the mean 647.
 */
import { createHash } from 'node:crypto'

/** Approximate size in bytes: the last line may exceed it a little. */
const sizes = [120, 220, 310, 380, 420, 520, 700, 1_100, 2_100]
const words = ['enabled', 'historian', 'tag', 'provider', 'timeout', 'description', 'line', 'area', 'default', 'driver', 'rate', 'user']

/** Paths below `projects/`, spread evenly over the folders, and their texts; identical on every call. */
export function plantFiles({ files, folders }: { files: number; folders: number }): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: files }, (_, index) => [`projects/f${index % folders}/${Math.floor(index / folders)}.json`, textOf(index)]),
  )
}

function textOf(index: number): string {
  const hash = createHash('sha256').update(String(index)).digest('hex')
  let text = `{\n  "signature": "${hash}",\n  "version": ${index}`
  const size = sizes[Number.parseInt(hash.slice(0, 8), 16) % sizes.length] ?? 0
  for (let at = 0; text.length < size; at += 1) {
    const digit = Number.parseInt(hash[at % hash.length] ?? '0', 16)
    text += `,\n  "${words[digit % words.length]}${at}": "${hash.slice(at % 48, (at % 48) + 4)} ${words[(digit + at) % words.length]}"`
  }
  return `${text}\n}\n`
}
