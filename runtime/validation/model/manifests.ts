import { isObject, type Complexity, createScan } from '../../platform/text/json.ts'
import { createDamageScan } from './json-damage.ts'

/** Manifests are a few hundred bytes; images have the largest, with a kilobyte. */
export const maxManifestBytes = 1024 * 1024
/** A `config-mode.json` contains no lists. */
export const maxModeBytes = 64 * 1024

/** The largest known have some hundred members; each entry of `files` may become a finding. */
const complexity: Complexity = { depth: 64, keys: 2_000, containers: 2_000, entries: 10_000 }

/** A valid `config-mode.json`; `description` defaults to `''`. */
export type ModeManifest = { title: string; description: string; enabled: boolean; inheritable: boolean; parent: string }

/** The content of a `config-mode.json`, or why it cannot be used. */
export type ParsedMode =
  | { kind: 'ok'; manifest: ModeManifest; unknownKeys: string[] }
  /** `problem` completes a sentence: "config-mode.json …". `parent` is set if that field could be read. */
  | { kind: 'invalid'; problem: string; parent: string | undefined; unknownKeys: string[] }

const modeKeys = { title: 'string', description: 'string', enabled: 'boolean', inheritable: 'boolean', parent: 'string' } as const

/** Reads a `config-mode.json` of at most 64 KiB; undefined if the file could not be read. Never throws. */
export function parseMode(bytes: Uint8Array | undefined): ParsedMode {
  const parsed = parseObject(bytes, maxModeBytes)
  if (parsed.kind === 'invalid') return { ...parsed, parent: undefined, unknownKeys: [] }
  const { value } = parsed
  const unknownKeys = Object.keys(value).filter((key) => !Object.hasOwn(modeKeys, key))
  const parent = typeof value['parent'] === 'string' ? value['parent'] : undefined
  for (const [key, type] of Object.entries(modeKeys)) {
    const field = Object.hasOwn(value, key) ? value[key] : undefined
    if (field === undefined && key === 'description') continue
    if (field === undefined) return { kind: 'invalid', problem: `has no "${key}"`, parent, unknownKeys }
    if (typeof field !== type)
      return { kind: 'invalid', problem: `"${key}" must be a ${type}, not ${typeName(field)}`, parent, unknownKeys }
  }
  return { kind: 'ok', manifest: { description: '', ...value } as ModeManifest, unknownKeys }
}

/** A `resource.json`. Members that no check compares stay `unknown`. */
export type ResourceManifest = {
  scope: unknown
  version: unknown
  restricted: unknown
  overridable: boolean
  description: unknown
  files: string[]
  attributes: Record<string, unknown> | undefined
}

/** The content of a `resource.json`, or why it cannot be used. */
export type ParsedResource =
  | { kind: 'ok'; manifest: ResourceManifest; text: string; value: Record<string, unknown> }
  /** Completes a sentence: "resource.json …". */
  | { kind: 'invalid'; problem: string }

/** Reads a `resource.json` of at most 1 MiB; undefined if the file could not be read. Never throws. */
export function parseResource(bytes: Uint8Array | undefined): ParsedResource {
  const parsed = parseObject(bytes, maxManifestBytes)
  if (parsed.kind === 'invalid') return parsed
  const { value, text } = parsed
  const files = value['files'] ?? []
  if (!Array.isArray(files) || !files.every((file) => typeof file === 'string')) {
    return { kind: 'invalid', problem: '"files" must be a list of file names' }
  }
  const attributes = value['attributes']
  return {
    kind: 'ok',
    text,
    value,
    manifest: {
      scope: value['scope'],
      version: value['version'],
      restricted: value['restricted'],
      overridable: value['overridable'] !== false,
      description: value['description'],
      files,
      attributes: isObject(attributes) ? attributes : undefined,
    },
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

type ParsedObject = { kind: 'ok'; value: Record<string, unknown>; text: string } | { kind: 'invalid'; problem: string }

/** `bytes` is undefined if the file was too large to be read. */
/** The value of a small manifest. */
export function parseManifest(bytes: Uint8Array | undefined): ParsedObject {
  return parseObject(bytes, maxModeBytes)
}

function parseObject(bytes: Uint8Array | undefined, maxBytes: number): ParsedObject {
  if (bytes === undefined || bytes.length > maxBytes) return { kind: 'invalid', problem: `is larger than ${maxBytes} bytes` }
  if (createScan(complexity)(bytes))
    return { kind: 'invalid', problem: 'is nested too deeply, or contains more than a manifest ever needs' }
  let text = ''
  try {
    text = decoder.decode(bytes)
    const value: unknown = JSON.parse(text)
    return isObject(value) ? { kind: 'ok', value, text } : { kind: 'invalid', problem: `must be an object, not ${typeName(value)}` }
  } catch (error) {
    return { kind: 'invalid', problem: error instanceof SyntaxError ? syntaxProblem(text) : 'is not UTF-8 text' }
  }
}

/** In plain words: the messages of `JSON.parse` differ between versions of Node. */
function syntaxProblem(text: string): string {
  const scan = createDamageScan()
  scan.take(Buffer.from(text))
  return scan.end()?.problem ?? 'is not valid JSON'
}

function typeName(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value
}
