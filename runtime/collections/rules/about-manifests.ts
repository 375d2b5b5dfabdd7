/**
 * Checks of what the fields of a resource's manifest hold. Pure.
 */
import { foldName } from '../../gatewaysync/values.ts'
import { isObject } from '../../json.ts'
import type { Found, ResourceCheck, ResourceFacts } from './input.ts'

/** Gateway, Designer, client, all of them, none. */
const scopes = /^[GDCAN]+$/

export const invalidManifestField: ResourceCheck = function* ({ collection, parsed, resource }: ResourceFacts): Generator<Found> {
  // No gateway reads the `local` of a repository.
  if (parsed.kind !== 'ok' || foldName(collection.name) === 'local') return
  const problems = [...problemsOf(parsed.value)]
  const [first] = problems
  if (first === undefined) return
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`
  yield { path: resource.manifest.path, collection: collection.name, message: `${first}${more}` }
}

function* problemsOf(value: Readonly<Record<string, unknown>>): Generator<string> {
  const { scope, version, attributes } = value
  if (typeof scope !== 'string' || !(scopes.test(scope) || isTemplate(scope)))
    yield `${shown('scope', scope)}: it must be made of the letters A, G, D and C`
  if (!Number.isInteger(version) && !isTemplate(version)) yield `${shown('version', version)}: it must be a whole number`
  for (const name of ['restricted', 'overridable']) {
    const flag = value[name]
    if (flag !== undefined && typeof flag !== 'boolean' && !isTemplate(flag)) yield `${shown(name, flag)}: it must be true or false`
  }
  const modified = isObject(attributes) ? attributes['lastModification'] : undefined
  if (modified === undefined || modified === null) return
  const timestamp = isObject(modified) ? modified['timestamp'] : undefined
  if (!isTime(timestamp) && !isTemplate(timestamp))
    yield `${shown('lastModification.timestamp', timestamp)}: it must be a time such as 2026-01-15T08:00:00Z`
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value.length < 64 && !Number.isNaN(Date.parse(value)))
}

/** What is filled in on the way is known only there. */
function isTemplate(value: unknown): boolean {
  return typeof value === 'string' && /\{\{|\{%|\$\{/.test(value)
}

function shown(name: string, value: unknown): string {
  if (value === undefined) return `has no ${name}`
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? `has the ${name} ${JSON.stringify(value).slice(0, 80)}`
    : `has ${value === null ? 'null' : Array.isArray(value) ? 'a list' : 'an object'} as ${name}`
}
