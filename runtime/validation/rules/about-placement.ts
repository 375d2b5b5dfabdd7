/**
 * Checks of where resources are and what their names are, without their content. Pure.
 */
import { counted } from '../../platform/text/counted.ts'
import { foldName } from '../../api/values.ts'
import { type Violation, inRoot, type TreeFacts, typeOf } from './input.ts'
import { nestedIn } from './about-collections.ts'
import { likelyPlace, unaryTypes } from '../model/known-types.ts'
import { isUserMode, userModes } from '../model/inheritance.ts'
import type { Overview } from './overview.ts'
import { createKeyTable } from './key-table.ts'
import { manifestName, nameOf, type Stray, unaryManifestName } from '../model/tree.ts'
import {
  coreSingletons,
  firstBootSingletons,
  hiddenInExternal,
  localSingletons,
  oneTimeType,
  sharedTypes,
  singletonTypes,
} from '../model/resource-types.ts'
import { lacksName } from './about-resources.ts'

export function* singletonOnlyInMode(facts: TreeFacts): Generator<Violation> {
  const based = new Set(['external', 'core'].flatMap((name) => singletonsOf(facts, name)))
  for (const { name, resources } of facts.tree.collections) {
    if (!isUserMode(name)) continue
    for (const resource of resources) {
      if (resource.kind !== 'singleton' || localSingletons.has(typeOf(resource)) || based.has(foldName(resource.key))) continue
      // Another rule reports a missing folder of the module or of the name.
      if (lacksName(resource) || likelyPlace(resource.module, resource.type) !== undefined) continue
      yield {
        path: inRoot(facts, resource.folder),
        collection: name,
        message: `the singleton ${resource.key} exists in the mode "${name}" but not in core: the gateway does not start`,
        ...(facts.coreDelivered && !facts.isFragment ? {} : { severity: 'warning' as const }),
      }
    }
  }
}

/** A tree with at least this many of them is assumed to be complete. */
const fewestOfWhole = 3

export function* missingSingletons(facts: TreeFacts): Generator<Violation> {
  const { family, isFragment } = facts
  if (isFragment) return
  if (!family.byName.has('core')) {
    // A single mode may be all that the repository delivers.
    if (userModes(family).length < 2 || family.byName.has('external')) return
    yield {
      path: inRoot(facts, 'core'),
      collection: 'core',
      message: 'does not exist, but deployment modes inherit from it: each gateway uses its own core, so gateways differ',
    }
    return
  }
  const present = new Set(['external', 'core'].flatMap((name) => singletonsOf(facts, name)))
  const missing = coreSingletons.filter((type) => !present.has(type))
  if (missing.length === 0 || coreSingletons.length - missing.length < fewestOfWhole) return
  const message = `lacks ${missing.join(', ')}, which every gateway has: a new gateway starts with its defaults`
  yield { path: inRoot(facts, 'core'), collection: 'core', message }
}

/** Without deployment modes, one finding counts all resources that belong in one. */
export function* belongsInSomeMode(overview: Overview): Generator<Violation> {
  if (!overview.isWhole) return
  const all = overview.noted.filter(({ notes }) => notes?.belongs !== undefined)
  if (all.length === 0) return
  const collection = all.find(({ collection: name }) => foldName(name) === 'core')?.collection ?? 'external'
  const shown = all.slice(0, 3).map(({ folder, notes }) => `${folder.slice(0, 200)} (${notes?.belongs?.slice(0, 80)})`)
  const more = all.length > shown.length ? ` and ${all.length - shown.length} more` : ''
  const message = `there is no deployment mode, so every environment shares ${counted(all.length, 'resource')} that should differ: ${shown.join(', ')}${more}`
  yield { path: inRoot(overview, collection), collection, message }
}

export function* singletonWithName(facts: TreeFacts): Generator<Violation> {
  for (const { name, resources } of facts.tree.collections) {
    for (const resource of resources) {
      if (resource.kind !== 'named' || !singletonTypes.has(typeOf(resource))) continue
      yield {
        path: inRoot(facts, resource.folder),
        collection: name,
        message: `is below ${typeOf(resource)}, which exists once and has no names: the gateway does not load it`,
      }
    }
  }
}

export function* sharedTypeInMode(facts: TreeFacts): Generator<Violation> {
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
        message: `${counted(count, 'resource')} of ${type} in the mode "${name}": such copies drift apart between environments`,
      }
    }
  }
}

export function* firstBootConflict(facts: TreeFacts): Generator<Violation> {
  const core = facts.family.byName.get('core')?.collection
  for (const resource of core?.resources ?? []) {
    const type = typeOf(resource)
    const path = inRoot(facts, resource.folder)
    if (firstBootSingletons.has(type))
      yield { path, collection: 'core', message: `the gateway creates its own ${type} at its first boot: it logs a conflict at each start` }
    if (type === oneTimeType)
      yield { path, collection: 'core', message: `contains ${type}: the gateway does not create its OPC UA user source and connection` }
  }
}

export function* hiddenByCore(facts: TreeFacts): Generator<Violation> {
  const external = facts.family.byName.get('external')?.collection
  for (const type of hiddenInExternal) {
    const first = external?.resources.find((resource) => typeOf(resource) === type)
    if (first === undefined) continue
    yield {
      path: inRoot(facts, `external/${type}`),
      collection: 'external',
      message: `the gateway creates its own ${type} in core, which hides this one`,
    }
  }
}

export function* cacheCommitted({ tree }: TreeFacts): Generator<Violation> {
  const skipped = [...tree.skipped, ...tree.collections.flatMap((collection) => collection.skipped)]
  const cached = skipped.find(({ path }) => /(?:^|\/)\.resources\//.test(path))
  if (cached === undefined) return
  const path = cached.path.slice(0, cached.path.indexOf('.resources/') + '.resources'.length)
  const count = skipped.filter(({ path: other }) => other.startsWith(`${path}/`)).length
  yield {
    path,
    message: `contains ${counted(count, 'file')} of the gateway's cache, which the gateway rebuilds: the cache only makes the repository larger`,
  }
}

export function* localCommitted(facts: TreeFacts): Generator<Violation> {
  for (const { name, resources } of facts.tree.collections) {
    if (foldName(name) !== 'local') continue
    const what = resources.length === 0 ? 'files' : counted(resources.length, 'resource')
    yield { path: inRoot(facts, name), message: `contains ${what} of one machine: this collection is not delivered` }
  }
}

export function* forbiddenName(facts: TreeFacts): Generator<Violation> {
  const isProjects = facts.kind === 'projects'
  for (const { name, resources } of facts.tree.collections) {
    // Many projects that run do not follow the vendor's advice for names.
    const problem = isProjects ? undefined : nameProblem(name)
    if (problem !== undefined)
      yield { path: inRoot(facts, name), collection: name, message: `the name ${problem}: gateways do not accept it` }
    const seen = new Set<string>()
    for (const { folder } of resources) {
      const segments = folder.split('/')
      for (let end = 4; end <= segments.length; end += 1) {
        const wrong = nameProblem(segments[end - 1] ?? '')
        if (wrong === undefined) continue
        const path = segments.slice(0, end).join('/')
        if (seen.has(path)) continue
        seen.add(path)
        const found = { path: inRoot(facts, path), message: `the name ${wrong}: gateways do not accept it` }
        yield isProjects ? found : { ...found, collection: name }
      }
    }
  }
}

/** What is wrong with a name as written on disk; completes "the name …". */
export function nameProblem(name: string): string | undefined {
  const character = /[`\\?*:|"<>]/.exec(name)?.[0]
  if (character !== undefined) return `contains the forbidden character ${character}`
  if (/^[ .]|[ .]$/.test(name)) return 'begins or ends with a space or a period'
  if (name.startsWith('-')) return 'begins with a hyphen'
  return Buffer.byteLength(name) >= 255 ? 'has 255 bytes or more' : undefined
}

export function* caseCollision(facts: TreeFacts): Generator<Violation> {
  const names = new Map<string, string>()
  for (const { name, resources } of facts.tree.collections) {
    const other = names.get(foldName(name))
    if (other !== undefined)
      yield {
        path: inRoot(facts, name),
        collection: name,
        message: `differs only in case from "${other}": gateways ignore case, so one of the two is lost`,
      }
    names.set(foldName(name), name)
    const seen = createKeyTable(resources.length, (at) => foldName(resources.at(at).key))
    let index = 0
    for (const { key, folder } of resources) {
      const twin = seen.put(foldName(key), index)
      index += 1
      if (twin < 0) continue
      const message = `has the same name as ${inRoot(facts, resources.at(twin).folder)} except for case: one of the two is lost`
      yield { path: inRoot(facts, folder), collection: name, message }
    }
  }
}

export function* missingResourceJson(facts: TreeFacts): Generator<Violation> {
  for (const [name, { folder, files }] of straysOf(facts, 'data')) {
    const example = nameOf(files[0]?.path ?? '')
    const expected = unaryTypes.has(folder.split('/').slice(1, 3).join('/')) ? unaryManifestName : manifestName
    yield { path: inRoot(facts, folder), collection: name, message: `has ${example} but no ${expected}: the gateway does not load it` }
  }
}

export function* orphanFile(facts: TreeFacts): Generator<Violation> {
  for (const { path } of facts.tree.loose) yield { path, message: 'is directly in the collections root: the gateway ignores it' }
  const nested = new Set(facts.tree.collections.flatMap(nestedIn))
  for (const [name, { folder, files }] of straysOf(facts, 'loose')) {
    if (!nested.has(folder))
      for (const { path } of files) yield { path, collection: name, message: 'is outside any resource: the gateway ignores it' }
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
