/**
 * Renders findings as a list, with the fixes of "cluster-sync lint". Pure.
 */
import { html } from 'hono/html'
import { rules } from '../../validation/rules/rules.ts'
import type { StatusFinding } from '../../api/schema/status.ts'
import { shortHashes } from '../../api/values.ts'
import { type Html, translated, symbols } from './page.ts'
import type { Texts } from '../locales/texts.ts'
import { shownPlace } from '../../api/findings.ts'

type Shown = Omit<StatusFinding, 'severity'> & { severity?: StatusFinding['severity'] }

/** The fix appears at the first finding of each rule only: a commit may violate one a hundred times. `more`: the number of omitted findings. */
export function findingsList(findings: readonly Shown[], texts: Texts, more = 0): Html {
  const first = new Map(findings.toReversed().map((finding) => [finding.rule, finding]))
  return html`<ul class="entries">
    ${findings.map((finding) => {
      const { severity, path, line, message, rule } = finding
      const advice = first.get(rule) === finding ? fixOf(rule) : undefined
      return html`<li>
        ${severity === undefined ? '' : html`<span class="light ${severity}">${symbols[severity]} ${texts.severities[severity]}</span>`}
        <code>${shownPlace({ path, line })}</code> ${translated(shortHashes(message), texts)} <span class="quiet">${rule}</span>
        ${advice === undefined ? '' : html`<div>${translated(advice, texts)}</div>`}
      </li>`
    })}
    ${more > 0 ? html`<li class="quiet">${texts.more(more)}</li>` : ''}
  </ul>`
}

/** Returns the fix of a rule; undefined for a rule of another release, and for template findings of an agent. */
function fixOf(rule: string): string | undefined {
  return Object.hasOwn(rules, rule) ? rules[rule as keyof typeof rules].fix : undefined
}
