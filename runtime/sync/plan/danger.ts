/**
 * What a running gateway would lose by a plan, however few files that takes: its deployment mode, a project, a singleton. Pure.
 */
import { firstBootSingletons, localSingletons, oneTimeType, singletonTypes } from '../../collections/model/resource-types.ts'
import { manifestName, modeManifest, projectManifest } from '../../collections/model/tree.ts'
import { foldName } from '../../gatewaysync/values.ts'
import { collectionsFolder } from '../model/paths.ts'

/**
 * `going`: the paths to be deleted; `staysOrComes`: whether a path will exist afterwards; `mode`: the deployment mode of the gateway, `''` or
 * undefined for none. Returns what is lost, as parts of a sentence.
 */
export function losses(going: readonly string[], staysOrComes: (path: string) => boolean, mode: string | undefined): string[] {
  const lost: string[] = []
  for (const path of going) {
    const what = lossOf(path, mode)
    if (what !== undefined && !staysOrComes(path)) lost.push(what)
  }
  return lost
}

function lossOf(path: string, mode: string | undefined): string | undefined {
  const below = path.startsWith(`${collectionsFolder}/`) ? path.slice(collectionsFolder.length + 1).split('/') : undefined
  if (below === undefined) {
    const [projects, name, file, ...rest] = path.split('/')
    return projects === 'projects' && file === projectManifest && rest.length === 0 ? `the project "${name}"` : undefined
  }
  const [collection = '', module, type, file, ...rest] = below
  if (below.length === 2 && module === modeManifest) {
    const isActive = mode !== undefined && mode !== '' && foldName(mode) === foldName(collection)
    return isActive ? `its deployment mode "${collection}"` : undefined
  }
  if (foldName(collection) !== 'core' || file !== manifestName || rest.length > 0) return undefined
  const name = `${module}/${type}`
  return singletonTypes.has(name) && !dispensable.has(name) ? `the only ${name} of core` : undefined
}

/** Singletons that gateways create themselves, and that our rules advise to leave out of a repository. */
const dispensable: ReadonlySet<string> = new Set([...firstBootSingletons, ...localSingletons, oneTimeType])
