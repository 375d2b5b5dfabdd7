/**
 * Checks values: an error names every invalid key, and warnings name values without effect. Pure.
 */
import * as v from 'valibot'
import { schemaProblem } from '../../runtime/api/schema/problems.ts'
import { nearestTo } from '../../runtime/platform/text/edit-distance.ts'
import { impossible, impossibleRelease } from './combinations.ts'
import type { Release } from '../names.ts'
import { type Values, valuesSchema } from '../values.ts'
import { warningsOf } from './warnings.ts'

type CheckedValues = { values: Values; warnings: string[] }

/** Throws an Error whose message names every invalid key, one per line. */
export function checkValues(input: unknown): CheckedValues {
  const lists = listsForObjects(valuesSchema, input, [])
  const parsed = v.safeParse(valuesSchema, input)
  const errors = [...new Set([...lists, ...(parsed.issues ?? []).map(issueLine)])]
  if (!parsed.success || errors.length > 0) throw new Error(errors.join('\n'))
  const values = parsed.output
  throwIfAny(impossible(values))
  return { values, warnings: warningsOf(values) }
}

/** Throws an Error if the name or namespace of a release is invalid. */
export function checkRelease(release: Release): void {
  throwIfAny(impossibleRelease(release))
}

function throwIfAny(errors: readonly string[]): void {
  if (errors.length > 0) throw new Error(errors.join('\n'))
}

/** The parts of a valibot schema that this file uses; each may be absent. */
type Walked = { type?: string; wrapped?: Walked; entries?: Record<string, Walked>; item?: Walked }

/** The schema's own check would accept `[]` as an object with every default. */
function listsForObjects(schema: unknown, input: unknown, path: readonly string[]): string[] {
  const { type, entries, item } = unwrapped(schema)
  if (type === 'strict_object' || type === 'object_with_rest' || type === 'record') {
    if (Array.isArray(input)) return [`${path.length === 0 ? 'values' : path.join('.')}: must be an object, not a list`]
    const present = (input ?? {}) as Record<string, unknown>
    return Object.entries(entries ?? {}).flatMap(([name, inner]) => listsForObjects(inner, present[name], [...path, name]))
  }
  if (type !== 'array' || !Array.isArray(input)) return []
  return input.flatMap((element, index) => listsForObjects(item, element, [...path, String(index)]))
}

function unwrapped(schema: unknown): Walked {
  const walked = schema as Walked
  return walked.wrapped === undefined ? walked : unwrapped(walked.wrapped)
}

function issueLine(issue: v.BaseIssue<unknown>): string {
  const path = (issue.path ?? []).map(({ key }) => String(key))
  const where = path.length === 0 ? 'values' : path.join('.')
  if (issue.type !== 'strict_object' || issue.expected !== 'never') return `${where}: ${schemaProblem(issue)}`
  return `${where}: unknown key; ${help(path.slice(0, -1), path.at(-1) ?? '')}`
}

function help(parent: readonly string[], key: string): string {
  if (key.includes('.')) return `write ${key.replaceAll('.', ': {')}: …${'}'.repeat(key.split('.').length - 1)}, because keys are nested`
  const known = keysAt(parent)
  const nearest = nearestTo(key, known)
  const meant = nearest === undefined ? pathsTo(key, valuesSchema, []) : [[...parent, nearest].join('.')]
  return meant.length === 0 || meant.length > maxSuggestions ? `known keys: ${known.join(', ')}` : `did you mean ${meant.join(' or ')}?`
}

/** If the key exists in more places than this, the message lists the keys of the section instead. */
const maxSuggestions = 3

/** The paths at which the schema has a key of this name. */
function pathsTo(key: string, schema: unknown, path: readonly string[]): string[] {
  return Object.entries(unwrapped(schema).entries ?? {}).flatMap(([name, inner]) => {
    const here = [...path, name]
    return [...(name === key ? [here.join('.')] : []), ...pathsTo(key, inner, here)]
  })
}

/** The keys of the schema at a path; an index matches any element of a list. */
function keysAt(path: readonly string[]): string[] {
  let at = unwrapped(valuesSchema)
  for (const name of path) at = unwrapped(at.entries?.[name] ?? at.item ?? {})
  return Object.keys(at.entries ?? {}).toSorted()
}
