/**
 * Checks of collections: their folders, their manifests, their inheritance. Pure.
 */
import { foldName } from '../../gatewaysync/values.ts'
import { isExplained } from './about-json.ts'
import type { Found, TreeFacts } from './input.ts'
import { inRoot } from './input.ts'
import { declaredParent, exists, type CollectionsByName, isUserMode } from '../model/inheritance.ts'
import type { ModeManifest } from '../model/manifests.ts'
import { type Collection, modeManifest } from '../model/tree.ts'

export function* missingConfigMode(facts: TreeFacts): Generator<Found> {
  if (facts.isLaidOver) return
  for (const { name, manifest, resources, strays } of facts.tree.collections) {
    if (manifest !== undefined || foldName(name) === 'system' || resources.length + strays.length === 0) continue
    const found = { path: inRoot(facts, name), collection: name }
    if (/^(?:external|local)$/i.test(name)) {
      yield { ...found, message: `has no ${modeManifest}: the gateway does not start with files in it` }
    } else if (facts.isFragment) {
      const message = `has no ${modeManifest}, nor has any folder beside it: these files count only where they are laid over a whole "${name}"`
      yield { ...found, message, severity: 'warning' }
    } else yield { ...found, message: `has no ${modeManifest}: it is no collection, and its resources vanish` }
  }
}

export function* invalidConfigMode(facts: TreeFacts): Generator<Found> {
  for (const { name, manifest } of facts.tree.collections) {
    const mode = facts.modes.get(name)
    // Another rule says what it holds instead.
    if (manifest === undefined || mode?.kind !== 'invalid' || isExplained(facts.damagedModes.get(name))) continue
    yield { path: manifest.path, collection: name, message: `${modeManifest} ${mode.problem}` }
  }
}

export function* unknownCollectionKey(facts: TreeFacts): Generator<Found> {
  for (const { name, manifest } of facts.tree.collections) {
    for (const key of facts.modes.get(name)?.unknownKeys ?? []) {
      yield { path: manifest?.path ?? name, collection: name, message: `has the unknown key "${key.slice(0, 80)}"` }
    }
  }
}

export function* unknownParent(facts: TreeFacts): Generator<Found> {
  for (const { name, path, parent } of parents(facts)) {
    if (!exists(facts.family, parent))
      yield {
        path,
        collection: name,
        message: `names the parent "${parent}", which ${foldName(parent) === 'local' ? 'each gateway has of its own' : 'is no collection here'}`,
      }
  }
}

export function* unexpectedParent(facts: TreeFacts): Generator<Found> {
  const usual = new Map([
    ['external', 'system'],
    ['core', 'external'],
  ])
  const circular = new Set(cycles(facts.family).flat())
  for (const { name, path, parent } of parents(facts)) {
    const wanted = usual.get(foldName(name))
    if (wanted === undefined || foldName(parent) === wanted || !exists(facts.family, parent) || circular.has(foldName(name))) continue
    yield { path, collection: name, message: `names the parent "${parent}" instead of "${wanted}"` }
  }
}

export function* parentCycle(facts: TreeFacts): Generator<Found> {
  for (const cycle of cycles(facts.family)) {
    const first = facts.family.byName.get(cycle[0] ?? '')?.collection
    if (first === undefined) continue
    const names = [...cycle, cycle[0] ?? ''].map((name) => facts.family.byName.get(name)?.collection.name ?? name)
    yield { path: pathOfManifest(facts, first), collection: first.name, message: `the parents form a cycle: ${names.join(' -> ')}` }
  }
}

export function* parentDisabled(facts: TreeFacts): Generator<Found> {
  for (const { name, path, parent } of parents(facts)) {
    if (manifestOf(facts, parent)?.enabled === false)
      yield { path, collection: name, message: `inherits from "${parent}", which is disabled` }
  }
}

export function* parentNotInheritable(facts: TreeFacts): Generator<Found> {
  for (const { name, path, parent } of parents(facts)) {
    if (manifestOf(facts, parent)?.inheritable !== false) continue
    yield { path, collection: name, message: `inherits from "${parent}", which is not inheritable` }
  }
}

export function* collectionDisabled(facts: TreeFacts): Generator<Found> {
  const inherited = new Set([...parents(facts)].map(({ parent }) => foldName(parent)))
  for (const collection of facts.tree.collections) {
    if (manifestOf(facts, collection.name)?.enabled !== false || inherited.has(foldName(collection.name))) continue
    yield { path: pathOfManifest(facts, collection), collection: collection.name, message: 'is disabled' }
  }
}

export function* modeWithoutFolder(facts: TreeFacts): Generator<Found> {
  for (const mode of facts.modesInUse ?? []) {
    if (mode === '' || !isUserMode(mode) || facts.family.byName.has(foldName(mode))) continue
    yield { path: inRoot(facts, mode), collection: mode, message: `a gateway runs with the mode "${mode}", which has no folder here` }
  }
}

export function* reservedCollection(facts: TreeFacts): Generator<Found> {
  for (const { name } of facts.tree.collections) {
    if (foldName(name) === 'system') yield { path: inRoot(facts, name), collection: name, message: '"system" is built into the gateway' }
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

/** Each cycle of declared parents once, as folded names that begin with the first of them by name. */
function cycles(family: CollectionsByName): string[][] {
  const found: string[][] = []
  const done = new Set<string>()
  for (const start of [...family.byName.keys()].toSorted()) {
    const trail: string[] = []
    let next: string | undefined = start
    while (next !== undefined && !done.has(next) && !trail.includes(next)) {
      trail.push(next)
      const parent: string | undefined = declaredParent(family, next)
      next = parent === undefined ? undefined : foldName(parent)
    }
    if (next !== undefined && trail.includes(next)) found.push(trail.slice(trail.indexOf(next)))
    for (const name of trail) done.add(name)
  }
  return found
}
