/**
 * Checks of where things stand and how they are called, which need no content. Pure.
 */
import { counted } from '../../counted.ts'
import { foldName } from '../../gatewaysync/values.ts'
import { type Found, inRoot, type TreeFacts, typeOf } from './input.ts'
import { lacksName } from './about-places.ts'
import { likelyPlace, unaryTypes } from '../model/known-types.ts'
import { isUserMode } from '../model/inheritance.ts'
import { createKeyTable } from './key-table.ts'
import { manifestName, nameOf, type Stray, unaryManifestName } from '../model/tree.ts'
import {
  firstBootSingletons,
  hiddenInExternal,
  localSingletons,
  oneTimeType,
  sharedTypes,
  singletonTypes,
} from '../model/resource-types.ts'

export function* singletonOnlyInMode(facts: TreeFacts): Generator<Found> {
  const based = new Set(['external', 'core'].flatMap((name) => singletonsOf(facts, name)))
  for (const { name, resources } of facts.tree.collections) {
    if (!isUserMode(name)) continue
    for (const resource of resources) {
      if (resource.kind !== 'singleton' || localSingletons.has(typeOf(resource)) || based.has(foldName(resource.key))) continue
      // The folder of its module or of its name was forgotten, which another rule says.
      if (lacksName(resource) || likelyPlace(resource.module, resource.type) !== undefined) continue
      yield {
        path: inRoot(facts, resource.folder),
        collection: name,
        message: `the singleton ${resource.key} exists only in the mode "${name}": core must hold it too`,
        ...(facts.coreDelivered && !facts.isFragment ? {} : { severity: 'warning' as const }),
      }
    }
  }
}

export function* singletonWithName(facts: TreeFacts): Generator<Found> {
  for (const { name, resources } of facts.tree.collections) {
    for (const resource of resources) {
      if (resource.kind !== 'named' || !singletonTypes.has(typeOf(resource))) continue
      yield {
        path: inRoot(facts, resource.folder),
        collection: name,
        message: `${typeOf(resource)} exists once and has no names below it`,
      }
    }
  }
}

export function* sharedTypeInMode(facts: TreeFacts): Generator<Found> {
  for (const { name, resources } of facts.tree.collections) {
    if (!isUserMode(name)) continue
    const counts = new Map<string, number>()
    for (const resource of resources) {
      const type = typeOf(resource)
      if (sharedTypes.has(type)) counts.set(type, (counts.get(type) ?? 0) + 1)
    }
    for (const [type, count] of counts) {
      yield {
        path: inRoot(facts, `${name}/${type}`),
        collection: name,
        message: `${counted(count, 'resource')} of ${type} in the mode "${name}"`,
      }
    }
  }
}

export function* firstBootConflict(facts: TreeFacts): Generator<Found> {
  const core = facts.family.byName.get('core')?.collection
  for (const resource of core?.resources ?? []) {
    const type = typeOf(resource)
    const path = inRoot(facts, resource.folder)
    if (firstBootSingletons.has(type)) yield { path, collection: 'core', message: `the gateway creates its own ${type} at its first boot` }
    if (type === oneTimeType)
      yield { path, collection: 'core', message: 'the gateway will not create its OPC UA user source and connection' }
  }
}

export function* hiddenByCore(facts: TreeFacts): Generator<Found> {
  const external = facts.family.byName.get('external')?.collection
  for (const type of hiddenInExternal) {
    const first = external?.resources.find((resource) => typeOf(resource) === type)
    if (first === undefined) continue
    yield { path: inRoot(facts, `external/${type}`), collection: 'external', message: `the gateway's copy of ${type} in core hides it` }
  }
}

export function* cacheCommitted({ tree }: TreeFacts): Generator<Found> {
  const cached = tree.skipped.find(({ path }) => /(?:^|\/)\.resources\//.test(path))
  if (cached === undefined) return
  const path = cached.path.slice(0, cached.path.indexOf('.resources/') + '.resources'.length)
  const count = tree.skipped.filter(({ path: other }) => other.startsWith(`${path}/`)).length
  yield { path, message: `${counted(count, 'file')} of the gateway's cache` }
}

export function* localCommitted(facts: TreeFacts): Generator<Found> {
  for (const { name, resources } of facts.tree.collections) {
    if (foldName(name) !== 'local') continue
    const what = resources.length === 0 ? 'files' : counted(resources.length, 'resource')
    yield { path: inRoot(facts, name), message: `holds ${what} of one machine; they are not delivered` }
  }
}

export function* forbiddenName(facts: TreeFacts): Generator<Found> {
  for (const { name, resources } of facts.tree.collections) {
    const problem = nameProblem(name)
    if (problem !== undefined) yield { path: inRoot(facts, name), collection: name, message: `the name ${problem}` }
    const seen = new Set<string>()
    for (const { folder } of resources) {
      const segments = folder.split('/')
      for (let end = 4; end <= segments.length; end += 1) {
        const wrong = nameProblem(segments[end - 1] ?? '')
        const path = segments.slice(0, end).join('/')
        if (wrong === undefined || seen.has(path)) continue
        seen.add(path)
        yield { path: inRoot(facts, path), collection: name, message: `the name ${wrong}` }
      }
    }
  }
}

/** What is wrong with a name as it stands on disk; completes "the name …". */
export function nameProblem(name: string): string | undefined {
  const character = /[`\\?*:|"<>]/.exec(name)?.[0]
  if (character !== undefined) return `holds the forbidden character ${character}`
  if (/^[ .]|[ .]$/.test(name)) return 'begins or ends with a space or a period'
  if (name.startsWith('-')) return 'begins with a hyphen'
  return Buffer.byteLength(name) >= 255 ? 'has 255 bytes or more' : undefined
}

export function* caseCollision(facts: TreeFacts): Generator<Found> {
  const names = new Map<string, string>()
  for (const { name, resources } of facts.tree.collections) {
    const other = names.get(foldName(name))
    if (other !== undefined) yield { path: inRoot(facts, name), collection: name, message: `differs only in case from "${other}"` }
    names.set(foldName(name), name)
    const seen = createKeyTable(resources.length, (at) => foldName(resources.at(at).key))
    let index = 0
    for (const { key, folder } of resources) {
      const twin = seen.put(foldName(key), index)
      index += 1
      if (twin < 0) continue
      const message = `names the same resource as ${inRoot(facts, resources.at(twin).folder)}`
      yield { path: inRoot(facts, folder), collection: name, message }
    }
  }
}

export function* missingResourceJson(facts: TreeFacts): Generator<Found> {
  for (const [name, { folder, files }] of straysOf(facts, 'data')) {
    const example = nameOf(files[0]?.path ?? '')
    const wanted = unaryTypes.has(folder.split('/').slice(1, 3).join('/')) ? unaryManifestName : manifestName
    yield { path: inRoot(facts, folder), collection: name, message: `has ${example} and no ${wanted}: no resource to the gateway` }
  }
}

export function* orphanFile(facts: TreeFacts): Generator<Found> {
  for (const { path } of facts.tree.loose) yield { path, message: 'stands directly in the collections root' }
  for (const [name, { files }] of straysOf(facts, 'loose')) {
    for (const { path } of files) yield { path, collection: name, message: 'stands outside of any resource' }
  }
}

function* straysOf({ tree }: TreeFacts, kind: Stray['kind']): Generator<[string, Stray]> {
  for (const { name, strays } of tree.collections) for (const stray of strays) if (stray.kind === kind) yield [name, stray]
}

/** The folded keys of a collection's singletons; no other key has as few parts. */
function singletonsOf({ family }: TreeFacts, name: string): string[] {
  const keys: string[] = []
  for (const resource of family.byName.get(name)?.collection.resources ?? []) {
    if (resource.kind === 'singleton') keys.push(foldName(resource.key))
  }
  return keys
}
