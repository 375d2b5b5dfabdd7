/**
 * Applies patches: sets the values that a JSONPath (RFC 9535) finds in a JSON file and leaves every other byte unchanged. The type of the
 * replaced value stays. Pure.
 */
import { JSONPathEnvironment } from 'json-p3'
import { Fault } from '../../platform/fault.ts'
import { findSpans, holdsMoreValues, type Span } from './json-spans.ts'
import { jsonOrUndefined } from '../../platform/text/json.ts'

/** A bare name, or names joined by dots, means the same below the root: `a.b` is `$.a.b`. Throws TemplateFailed. */
export function parseJsonPath(text: string, label: string): (document: unknown) => (string | number)[][] {
  const costly = costlyPathRule(text)
  if (costly !== undefined) throw new Fault('TemplateFailed', `${label}: "${text}" ${costly}`)
  const path = text.startsWith('$') ? text : text.startsWith('[') ? `$${text}` : `$.${text}`
  try {
    const query = environment.compile(path)
    return (document) => query.query(document as Parameters<typeof query.query>[0]).nodes.map(({ location }) => location)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new Fault('TemplateFailed', `${label}: "${text}" is not a JSONPath: ${message}`, { cause: error })
  }
}

/** Deeper documents than this are refused, so that `..` cannot exhaust the stack. */
const environment = new JSONPathEnvironment({ maxRecursionDepth: 200 })
// Removed functions: their expressions backtrack over text of the repository, and one of ten letters takes minutes.
for (const name of ['match', 'search']) environment.functionRegister.delete(name)

/** Limit of a GatewaySync; parsing a path takes quadratic time. */
const maxPath = 512

/** Why evaluating a path could take too long: each of these multiplies the time by the size of the document. */
function costlyPathRule(text: string): string | undefined {
  if (text.length > maxPath) return `is longer than ${maxPath} characters`
  const bare = text.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/gs, "''")
  if (/\b(?:match|search)\s*\(/.test(bare)) return 'must not use match() or search(): compare with == instead'
  if (bare.split('..').length > 2) return 'must not contain .. more than once'
  if (bare.indexOf('$', 1) >= 0) return 'must not name $ within a filter'
  return undefined
}

/** A value takes up to 600 bytes while `..` is evaluated, however short it is in the text: this many take 120 MiB at worst. */
const maxValues = 200_000

/** A JSONPath, and the new value as text; it takes the type of the value that it replaces. */
export type Setting = { path: string; value: string }

/**
 * Applies settings in order; returns the text and which settings matched nothing. Throws TemplateFailed for invalid JSON and for a value
 * that does not fit the type it replaces.
 */
export function applySettings(text: string, settings: readonly Setting[], label: string): { text: string; unmatched: string[] } {
  if (holdsMoreValues(text, maxValues)) throw new Fault('TemplateFailed', `${label}: the document contains more than ${maxValues} values`)
  const unmatched: string[] = []
  let result = text
  for (const { path, value } of settings) {
    const document = parseDocument(result, label)
    const locations = guarded(`${label}: ${path}`, () => parseJsonPath(path, label)(document))
    if (locations.length === 0) unmatched.push(path)
    result = replaceAll(result, locations, value, `${label}: ${path}`)
  }
  return { text: result, unmatched }
}

function parseDocument(text: string, label: string): unknown {
  try {
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text)
  } catch (error) {
    throw new Fault('TemplateFailed', `${label}: the file is not JSON, so nothing can be set in it`, { cause: error })
  }
}

/** Values inside a replaced value are skipped. */
function replaceAll(text: string, locations: readonly (readonly (string | number)[])[], value: string, label: string): string {
  const spans = guarded(label, () => findSpans(text, locations)).toSorted((a, b) => a.start - b.start)
  const pieces: string[] = []
  let end = 0
  for (const span of spans) {
    if (span.start < end) continue
    pieces.push(text.slice(end, span.start), replacement(span, value, label))
    end = span.end
  }
  return pieces.join('') + text.slice(end)
}

/** A document can be nested more deeply than the stack permits. */
function guarded<Value>(label: string, work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    if (error instanceof Fault) throw error
    const message = error instanceof Error ? error.message : String(error)
    throw new Fault('TemplateFailed', `${label}: ${message}`, { cause: error })
  }
}

/** The new value as JSON text of the type of the old one. A number keeps its digits as written. */
function replacement({ type }: Span, value: string, label: string): string {
  if (type === 'string') return JSON.stringify(value)
  const trimmed = value.trim()
  const fits =
    type === 'number'
      ? /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(trimmed)
      : type === 'boolean'
        ? trimmed === 'true' || trimmed === 'false'
        : true
  if (!fits) throw new Fault('TemplateFailed', `${label}: the current value is a ${type}, but ${JSON.stringify(value.slice(0, 80))} is not`)
  if (type === 'number' || type === 'boolean') return trimmed
  const parsed = jsonOrUndefined(trimmed)
  // Null has no type to keep: valid JSON is inserted as such, anything else as text.
  if (type === 'null') return parsed === undefined ? JSON.stringify(value) : trimmed
  const isArray = Array.isArray(parsed)
  if (typeof parsed === 'object' && parsed !== null && isArray === (type === 'array')) return trimmed
  throw new Fault('TemplateFailed', `${label}: the current value is an ${type}, but the new value is not`)
}
