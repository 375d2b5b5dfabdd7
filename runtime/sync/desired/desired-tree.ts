/**
 * Computes which files should exist below the data directory: from a whole listing of a commit, or from its differences to the commit in
 * place. The order of a listing does not matter. Pure.
 */
import type { BlobId, Change, Put } from '../../content/protocol/protocol.ts'
import { Fault } from '../../platform/fault.ts'
import { foldName, isRelativePath, isWithin, printable, type RelativePath } from '../../api/values.ts'
import { baseCollections } from '../../validation/model/inheritance.ts'
import { collectionManifestFolder } from '../../validation/model/delivered-chain.ts'
import type { Finding } from '../model/findings.ts'
import { destinationOf, overlapping, type ResolvedMapping } from './mappings.ts'
import type { Owned } from '../model/manifest.ts'
import { isForbidden, isGatewayIdentity } from '../model/paths.ts'

/** One desired file; `size` is the blob's, in bytes; `mapping` indexes the list of mappings. */
export type DesiredFile = { path: string; id: BlobId; size: number; exec: boolean; mapping: number }

/** `files` by destination path; `absent` are the indexes of mappings without a source. */
export type DesiredTree = { files: Map<string, DesiredFile>; absent: number[]; findings: Finding[] }

/** Builds a tree file by file. */
export type DesiredTreeBuilder = {
  /** Returns a desired file for the entry; undefined: none. */
  add(entry: Put): DesiredFile | undefined
  /** The first required mapping without a source, once everything was added. */
  missing(): ResolvedMapping | undefined
  finish(): DesiredTree
}

/**
 * Takes a listing file by file, so that it need not be held. Throws SourcePathMissing for a required mapping without a source, InvalidSpec
 * for a folder mapped as a file or the reverse, DeliveryFailed for a path outside the data directory.
 */
export function desiredTree(mappings: readonly ResolvedMapping[]): DesiredTreeBuilder {
  const files = new Map<string, DesiredFile>()
  const findings: Finding[] = []
  const seen = Array.from(mappings, () => false)
  return {
    add(entry) {
      let added: DesiredFile | undefined
      for (let index = 0; index < mappings.length; index += 1) {
        const mapping = mappings[index]
        if (mapping === undefined || !isWithin(entry.path, mapping.source)) continue
        checkType(mapping, entry)
        seen[index] = true
        const file = desiredFile(entry, mapping, index, findings)
        if (file === undefined) continue
        // One mapping lists each path once.
        const other = mappings.length === 1 ? undefined : files.get(file.path)
        if (other !== undefined && other.mapping >= index) continue
        files.set(file.path, file)
        added = file
      }
      return added
    },
    missing() {
      return mappings.find(({ required }, index) => required && seen[index] !== true)
    },
    finish() {
      const absent = mappings.flatMap((_, index) => (seen[index] === true ? [] : [index]))
      for (const index of absent) reportAbsent(mappings[index], findings)
      return { files, absent, findings: withoutOverridden(findings, () => files.keys()) }
    },
  }
}

function checkType(mapping: ResolvedMapping, { path, mode }: Put): void {
  const isFile = path === mapping.source
  if (isFile && mode === '160000') {
    const why = 'is a submodule, whose files are not delivered; name a folder of this repository, or set spec.git.repo to that one'
    throw new Fault('InvalidSpec', `${mapping.label}: source "${path}" ${why}`)
  }
  if (isFile && mapping.type === 'Directory') throw new Fault('InvalidSpec', `${mapping.label}: source "${path}" is a file; set type: File`)
  if (!isFile && mapping.type === 'File') {
    throw new Fault('InvalidSpec', `${mapping.label}: source "${mapping.source}" is a folder; set type: Directory`)
  }
}

function reportAbsent(mapping: ResolvedMapping | undefined, findings: Finding[]): void {
  if (mapping === undefined) return
  if (mapping.required) throw missingSource(mapping, undefined)
  if (mapping.whenAbsent === 'remove') return
  const message = `${mapping.label}: the commit contains no such source; "${mapping.destination}" is unchanged`
  findings.push({ rule: 'source-absent', path: mapping.source, message })
}

/** `near`: a similar existing path. */
export function missingSource({ label, source }: Pick<ResolvedMapping, 'label' | 'source'>, near: string | undefined): Fault {
  const step = near === undefined ? 'correct source or set required: false' : `did you mean "${near}"?`
  return new Fault('SourcePathMissing', `${label}: the commit contains no "${source}"; ${step}`)
}

function desiredFile(entry: Put, mapping: ResolvedMapping, index: number, findings: Finding[]): DesiredFile | undefined {
  const path = destinationOf(mapping, entry.path)
  if (path === undefined) return undefined
  if (entry.mode === '120000' || entry.mode === '160000') {
    const rule = entry.mode === '120000' ? 'symbolic-link' : 'submodule'
    findings.push({ rule, path: entry.path, message: 'is not delivered: only regular files are' })
    return undefined
  }
  if (path.includes('\uFFFD')) {
    findings.push({
      rule: 'name-not-utf8',
      path: entry.path,
      message: 'is not delivered: its name is not valid UTF-8, or contains U+FFFD; rename it',
    })
    return undefined
  }
  // Whatever the source sends, no path outside the data directory is a destination.
  if (!isRelativePath(path))
    throw new Fault('DeliveryFailed', `the listing contains "${printable(entry.path)}", which is not the path of a file`)
  if (isForbidden(path)) {
    findings.push({ rule: 'forbidden-destination', path: entry.path, message: `is not written: "${path}" belongs to the gateway itself` })
    return undefined
  }
  if (isGatewayIdentity(path)) {
    findings.push({
      rule: 'gateway-identity',
      path,
      message: 'identifies or configures one gateway, and every gateway of this sync would receive the same content',
    })
  }
  return { path, id: entry.id, size: entry.size, exec: entry.mode === '100755', mapping: index }
}

/** Removes findings about identities of `core` that every delivered mode overrides: no gateway runs with them. */
function withoutOverridden(findings: Finding[], delivered: () => Iterable<string>): Finding[] {
  if (!findings.some(({ rule }) => rule === 'gateway-identity')) return findings
  const modes = new Map<string, Set<string>>()
  for (const path of delivered()) {
    const { collection, resource } = placeOf(path)
    if (collection === undefined || baseCollections.includes(collection)) continue
    const resources = modes.get(collection) ?? new Set()
    modes.set(collection, resources.add(resource))
  }
  const isOverridden = (path: string): boolean =>
    modes.size > 0 && [...modes.values()].every((resources) => resources.has(placeOf(path).resource))
  return findings.filter(({ rule, path }) => rule !== 'gateway-identity' || !isOverridden(path))
}

/** The collection of a file and, below it, the file's folder; a resource is overridden as a whole. */
function placeOf(path: string): { collection: string | undefined; resource: string } {
  const [, collection, resource = ''] = /^config\/resources\/([^/]+)\/(?:(.*)\/)?[^/]+$/.exec(foldName(path)) ?? []
  return { collection, resource }
}

/** What has to change; paths are destinations. */
export type Delta =
  | { kind: 'delta'; puts: Map<string, DesiredFile>; removed: Set<string>; findings: Finding[] }
  /** The differences do not suffice: the whole listing is needed. */
  | { kind: 'needs-listing'; why: string }

/**
 * Maps the differences of two commits to the files in place. `absent` are the mappings whose optional source was not in the base commit;
 * below `collectionsRoot` a changed `config-mode.json` may change which collections are delivered.
 */
export function desiredDelta(
  changes: readonly Change[],
  mappings: readonly ResolvedMapping[],
  present: { files: ReadonlyMap<string, Owned>; absent: readonly number[]; collectionsRoot: RelativePath | undefined },
): Delta {
  const shared = overlapping(mappings)
  const puts = new Map<string, DesiredFile>()
  const removed = new Set<string>()
  const findings: Finding[] = []
  for (const change of changes) {
    if (present.collectionsRoot !== undefined && collectionManifestFolder(present.collectionsRoot, change.path) !== undefined) {
      return { kind: 'needs-listing', why: `"${change.path}" may change which collections are read` }
    }
    for (const [index, mapping] of mappings.entries()) {
      if (!isWithin(change.path, mapping.source)) continue
      if (present.absent.includes(index)) return { kind: 'needs-listing', why: `${mapping.label} has a source again` }
      if (change.op === 'put') checkType(mapping, change)
      const path = destinationOf(mapping, change.path)
      if (path === undefined) continue
      const owner = puts.get(path)?.mapping ?? present.files.get(path)?.mapping
      const file = change.op === 'put' ? desiredFile(change, mapping, index, findings) : undefined
      if (owner !== undefined && owner > index) continue
      if (file !== undefined) {
        puts.set(path, file)
        removed.delete(path)
        continue
      }
      if (present.files.has(path) || puts.has(path)) {
        if (shared[index] === true) return { kind: 'needs-listing', why: `another mapping may contain "${path}" too` }
        puts.delete(path)
        if (present.files.has(path)) removed.add(path)
      }
    }
  }
  const emptied = emptiedMapping(mappings, present.files, puts, removed)
  const delivered = (): string[] => [...[...present.files.keys()].filter((path) => !removed.has(path)), ...puts.keys()]
  return emptied === undefined
    ? { kind: 'delta', puts, removed, findings: withoutOverridden(findings, delivered) }
    : { kind: 'needs-listing', why: `${emptied} may have no source left` }
}

/** The label of a mapping that loses its last file: only a listing shows whether its source still exists. */
function emptiedMapping(
  mappings: readonly ResolvedMapping[],
  files: ReadonlyMap<string, Owned>,
  puts: ReadonlyMap<string, DesiredFile>,
  removed: ReadonlySet<string>,
): string | undefined {
  if (removed.size === 0) return undefined
  const left = mappings.map(() => 0)
  const count = (index: number, by: number): void => {
    left[index] = (left[index] ?? 0) + by
  }
  for (const { mapping } of files.values()) count(mapping, 1)
  const losing = new Set<number>()
  for (const path of removed) {
    const mapping = files.get(path)?.mapping
    if (mapping === undefined) continue
    losing.add(mapping)
    count(mapping, -1)
  }
  for (const { path, mapping } of puts.values()) if (!files.has(path)) count(mapping, 1)
  const index = [...losing].find((mapping) => (left[mapping] ?? 0) <= 0)
  return index === undefined ? undefined : mappings[index]?.label
}
