/**
 * Formats the output of `cluster-sync explain`: the effective resources of a mode, each with the collection that provides it and those
 * that it overrides; or a rule, with the problem, its effect on a gateway, and the fix. Pure.
 */
import { nearestTo } from '../../platform/text/edit-distance.ts'
import { foldName } from '../../api/values.ts'
import { type CollectionsByName, type Effective, effectiveSet, isUserMode, readingOrder } from '../../validation/model/inheritance.ts'
import type { Resource } from '../../validation/model/resources.ts'
import { damageRules } from '../../validation/rules/about-json.ts'
import { treeChecks } from '../../validation/rules/checks.ts'
import type { TreeFacts } from '../../validation/rules/input.ts'
import { type RuleId, ruleIds, rules } from '../../validation/rules/rules.ts'
import { Fault } from '../../platform/fault.ts'
import { fixable } from './lint-fix.ts'
import { docsPage } from '../../platform/version.ts'
import { runbookEntry } from '../../fleet/steps.ts'

/** The effective resources, sorted by key and filtered. Throws InvalidConfiguration if none remain. */
export function explain(family: CollectionsByName, mode: string, filter: string | undefined): Effective[] {
  const all = [...effectiveSet(family, mode).values()].toSorted((a, b) => (a.resource.key < b.resource.key ? -1 : 1))
  if (filter === undefined) return all
  const folded = foldName(filter)
  const found = all.filter(({ resource }) => matches(resource, folded))
  if (found.length === 0) {
    const keys = all.map(({ resource }) => resource.key.slice(resource.key.indexOf('/') + 1))
    const meant = nearestTo(filter, [...new Set([...keys.map((key) => key.split('/')[0] ?? ''), ...keys])])
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`
    throw new Fault('InvalidConfiguration', `a gateway with the mode "${mode}" would have no "${filter}"${hint}`)
  }
  return found
}

/** Returns `available modes: dev, prod`, the end of a message about an unknown mode. */
export function modesOf({ byName }: CollectionsByName): string {
  const names = [...byName.values()].map(({ collection }) => collection.name).filter((name) => isUserMode(name))
  return names.length === 0 ? 'there are no modes yet' : `available modes: ${names.toSorted().join(', ')}`
}

/** Collection rules whose violation makes a gateway read the collections differently than shown. */
const caveatRules: ReadonlySet<RuleId> = new Set([
  ...damageRules,
  'missing-config-mode',
  'invalid-config-mode',
  'unknown-parent',
  'parent-cycle',
  'parent-disabled',
  'parent-not-inheritable',
  'collection-disabled',
])

/** Why a gateway would read the collections of this mode differently than shown: one line for each reason, with its rule. */
export function caveatsOf(facts: TreeFacts, mode: string): string[] {
  const read = new Set(readingOrder(facts.family, mode))
  const isRead = (name: string): boolean => read.has(foldName(name))
  // Excludes collections that only other modes inherit.
  const own = { ...facts, tree: { ...facts.tree, collections: facts.tree.collections.filter(({ name }) => isRead(name)) } }
  return treeChecks
    .filter(([rule]) => caveatRules.has(rule))
    .flatMap(([rule, check]) =>
      [...check(own)]
        .filter(({ collection }) => collection !== undefined && isRead(collection))
        .map(({ path, message }) => `${path}: ${message} (${rule})`),
    )
}

function matches({ key }: Resource, folded: string): boolean {
  const full = foldName(key)
  const withoutModule = full.slice(full.indexOf('/') + 1)
  return [full, withoutModule].some((text) => text === folded || text.startsWith(`${folded}/`))
}

/** Formats the effective resources as lines of text. */
export function asText(effective: readonly Effective[]): string {
  const lines: string[] = []
  let before: string[] = []
  for (const { resource, collection, overrides } of effective) {
    const segments = resource.key.split('/')
    const same = segments.findIndex((segment, index) => before[index] !== segment)
    for (let depth = Math.max(same, 0); depth < segments.length - 1; depth += 1)
      lines.push(`${'  '.repeat(depth)}${segments[depth] ?? ''}/`)
    const over = overrides.length === 0 ? '' : `, overrides ${overrides.map(({ name }) => name).join(', ')}`
    lines.push(`${'  '.repeat(segments.length - 1)}${segments.at(-1) ?? ''}  <- ${collection.name}${over}`)
    before = segments
  }
  return lines.join('\n')
}

/** The effective resources as one JSON document. */
export function asJson(mode: string, family: CollectionsByName, effective: readonly Effective[]): string {
  const resources = effective.map(({ resource, collection, overrides }) => ({
    resource: resource.key,
    collection: collection.name,
    path: resource.manifest.path.slice(0, resource.manifest.path.lastIndexOf('/')),
    overrides: overrides.map(({ name }) => name),
  }))
  return JSON.stringify({ mode, order: readingOrder(family, mode), resources }, undefined, 2)
}

/** Throws InvalidConfiguration for an unknown rule, and suggests a similar one. */
export function explainRule(name: string, format: 'text' | 'json'): string {
  const id = ruleIds.find((rule) => rule === name)
  if (id === undefined) {
    const entry = runbookEntry(name)
    if (entry !== undefined) throw new Fault('InvalidConfiguration', `"${name}" is a reason, not a rule: see ${entry}`)
    const nearest = nearestTo(name, ruleIds)
    const meant = nearest === undefined ? `all rules: ${docsPage('docs/reference/rules.md')}` : `did you mean "${nearest}"?`
    const modes = 'to see the resources of a gateway, add --mode <mode>'
    throw new Fault('InvalidConfiguration', `there is no rule "${name}"; ${meant} (${modes})`)
  }
  const { severity, title, why, fix, evidence } = rules[id]
  if (format === 'json')
    return JSON.stringify({ rule: id, severity, title, why, fix, evidence, fixable: fixable.includes(id) }, undefined, 2)
  return [
    `${id} (${severity === 'off' ? 'off unless a setting raises it' : severity})`,
    '',
    plain(title),
    '',
    `Impact:     ${plain(why)}`,
    `Fix:        ${plain(fix)}${isFixable(id)}`,
    `Evidence:   ${plain(evidence)}`,
    '',
    `To change its severity, write "${id}: warning" (or error, or off) under "rules" in .clustersync.yaml. More: ${docsPage('docs/reference/rules.md')}`,
  ].join('\n')
}

function isFixable(id: RuleId): string {
  return fixable.includes(id) ? ' `cluster-sync lint --fix` does this in unambiguous cases.' : ''
}

/** Removes Markdown, in which the rule table is written. */
function plain(markdown: string): string {
  return markdown.replaceAll('`', '')
}
