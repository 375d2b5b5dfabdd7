/**
 * Determines which collections are delivered to a gateway: always external and core, which every gateway has, and its deployment mode after
 * all of the mode's parents; never `local`, which holds one machine's identity. Pure.
 */
import { foldName, isWithin, type RelativePath } from '../../api/values.ts'
import { ancestry, baseCollections, isUserMode, missingParent, parentIn } from './inheritance.ts'
import type { ParsedMode } from './manifests.ts'
import { modeManifest } from './tree.ts'

/** A problem of a mode; `path` is relative to the collections root. */
export type ChainFinding = {
  rule: 'parent-cycle' | 'mode-without-folder' | 'unknown-parent' | 'parents-unknown'
  path: string
  message: string
}

/** The folder below the collections root whose `config-mode.json` the path is; undefined for every other path. */
export function collectionManifestFolder(root: RelativePath, path: string): string | undefined {
  if (!isWithin(path, root)) return undefined
  const [folder, name, ...rest] = (root === '' ? path : path.slice(root.length + 1)).split('/')
  return name === modeManifest && rest.length === 0 ? folder : undefined
}

/**
 * The folders to deliver, least specific first. `mode` undefined or `''` means none is active; `manifests` holds the parsed
 * `config-mode.json` by folder. A mode without a folder is still in the chain: it is delivered as soon as the tree holds it. `before` is
 * the chain that is in place: a manifest that cannot be read names no parents, and those that are in place stay.
 */
export function deliveredChain(
  mode: string | undefined,
  manifests: ReadonlyMap<string, ParsedMode>,
  before: readonly string[],
): { chain: string[]; findings: ChainFinding[] } {
  const folders = new Map([...manifests.keys()].map((folder) => [foldName(folder), folder]))
  const bases = baseCollections.map((name) => (manifests.has(name) ? name : (folders.get(name) ?? name)))
  if (mode === undefined || mode === '') return { chain: bases, findings: [] }
  const manifestOf = (folded: string): ParsedMode | undefined => manifests.get(folders.get(folded) ?? '')
  const { names, cycle } = ancestry(mode, (folded) => parentIn(manifestOf(folded)))
  const inherited = names.slice(0, names.findIndex((name) => !isUserMode(name)) >>> 0)
  const findings: ChainFinding[] = []
  const modes = inherited.map((name) => folders.get(name) ?? (name === foldName(mode) ? mode : name)).toReversed()
  const last = inherited.at(-1)
  if (cycle !== undefined) {
    const path = `${folders.get(cycle) ?? cycle}/${modeManifest}`
    findings.push({ rule: 'parent-cycle', path, message: 'the parents of this mode form a cycle' })
  } else if (last !== undefined && !folders.has(last)) {
    const child = inherited.at(-2)
    findings.push(
      child === undefined
        ? { rule: 'mode-without-folder', path: last, message: 'the commit contains no such collection: nothing is overridden' }
        : {
            rule: 'unknown-parent',
            path: `${folders.get(child)}/${modeManifest}`,
            message: missingParent(parentIn(manifestOf(child)) ?? last),
          },
    )
  } else if (last !== undefined && parentIn(manifestOf(last)) === undefined) {
    const kept = parentsIn(before, last)
    modes.unshift(...kept)
    const stays = kept.length === 0 ? '' : `; the parents that are in place stay: ${kept.join(', ')}`
    const path = `${folders.get(last)}/${modeManifest}`
    findings.push({ rule: 'parents-unknown', path, message: `cannot be read and names no parents${stays}` })
  }
  return { chain: [...bases, ...modes], findings }
}

/** The modes above `mode` in a chain. */
function parentsIn(chain: readonly string[], mode: string): string[] {
  const at = chain.findIndex((name) => foldName(name) === mode)
  return chain.slice(0, Math.max(at, 0)).filter((name) => !baseCollections.includes(foldName(name)))
}
