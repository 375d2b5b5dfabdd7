/**
 * The rules for resource collections and projects, in one table: docs/reference/rules.md is generated from it. Pure.
 */
import { collectionRules } from './table/collections.ts'
import { contentRules } from './table/contents.ts'
import { placementRules, referenceRules } from './table/placement.ts'

export type { Level, Severity } from './table/rule.ts'

/** Every rule by its id. */
export const rules = { ...collectionRules, ...placementRules, ...referenceRules, ...contentRules } as const

/** The name that reports, settings and docs/reference/rules.md use for a rule. */
export type RuleId = keyof typeof rules

/** In the order of the table. */
export const ruleIds = Object.keys(rules) as RuleId[]

/** Whether a text from outside names a rule. */
export function isRuleId(text: string): text is RuleId {
  return Object.hasOwn(rules, text)
}
