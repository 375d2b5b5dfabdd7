/**
 * Parses the input of the standalone runner: a file with one GatewaySync, as a cluster would accept it, and the targets to write to. Pure.
 */
import path from 'node:path'
import * as v from 'valibot'
import { parse, YAMLParseError } from 'yaml'
import { nearestTo } from '../platform/text/edit-distance.ts'
import { Fault } from '../platform/fault.ts'
import { apiVersion, gatewaySyncKind } from '../api/names.ts'
import { defaultProfileName } from '../api/schema/profile.ts'
import { gatewaySyncSpec, type GatewaySyncSpec } from '../api/schema/spec.ts'
import { printable } from '../api/values.ts'
import { listed, schemaProblem } from '../api/schema/problems.ts'
import { membersAt } from '../api/without-defaults.ts'

/** The GatewaySync of one run; `raw` is the spec as written, `spec` with every default. */
export type StandaloneSync = {
  namespace: string
  name: string
  annotations: Readonly<Record<string, string>>
  raw: unknown
  spec: GatewaySyncSpec
}

/** One gateway on this machine. Folders are absolute. */
export type Target = {
  name: string
  dataDir: string
  gatewayUrl: string | undefined
  profile: string
  mode: string | undefined
  /** Rollout stages select by these, as by the labels of a pod. */
  labels: Readonly<Record<string, string>>
}

const objectName = v.pipe(
  v.string(),
  v.maxLength(253),
  v.regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, 'must be lower-case letters, digits, - and .'),
)

const manifestSchema = v.strictObject({
  apiVersion: v.literal(apiVersion),
  kind: v.literal(gatewaySyncKind.kind),
  metadata: v.looseObject({
    name: objectName,
    namespace: v.optional(objectName, 'default'),
    annotations: v.optional(v.record(v.string(), v.string()), {}),
  }),
  spec: gatewaySyncSpec({ allowLocal: true }),
  status: v.optional(v.unknown()),
})

/** Parses the file's text. Throws InvalidConfiguration naming each key that is not accepted. */
export function parseStandaloneSync(text: string, file: string): StandaloneSync {
  const document = parseYaml(text, file)
  const parsed = v.safeParse(manifestSchema, document)
  const raw = specIn(document)
  const unknown = findUnknownKeys(raw, specIn(parsed.output), 'spec').map((key) => `unknown key ${key}${meantBy(key)}`)
  const problems = [...(parsed.success ? relativeRepo(parsed.output.spec) : parsed.issues.map(problemOf)), ...unknown]
  if (!parsed.success || problems.length > 0) throw new Fault('InvalidConfiguration', `${file}: ${listed(problems)}`)
  const { name, namespace, annotations } = parsed.output.metadata
  return { namespace, name, annotations, raw, spec: parsed.output.spec }
}

/** The problem of a repository that is a relative path, not a URL or `user@host:path`: git would resolve it from another folder. */
function relativeRepo({ git: { repo } }: GatewaySyncSpec): string[] {
  const isAbsolute = repo.startsWith('/') || /^[a-z][a-z0-9+.-]*:|^[^/]+@[^/]+:/i.test(repo)
  return isAbsolute ? [] : [`spec.git.repo: must be a URL or an absolute path, not "${printable(repo)}"`]
}

function parseYaml(text: string, file: string): unknown {
  try {
    return parse(text, { maxAliasCount: 100 })
  } catch (error) {
    if (error instanceof YAMLParseError && error.code === 'MULTIPLE_DOCS')
      throw new Fault('InvalidConfiguration', `${file}: contains several documents; write one GatewaySync in each file`, { cause: error })
    throw new Fault('InvalidConfiguration', `${file}: invalid YAML: ${yamlProblem(error)}`, { cause: error })
  }
}

/** Describes the problem and its key. */
function problemOf(issue: v.BaseIssue<unknown>): string {
  const at = v.getDotPath(issue)
  if (at === null) return issue.input === null ? 'is empty; expected one GatewaySync' : `contains ${issue.received}, not a GatewaySync`
  return `${at}: ${schemaProblem(issue)}`
}

function specIn(document: unknown): unknown {
  return typeof document === 'object' && document !== null && 'spec' in document ? document.spec : undefined
}

/** The keys that the schema did not keep and so does not know; an API server would prune them with a warning. */
function findUnknownKeys(written: unknown, kept: unknown, where: string): string[] {
  if (Array.isArray(written)) {
    return written.flatMap((item, index) => findUnknownKeys(item, Array.isArray(kept) ? kept[index] : undefined, `${where}[${index}]`))
  }
  if (typeof written !== 'object' || written === null) return []
  return Object.entries(written).flatMap(([key, value]) => {
    const at = `${where}.${printable(key)}`
    if (typeof kept !== 'object' || kept === null || !Object.hasOwn(kept, key)) return [at]
    return findUnknownKeys(value, (kept as Record<string, unknown>)[key], at)
  })
}

/** Suggests the known key that an unknown one, as `findUnknownKeys` returns it, was probably meant to be. */
function meantBy(unknown: string): string {
  const at = unknown.lastIndexOf('.')
  const [key, known] = [unknown.slice(at + 1), membersAt(manifestSchema, unknown.slice(0, at))]
  const nearest = nearestTo(key, known)
  return nearest === undefined ? '' : ` (did you mean "${nearest}"?)`
}

/** The command-line options that name targets. */
export type TargetOptions = {
  /** Each `name=…,data=…[,gateway=…][,profile=…][,mode=…][,label=<key>:<value>]…`. */
  target: readonly string[]
  data: string | undefined
  gateway: string | undefined
  profile: string | undefined
}

/** The targets of a run: those of `--target`, or the one of the short form. Throws InvalidConfiguration. */
export function parseTargets(options: TargetOptions, sync: StandaloneSync, cwd: string): Target[] {
  const targets = options.target.map((text) => parseTarget(text, options.profile, cwd))
  if (options.data !== undefined) {
    if (targets.length > 0) throw new Fault('InvalidConfiguration', 'specify either --data or --target, not both')
    targets.push(target({ name: sync.name, data: options.data, gateway: options.gateway, profile: options.profile }, '--data', cwd))
  } else if (options.gateway !== undefined) {
    throw new Fault('InvalidConfiguration', '--gateway needs --data; with --target, add gateway=… to it')
  }
  if (targets.length === 0) throw new Fault('InvalidConfiguration', 'no target: specify --data <dir> or --target name=…,data=…')
  refuseTwice(targets, ({ name }) => name, 'name')
  refuseTwice(targets, ({ dataDir }) => dataDir, 'data directory')
  for (const { name, profile } of targets) {
    if (Object.hasOwn(sync.spec.sync.profiles, profile)) continue
    const known = Object.keys(sync.spec.sync.profiles).toSorted().join(', ')
    throw new Fault('InvalidConfiguration', `target ${name}: profile "${profile}" does not exist; spec.sync.profiles has: ${known}`)
  }
  return targets
}

const targetKeys = ['name', 'data', 'gateway', 'profile', 'mode', 'label'] as const
/** A label as Kubernetes permits it, written as `<key>:<value>`; neither part can hold a colon. */
const labelForm =
  /^((?:[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?):((?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?)$/

function parseTarget(text: string, profile: string | undefined, cwd: string): Target {
  const label = `--target ${printable(text)}`
  const values: Record<string, string> = {}
  const labels: Record<string, string> = {}
  for (const part of text.split(',')) {
    const [, key = '', value = ''] = /^([a-z]+)=(.*)$/s.exec(part) ?? []
    if (!targetKeys.some((known) => known === key)) {
      throw new Fault(
        'InvalidConfiguration',
        `${label}: "${printable(part)}" is not one of ${targetKeys.map((known) => `${known}=…`).join(', ')}`,
      )
    }
    if (key === 'label') {
      addLabel(labels, value, label)
      continue
    }
    if (Object.hasOwn(values, key)) throw new Fault('InvalidConfiguration', `${label}: ${key} is given twice`)
    values[key] = value
  }
  return target({ profile, ...values, labels }, label, cwd)
}

/** Adds one `label=`. Throws InvalidConfiguration if it is invalid, or its key is set already. */
function addLabel(labels: Record<string, string>, text: string, label: string): void {
  const [, key, , value] = labelForm.exec(text) ?? []
  if (key === undefined || value === undefined) {
    throw new Fault('InvalidConfiguration', `${label}: "${printable(text)}" is not a valid label; write label=<key>:<value>`)
  }
  if (Object.hasOwn(labels, key)) throw new Fault('InvalidConfiguration', `${label}: label ${key} is given twice`)
  labels[key] = value
}

type TargetValues = Partial<Record<Exclude<(typeof targetKeys)[number], 'label'>, string | undefined>> & { labels?: Record<string, string> }

function target(values: TargetValues, label: string, cwd: string): Target {
  const { name, data, gateway, profile, mode, labels = {} } = values
  if (name === undefined || !v.is(objectName, name)) {
    throw new Fault('InvalidConfiguration', `${label}: name is required: lower-case letters, digits, - and .`)
  }
  if (data === undefined || data === '') throw new Fault('InvalidConfiguration', `${label}: data=<folder> is required`)
  if (gateway !== undefined && !isHttpUrl(gateway)) {
    throw new Fault('InvalidConfiguration', `${label}: gateway "${printable(gateway)}" is not an http or https URL`)
  }
  return { name, dataDir: path.resolve(cwd, data), gatewayUrl: gateway, profile: profile ?? defaultProfileName, mode, labels }
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:')
}

function refuseTwice(targets: readonly Target[], keyOf: (target: Target) => string, what: string): void {
  const seen = new Set<string>()
  for (const target of targets) {
    if (seen.has(keyOf(target))) throw new Fault('InvalidConfiguration', `two targets have the ${what} "${keyOf(target)}"`)
    seen.add(keyOf(target))
  }
}

/** Messages for the most common mistakes; others are the library's. */
const yamlWords: Readonly<Partial<Record<YAMLParseError['code'], string>>> = {
  MULTILINE_IMPLICIT_KEY: 'a key needs a colon after it, as in "ref: main"',
  BLOCK_AS_IMPLICIT_KEY: 'two keys are on one line, or a text that contains ": " is not quoted',
  TAB_AS_INDENT: 'a line begins with a tab; indent with spaces',
  BAD_INDENT: 'a line is not indented like the lines next to it',
  DUPLICATE_KEY: 'a key is repeated in one mapping',
  MISSING_CHAR: 'a quote or bracket is not closed',
}

/** Describes an error of the YAML library, with its position. */
function yamlProblem(error: unknown): string {
  if (!(error instanceof Error)) return 'it cannot be read'
  const [first = ''] = error.message.split('\n', 1)
  const words = error instanceof YAMLParseError ? yamlWords[error.code] : undefined
  const place = / at line \d+, column \d+/.exec(first)?.[0] ?? ''
  return words === undefined ? first.replace(/:$/, '') : `${words},${place}`
}
