/**
 * Decides whether uploaded changes of an agent may become a commit: only files that its profile delivers. The agent applies the same rules,
 * but a compromised gateway does not, so nothing in an upload is trusted. Pure.
 */
import { baseCollections } from '../../validation/model/inheritance.ts'
import { captureBounds, type CapturedChange, requirePath } from '../../content/protocol/protocol.ts'
import { Fault } from '../../platform/fault.ts'
import { belowFolder, excluderOf } from '../../api/coverage.ts'
import type { ResolvedProfile } from '../../api/schema/profile.ts'
import { beforeTemplate, sourceRoots } from '../../api/schema/source-roots.ts'
import type { Mapping } from '../../api/schema/spec.ts'
import { foldName, isRelativePath, isWithin, joinPath, parseRelativePath } from '../../api/values.ts'
import type { Edit } from '../../git/content/make-commit.ts'
import { collectionsFolder, isForbidden, isGatewayIdentity } from '../../sync/model/paths.ts'
import { digestOf } from './commit.ts'
import { reservedInRepository } from '../detect/reserved.ts'

/** An edit of a commit, and every place on the gateway where the profile may deliver the file. */
export type AcceptedEdit = Edit & { paths: readonly string[] }

/**
 * Of all places together: a source with a template matches each folder of a path, and a profile may have many. As many as the paths of a
 * thousand changes that each have one place.
 */
const maxPlaceCharacters = 4 * 1024 * 1024

/** Returns the edits of the changes; their digest must be the one announced before. Throws PayloadMalformed, PayloadTooLarge, and RepositoryTooLarge for a path below too many folders. */
export function acceptChanges(changes: readonly CapturedChange[], digest: string, profile: ResolvedProfile): AcceptedEdit[] {
  const roots = sourceRoots(profile)
  const excluded = excluderOf(profile.excludePatterns, 'spec.sync excludePatterns')
  const seen = new Set<string>()
  let bytes = 0
  let placeCharacters = 0
  const edits = changes.map(({ source, path, op, exec, content }): AcceptedEdit => {
    requirePath(source)
    const root = roots.find((each) => isWithin(source, each))
    if (!isRelativePath(source) || source === '' || root === undefined) throw refused(source, 'is not in a source folder of the profile')
    const isMapped = profile.mappings.some((mapping) => mapping.type === 'File' && mapping.source === source)
    const reserved = reservedInRepository(source, isMapped)
    if (reserved !== undefined) throw refused(source, reserved)
    const below = belowFolder(source, root) ?? ''
    if (below !== '' && excluded(below)) throw refused(source, 'is excluded')
    const paths = placesOf(profile, source, path)
    placeCharacters += paths.reduce((sum, each) => sum + each.length, 0)
    if (placeCharacters > maxPlaceCharacters)
      throw new Fault(
        'PayloadTooLarge',
        'too many mappings of the profile may deliver the changes; give the mappings exact sources instead of templates',
      )
    if (!paths.includes(path)) throw refused(source, `is not delivered to "${path}" by any mapping of the profile`)
    const own = paths.find((each) => isForbidden(each) || isGatewayIdentity(each))
    if (own !== undefined) throw refused(own, 'belongs to the gateway itself')
    if (seen.has(source)) throw refused(source, 'is listed twice')
    seen.add(source)
    if ((op === 'removed') !== (content === undefined)) throw refused(source, 'must have content unless it is removed')
    const decoded = content === undefined ? undefined : Buffer.from(content, 'base64')
    bytes += decoded?.length ?? 0
    return { source, paths, exec, content: decoded }
  })
  if (bytes > captureBounds.totalBytes)
    throw new Fault('PayloadTooLarge', `the changes are ${bytes} bytes; at most ${captureBounds.totalBytes} are captured at once`)
  if (digestOf(edits) !== digest) throw new Fault('PayloadMalformed', 'the changes do not match the digest that was announced')
  return edits
}

/**
 * Returns every path on the gateway where the profile may deliver a source file. Only the agent knows template values, so a template in a
 * source may match any number of folders, and one in a destination whatever `claimed` has there. A templated destination outside `projects`
 * counts as no path: otherwise a compromised gateway could choose which rules apply to the file.
 */
function placesOf({ collections, mappings }: ResolvedProfile, source: string, claimed: string): string[] {
  const fromMappings = mappings.flatMap((mapping) => placesByMapping(mapping, source, claimed))
  const delivered = collections === undefined ? undefined : belowFolder(source, parseRelativePath(collections.root))
  const [name = '', ...rest] = delivered?.split('/') ?? []
  if (rest.length === 0) return fromMappings
  const collection = baseCollections.includes(foldName(name)) ? foldName(name) : name
  return [...fromMappings, [collectionsFolder, collection, ...rest].join('/')]
}

function placesByMapping({ type, source: from, destination }: Mapping, source: string, claimed: string): string[] {
  const folder = parseRelativePath(beforeTemplate(from))
  const isExact = beforeTemplate(from) === from
  const below = belowFolder(source, folder)
  const target = parseRelativePath(beforeTemplate(destination))
  const isTargetExact = beforeTemplate(destination) === destination
  if (!isTargetExact && !isWithin(target, 'projects')) return []
  if (type === 'File') {
    const isNamed = isExact ? source === folder : below !== undefined
    return isNamed && (isTargetExact ? claimed === target : isWithin(claimed, target)) ? [claimed] : []
  }
  if (below === undefined || below === '') return []
  const names = below.split('/')
  const tails = isExact ? [below] : names.map((_, index) => names.slice(index).join('/'))
  if (isTargetExact) return tails.map((tail) => joinPath(target, parseRelativePath(tail)))
  return isWithin(claimed, target) && tails.some((tail) => claimed.endsWith(`/${tail}`)) ? [claimed] : []
}

function refused(path: string, why: string): Fault {
  return new Fault('PayloadMalformed', `${path} ${why}`)
}
