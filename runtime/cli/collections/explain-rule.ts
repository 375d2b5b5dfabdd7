/**
 * What `cluster-sync explain <rule>` prints: what is wrong, why a gateway cares, what to do. Pure.
 */
import { nearestTo } from '../../edit-distance.ts'
import { Fault } from '../../fault.ts'
import { type RuleId, ruleIds, rules } from '../../collections/rules/rules.ts'
import { fixable } from './lint-fix.ts'

/** Throws InvalidConfiguration where there is no such rule, and names the one that was probably meant. */
export function explainRule(name: string, format: 'text' | 'json'): string {
  const id = ruleIds.find((rule) => rule === name)
  if (id === undefined) {
    const nearest = nearestTo(name, ruleIds)
    const meant = nearest === undefined ? 'docs/rules.md lists them' : `did you mean "${nearest}"?`
    const modes = 'to see what a gateway would hold, give --mode <mode> as well'
    throw new Fault('InvalidConfiguration', `there is no rule "${name}"; ${meant} (${modes})`)
  }
  const { severity, title, why, fix } = rules[id]
  if (format === 'json') return JSON.stringify({ rule: id, severity, title, why, fix, fixable: fixable.includes(id) }, undefined, 2)
  return [
    `${id} (${severity === 'off' ? 'off unless somebody raises it' : severity})`,
    '',
    plain(title),
    '',
    `Why a gateway cares: ${plain(why)}`,
    `What to do:          ${plain(fix)}${isFixable(id)}`,
    '',
    `To change its severity, write "${id}: warning" (or error, or off) under "rules" in .clustersync.yaml. More: docs/rules.md#${id}`,
  ].join('\n')
}

function isFixable(id: RuleId): string {
  return fixable.includes(id) ? ' `cluster-sync lint --fix` does it.' : ''
}

/** The table is written for a page in Markdown. */
function plain(markdown: string): string {
  return markdown.replaceAll('`', '')
}
