/**
 * Compares gateways with two modes: resources that only one of them has, and files and keys that differ.
 */
import { foldName, visible } from '../../api/values.ts'
import { readTree } from '../../validation/run/check-root.ts'
import { readResources, type ResourceContent } from '../../validation/run/read-resources.ts'
import { type JsonDifference, differences } from '../../sync/plan/json-diff.ts'
import { type Effective, effectiveSet, isUserMode } from '../../validation/model/inheritance.ts'
import { Fault } from '../../platform/fault.ts'
import type { Input } from './collections-input.ts'
import { modesOf } from './explain-mode.ts'

/** `a` and `b` are the collections that provide the resource; undefined if a mode does not have it. */
export type ResourceChange = { resource: string; a: string | undefined; b: string | undefined; files: FileChange[] }
/** `file` is relative to the resource; `keys` are the differences in its JSON, empty if one side lacks the file or it is not JSON. */
export type FileChange = { file: string; keys: JsonDifference[] }

/** The resources that differ between two modes, each with the files and keys that differ. */
export async function diffModes(
  { listing, files }: Pick<Input, 'listing' | 'files'>,
  root: string,
  [a, b]: readonly [string, string],
  signal: AbortSignal,
): Promise<ResourceChange[]> {
  const { facts } = await readTree(listing, { root, files }, signal)
  for (const mode of [a, b]) {
    if (!isUserMode(mode) || facts.family.byName.has(foldName(mode))) continue
    throw new Fault('InvalidConfiguration', `there is no mode "${mode}" in ${root || '.'}; ${modesOf(facts.family)}`)
  }
  const [left, right] = [effectiveSet(facts.family, a), effectiveSet(facts.family, b)]
  const changes: ResourceChange[] = []
  const pairs: [Effective, Effective][] = []
  for (const key of [...new Set([...left.keys(), ...right.keys()])].toSorted()) {
    const [one, other] = [left.get(key), right.get(key)]
    if (one !== undefined && other !== undefined) {
      if (one.resource !== other.resource) pairs.push([one, other])
    } else changes.push({ resource: (one ?? other)?.resource.key ?? key, a: one?.collection.name, b: other?.collection.name, files: [] })
  }
  // Read in pairs, so that at most two resources are in memory.
  let first: ResourceContent | undefined
  await readResources(
    listing,
    pairs.flat(),
    (content) => {
      if (first === undefined) {
        first = content
        return
      }
      const files = fileChanges(first, content)
      if (files.length > 0) {
        changes.push({ resource: content.resource.key, a: first.collection.name, b: content.collection.name, files })
      }
      first = undefined
    },
    signal,
  )
  return changes.toSorted((one, other) => (one.resource < other.resource ? -1 : 1))
}

function fileChanges(a: ResourceContent, b: ResourceContent): FileChange[] {
  const names = [...new Set([...a.hashes.keys(), ...b.hashes.keys()])].toSorted()
  return names
    .filter((name) => a.hashes.get(name) !== b.hashes.get(name))
    .map((file) => ({ file, keys: a.json.has(file) && b.json.has(file) ? differences(a.json.get(file), b.json.get(file)) : [] }))
    .filter(({ file, keys }) => keys.length > 0 || !(a.json.has(file) && b.json.has(file)))
}

/** Formats the differences as lines of text; values of secrets are masked. */
export function diffText(a: string, b: string, changes: readonly ResourceChange[]): string {
  if (changes.length === 0) return `gateways with the modes "${a}" and "${b}" would have the same resources`
  return visible(changes.flatMap((change) => changeLines(a, b, change)).join('\n'))
}

/** A mode, with the collection that provides the resource if it is another one. */
function from(mode: string, collection: string | undefined): string {
  return collection === undefined || collection === mode ? mode : `${mode} (${collection})`
}

function changeLines(a: string, b: string, change: ResourceChange): string[] {
  if (change.a === undefined) return [`+ ${change.resource}  only ${from(b, change.b)}`]
  if (change.b === undefined) return [`- ${change.resource}  only ${from(a, change.a)}`]
  const lines = [`~ ${change.resource}  ${from(a, change.a)}, ${from(b, change.b)}`]
  for (const { file, keys } of change.files) {
    lines.push(`    ${file}${keys.length === 0 ? ': the content differs' : ''}`)
    for (const { at, a: one, b: other } of keys) lines.push(`      ${at}: ${one ?? '(absent)'} -> ${other ?? '(absent)'}`)
  }
  return lines
}
