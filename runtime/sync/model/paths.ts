/**
 * Decides which paths below a gateway's data directory may be written or deleted, and what a path belongs to. Compared after case folding,
 * because a gateway keys its names that way and a volume may be case-insensitive. Pure.
 */
import { isGatewaysOwn } from '../../api/coverage.ts'
import { engineFolder } from '../../api/names.ts'
import { foldName, isRelativePath, isWithin, type RelativePath } from '../../api/values.ts'

/** Where a gateway reads resource collections, below its data directory. */
export const collectionsFolder = 'config/resources'

/** The part of a gateway's files that a path belongs to; each part has its own scan. */
export type ScanKind = 'projects' | 'config'

function isAtOrBelow(path: string, folders: readonly string[]): boolean {
  // A loop by index: each file of a first sync is checked twice, and an iterator would create an object per step.
  for (let index = 0; index < folders.length; index += 1) if (isWithin(path, folders[index] ?? '')) return true
  return false
}

/**
 * What belongs to the gateway itself: its identity, its keys, the marker of a seeded volume (without it the seeding container overwrites
 * the files with the image's), and the operator's own state.
 */
const forbiddenFolders = [
  'config/local',
  'config/resources/local',
  'config/ignition/keys',
  engineFolder,
  '.uuid',
  '.ignition-seed-complete',
]

/** Whether a path is never written and never deleted, regardless of mappings and prune settings. */
export function isForbidden(path: string): boolean {
  const folded = foldName(path)
  return isGatewaysOwn(folded) || isAtOrBelow(folded, forbiddenFolders)
}

/**
 * Whether the operator's records may name this path as owned. They are in a folder that the gateway can write to, so they are untrusted
 * input: a path outside the data directory, or in a forbidden place, was not written by the operator.
 */
export function mayBeOwned(path: unknown): path is RelativePath {
  return typeof path === 'string' && isRelativePath(path) && !isForbidden(path)
}

/** Like `mayBeOwned`, for a folder: only paths below it matter, because a folder may have the name of a forbidden file. */
export function mayHoldOwned(folder: unknown): folder is RelativePath {
  return typeof folder === 'string' && isRelativePath(folder) && !isForbidden(`${folder}/x`)
}

/**
 * Files at the top of the data directory that configure one gateway: the wrapper's settings with the deployment mode, ports and addresses,
 * its redundancy role, the answers given during commissioning, and its modules.
 */
const gatewayFiles = ['ignition.conf', 'gateway.xml', 'redundancy.xml', 'commissioning.json', 'modules.json']

/** Resources that identify one gateway, or grant access: kept by `prune: All`, written with a warning. */
const identityFolders = [
  'user-source/default',
  'user-source/opcua-module',
  'identity-provider/default',
  'system-properties',
  'api-token',
].map((name) => `config/resources/core/ignition/${name}`)
const identities = [...gatewayFiles, ...identityFolders]

/** Whether a path below the data directory identifies or configures one gateway, such as its API tokens. */
export function isGatewayIdentity(path: string): boolean {
  return isAtOrBelow(foldName(path), identities)
}

/** Folders that stay when they become empty: the gateway expects them. */
const standingFolders = new Set(['projects', 'config', 'config/resources'])

/** Whether a folder stays when its last file is deleted. */
export function isStandingFolder(path: string): boolean {
  return standingFolders.has(foldName(path))
}

/** Which scan makes the gateway read this path again; undefined: none. */
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
 * Describes which part of a path is too long; undefined: nothing. `rootBytes` is the length of the data directory's own path, with which
 * the gateway opens the file.
 */
export function tooLong(path: string, rootBytes: number): string | undefined {
  if (path.length * maxUnitBytes <= maxNameBytes) return undefined
  const name = path.split('/').find((each) => each.length * maxUnitBytes > maxNameBytes && Buffer.byteLength(each) > maxNameBytes)
  if (name !== undefined) return `one of its names has ${Buffer.byteLength(name)} bytes, and a file system allows ${maxNameBytes}`
  const bytes = rootBytes + 1 + Buffer.byteLength(path)
  if (bytes <= maxPathBytes) return undefined
  return `with the data directory in front, it has ${bytes} bytes, and a file system allows ${maxPathBytes}`
}
