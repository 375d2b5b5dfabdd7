/**
 * Checks of projects: what makes a folder one, what it inherits, what its pages show. Pure.
 */
import { foldName } from '../../gatewaysync/values.ts'
import { isExplained } from './about-json.ts'
import { nameOf, projectManifest } from '../model/tree.ts'
import { viewType } from '../model/view-notes.ts'
import { type Found, inRoot, type ResourceFacts, type TreeFacts, typeOf } from './input.ts'
import type { CrossFindings } from './overview.ts'

export function* missingProjectJson(facts: TreeFacts): Generator<Found> {
  for (const { name, manifest, resources } of facts.tree.collections) {
    if (manifest !== undefined || resources.length === 0) continue
    yield { path: inRoot(facts, name), message: `has resources and no ${projectManifest}: it is no project to a gateway` }
  }
}

export function* invalidProjectJson(facts: TreeFacts): Generator<Found> {
  for (const { name, manifest } of facts.tree.collections) {
    const parsed = facts.modes.get(name)
    if (manifest === undefined || parsed?.kind !== 'invalid' || isExplained(facts.damagedModes.get(name))) continue
    yield { path: manifest.path, message: `${projectManifest} ${parsed.problem}` }
  }
}

export function* unknownProjectParent(facts: TreeFacts): Generator<Found> {
  for (const { path, parent } of children(facts)) {
    if (parentAt(facts, parent) !== undefined || facts.isElsewhere(parent)) continue
    const folded = facts.tree.collections.filter(({ name }) => foldName(name) === foldName(parent))
    // A folder of that name lacks its project.json, which another rule says.
    if (folded.some(({ name }) => name === parent)) continue
    const [other] = folded.map(({ name }) => name)
    const meant = other === undefined ? '' : `: did you mean "${other}"?`
    yield { path, message: `inherits from "${parent.slice(0, 120)}", which is no project here${meant}` }
  }
}

export function* projectParentNotInheritable(facts: TreeFacts): Generator<Found> {
  for (const { path, parent } of children(facts)) {
    const mode = facts.modes.get(parent)
    if (mode?.kind === 'ok' && !mode.manifest.inheritable) yield { path, message: `inherits from "${parent}", which is not inheritable` }
  }
}

export function* projectCycle(facts: TreeFacts): Generator<Found> {
  const done = new Set<string>()
  for (const { name } of facts.tree.collections) {
    const trail: string[] = []
    let next: string | undefined = name
    while (next !== undefined && !done.has(next)) {
      done.add(next)
      trail.push(next)
      next = parentOf(facts, next)
    }
    const start = next === undefined ? -1 : trail.indexOf(next)
    if (start < 0) continue
    const circle = trail.slice(start)
    const [first = ''] = circle.toSorted()
    const shown = [...circle.slice(0, 10), circle[0] ?? ''].join(' -> ')
    yield { path: inRoot(facts, `${first}/${projectManifest}`), message: `the parents form a cycle: ${shown}` }
  }
}

export function* sameProjectTitle(facts: TreeFacts): Generator<Found> {
  const titles = new Map<string, string>()
  for (const { name, manifest } of facts.tree.collections) {
    const mode = facts.modes.get(name)
    if (manifest === undefined || mode?.kind !== 'ok' || mode.manifest.title === '') continue
    const { title } = mode.manifest
    const other = titles.get(foldName(title))
    if (other !== undefined && other !== title) {
      yield { path: manifest.path, message: `its title "${title.slice(0, 80)}" differs only in case from "${other.slice(0, 80)}"` }
    }
    titles.set(foldName(title), other ?? title)
  }
}

/** Files that only a resource of a project has. */
const dataFiles: ReadonlySet<string> = new Set(['view.json', 'code.py', 'query.sql', 'style.json', 'stylesheet.css', 'data.bin'])

export function* lostProjectResource(facts: TreeFacts): Generator<Found> {
  for (const { strays } of facts.tree.collections) {
    for (const { folder, kind, files } of strays) {
      const file = files.find(({ path }) => dataFiles.has(nameOf(path)))
      if (kind !== 'data' || file === undefined) continue
      yield { path: inRoot(facts, folder), message: `has ${nameOf(file.path)} and no resource.json: no resource to the gateway` }
    }
  }
}

export function* scriptSyntax({ scripts, resource }: ResourceFacts): Generator<Found> {
  if (typeOf(resource) !== 'ignition/script-python') return
  for (const [path, { problem }] of scripts) yield { path, message: problem }
}

/** Views that pages, docks and views show, against what the project has or inherits. What is not here may be inherited from elsewhere. */
export function unknownViews(facts: TreeFacts): CrossFindings {
  const views = new Map<string, Set<string>>()
  for (const { name, resources } of facts.tree.collections) {
    const own = new Set<string>()
    for (const resource of resources) if (typeOf(resource) === viewType) own.add(foldName(resource.key.slice(viewType.length + 1)))
    views.set(name, own)
  }
  const chains = new Map(facts.tree.collections.map(({ name }) => [name, wholeChain(facts, name)]))
  const { root } = facts
  return function* (noted) {
    for (const [folder, { notes }] of noted) {
      const chain = chains.get(folder.slice(0, folder.indexOf('/')))
      const missing = (notes?.views ?? []).filter((view) => chain?.some((name) => views.get(name)?.has(foldName(view)) === true) === false)
      const [first] = missing
      if (first === undefined) continue
      const more = missing.length === 1 ? '' : ` (and ${missing.length - 1} more)`
      const message = `shows the view "${first.slice(0, 200)}", which neither the project nor one that it inherits from has${more}`
      yield ['unknown-view', { path: inRoot({ root }, folder), message }] as const
    }
  }
}

/** A project and those that it inherits from; undefined where one of them is not here. */
function wholeChain(facts: TreeFacts, name: string): string[] | undefined {
  const chain = new Set<string>()
  for (let next: string | undefined = name; next !== undefined && !chain.has(next); next = parentOf(facts, next)) {
    // What a manifest that cannot be read inherits from is not known.
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

/** The folders of projects are what they are called by, letter for letter. */
function parentAt({ modes }: TreeFacts, name: string): unknown {
  return modes.get(name)
}
