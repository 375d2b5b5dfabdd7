/**
 * Checks of tags and their types, over all folders of a tag provider. Pure.
 */
import { foldName } from '../../api/values.ts'
import { tagTypeType } from '../model/references.ts'
import { findCycles, shownCycle } from './cycles.ts'
import { type Violation, inRoot } from './input.ts'
import { isEffective, type Noted, type Overview, type View } from './overview.ts'

export function* unknownTagType(overview: Overview): Generator<Violation> {
  if (!overview.isWhole) return
  const types = definedTypes(overview.noted)
  for (const noted of overview.noted) {
    const uses = new Set(noted.notes?.tags?.uses.map(({ typeId }) => typeId))
    if (uses.size === 0) continue
    const views = overview.views.filter((view) => isEffective(overview, view, noted))
    const missing = [...uses].filter((typeId) => views.some((view) => isUnknown(typeId, noted, view, types)))
    const [first] = missing
    if (first === undefined) continue
    const more = missing.length === 1 ? '' : ` (and ${missing.length - 1} more)`
    const message = `uses the tag type "${first.slice(0, 120)}", which its tag provider does not have${more}: the tags are in error`
    yield { path: inRoot(overview, noted.folder), collection: noted.collection, message }
  }
}

/** The types of each provider by collection; undefined if not all of them are known. */
type DefinedTypes = ReadonlyMap<string, Map<string, Set<string>> | undefined>

function definedTypes(all: readonly Noted[]): DefinedTypes {
  const types = new Map<string, Map<string, Set<string>> | undefined>()
  for (const { key, collection, notes } of all) {
    if (notes?.tags === undefined || !key.startsWith(`${tagTypeType}/`)) continue
    const provider = providerOf(key)
    const known = types.has(provider) ? types.get(provider) : new Map<string, Set<string>>()
    types.set(provider, notes.tags.isPartial ? undefined : known)
    const own = known?.get(foldName(collection)) ?? new Set<string>()
    for (const name of notes.tags.defines) own.add(name)
    known?.set(foldName(collection), own)
  }
  return types
}

function isUnknown(typeId: string, { key }: Noted, { chain }: View, types: DefinedTypes): boolean {
  // The value of a parameter is known only at run time.
  if (typeId.includes('{')) return false
  const { provider, path } = typeAt(typeId, providerOf(key))
  const byCollection = types.get(provider)
  const known = chain.flatMap((collection) => byCollection?.get(collection) ?? [])
  // A provider without any type has them from a module or from another gateway.
  return known.some(({ size }) => size > 0) && !known.some((names) => names.has(path))
}

/** A `typeId` may name another provider: `[line]_types_/Drives/Motor`. */
function typeAt(typeId: string, own: string): { provider: string; path: string } {
  const [, named, path = ''] = /^(?:\[([^\]]*)\])?(?:_types_\/)?(.*)$/s.exec(foldName(typeId)) ?? []
  return { provider: named ?? own, path: path.replace(/^\/|\/$/g, '') }
}

/** `key` is folded: `ignition/tag-definition/<provider>/...`. */
function providerOf(key: string): string {
  return key.split('/')[2] ?? ''
}

/** Types that inherit from each other, or contain instances of each other. */
export function* tagTypeCycle(overview: Overview): Generator<Violation> {
  const seen = new Set<string>()
  for (const view of overview.views) {
    const parts = new Map<string, { noted: Noted; uses: string[] }>()
    for (const noted of overview.noted) {
      const { tags } = noted.notes ?? {}
      if (tags === undefined || tags.uses.length === 0 || !noted.key.startsWith(`${tagTypeType}/`) || !isEffective(overview, view, noted))
        continue
      const provider = providerOf(noted.key)
      for (const { by, typeId } of tags.uses) {
        if (by === '' || typeId.includes('{')) continue
        const used = typeAt(typeId, provider)
        const part = parts.get(`${provider}/${by}`) ?? { noted, uses: [] }
        part.uses.push(`${used.provider}/${used.path}`)
        parts.set(`${provider}/${by}`, part)
      }
    }
    for (const cycle of findCycles(parts.keys(), (name) => parts.get(name)?.uses ?? [])) {
      const noted = parts.get(cycle[0] ?? '')?.noted
      const message = `tag types contain each other, so their instances are in error: ${shownCycle(cycle)}`
      if (noted === undefined || seen.has(message)) continue
      seen.add(message)
      yield { path: inRoot(overview, noted.folder), collection: noted.collection, message }
    }
  }
}

export function* repeatedTag(overview: Overview): Generator<Violation> {
  const defined = new Map<string, Noted>()
  for (const noted of overview.noted) {
    const { tags } = noted.notes ?? {}
    if (tags === undefined) continue
    const path = inRoot(overview, noted.folder)
    const twice = [...tags.repeated]
    if (noted.key.startsWith(`${tagTypeType}/`)) {
      for (const name of tags.defines) {
        const id = `${foldName(noted.collection)} ${providerOf(noted.key)}/${name}`
        const other = defined.get(id)
        if (other !== undefined && other.key !== noted.key) twice.push(`${name} (also in ${other.folder})`)
        else defined.set(id, noted)
      }
    }
    const [first] = twice
    if (first === undefined) continue
    const more = twice.length === 1 ? '' : ` (and ${twice.length - 1} more)`
    yield {
      path,
      collection: noted.collection,
      message: `defines the tag or tag type "${first.slice(0, 300)}" more than once${more}: only one of them remains`,
    }
  }
}
