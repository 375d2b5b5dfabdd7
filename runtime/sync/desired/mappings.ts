/**
 * Resolves the mappings of a profile: canonical paths, one list for the `collections` shorthand and the written mappings, and the
 * destination of each source file. Pure.
 */
import { createHash } from 'node:crypto'
import { baseCollections } from '../../validation/model/inheritance.ts'
import { Fault } from '../../platform/fault.ts'
import { type Coverage, coveredBelow, excluderOf } from '../../api/coverage.ts'
import { createExcluder, requireGlob } from '../../api/glob/glob.ts'
import type { ResolvedProfile } from '../../api/schema/profile.ts'
import { foldName, isWithin, joinPath, parseRelativePath, type RelativePath } from '../../api/values.ts'
import { collectionsFolder, isForbidden } from '../model/paths.ts'
import type { Recipe } from '../render/context.ts'
import { canonicalJson } from '../../platform/text/json.ts'

/** What is deleted below a destination: owned files that are gone from git, everything that is not in git, or nothing. */
export type Prune = 'Owned' | 'All' | 'None'

/** A mapping with its templates rendered and its globs compiled. */
export type ResolvedMapping = Coverage & {
  /** `source -> destination`: the manifest's record of a mapping. */
  key: string
  /** Its name in messages, such as `mappings[0]`. */
  label: string
  source: RelativePath
  destination: RelativePath
  required: boolean
  /** What happens to files delivered earlier when an optional source is absent. */
  whenAbsent: 'keep' | 'remove'
  prune: Prune
  /** The recipe for a path relative to the destination; undefined for a file delivered unchanged, and if all files are. */
  recipe: ((path: string) => Recipe | undefined) | undefined
  /** Its patches, to find those that match no file. */
  patched: readonly { file: string; matches(path: string): boolean }[]
}

/**
 * Returns all mappings in order: collections first, so that a written mapping overrides them. `chain` are the collections to deliver;
 * `renderPath` renders a source or destination that is a template. Throws InvalidSpec, DestinationNotAllowed, MappingConflict.
 */
export function resolveMappings(
  profile: ResolvedProfile,
  chain: readonly string[],
  renderPath: (text: string, label: string) => string,
): ResolvedMapping[] {
  const fromCollections = chain.map((name) => collectionMapping(profile, name))
  const written = profile.mappings.map((mapping, index): ResolvedMapping => {
    const label = `mappings[${index}]`
    const source = parseRelativePath(renderPath(mapping.source, `${label}.source`))
    const destination = parseRelativePath(renderPath(mapping.destination, `${label}.destination`))
    const patches = (mapping.patches ?? []).map(({ file, set }, at) => ({
      file: requireGlob(file, `${label}.patches[${at}].file`),
      set,
      matches: createExcluder([requireGlob(file, `${label}.patches[${at}].file`)]),
    }))
    const recipe = (path: string): Recipe | undefined => {
      const matching = patches.filter((patch) => patch.matches(path)).map(({ file, set }) => ({ file, set }))
      return mapping.template || matching.length > 0 ? { template: mapping.template, patches: matching } : undefined
    }
    return {
      key: `${source} -> ${destination}`,
      label,
      source,
      destination,
      type: mapping.type,
      required: mapping.required,
      whenAbsent: 'keep',
      prune: mapping.prune ?? profile.prune,
      excluded: excluderOf([...profile.excludePatterns, ...(mapping.excludePatterns ?? [])], `${label}.excludePatterns`),
      patched: patches,
      recipe: mapping.template || patches.length > 0 ? recipe : undefined,
    }
  })
  const mappings = [...fromCollections, ...written]
  for (const mapping of mappings) checkDestination(mapping)
  checkOverlaps(mappings)
  return mappings
}

function collectionMapping(profile: ResolvedProfile, name: string): ResolvedMapping {
  const root = parseRelativePath(profile.collections?.root ?? '')
  const source = joinPath(root, parseRelativePath(name))
  // Every gateway has folders of these names: another spelling would create a second one beside it.
  const folded = foldName(name)
  const destination = parseRelativePath(`${collectionsFolder}/${baseCollections.includes(folded) ? folded : name}`)
  return {
    key: `${source} -> ${destination}`,
    label: `collection "${name}"`,
    source,
    destination,
    type: 'Directory',
    required: false,
    whenAbsent: 'remove',
    prune: profile.prune,
    excluded: excluderOf(profile.excludePatterns, 'excludePatterns'),
    recipe: undefined,
    patched: [],
  }
}

function checkDestination({ destination, label, type, prune }: ResolvedMapping): void {
  if (isForbidden(destination)) {
    throw new Fault(
      'DestinationNotAllowed',
      `${label}: destination "${destination}" belongs to the gateway or to this operator; choose another`,
    )
  }
  if (destination === '' && type === 'File') {
    throw new Fault('DestinationNotAllowed', `${label}: a file needs a destination with a name, not the data directory itself`)
  }
  if (destination === '' && prune === 'All') {
    throw new Fault(
      'DestinationNotAllowed',
      `${label}: prune: All on the data directory itself would delete the gateway's own files; use Owned`,
    )
  }
}

function checkOverlaps(mappings: readonly ResolvedMapping[]): void {
  for (const [index, mapping] of mappings.entries()) {
    for (const other of mappings) {
      if (mapping === other || mapping.type === 'File' || mapping.prune !== 'All') continue
      if (other.destination === mapping.destination || !isWithin(other.destination, mapping.destination)) continue
      const message = `${mapping.label} has prune: All on "${mapping.destination}", where ${other.label} writes "${other.destination}"; use Owned`
      throw new Fault('MappingConflict', message)
    }
    const twin = mappings.slice(0, index).find(({ type, destination }) => type === 'File' && destination === mapping.destination)
    if (mapping.type === 'File' && twin !== undefined) {
      throw new Fault('MappingConflict', `${twin.label} and ${mapping.label} both write the file "${mapping.destination}"`)
    }
  }
}

/** Where a repository keeps its collections; undefined: they are not delivered. */
export function collectionsRootOf({ collections }: Pick<ResolvedProfile, 'collections'>): RelativePath | undefined {
  return collections === undefined ? undefined : parseRelativePath(collections.root)
}

/** For each mapping, whether its destination overlaps another's: only then can one file hide another. */
export function overlapping(mappings: readonly ResolvedMapping[]): boolean[] {
  return mappings.map((mapping) =>
    mappings.some(
      (other) =>
        other !== mapping && (isWithin(other.destination, mapping.destination) || isWithin(mapping.destination, other.destination)),
    ),
  )
}

/** Hash of everything that selects and renders files, except commit, collections' parents and variables. */
export function treeKey(profile: ResolvedProfile, mode: string | undefined, mappings: readonly ResolvedMapping[]): string {
  const written = profile.mappings.map((mapping, index) => ({
    ...mapping,
    key: mappings[mappings.length - profile.mappings.length + index]?.key,
  }))
  const { collections, excludePatterns, prune } = profile
  const decisive = { engine: 1, collections, excludePatterns, prune, mode: collections === undefined ? undefined : mode, written }
  return createHash('sha256').update(canonicalJson(decisive)).digest('hex')
}

/** The destination of a source path; undefined if the mapping does not cover it. */
export function destinationOf(mapping: ResolvedMapping, path: RelativePath): RelativePath | undefined {
  const below = coveredBelow(mapping, path)
  if (below === undefined) return undefined
  // Shares one string for both names of a file: a first sync holds thousands.
  return mapping.source === mapping.destination ? path : joinPath(mapping.destination, below as RelativePath)
}

/** The recipe of a file by its full destination path. */
export function recipeOf(mapping: ResolvedMapping, path: string): Recipe | undefined {
  return mapping.recipe?.(belowDestination(mapping, path))
}

function belowDestination({ type, destination }: ResolvedMapping, path: string): string {
  if (type === 'File') return path.slice(path.lastIndexOf('/') + 1)
  return destination === '' ? path : path.slice(destination.length + 1)
}

/** Findings for patches that match no file of their mapping: usually the glob is for another folder. */
export function patchesWithoutFile(
  mappings: readonly ResolvedMapping[],
  files: ReadonlyMap<string, { mapping: number }>,
): { rule: string; path: string; message: string }[] {
  const waiting = mappings.map(({ patched }) => new Set(patched))
  // The files are those of the whole manifest, and each drift check calls this.
  if (waiting.every(({ size }) => size === 0)) return []
  for (const [path, { mapping: index }] of files) {
    const mapping = mappings[index]
    const left = waiting[index]
    if (mapping === undefined || left === undefined || left.size === 0) continue
    const below = belowDestination(mapping, path)
    for (const patch of left) if (patch.matches(below)) left.delete(patch)
  }
  return waiting.flatMap((left, index) =>
    [...left].map(({ file }) => ({
      rule: 'patch-without-file',
      path: file,
      message: `${mappings[index]?.label ?? ''}: no delivered file matches this glob, which is relative to the destination`,
    })),
  )
}
