/**
 * Which paths below a gateway's data directory may be written or deleted, and what a path belongs to. Compared after case folding,
 * because a gateway keys its names that way and a volume may be case-insensitive. Pure.
 */
import { isGatewaysOwn } from '../../gatewaysync/coverage.ts'
import { engineFolder } from '../../gatewaysync/names.ts'
import { foldName, isRelativePath, isWithin, type RelativePath } from '../../gatewaysync/values.ts'

/** Where a gateway reads resource collections, below its data directory. */
export const collectionsFolder = 'config/resources'

/** The part of a gateway's files that a path belongs to; each has its own scan. */
export type ScanKind = 'projects' | 'config'

function isAtOrBelow(path: string, folders: readonly string[]): boolean {
  // By index: each file of a first sync comes here twice, and an iteration makes an object for each step.
  for (let index = 0; index < folders.length; index += 1) if (isWithin(path, folders[index] ?? '')) return true
  return false
}

/** Folders that belong to the gateway itself: its identity, its keys and our own state. */
const forbiddenFolders = ['config/local', 'config/resources/local', 'config/ignition/keys', engineFolder]

/** Whether a path is never written and never deleted, whatever a mapping or a prune setting says. */
export function isForbidden(path: string): boolean {
  const folded = foldName(path)
  return isGatewaysOwn(folded) || isAtOrBelow(folded, forbiddenFolders)
}

/**
 * Whether our own records may name this path as a file of ours. They lie in a folder that the gateway can write to, so they are untrusted
 * input: a path that leads out of the data directory, or to a forbidden place, was not written by us.
 */
export function mayBeOurs(path: unknown): path is RelativePath {
  return typeof path === 'string' && isRelativePath(path) && !isForbidden(path)
}

/** As `mayBeOurs` for a folder: only what lies below it matters, for a folder may have the name of a forbidden file. */
export function mayHoldOurs(folder: unknown): folder is RelativePath {
  return typeof folder === 'string' && isRelativePath(folder) && !isForbidden(`${folder}/x`)
}

/** Resources that identify one gateway, or let us in: kept by `prune: all`, written with a warning. */
const identityFolders = [
  'user-source/default',
  'user-source/opcua-module',
  'identity-provider/default',
  'system-properties',
  'api-token',
].map((name) => `config/resources/core/ignition/${name}`)

/** Whether a path below the data directory belongs to one of these resources, such as the API tokens. */
export function isGatewayIdentity(path: string): boolean {
  return isAtOrBelow(foldName(path), identityFolders)
}

/** Folders that stay when they become empty: the gateway expects them. */
const standingFolders = new Set(['projects', 'config', 'config/resources'])

/** Whether a folder stays when its last file is deleted. */
export function isStandingFolder(path: string): boolean {
  return standingFolders.has(foldName(path))
}

/** Which scan makes the gateway read this path again; undefined when none does. */
export function scanKind(path: string): ScanKind | undefined {
  if (path.startsWith('projects/')) return 'projects'
  return path.startsWith('config/') ? 'config' : undefined
}

/** Linux's limits of one name, and of a whole path without the NUL that ends it, in bytes. */
const maxNameBytes = 255
const maxPathBytes = 4095
/** One UTF-16 code unit takes at most this many bytes in UTF-8. */
const maxUnitBytes = 3

/**
 * What is too long about a path, in words; undefined when a file system accepts it. `rootBytes` is the length of the data directory's own
 * path, with which the gateway opens the file.
 */
export function tooLong(path: string, rootBytes: number): string | undefined {
  if (path.length * maxUnitBytes <= maxNameBytes) return undefined
  const name = path.split('/').find((each) => each.length * maxUnitBytes > maxNameBytes && Buffer.byteLength(each) > maxNameBytes)
  if (name !== undefined) return `a name in it has ${Buffer.byteLength(name)} bytes, and a file system takes ${maxNameBytes}`
  const bytes = rootBytes + 1 + Buffer.byteLength(path)
  if (bytes <= maxPathBytes) return undefined
  return `with the data directory before it, it has ${bytes} bytes, and a file system takes ${maxPathBytes}`
}
