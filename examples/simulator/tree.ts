/**
 * Reads a data directory as a gateway does: which collections there are, which resources each holds, and why a gateway would not start.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** Effective resources by `<module>/<type>[/<name>]`, each with the collection that it comes from. */
export type Effective = ReadonlyMap<string, string>

export type Reading = { effective: Effective; projects: string[]; faults: string[] }

type Collection = { name: string; folder: string; parent: string; resources: Map<string, ResourceFolder> }
type ResourceFolder = { folder: string; singleton: boolean }

/** What keeps a gateway from starting, as far as it is documented; a table for whoever ties checks of a tree to it. */
export const startFaults = ['unmanaged-collection', 'singleton-only-in-mode', 'missing-attributes'] as const

export function readData(dataDir: string, mode: string | undefined): Reading {
  const root = path.join(dataDir, 'config/resources')
  const collections = foldersIn(root).flatMap((name) => readCollection(root, name))
  const chain = chainOf(collections, mode)
  const effective = new Map<string, string>()
  for (const { name, resources } of chain) for (const key of resources.keys()) effective.set(key, name)
  return { effective, projects: readProjects(dataDir), faults: [...unmanaged(root), ...onlyInMode(chain), ...withoutAttributes(chain)] }
}

function readCollection(root: string, name: string): Collection[] {
  const folder = path.join(root, name)
  const manifest = readJson(path.join(folder, 'config-mode.json'))
  if (manifest === undefined) return []
  const parent = typeof manifest['parent'] === 'string' ? manifest['parent'] : 'core'
  return [{ name, folder, parent, resources: readResources(folder) }]
}

/** `<module>/<type>` with a manifest is a singleton, `<module>/<type>/<name>…` with one a named resource. */
function readResources(folder: string): Map<string, ResourceFolder> {
  const found = new Map<string, ResourceFolder>()
  const walk = (below: string[]): void => {
    const here = path.join(folder, ...below)
    if (existsSync(path.join(here, 'resource.json'))) {
      found.set(below.join('/'), { folder: here, singleton: below.length === 2 })
      return
    }
    for (const name of foldersIn(here)) if (!isSkipped(name)) walk([...below, name])
  }
  for (const module of foldersIn(folder)) for (const type of foldersIn(path.join(folder, module))) walk([module, type])
  return found
}

function isSkipped(name: string): boolean {
  return name.startsWith('.') || name.includes('.deleted-') || name.endsWith('.tmp')
}

/** external, core, the mode after all of its parents, local. */
function chainOf(collections: readonly Collection[], mode: string | undefined): Collection[] {
  const byName = new Map(collections.map((collection) => [collection.name.toLowerCase(), collection]))
  const modes: Collection[] = []
  for (let next = byName.get((mode ?? '').toLowerCase()); next !== undefined; next = byName.get(next.parent.toLowerCase())) {
    if (modes.includes(next) || ['external', 'core', 'local', 'system'].includes(next.name.toLowerCase())) break
    modes.unshift(next)
  }
  const base = ['external', 'core'].flatMap((name) => byName.get(name) ?? [])
  return [...base, ...modes, ...(byName.get('local') === undefined ? [] : [byName.get('local') as Collection])]
}

function unmanaged(root: string): string[] {
  return ['external', 'local']
    .map((name) => path.join(root, name))
    .filter((folder) => existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(path.join(folder, 'config-mode.json')))
    .map((folder) => `Resource collection path ${folder} exists but is not empty`)
}

function onlyInMode(chain: readonly Collection[]): string[] {
  const base = new Set(chain.filter(({ name }) => /^(?:external|core)$/i.test(name)).flatMap(({ resources }) => [...resources.keys()]))
  return chain
    .filter(({ name }) => !/^(?:external|core|local)$/i.test(name))
    .flatMap(({ name, resources }) =>
      [...resources]
        .filter(([key, { singleton }]) => singleton && !base.has(key))
        .map(([key]) => `Singleton ${key} exists only in mode ${name}`),
    )
}

function withoutAttributes(chain: readonly Collection[]): string[] {
  return chain.flatMap(({ resources }) =>
    [...resources.values()]
      .filter(({ folder }) => {
        const manifest = readJson(path.join(folder, 'resource.json'))
        return manifest !== undefined && (typeof manifest['attributes'] !== 'object' || manifest['attributes'] === null)
      })
      .map(({ folder }) => `NullPointerException: attributes of ${path.join(folder, 'resource.json')}`),
  )
}

function readProjects(dataDir: string): string[] {
  const folder = path.join(dataDir, 'projects')
  return foldersIn(folder).filter((name) => existsSync(path.join(folder, name, 'project.json')))
}

function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted()
}

function readJson(file: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
