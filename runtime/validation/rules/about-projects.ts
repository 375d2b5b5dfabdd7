/**
 * Checks of projects: their manifests, their inheritance, the views that they show. Pure.
 */
import { foldName } from '../../api/values.ts'
import { isExplained } from './about-json.ts'
import { findCycles, shownCycle } from './cycles.ts'
import { nameOf, projectManifest } from '../model/tree.ts'
import { viewType } from '../model/references.ts'
import { type Violation, inRoot, type TreeFacts, typeOf } from './input.ts'
import type { Overview } from './overview.ts'

export function* missingProjectJson(facts: TreeFacts): Generator<Violation> {
  for (const { name, manifest, resources } of facts.tree.collections) {
    if (manifest !== undefined || resources.length === 0) continue
    const path = inRoot(facts, name)
    if (facts.isFragment) {
      const message = `has resources but no ${projectManifest}, like every folder next to it: they work only if the gateway has the project`
      yield { path, message, severity: 'warning' }
    } else yield { path, message: `has resources but no ${projectManifest}: the gateway does not load the project` }
  }
}

export function* invalidProjectJson(facts: TreeFacts): Generator<Violation> {
  for (const { name, manifest } of facts.tree.collections) {
    const parsed = facts.modes.get(name)
    if (manifest === undefined || parsed?.kind !== 'invalid' || isExplained(facts.damagedModes.get(name))) continue
    yield { path: manifest.path, message: `${projectManifest} ${parsed.problem}, so the gateway does not load the project` }
  }
}

export function* unknownProjectParent(facts: TreeFacts): Generator<Violation> {
  for (const { path, parent } of children(facts)) {
    if (parentAt(facts, parent) !== undefined || facts.isElsewhere(parent)) continue
    const folded = facts.tree.collections.filter(({ name }) => foldName(name) === foldName(parent))
    // Another rule reports the missing project.json of a folder with that name.
    if (folded.some(({ name }) => name === parent)) continue
    const [other] = folded.map(({ name }) => name)
    const meant = other === undefined ? '' : ` (did you mean "${other}"?)`
    yield {
      path,
      message: `inherits from "${parent.slice(0, 120)}", which does not exist here${meant}: what it inherits is missing unless the gateway has that project`,
    }
  }
}

export function* projectParentNotInheritable(facts: TreeFacts): Generator<Violation> {
  for (const { path, parent } of children(facts)) {
    const mode = facts.modes.get(parent)
    if (mode?.kind === 'ok' && !mode.manifest.inheritable)
      yield { path, message: `inherits from "${parent}", which has inheritable: false: the project is not loaded` }
  }
}

export function* projectCycle(facts: TreeFacts): Generator<Violation> {
  const names = facts.tree.collections.map(({ name }) => name)
  for (const cycle of findCycles(names, (name) => [parentOf(facts, name)].filter((parent) => parent !== undefined))) {
    yield {
      path: inRoot(facts, `${cycle[0]}/${projectManifest}`),
      message: `the parents form a cycle, so none of these projects is loaded: ${shownCycle(cycle)}`,
    }
  }
}

/** Below `projects/<name>` a project of that name is a copy one folder too deep, unless other folders beside it hold projects too. */
export function* nestedProject(facts: TreeFacts): Generator<Violation> {
  const { root, tree, otherRoots } = facts
  const outer = nameOf(root)
  const above = root.slice(0, -outer.length)
  const isFolderOfFolders = otherRoots.some((other) => other.startsWith(above) && other !== above.slice(0, -1))
  for (const { name, manifest, strays } of tree.collections) {
    const isCopyOfRoot = nameOf(above.slice(0, -1)) === 'projects' && foldName(name) === foldName(outer) && !isFolderOfFolders
    if (isCopyOfRoot && manifest !== undefined) yield nested(inRoot(facts, name), `projects/${outer}`)
    for (const { folder, files } of strays) {
      const [, inner = '', ...deeper] = folder.split('/')
      const isProject = files.some(({ path }) => nameOf(path) === projectManifest)
      if (deeper.length === 0 && isProject && inner !== '') yield nested(inRoot(facts, folder), name)
    }
  }
}

function nested(path: string, outer: string): Violation {
  return { path, message: `is a project inside "${outer}", one folder too deep: the gateway does not load it` }
}

export function* sameProjectTitle(facts: TreeFacts): Generator<Violation> {
  const titles = new Map<string, string>()
  for (const { name, manifest } of facts.tree.collections) {
    const mode = facts.modes.get(name)
    if (manifest === undefined || mode?.kind !== 'ok' || mode.manifest.title === '') continue
    const { title } = mode.manifest
    const other = titles.get(foldName(title))
    if (other !== undefined && other !== title) {
      yield {
        path: manifest.path,
        message: `the title "${title.slice(0, 80)}" differs only in case from "${other.slice(0, 80)}": users may open the wrong project`,
      }
    }
    titles.set(foldName(title), other ?? title)
  }
}

/** Files that only a resource of a project has. */
const dataFiles: ReadonlySet<string> = new Set(['view.json', 'code.py', 'query.sql', 'style.json', 'stylesheet.css', 'data.bin'])

export function* lostProjectResource(facts: TreeFacts): Generator<Violation> {
  for (const { strays } of facts.tree.collections) {
    for (const { folder, kind, files } of strays) {
      const file = files.find(({ path }) => dataFiles.has(nameOf(path)))
      if (kind !== 'data' || file === undefined) continue
      yield { path: inRoot(facts, folder), message: `has ${nameOf(file.path)} but no resource.json: the gateway does not load it` }
    }
  }
}

/** Compares the views that pages, docks and views show with those that the project has or inherits, if all its parents are here. */
export function unknownViews(facts: TreeFacts): (overview: Overview) => Generator<Violation> {
  const views = new Map<string, Set<string>>()
  for (const { name, resources } of facts.tree.collections) {
    const own = new Set<string>()
    for (const resource of resources) if (typeOf(resource) === viewType) own.add(foldName(resource.key.slice(viewType.length + 1)))
    views.set(name, own)
  }
  const chains = new Map(facts.tree.collections.map(({ name }) => [name, wholeChain(facts, name)]))
  return function* (overview) {
    for (const { folder, notes } of overview.noted) {
      const chain = chains.get(folder.slice(0, folder.indexOf('/')))
      const missing = (notes?.views ?? []).filter((view) => chain?.some((name) => views.get(name)?.has(foldName(view)) === true) === false)
      const [first] = missing
      if (first === undefined) continue
      const more = missing.length === 1 ? '' : ` (and ${missing.length - 1} more)`
      const message = `shows the view "${first.slice(0, 200)}", which neither the project nor its parents have${more}: operators see "View not found"`
      yield { path: inRoot(overview, folder), message }
    }
  }
}

/** A project and those that it inherits from; undefined if one of them is not here. */
function wholeChain(facts: TreeFacts, name: string): string[] | undefined {
  const chain = new Set<string>()
  for (let next: string | undefined = name; next !== undefined && !chain.has(next); next = parentOf(facts, next)) {
    // The parent is unknown if the manifest cannot be read.
    if (facts.modes.get(next)?.kind !== 'ok') return undefined
    chain.add(next)
  }
  return [...chain]
}

function* children(facts: TreeFacts): Generator<{ path: string; parent: string }> {
  for (const { name, manifest } of facts.tree.collections) {
    const parent = parentOf(facts, name)
    if (manifest !== undefined && parent !== undefined) yield { path: manifest.path, parent }
  }
}

function parentOf({ modes }: TreeFacts, name: string): string | undefined {
  const mode = modes.get(name)
  const parent = mode?.kind === 'ok' ? mode.manifest.parent : mode?.parent
  return parent === '' ? undefined : parent
}

/** Projects are named by their folder, with the same case. */
function parentAt({ modes }: TreeFacts, name: string): unknown {
  return modes.get(name)
}
