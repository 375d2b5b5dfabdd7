/**
 * For which deployment modes of a profile a change is planned. Pure.
 */
import { collectionManifestFolder } from '../../collections/model/delivered-chain.ts'
import { nearestTo } from '../../edit-distance.ts'
import { Fault } from '../../fault.ts'
import type { ResolvedProfile } from '../../gatewaysync/decide/profile.ts'
import { foldName, parseRelativePath, type RelativePath } from '../../gatewaysync/values.ts'

/** Names of collections that are no deployment mode, folded. */
const notModes = new Set(['core', 'external', 'local'])

/** The folders of collections that these profiles read for a mode that the profile does not name itself. */
export function modeRoots(profiles: readonly ResolvedProfile[]): RelativePath[] {
  return profiles.flatMap(({ collections }) => (collections?.mode === 'auto' ? [parseRelativePath(collections.root)] : []))
}

/** Throws InvalidConfiguration for a mode that no profile takes: each has one of its own, or none. */
export function refuseUselessMode(profiles: readonly ResolvedProfile[], [mode]: readonly string[]): void {
  const takes = ({ collections }: ResolvedProfile): boolean => collections?.mode === 'auto' || collections?.mode === mode
  if (mode === undefined || profiles.some(takes)) return
  const own = profiles.map(({ name, collections }) =>
    collections === undefined ? `profile "${name}" has no collections` : `profile "${name}" has the mode "${collections.mode}" of its own`,
  )
  throw new Fault('InvalidConfiguration', `--mode ${mode} would change nothing: ${own.join(', ')}; leave it out, or set mode: auto there`)
}

/** Throws InvalidConfiguration for a mode without a folder. `paths`: the files of both commits; where no root has any, that is told instead. */
export function refuseUnknownMode(profiles: readonly ResolvedProfile[], [mode]: readonly string[], paths: readonly string[]): void {
  if (mode === undefined || mode === '' || notModes.has(foldName(mode))) return
  if (profiles.some(({ collections }) => collections?.mode === mode)) return
  const roots = modeRoots(profiles)
  const folders = new Set(roots.flatMap((root) => paths.flatMap((file) => folderIn(root, file) ?? [])))
  if (folders.size === 0 || [...folders].some((folder) => foldName(folder) === foldName(mode))) return
  const modes = [...new Set(roots.flatMap((root) => modesIn(root, paths)))].toSorted()
  const meant = nearestTo(mode, modes)
  const known = modes.length === 0 ? 'there is no mode yet' : `modes are: ${modes.join(', ')}`
  const help = meant === undefined ? known : `did you mean "${meant}"?`
  throw new Fault('InvalidConfiguration', `--mode: neither the base nor the head has a folder of the mode "${mode}"; ${help}`)
}

/** The modes of one profile, of the named one or else of every one that either commit has; `''` is none. */
export function modesOf({ collections }: ResolvedProfile, named: readonly string[], paths: readonly string[]): string[] {
  if (collections === undefined) return ['']
  if (collections.mode !== 'auto') return [collections.mode]
  if (named.length > 0) return [...named]
  const found = modesIn(parseRelativePath(collections.root), paths)
  return found.length === 0 ? [''] : [...new Set(found)].toSorted()
}

function modesIn(root: RelativePath, paths: readonly string[]): string[] {
  const names = paths.flatMap((file) => collectionManifestFolder(root, file) ?? [])
  return names.filter((name) => !notModes.has(foldName(name)))
}

/** The folder of a root that a file lies in. */
function folderIn(root: RelativePath, file: string): string | undefined {
  const start = root === '' ? '' : `${root}/`
  const [folder, ...rest] = file.startsWith(start) ? file.slice(start.length).split('/') : []
  return rest.length === 0 ? undefined : folder
}
