/**
 * Which collections a gateway reads: external, core, and its deployment mode after all of the mode's parents; never `local`, which holds
 * one machine's identity. Pure.
 */
import { type CommitHash, isWithin, type RelativePath } from '../gatewaysync/values.ts'
import { fold } from './paths.ts'

export type Finding = { rule: string; path: string; message: string }

const manifestName = 'config-mode.json'
/** Base collections, in the order in which later ones override earlier ones. */
const base = ['external', 'core']
/** Whether a collection is delivered to every gateway, whatever its mode. */
export function isBaseCollection(name: string): boolean {
  return base.includes(name)
}

/** Never delivered as a mode: built in, base, or one machine's own. */
const reserved = new Set(['system', 'external', 'core', 'local'])

/** The folder of the collections root that a path's `config-mode.json` makes a collection; undefined for every other path. */
export function collectionManifestFolder(root: RelativePath, path: string): string | undefined {
  if (!isWithin(path, root)) return undefined
  const [folder, name, ...rest] = (root === '' ? path : path.slice(root.length + 1)).split('/')
  return name === manifestName && rest.length === 0 ? folder : undefined
}

/** The `config-mode.json` files of a tree by their collection's folder. */
export function collectionManifests(root: RelativePath, files: Iterable<{ path: string; id: CommitHash; size: number }>) {
  const found = new Map<string, { id: CommitHash; size: number }>()
  for (const { path, id, size } of files) {
    const folder = collectionManifestFolder(root, path)
    if (folder !== undefined) found.set(folder, { id, size })
  }
  return found
}

/**
 * The folders to deliver, least specific first. `mode` undefined or `''` means none is active; `manifests` holds the parsed
 * `config-mode.json` by folder, undefined for one that cannot be read. A mode without a folder still stands in the chain: it delivers as
 * soon as the tree holds it. `before` is the chain that is in place: a manifest that cannot be read names no parents, and those that are
 * in place stay.
 */
export function collectionChain(
  mode: string | undefined,
  manifests: ReadonlyMap<string, unknown>,
  before: readonly string[],
): { chain: string[]; findings: Finding[] } {
  const findings: Finding[] = []
  const folderByFold = new Map([...manifests.keys()].map((folder) => [fold(folder), folder]))
  const modes: string[] = []
  let next = mode === undefined ? '' : fold(mode)
  while (next !== '' && !reserved.has(next)) {
    const folder = folderByFold.get(next)
    if (modes.some((known) => fold(known) === next)) {
      findings.push({ rule: 'parent-cycle', path: `${folder ?? next}/${manifestName}`, message: 'the parents of this mode form a cycle' })
      break
    }
    modes.unshift(folder ?? (next === fold(mode ?? '') ? (mode ?? '') : next))
    if (folder === undefined) {
      findings.push({ rule: 'mode-without-folder', path: next, message: 'the commit holds no such collection: nothing is overridden' })
      break
    }
    const manifest = manifests.get(folder)
    if (manifest === undefined) {
      const kept = parentsIn(before, next)
      modes.unshift(...kept)
      const stays = kept.length === 0 ? '' : `; the parents that are in place stay: ${kept.join(', ')}`
      findings.push({ rule: 'parents-unknown', path: `${folder}/${manifestName}`, message: `cannot be read and names no parents${stays}` })
      break
    }
    next = parentOfMode(manifest)
  }
  return { chain: [...base, ...modes], findings }
}

type KnownMode = { name: string; from: string; configured?: { name: string; from: string }; lastKnown?: true }

/** What is to be said of the mode that collections are delivered for: nobody knows it, or the next start of the gateway changes it. */
export function modeFindings(mode: KnownMode | undefined): Finding[] {
  const inWords = (name: string): string => (name === '' ? 'no mode' : `mode "${name}"`)
  if (mode?.configured !== undefined) {
    const { name, from } = mode.configured
    const message = `the gateway runs in ${inWords(mode.name)} and is set to start in ${inWords(name)} (${from}); what it runs in is delivered`
    return [{ rule: 'mode-differs', path: '', message }]
  }
  if (mode?.lastKnown === true) {
    const origin = mode.from === 'none' ? '' : ` (${mode.from})`
    return [
      {
        rule: 'mode-unknown',
        path: '',
        message: `the deployment mode is not known now: ${inWords(mode.name)}${origin}, the last one known, stays in force`,
      },
    ]
  }
  if (mode?.from !== 'none') return []
  const message =
    'no deployment mode was found in the arguments of the gateway, ignition.conf, DEPLOYMENT_MODE or at the gateway: only external and core are delivered'
  return [{ rule: 'mode-unknown', path: '', message }]
}

/** The modes above `mode` in a chain. */
function parentsIn(chain: readonly string[], mode: string): string[] {
  const at = chain.findIndex((name) => fold(name) === mode)
  return chain.slice(0, Math.max(at, 0)).filter((name) => !isBaseCollection(name))
}

function parentOfMode(manifest: unknown): string {
  if (typeof manifest !== 'object' || manifest === null || !('parent' in manifest)) return 'core'
  return typeof manifest.parent === 'string' ? fold(manifest.parent) : 'core'
}
