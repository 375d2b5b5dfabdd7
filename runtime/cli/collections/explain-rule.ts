/**
 * Formats a rule for `cluster-sync explain <rule>`: the problem, its effect on a gateway, the fix. Pure.
 */
import { nearestTo } from '../../platform/text/edit-distance.ts'
import { Fault } from '../../platform/fault.ts'
import { type RuleId, ruleIds, rules } from '../../validation/rules/rules.ts'
import { fixable } from './lint-fix.ts'
import { docsPage } from '../../platform/docs-page.ts'

/** Throws InvalidConfiguration for an unknown rule, and suggests a similar one. */
export function explainRule(name: string, format: 'text' | 'json'): string {
  const id = ruleIds.find((rule) => rule === name)
  if (id === undefined) {
    const nearest = nearestTo(name, ruleIds)
    const meant = nearest === undefined ? `all rules: ${docsPage('docs/reference/rules.md')}` : `did you mean "${nearest}"?`
    const modes = 'to see the resources of a gateway, add --mode <mode>'
    throw new Fault('InvalidConfiguration', `there is no rule "${name}"; ${meant} (${modes})`)
  }
  const { severity, title, why, fix, sure } = rules[id]
  if (format === 'json') return JSON.stringify({ rule: id, severity, title, why, fix, sure, fixable: fixable.includes(id) }, undefined, 2)
  return [
    `${id} (${severity === 'off' ? 'off unless a setting raises it' : severity})`,
    '',
    plain(title),
    '',
    `Impact:     ${plain(why)}`,
    `Fix:        ${plain(fix)}${isFixable(id)}`,
    `Evidence:   ${plain(sure)}`,
    '',
    `To change its severity, write "${id}: warning" (or error, or off) under "rules" in .clustersync.yaml. More: ${docsPage('docs/reference/rules.md')}`,
  ].join('\n')
}

function isFixable(id: RuleId): string {
  return fixable.includes(id) ? ' `cluster-sync lint --fix` does this.' : ''
}

/** Removes Markdown, in which the rule table is written. */
function plain(markdown: string): string {
  return markdown.replaceAll('`', '')
}
