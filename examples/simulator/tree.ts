/**
 * Reads a data directory as a gateway does: which collections there are, which resources each holds, and why a gateway would not start.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** Effective resources by `<module>/<type>[/<name>]`, each with the collection that it comes from. */
export type Effective = ReadonlyMap<string, string>

/** `problems`: what the gateway reports while it runs. */
export type Reading = { effective: Effective; projects: string[]; faults: string[]; problems: string[] }

type Collection = { name: string; folder: string; parent: string; resources: Map<string, ResourceFolder> }
type ResourceFolder = { manifest: string; singleton: boolean }

/**
 * Documented faults that keep a gateway from starting: by the rule that finds the fault in a commit (docs/reference/rules.md), the message
 * of the gateway.
 */
export const startFaults = {
  'missing-config-mode': (folder: string) => `Resource collection path ${folder} exists but is not empty`,
  'singleton-only-in-mode': (resource: string) => `Singleton ${resource} exists in no collection but a deployment mode`,
  'missing-attributes': (manifest: string) => `NullPointerException: attributes of ${manifest}`,
} as const satisfies Record<string, (where: string) => string>

export function readData(dataDir: string, mode: string | undefined): Reading {
  const root = path.join(dataDir, 'config/resources')
  const collections = foldersIn(root).flatMap((name) => readCollection(root, name))
  const chain = chainOf(collections, mode)
  const effective = new Map<string, string>()
  for (const { name, resources } of chain) for (const key of resources.keys()) effective.set(key, name)
  const projects = readProjects(dataDir)
  const folders = [...chain.flatMap(({ resources }) => [...resources.values()]), ...projects.flatMap(({ resources }) => resources)]
  const faults = [...unmanaged(root), ...onlyInMode(chain), ...withoutAttributes(folders)]
  const problems = projects.filter(({ title }) => title === undefined).map(({ name }) => `Project ${name} cannot be read`)
  return { effective, projects: projects.map(({ name }) => name), faults, problems }
}

function readCollection(root: string, name: string): Collection[] {
  const folder = path.join(root, name)
  const manifest = readJson(path.join(folder, 'config-mode.json'))
  if (manifest === undefined) return []
  const parent = typeof manifest['parent'] === 'string' ? manifest['parent'] : 'core'
  return [{ name, folder, parent, resources: readResources(folder) }]
}

/**
 * `<module>/<type>` with a manifest is a singleton, `<module>/<type>/<name>…` with one a named resource. Below a resource there is no
 * other, except below a unary one.
 */
function readResources(folder: string): Map<string, ResourceFolder> {
  const found = new Map<string, ResourceFolder>()
  const walk = (below: string[]): void => {
    const here = path.join(folder, ...below)
    if (existsSync(path.join(here, 'resource.json'))) {
      found.set(below.join('/'), { manifest: path.join(here, 'resource.json'), singleton: below.length === 2 })
      return
    }
    const unary = path.join(here, 'unary-resource.json')
    if (existsSync(unary)) found.set([...below, '_unary'].join('/'), { manifest: unary, singleton: false })
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
    .map(startFaults['missing-config-mode'])
}

/** Singletons that a gateway creates in the collection local, so that no other collection needs them. */
const localSingletons = new Set([
  'ignition/local-system-properties',
  'com.inductiveautomation.opcua/client-keystore',
  'com.inductiveautomation.opcua/server-keystore',
  'com.inductiveautomation.opcua/uuid',
])

function onlyInMode(chain: readonly Collection[]): string[] {
  const bases = chain.filter(({ name }) => /^(?:external|core)$/i.test(name))
  const based = new Set(bases.flatMap(({ resources }) => [...resources.keys()].map((key) => key.toLowerCase())))
  const isMissed = (key: string): boolean => !based.has(key.toLowerCase()) && !localSingletons.has(key)
  return chain
    .filter(({ name }) => !/^(?:external|core|local)$/i.test(name))
    .flatMap(({ resources }) => [...resources].filter(([key, { singleton }]) => singleton && isMissed(key)))
    .map(([key]) => startFaults['singleton-only-in-mode'](key))
}

function withoutAttributes(resources: readonly ResourceFolder[]): string[] {
  return resources
    .map(({ manifest }) => manifest)
    .filter((manifest) => {
      const content = readJson(manifest)
      return content !== undefined && (typeof content['attributes'] !== 'object' || content['attributes'] === null)
    })
    .map(startFaults['missing-attributes'])
}

/** `title` undefined: its project.json is not JSON. */
function readProjects(dataDir: string): { name: string; title: unknown; resources: ResourceFolder[] }[] {
  const folder = path.join(dataDir, 'projects')
  return foldersIn(folder)
    .filter((name) => existsSync(path.join(folder, name, 'project.json')))
    .map((name) => {
      const manifest = readJson(path.join(folder, name, 'project.json'))
      const resources = [...readResources(path.join(folder, name)).values()]
      return { name, title: manifest === undefined ? undefined : (manifest['title'] ?? name), resources }
    })
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
