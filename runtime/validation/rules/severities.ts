/**
 * The severity of a violation: defaults of the rules' table, settings in the repository's `.clustersync.yaml`, and `spec.validation.rules` of a
 * GatewaySync. Pure.
 */
import { Fault } from '../../platform/fault.ts'
import { brokenGlobListRule, brokenGlobRule, canonicalGlob, createMatcher } from '../../api/glob/glob.ts'
import { isRuleId, type Level, type RuleId, ruleIds } from './rules.ts'
import { isObject } from '../../platform/text/json.ts'

/** At the top of a repository. */
export const settingsFile = '.clustersync.yaml'
/** Enough for some lines per rule. The YAML parser takes time with the square of the keys, so more could delay validation. */
export const maxSettingsBytes = 32 * 1024

type Setting = { matches: (path: string) => boolean; severity: Level }

/** By rule, in the order of the file: the first setting whose path matches counts. */
export type Settings = ReadonlyMap<RuleId, readonly Setting[]>

/** The settings of a repository without a settings file. */
export const noSettings: Settings = new Map()

/** A rule's severity at a path, given its default. */
export type SeverityOf = (rule: RuleId, path: string, usual: Level) => Level

/**
 * Reads a `.clustersync.yaml`: `rules:` by rule either a severity or a list of `{paths, severity}`. Throws InvalidConfiguration naming
 * the key. An unknown rule is an error, because a misspelled one would have no effect.
 */
export async function parseSettings(text: string): Promise<Settings> {
  const value = await parseYaml(text)
  if (value === null || value === undefined) return noSettings
  if (!isObject(value)) throw broken('must be a mapping with the key "rules"')
  const unknown = Object.keys(value).find((key) => key !== 'rules')
  if (unknown !== undefined) throw broken(`has the unknown key "${unknown}"; it may contain only "rules"`)
  const rules = value['rules'] ?? {}
  if (!isObject(rules)) throw broken('"rules" must be a mapping of rule to severity')
  return new Map(Object.entries(rules).map(([rule, setting]) => [parseRule(rule), parseSetting(rule, setting)]))
}

/** Loads the parser only if there is something to parse: it is half of the program, and most repositories have no settings. */
async function parseYaml(text: string): Promise<unknown> {
  const { parse, YAMLParseError } = await import('yaml')
  try {
    return parse(text, { maxAliasCount: 0, logLevel: 'error' })
  } catch (error) {
    const why = error instanceof YAMLParseError ? (error.message.split('\n')[0] ?? '') : 'it cannot be read'
    throw broken(`is invalid YAML: ${why}`, error)
  }
}

function parseRule(rule: string): RuleId {
  if (isRuleId(rule)) return rule
  throw broken(`names the unknown rule "${rule}"; rules are: ${ruleIds.join(', ')}`)
}

function parseSetting(rule: string, setting: unknown): Setting[] {
  if (!Array.isArray(setting)) return [{ matches: () => true, severity: parseLevel(rule, setting) }]
  return setting.map((item: unknown) => {
    if (!isObject(item)) throw broken(`rules.${rule}: each entry must be {paths, severity}`)
    const unknown = Object.keys(item).find((key) => key !== 'paths' && key !== 'severity')
    if (unknown !== undefined) throw broken(`rules.${rule}: the unknown key "${unknown}"; an entry may contain "paths" and "severity"`)
    return { matches: parsePaths(rule, item['paths']), severity: parseLevel(rule, item['severity']) }
  })
}

function parseLevel(rule: string, value: unknown): Level {
  if (value === 'error' || value === 'warning' || value === 'off') return value
  throw broken(`rules.${rule}: the severity must be error, warning or off, not ${JSON.stringify(value)}`)
}

function parsePaths(rule: string, paths: unknown): (path: string) => boolean {
  if (paths === undefined) return () => true
  const patterns = Array.isArray(paths) ? paths : [paths]
  if (!patterns.every((pattern) => typeof pattern === 'string' && pattern !== '' && pattern.length <= 512)) {
    throw broken(`rules.${rule}: "paths" must be a list of globs`)
  }
  const globs = (patterns as string[]).flatMap((pattern) => {
    const why = brokenGlobRule(pattern)
    if (why !== undefined) throw broken(`rules.${rule}: the glob "${pattern}" ${why}`)
    const glob = canonicalGlob(pattern)
    // A glob for everything in a folder also matches the folder, because findings name the folder of a resource.
    return glob.endsWith('/**') ? [glob, glob.slice(0, -'/**'.length)] : [glob]
  })
  const why = brokenGlobListRule(globs, 'path')
  if (why !== undefined) throw broken(`rules.${rule}: "paths" ${why}`)
  return createMatcher(globs)
}

function broken(problem: string, cause?: unknown): Fault {
  return new Fault('InvalidConfiguration', `${settingsFile} ${problem}`, cause === undefined ? {} : { cause })
}

/** For the command line: the repository decides. */
export function repositorySeverity(settings: Settings): SeverityOf {
  return (rule, path, usual) => settings.get(rule)?.find(({ matches }) => matches(path))?.severity ?? usual
}

const rank: Record<Level, number> = { off: 0, warning: 1, error: 2 }

/** For the controller: the GatewaySync decides; for rules that it does not name, the repository may raise a severity but not lower it. */
export function validationSeverity(settings: Settings, specRules: Readonly<Record<string, Level>>): SeverityOf {
  const fromRepository = repositorySeverity(settings)
  return (rule, path, usual) => {
    if (Object.hasOwn(specRules, rule)) return specRules[rule] ?? usual
    const asked = fromRepository(rule, path, usual)
    return rank[asked] > rank[usual] ? asked : usual
  }
}
