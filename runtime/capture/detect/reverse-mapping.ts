/**
 * Maps a file on the gateway to its source in the repository. A file without exactly one source, or whose change would affect more than one
 * file, is refused with the reason. Pure.
 */
import { collectionManifestFolder } from '../../validation/model/delivered-chain.ts'
import type { BlobId } from '../../content/protocol/protocol.ts'
import { coveredBelow } from '../../api/coverage.ts'
import { foldName, isWithin, joinPath, parentOf, parseRelativePath, type RelativePath } from '../../api/values.ts'
import type { DesiredFile } from '../../sync/desired/desired-tree.ts'
import { destinationOf, recipeOf, type ResolvedMapping } from '../../sync/desired/mappings.ts'
import { isGatewayIdentity } from '../../sync/model/paths.ts'
import type { Recipe } from '../../sync/render/context.ts'
import { reservedInRepository } from './reserved.ts'

/** A commit as one profile reads it: its files, and their places on the gateway. */
export type Published = {
  /** Every file below the folders of the profile, by its path in the repository; `isFile` is false for links and submodules. */
  sources: ReadonlyMap<string, { id: BlobId; size: number; isFile: boolean }>
  /** What the gateway should hold, by its path below the data directory. */
  desired: ReadonlyMap<string, DesiredFile>
  mappings: readonly ResolvedMapping[]
  /** Mappings whose optional source is not in the commit. */
  absent: readonly number[]
  collectionsRoot: RelativePath | undefined
}

/** `recipe`: the template or patches that render the file. `why` completes the sentence "<file> is skipped: it …". */
export type ReverseMapping = { kind: 'source'; source: RelativePath; recipe: Recipe | undefined } | { kind: 'none'; why: string }

/** Returns the source in the repository of a changed, removed or added file of the data directory. */
export function reverseMapping(published: Published, path: string, op: 'added' | 'changed' | 'removed'): ReverseMapping {
  if (isGatewayIdentity(path)) return none('identifies this gateway, and would be delivered to every gateway of the sync')
  const index = op === 'added' ? mappingFor(published, path) : published.desired.get(path)?.mapping
  const mapping = index === undefined ? undefined : published.mappings[index]
  if (index === undefined || mapping === undefined) return none('is not below the destination of any mapping')
  const source = sourceOf(mapping, path)
  if (source === undefined) return none(`cannot be delivered by ${mapping.label}, which excludes it`)
  const reserved = reservedInRepository(source, mapping.type === 'File')
  if (reserved !== undefined) return none(reserved)
  const { collectionsRoot } = published
  if (collectionsRoot !== undefined && collectionManifestFolder(collectionsRoot, source) !== undefined)
    return none('decides which collections gateways read; change it in the repository')
  const twin = otherDestination(published, source, path)
  if (twin !== undefined) return none(`is delivered to "${twin}" as well, which would change with it`)
  if (op === 'removed' && published.mappings.some((other, at) => at !== index && delivers(published, other, path)))
    return none('is also delivered by another mapping, which would restore it')
  if (op === 'added') {
    const taken = takenBy(published, source)
    if (taken !== undefined) return none(`would be written to "${source}", where the repository has ${taken}`)
  }
  return { kind: 'source', source, recipe: recipeOf(mapping, path) }
}

function none(why: string): ReverseMapping {
  return { kind: 'none', why }
}

/** The mapping that would deliver a new file: the last one that covers its path. */
function mappingFor({ mappings, absent }: Published, path: string): number | undefined {
  const index = mappings.findLastIndex(
    (mapping, at) => !absent.includes(at) && mapping.type === 'Directory' && isBelow(path, mapping.destination),
  )
  return index < 0 ? undefined : index
}

function isBelow(path: string, folder: string): boolean {
  return path !== folder && isWithin(path, folder)
}

/** The source of a path by one mapping; undefined if the mapping excludes it. */
function sourceOf(mapping: ResolvedMapping, path: string): RelativePath | undefined {
  if (mapping.type === 'File') return path === mapping.destination ? mapping.source : undefined
  if (!isBelow(path, mapping.destination)) return undefined
  const below = mapping.destination === '' ? path : path.slice(mapping.destination.length + 1)
  const source = joinPath(mapping.source, parseRelativePath(below))
  return coveredBelow(mapping, source) === undefined ? undefined : source
}

function delivers({ sources }: Published, mapping: ResolvedMapping, path: string): boolean {
  const source = sourceOf(mapping, path)
  return source !== undefined && sources.get(source)?.isFile === true
}

/** Another path on the gateway that gets its content from the same source. */
function otherDestination({ mappings, desired, absent }: Published, source: RelativePath, path: string): string | undefined {
  for (const [index, mapping] of mappings.entries()) {
    if (absent.includes(index)) continue
    const destination = destinationOf(mapping, source)
    if (destination === undefined || destination === path) continue
    const present = desired.get(destination)
    // A path that a later mapping fills does not change.
    if (present === undefined || present.mapping <= index) return destination
  }
  return undefined
}

/** Describes what exists in the repository at a new file's path. */
function takenBy({ sources }: Published, source: string): string | undefined {
  if (sources.has(source)) return 'a file that is not delivered'
  for (let above = parentOf(source); above !== ''; above = parentOf(above)) if (sources.has(above)) return `the file "${above}"`
  const folded = foldName(source)
  for (const each of sources.keys()) {
    if (each.startsWith(`${source}/`)) return `the folder of "${each}"`
    if (foldName(each) === folded) return `"${each}", another spelling of it`
  }
  return undefined
}
