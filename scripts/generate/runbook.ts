/**
 * What generated pages say of the entries of docs/how-to/runbook.md, which are written by hand.
 */
import { alertRules, runbookSection } from '../../infra/constructs/alerts.ts'
import { install } from '../../infra/install.ts'
import { namesOf } from '../../infra/names.ts'
import { checkValues } from '../../infra/values/check.ts'

/** A link to the entry of an alert or a reason, from the page at `page`, the path of the runbook. */
export function entryOf(name: string, page: string): string {
  return `[\`${name}\`](${page}#${runbookSection(name)})`
}

type KnownAlert = { alert: string; severity: string; duration: string; says: string }

/** The alerts of an installation with default values, without the templates of Prometheus, which name the series that an alert is about. */
export function knownAlerts(): KnownAlert[] {
  const { values } = checkValues({})
  return alertRules(namesOf(install.release, values, ''), values.prometheusRule).map(({ alert, severity, for: duration, summary }) => ({
    alert,
    severity,
    duration,
    says: summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, '($1)'),
  }))
}
