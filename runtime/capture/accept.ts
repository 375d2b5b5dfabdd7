/**
 * Whether what an agent hands on may become a commit: changes of files that its profile delivers, and no others. The agent looks at the same
 * rules; whoever took over a gateway need not. Pure.
 */
import { captureBounds, type CapturedChange } from '../delivery/protocol.ts'
import { Fault } from '../fault.ts'
import { excluderOf } from '../gatewaysync/coverage.ts'
import type { ResolvedProfile } from '../gatewaysync/decide/profile.ts'
import { sourceRoots } from '../gatewaysync/decide/source-roots.ts'
import { foldName, isRelativePath, isWithin } from '../gatewaysync/values.ts'
import type { Edit } from '../source/content/make-commit.ts'
import { isForbidden, isGatewayIdentity } from '../sync/model/paths.ts'
import { digestOf } from './commit.ts'

/** An edit of a commit, and where the file stands on the gateway. */
export type TakenEdit = Edit & { path: string }

/** The edits behind the changes, which must have the digest that was told of them. Throws PayloadMalformed, PayloadTooLarge. */
export function acceptChanges(changes: readonly CapturedChange[], digest: string, profile: ResolvedProfile): TakenEdit[] {
  const roots = sourceRoots(profile)
  const excluded = excluderOf(profile.excludePatterns, 'spec.sync excludePatterns')
  const isNamed = (source: string): boolean => profile.mappings.some((mapping) => mapping.type === 'file' && mapping.source === source)
  const seen = new Set<string>()
  let bytes = 0
  const edits = changes.map(({ source, path, op, exec, content }): TakenEdit => {
    const root = roots.find((each) => isWithin(source, each))
    if (!isRelativePath(source) || source === '' || root === undefined) throw refused(source, 'is below no source of the profile')
    if (source === root && !isNamed(source)) throw refused(source, 'is the folder of a mapping')
    if (hasGitFolder(source)) throw refused(source, "belongs to git's own files")
    const below = root === '' ? source : source.slice(root.length + 1)
    if (below !== '' && excluded(below)) throw refused(source, 'is excluded')
    if (isForbidden(path) || isGatewayIdentity(path)) throw refused(path, 'belongs to the gateway itself')
    if (seen.has(source)) throw refused(source, 'is told of twice')
    seen.add(source)
    if ((op === 'removed') !== (content === undefined)) throw refused(source, 'has content exactly when it is removed')
    const held = content === undefined ? undefined : Buffer.from(content, 'base64')
    bytes += held?.length ?? 0
    return { source, path, exec, content: held }
  })
  if (bytes > captureBounds.totalBytes) throw new Fault('PayloadTooLarge', `the changes are larger than ${captureBounds.totalBytes} bytes`)
  if (digestOf(edits) !== digest) throw new Fault('PayloadMalformed', 'the changes are not those whose digest was told')
  return edits
}

function hasGitFolder(path: string): boolean {
  return path.split('/').some((name) => foldName(name) === '.git')
}

function refused(path: string, why: string): Fault {
  return new Fault('PayloadMalformed', `${path} ${why}`)
}
