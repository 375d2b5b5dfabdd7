/**
 * The data of a tag folder's files that checks between resources need: the types that they define and use, and names that occur twice.
 * Pure.
 */
import { foldName } from '../../api/values.ts'
import { isObject } from '../../platform/text/json.ts'
import { alarmFields, type ReferenceSet, tagFields, tagGroupType } from './references.ts'

/** Paths are relative to the tag provider. */
export type TagNotes = {
  /** Tag types, folded. */
  defines: readonly string[]
  /** The types used by tags and types, as written; `by`: the folded type that a definition belongs to, `''` for a tag. */
  uses: readonly { by: string; typeId: string }[]
  /** Tags of one folder with the same name, as paths. */
  repeated: readonly string[]
  /** A file was too large to be inspected: there may be more of everything. */
  isPartial: boolean
}

const maxDepth = 32
const maxUses = 2_000
const maxRepeated = 100
const maxName = 256
/** More types of one provider, and longer paths, are an attack on memory. */
const maxDefined = 20_000
const maxPath = 512

type Walk = {
  provider: string
  defines: Set<string>
  uses: Map<string, { by: string; typeId: string }>
  repeated: Set<string>
  isPartial: boolean
  references: ReferenceSet
}

/** `folder` is `<provider>[/<folder>...]`, possibly with `_unary` at its end. Undefined without notes. */
export function tagNotesOf(
  folder: string,
  json: ReadonlyMap<string, unknown>,
  references: ReferenceSet,
  isPartial: boolean,
): TagNotes | undefined {
  const [provider = '', ...below] = folder.split('/').filter((name) => name !== '_unary')
  const walk: Walk = { provider, defines: new Set(), uses: new Map(), repeated: new Set(), isPartial, references }
  const names = new Set<string>()
  for (const value of json.values()) tagsBelow(value, { folder: below.join('/'), by: '', names }, 0, walk)
  const { defines, uses, repeated } = walk
  if (defines.size + uses.size + repeated.size === 0 && !walk.isPartial) return undefined
  return { defines: [...defines], uses: [...uses.values()], repeated: [...repeated], isPartial: walk.isPartial }
}

/** `names` are those of the sibling tags, in every file of the folder. */
type TagFolder = { folder: string; by: string; names: Set<string> }

function tagsBelow(value: unknown, { folder, by, names }: TagFolder, depth: number, walk: Walk): void {
  if (depth > maxDepth || folder.length > maxPath) {
    walk.isPartial = true
    return
  }
  for (const tag of Array.isArray(value) ? value : [value]) {
    if (!isObject(tag)) continue
    const { name, tagType, typeId, tags } = tag
    const path = typeof name !== 'string' ? folder : folder === '' ? name : `${folder}/${name}`
    if (typeof name === 'string') {
      if (names.has(name) && walk.repeated.size < maxRepeated) walk.repeated.add(path.slice(0, maxPath))
      names.add(name)
    }
    const isDefinition = tagType === 'UdtType' && typeof name === 'string'
    if (isDefinition) define(path, walk)
    const owner = isDefinition ? foldName(path) : by
    if ((isDefinition || tagType === 'UdtInstance') && typeof typeId === 'string' && typeId !== '') use(owner, typeId, walk)
    named(tag, walk)
    if (tags !== undefined) {
      // Members of a type or an instance have no path of their own among the types.
      tagsBelow(tags, { folder: tagType === 'Folder' ? path : folder, by: owner, names: new Set() }, depth + 1, walk)
    }
  }
}

function named(tag: Record<string, unknown>, { provider, references }: Walk): void {
  for (const [field, type] of Object.entries(tagFields)) {
    const name = tag[field]
    references.add(type, type === tagGroupType && typeof name === 'string' && name !== '' ? `${provider}/${name}` : name, field)
  }
  const alarms = tag['alarms']
  for (const alarm of Array.isArray(alarms) ? alarms : []) {
    if (isObject(alarm)) for (const [field, type] of Object.entries(alarmFields)) references.add(type, alarm[field], `alarms.${field}`)
  }
}

function define(path: string, walk: Walk): void {
  if (path.length > maxPath || walk.defines.size >= maxDefined) walk.isPartial = true
  else walk.defines.add(foldName(path))
}

function use(by: string, written: string, { uses }: Walk): void {
  const typeId = written.slice(0, maxName)
  if (uses.size < maxUses) uses.set(`${by}\n${typeId}`, { by, typeId })
}
