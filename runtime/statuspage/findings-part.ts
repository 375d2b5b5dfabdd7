/**
 * Findings as a list: what is wrong where, and what to do about it, as "cluster-sync lint" says it. Pure.
 */
import { html } from 'hono/html'
import { rules } from '../collections/rules/rules.ts'
import type { StatusFinding } from '../gatewaysync/schema/status.ts'
import { shortHashes } from '../gatewaysync/values.ts'
import { type Html, said, symbols } from './page.ts'
import type { Words } from './words.ts'

type Shown = Omit<StatusFinding, 'severity'> & { severity?: StatusFinding['severity'] }

/** What to do stands at the first finding of each rule: a commit may break one a hundred times. `more`: how many were left out. */
export function findingsList(findings: readonly Shown[], words: Words, more = 0): Html {
  const first = new Map(findings.toReversed().map((finding) => [finding.rule, finding]))
  return html`<ul class="entries">
    ${findings.map((finding) => {
      const { severity, path, message, rule } = finding
      const advice = first.get(rule) === finding ? fixOf(rule) : undefined
      return html`<li>
        ${severity === undefined ? '' : html`<span class="light ${severity}">${symbols[severity]} ${words.severities[severity]}</span>`}
        <code>${path}</code> ${said(shortHashes(message), words)} <span class="quiet">${rule}</span>
        ${advice === undefined ? '' : html`<div>${said(advice, words)}</div>`}
      </li>`
    })}
    ${more > 0 ? html`<li class="quiet">${words.more(more)}</li>` : ''}
  </ul>`
}

/** Undefined for a rule of another release, and for what an agent finds in its templates. */
function fixOf(rule: string): string | undefined {
  return Object.hasOwn(rules, rule) ? rules[rule as keyof typeof rules].fix : undefined
}
