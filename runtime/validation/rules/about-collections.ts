/**
 * Checks of collections: their folders, their manifests, their inheritance. Pure.
 */
import { foldName } from '../../api/values.ts'
import { isExplained } from './about-json.ts'
import { findCycles, shownCycle } from './cycles.ts'
import type { Violation, TreeFacts } from './input.ts'
import { inRoot } from './input.ts'
import { declaredParent, exists, type CollectionsByName, isUserMode, missingParent } from '../model/inheritance.ts'
import type { ModeManifest } from '../model/manifests.ts'
import { type Collection, modeManifest, nameOf } from '../model/tree.ts'

export function* missingConfigMode(facts: TreeFacts): Generator<Violation> {
  if (facts.isLaidOver) return
  for (const collection of facts.tree.collections) {
    const { name, manifest, resources, strays } = collection
    if (manifest !== undefined || foldName(name) === 'system' || resources.length + strays.length === 0) continue
    if (nestedIn(collection).length > 0) continue
    const found = { path: inRoot(facts, name), collection: name }
    if (/^(?:external|local)$/i.test(name)) {
      yield { ...found, message: `has files but no ${modeManifest}: the gateway does not start` }
    } else if (facts.isFragment) {
      const message = `has no ${modeManifest}, like every folder next to it: the files work only if they are copied over a complete collection "${name}"`
      yield { ...found, message, severity: 'warning' }
    } else yield { ...found, message: `has files but no ${modeManifest}: the gateway does not load it, and its resources are lost` }
  }
}

/** The folders of collections inside a collection, which come from a tree that was copied one folder too deep. */
export function nestedIn({ strays }: Collection): string[] {
  return strays.flatMap(({ folder, kind, files }) => {
    const isCollection = kind === 'loose' && folder.split('/').length === 2 && files.some(({ path }) => nameOf(path) === modeManifest)
    return isCollection ? [folder] : []
  })
}

export function* nestedCollection(facts: TreeFacts): Generator<Violation> {
  for (const collection of facts.tree.collections) {
    const [first, ...others] = nestedIn(collection)
    if (first === undefined) continue
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`
    const message = `is a collection inside "${collection.name}", one folder too deep${more}: the gateway does not load it`
    yield { path: inRoot(facts, first), collection: collection.name, message }
  }
}

export function* invalidConfigMode(facts: TreeFacts): Generator<Violation> {
  for (const { name, manifest } of facts.tree.collections) {
    const mode = facts.modes.get(name)
    // Another rule reports its actual content.
    if (manifest === undefined || mode?.kind !== 'invalid' || isExplained(facts.damagedModes.get(name))) continue
    yield { path: manifest.path, collection: name, message: `${modeManifest} ${mode.problem}, so the gateway does not load the collection` }
  }
}

export function* unknownCollectionKey(facts: TreeFacts): Generator<Violation> {
  for (const { name, manifest } of facts.tree.collections) {
    for (const key of facts.modes.get(name)?.unknownKeys ?? []) {
      yield {
        path: manifest?.path ?? name,
        collection: name,
        message: `has the unknown key "${key.slice(0, 80)}", which gateways ignore: it is probably misspelled`,
      }
    }
  }
}

export function* unknownParent(facts: TreeFacts): Generator<Violation> {
  for (const { name, path, parent } of parents(facts)) {
    if (!exists(facts.family, parent)) yield { path, collection: name, message: missingParent(parent) }
  }
}

export function* unexpectedParent(facts: TreeFacts): Generator<Violation> {
  const usual = new Map([
    ['external', 'system'],
    ['core', 'external'],
  ])
  const circular = new Set(cycles(facts.family).flat())
  for (const { name, path, parent } of parents(facts)) {
    const expected = usual.get(foldName(name))
    if (expected === undefined || foldName(parent) === expected || !exists(facts.family, parent) || circular.has(foldName(name))) continue
    yield {
      path,
      collection: name,
      message: `names the parent "${parent}" instead of "${expected}": how a gateway handles it is unknown`,
    }
  }
}

export function* parentCycle(facts: TreeFacts): Generator<Violation> {
  for (const cycle of cycles(facts.family)) {
    const first = facts.family.byName.get(cycle[0] ?? '')?.collection
    if (first === undefined) continue
    const names = cycle.map((name) => facts.family.byName.get(name)?.collection.name ?? name)
    yield {
      path: pathOfManifest(facts, first),
      collection: first.name,
      message: `the parents form a cycle, so none of these collections is loaded: ${shownCycle(names)}`,
    }
  }
}

export function* parentDisabled(facts: TreeFacts): Generator<Violation> {
  for (const { name, path, parent } of parents(facts)) {
    if (manifestOf(facts, parent)?.enabled === false)
      yield {
        path,
        collection: name,
        message: `inherits from "${parent}", which has enabled: false: the resources of "${parent}" may be missing`,
      }
  }
}

export function* parentNotInheritable(facts: TreeFacts): Generator<Violation> {
  for (const { name, path, parent } of parents(facts)) {
    if (manifestOf(facts, parent)?.inheritable !== false) continue
    yield {
      path,
      collection: name,
      message: `inherits from "${parent}", which has inheritable: false: the inherited resources are missing`,
    }
  }
}

export function* collectionDisabled(facts: TreeFacts): Generator<Violation> {
  const inherited = new Set([...parents(facts)].map(({ parent }) => foldName(parent)))
  for (const collection of facts.tree.collections) {
    if (manifestOf(facts, collection.name)?.enabled !== false || inherited.has(foldName(collection.name))) continue
    yield {
      path: pathOfManifest(facts, collection),
      collection: collection.name,
      message: 'has enabled: false: a gateway may ignore the collection',
    }
  }
}

export function* modeWithoutFolder(facts: TreeFacts): Generator<Violation> {
  for (const mode of facts.modesInUse ?? []) {
    if (mode === '' || !isUserMode(mode) || facts.family.byName.has(foldName(mode))) continue
    yield {
      path: inRoot(facts, mode),
      collection: mode,
      message: `a gateway runs in the deployment mode "${mode}", which has no folder here: it uses the values of core`,
    }
  }
}

export function* reservedCollection(facts: TreeFacts): Generator<Violation> {
  for (const { name } of facts.tree.collections) {
    if (foldName(name) === 'system')
      yield { path: inRoot(facts, name), collection: name, message: '"system" is built into the gateway: this folder is ignored' }
  }
}

/** Each collection whose manifest names a parent. `local` is never delivered and may name a mode that another machine has. */
function* parents(facts: TreeFacts): Generator<{ name: string; path: string; parent: string }> {
  for (const collection of facts.tree.collections) {
    const parent = declaredParent(facts.family, collection.name)
    if (parent === undefined || foldName(collection.name) === 'local') continue
    yield { name: collection.name, path: pathOfManifest(facts, collection), parent }
  }
}

function pathOfManifest(facts: TreeFacts, { name, manifest }: Collection): string {
  return manifest?.path ?? inRoot(facts, name)
}

function manifestOf({ family }: TreeFacts, name: string): ModeManifest | undefined {
  const mode = family.byName.get(foldName(name))?.mode
  return mode?.kind === 'ok' ? mode.manifest : undefined
}

/** Each cycle of declared parents once, as folded names. */
function cycles(family: CollectionsByName): string[][] {
  return findCycles(family.byName.keys(), (name) => {
    const parent = declaredParent(family, name)
    return parent === undefined ? [] : [foldName(parent)]
  })
}
