/**
 * Defines how fields state their rules, and the fields shared by several parts of a GatewaySync. Each rule holds for the API server and at
 * run time. Pure.
 */
import * as v from 'valibot'
import { brokenGlobListRule, brokenGlobRule, brokenRefGlobRule } from '../glob/glob.ts'
import { isRefName } from '../values.ts'

/** An entry of `x-kubernetes-validations`. */
export type CelRule = { rule: string; message: string }

type ObjectSchemaKeywords = Readonly<Record<string, unknown>>

const celRules = new WeakMap<object, CelRule>()

/**
 * A rule is defined in one place: what valibot checks at run time, and the CEL expression that the API server checks at admission.
 * infra/crd.ts reads both kinds of additions, `rule` and `crd`, from the schemas. A check by both valibot and the API server. `cel` is CEL
 * over `self`; `holds` is the same in TypeScript.
 */
export function rule<Value>(message: string, cel: string, holds: (value: Value) => boolean): v.CheckAction<Value, string> {
  const action = v.check<Value, string>(holds, message)
  celRules.set(action, { rule: cel, message })
  return action
}

/** Returns the CEL rule of a pipe item, if any; it becomes an entry of `x-kubernetes-validations`. */
export function celRuleOf(item: object): CelRule | undefined {
  return celRules.get(item)
}

/** A list whose items are identified by this key. The API server refuses duplicates, and merges the items of several owners. */
export function listMap<Item>(key: keyof Item & string): v.MetadataAction<Item[], { crd: ObjectSchemaKeywords }> {
  return crd({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] })
}

/** A list without duplicates: the API server merges the items of several owners. Use it with `isSet`. */
export function listSet<Item>(): v.MetadataAction<Item[], { crd: ObjectSchemaKeywords }> {
  return crd({ 'x-kubernetes-list-type': 'set' })
}

/** The check of the API server for a list of type `set`. */
export function isSet<Item>(): v.CheckAction<Item[], string> {
  return v.check((items) => new Set(items).size === items.length, 'must not contain duplicates')
}

/** Keywords of the CRD's schema that valibot cannot express, merged over the generated ones; undefined removes a keyword. */
export function crd<Value>(words: ObjectSchemaKeywords): v.MetadataAction<Value, { crd: ObjectSchemaKeywords }> {
  return v.metadata<Value, { crd: ObjectSchemaKeywords }>({ crd: words })
}

/** A text of 1 to `max` characters. */
export const text = (max: number) => v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(max))

/** A DNS subdomain name, as required for a Secret (RFC 1123). */
const objectName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
/** As required for a Secret key, which is also a file name: not `.`, and not beginning with `..`. */
const objectKey = /^([-_a-zA-Z0-9]|[.][-_a-zA-Z0-9])[-._a-zA-Z0-9]*$/

export const secretName = v.pipe(
  text(253),
  v.regex(objectName, 'must be the name of a Secret: lower-case letters, digits, - and ., with a letter or digit at both ends'),
  v.description('Name of a Secret in the same namespace.'),
)
export const secretKey = v.pipe(
  text(253),
  v.regex(objectKey, 'must be a key of a Secret: letters, digits, -, _ and ., not beginning with two dots'),
  v.description('Key in the Secret.'),
)
/** One key of a Secret in the namespace of the GatewaySync, never of another. */
export const secretKeyRef = v.object({ name: secretName, key: secretKey })
export const secretRefHolder = v.object({ secretRef: v.pipe(secretKeyRef, v.description('Key of a Secret in the same namespace.')) })

const durationPattern = /^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$/
const minimumIntervalMs = 5000

/** Returns a duration such as `60s`, `5m` or `1h30m` in milliseconds, or undefined. */
export function durationMs(value: string): number | undefined {
  if (!durationPattern.test(value)) return undefined
  const unitMs = new Map([
    ['ms', 1],
    ['s', 1000],
    ['m', 60_000],
    ['h', 3_600_000],
  ])
  const parts = value.matchAll(/([0-9]+(?:[.][0-9]+)?)(ms|s|m|h)/g)
  return parts.reduce((total, [, number, unit = '']) => total + Number(number) * (unitMs.get(unit) ?? 0), 0)
}

/** Returns a duration as the status shows it, such as `1.2s`: rounded up to a tenth of a second. */
export function durationText(milliseconds: number): string {
  return `${(Math.ceil(milliseconds / 100) / 10).toFixed(1)}s`
}

/** The pattern of a duration as a CEL string, to guard calls of CEL's `duration()`. */
export const celDuration = "'^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$'"

/** A duration without its own lower bound. */
export const duration = v.pipe(v.string(), v.maxLength(16), v.regex(durationPattern, 'must be a duration such as 30s, 5m or 1h30m'))

/** A duration of at least five seconds: a shorter poll would be a load on the git host. */
export const interval = v.pipe(
  v.string(),
  v.maxLength(16),
  v.regex(durationPattern, 'must be a duration such as 60s, 5m or 1h30m'),
  rule(
    'must be at least 5s',
    `!self.matches(${celDuration}) || duration(self) >= duration('5s')`,
    (value) => (durationMs(value) ?? Infinity) >= minimumIntervalMs,
  ),
)

/** A path relative to the repository or to the gateway's data directory. */
export const path = v.pipe(
  v.string(),
  v.maxLength(1024),
  rule(
    'must be relative, use / and contain no .. segment',
    "!self.startsWith('/') && !self.contains('\\\\') && !('/' + self + '/').contains('/../')",
    (value) => !value.startsWith('/') && !value.includes('\\') && !`/${value}/`.includes('/../'),
  ),
)

/** A ref by the rules of `isRefName`, which the CEL expression repeats for the API server. */
export const ref = v.pipe(
  text(255),
  rule(
    'must be a branch, a tag, a refs/… name or a full commit hash that git accepts',
    "!self.startsWith('-') && !self.startsWith('/') && !self.endsWith('/') && !self.endsWith('.') && !self.contains('..') && !self.contains('//') && !self.contains('@{') && self != '@' && !self.matches('[\\\\x00-\\\\x20\\\\x7f~^:?*\\\\[\\\\\\\\]') && !self.matches('(^|/)[.]') && !self.matches('[.]lock(/|$)')",
    isRefName,
  ),
  v.description('Branch, tag, refs/… name or full commit hash.'),
)

const globPattern = v.pipe(
  text(512),
  v.regex(/^[^/!\\][^\\]*$/, 'must be relative, use / and not begin with !'),
  // Checking as many globs as a spec may hold would exceed the API server's CEL budget, so the controller checks the rest.
  v.rawCheck(({ dataset, addIssue }) => {
    const broken = dataset.typed ? brokenGlobRule(dataset.value) : undefined
    if (broken !== undefined) addIssue({ message: broken })
  }),
)
/** A glob of files; its grammar is checked only at run time. */
export const glob = v.pipe(globPattern, v.description('Glob relative to the source of the mapping; ** matches across folders.'))
/** The refs that a request may name. */
export const refPattern = v.pipe(
  text(255),
  v.rawCheck(({ dataset, addIssue }) => {
    const broken = dataset.typed ? brokenRefGlobRule(dataset.value) : undefined
    if (broken !== undefined) addIssue({ message: broken })
  }),
)
/** Bounds the time that matching a list of globs takes for each text. */
export const fewPieces = (dialect: 'path' | 'ref') =>
  v.rawCheck<string[]>(({ dataset, addIssue }) => {
    const broken = dataset.typed ? brokenGlobListRule(dataset.value, dialect) : undefined
    if (broken !== undefined) addIssue({ message: broken })
  })
/** Which files a patch is for. */
export const patchedFiles = v.pipe(globPattern, v.description('Glob of the files to patch, relative to the destination of the mapping.'))
