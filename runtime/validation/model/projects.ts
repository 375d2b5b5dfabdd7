/**
 * Finds the collections and the projects of a repository, and reads each `project.json`. Pure.
 */
import { parentOf, isWithin } from '../../api/values.ts'
import { type ParsedMode, parseManifest } from './manifests.ts'
import { aboveRepository, isModule, manifestName, nameOf, projectManifest, modeManifest } from './tree.ts'

const fields = { title: 'string', description: 'string', enabled: 'boolean', inheritable: 'boolean', parent: 'string' } as const

/** A `project.json` has the fields of a `config-mode.json`; absent ones have the gateway's defaults. A parent of `''` is none. */
export function parseProject(bytes: Uint8Array | undefined): ParsedMode {
  const parsed = parseManifest(bytes)
  if (parsed.kind === 'invalid') return { ...parsed, parent: undefined, unknownKeys: [] }
  const { value } = parsed
  const parent = typeof value['parent'] === 'string' ? value['parent'] : ''
  for (const [key, type] of Object.entries(fields)) {
    const field = Object.hasOwn(value, key) ? value[key] : undefined
    if (field === undefined || field === null || typeof field === type) continue
    return { kind: 'invalid', problem: `"${key}" must be a ${type}, not a ${typeof field}`, parent, unknownKeys: [] }
  }
  const { title, description, enabled, inheritable } = value
  const manifest = {
    title: typeof title === 'string' ? title : '',
    description: typeof description === 'string' ? description : '',
    enabled: enabled !== false,
    inheritable: inheritable === true,
    parent,
  }
  return { kind: 'ok', manifest, unknownKeys: [] }
}

/** The folder in which a gateway keeps its projects. */
const conventional = 'projects'

/** Takes paths one by one; `roots` are the folders that hold projects, sorted. */
export type ProjectFinder = { take(path: string): void; roots(): string[]; seen(): SeenOfProjects }

/** The folders from which a finder continues. */
export type SeenOfProjects = Record<'withManifest' | 'withResources' | 'roots', ReadonlySet<string>>

/**
 * Takes the paths of a repository in any order and returns the folders that hold projects of a gateway. Other programs have a `project.json`
 * too, so a project is recognized by a module's folder with resources; below a folder `projects` that alone is enough. If the repository itself is
 * a project, the folder is `aboveRepository`.
 */
export function createProjectFinder(before?: SeenOfProjects): ProjectFinder {
  const withManifest = new Set(before?.withManifest)
  const withResources = new Set(before?.withResources)
  const roots = new Set(before?.roots)
  return {
    take(path) {
      const name = nameOf(path)
      if (isOutside(path)) return
      if (name === projectManifest) withManifest.add(parentOf(path))
      else if (isOfResource(path, name)) {
        const found = projectFolders(path)
        const usual = found.find((folder) => nameOf(parentOf(folder)) === conventional)
        if (usual !== undefined) roots.add(parentOf(usual))
        else for (const folder of found) withResources.add(folder)
      }
    },
    roots() {
      for (const folder of withResources) if (withManifest.has(folder)) roots.add(folder === '' ? aboveRepository : parentOf(folder))
      return [...roots].toSorted()
    },
    seen: () => ({ withManifest, withResources, roots }),
  }
}

/** The same for a complete list of paths: the folders that hold projects, sorted. */
export function findProjectRoots(paths: Iterable<string>): string[] {
  const finder = createProjectFinder()
  for (const path of paths) finder.take(path)
  return finder.roots()
}

/** Whether a folder beside projects should be one, with or without its manifest. */
export function isProjectFolder(root: string, name: string): boolean {
  return nameOf(root) === conventional && !name.startsWith('.')
}

/** Whether a file may make its folder a project. */
export function isProjectFile(path: string): boolean {
  const name = nameOf(path)
  // Rules out most names first, because that is cheapest.
  if (name !== projectManifest && !isOfResource(path, name)) return false
  return !isOutside(path) && (name === projectManifest || projectFolders(path).length > 0)
}

/** A manifest, or a view that may have lost its own. */
function isOfResource(path: string, name: string): boolean {
  return name === manifestName || (name === 'view.json' && path.includes('com.inductiveautomation.perspective/views/'))
}

/** Collections have the same layout, and files that a gateway unpacks below `var` are templates. */
function isOutside(path: string): boolean {
  return /(?:^|\/)(?:config\/resources|var)\//.test(path)
}

/** The folders above a module's; `''` is the top of the repository. */
function projectFolders(path: string): string[] {
  const segments = path.split('/')
  const found: string[] = []
  for (let at = 0; at < segments.length - 2 && at < maxDepth; at += 1) {
    if (isVendors(segments[at] ?? '') && (at > 0 || isOfProject(segments))) found.push(segments.slice(0, at).join('/'))
  }
  return found
}

/** Types of the platform that each project has. Many repositories have a folder `ignition` for another purpose. */
const platformTypes: ReadonlySet<string> = new Set(['designer-properties', 'event-scripts', 'global-props', 'named-query', 'script-python'])

function isOfProject([module = '', type = '']: readonly string[]): boolean {
  return module !== 'ignition' || platformTypes.has(type)
}

const maxDepth = 32

function isVendors(name: string): boolean {
  return isModule(name) && (name === 'ignition' || name.startsWith('com.inductiveautomation.'))
}

const conventionalCollections = 'config/resources'

/**
 * The folders that hold collections, sorted: every `config/resources`; without one, the parent of each folder with a `config-mode.json`.
 * `''` is the top of the repository. `named` are folders that the user named: each of them is a root, in addition to others.
 */
export function findRoots(paths: Iterable<string>, named: readonly string[] = []): string[] {
  const roots = new Set<string>()
  for (const path of paths) {
    const root = indicatedRoot(path)
    if (root !== undefined && !roots.has(root) && !isBelowVar(root, named)) roots.add(root)
  }
  return chooseRoots(roots, named)
}

/** Selects the roots that hold collections, sorted. A `config-mode.json` beside `config/resources` is a copy or a template. */
export function chooseRoots(roots: ReadonlySet<string>, named: readonly string[]): string[] {
  const sorted = [...roots].toSorted()
  return sorted.some(isConventional) ? sorted.filter((root) => isConventional(root) || named.includes(root)) : sorted
}

/** The root that the path of a file indicates. Files that a gateway unpacks below `var` indicate none, unless `named` is below it. */
export function rootOf(path: string, named: readonly string[] = []): string | undefined {
  const root = indicatedRoot(path)
  return root === undefined || isBelowVar(root, named) ? undefined : root
}

function indicatedRoot(path: string): string | undefined {
  const inCollections = path.includes(`${conventionalCollections}/`) ? /^(?:.*\/)?config\/resources(?=\/)/.exec(path)?.[0] : undefined
  return inCollections ?? parentOfCollection(path)
}

function parentOfCollection(path: string): string | undefined {
  return path.endsWith(`/${modeManifest}`) ? path.split('/').slice(0, -2).join('/') : undefined
}

function isConventional(root: string): boolean {
  return root === conventionalCollections || root.endsWith(`/${conventionalCollections}`)
}

function isBelowVar(root: string, named: readonly string[]): boolean {
  const known = named.filter((folder) => isWithin(root, folder)).map((folder) => folder.length)
  return /(?:^|\/)var(?:\/|$)/.test(root.slice(Math.max(0, ...known)))
}
