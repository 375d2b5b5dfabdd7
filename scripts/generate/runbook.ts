/**
 * docs/runbook.md: the index of its entries, from the tables of alerts and reasons. The entries are written by hand.
 */
import { readFile } from 'node:fs/promises'
import { alertRules, runbookSection } from '../../infra/constructs/alerts.ts'
import { install } from '../../infra/install.ts'
import { namesOf } from '../../infra/names.ts'
import { checkValues } from '../../infra/values/check.ts'
import { reasons } from '../../runtime/fault.ts'
import { type GeneratedFile, replaceTable, table } from './table.ts'

const path = 'docs/runbook.md'

export async function runbook(): Promise<GeneratedFile[]> {
  const present = await readFile(path, 'utf8')
  const alerts = knownAlerts().map(({ alert, severity, says }) => [entryOf(alert), severity, says])
  const causes = Object.entries(reasons).map(([reason, { help }]) => [entryOf(reason), help])
  const withAlerts = replaceTable(present, path, 'index-alerts', table(['Alert', 'Severity', 'Says'], alerts))
  return [{ path, content: replaceTable(withAlerts, path, 'index-reasons', table(['Reason', 'Means'], causes)) }]
}

/** A link to the entry of an alert or a reason, from a page beside the runbook or, without `page`, within it. */
export function entryOf(name: string, page = ''): string {
  return `[\`${name}\`](${page}#${runbookSection(name)})`
}

type KnownAlert = { alert: string; severity: string; duration: string; says: string }

/** The alerts of an installation with default values, without the templates of Prometheus, which name the series that an alert is about. */
export function knownAlerts(): KnownAlert[] {
  const { values } = checkValues({})
  return alertRules(namesOf(install.release, values, ''), values).map(({ alert, severity, for: duration, summary }) => ({
    alert,
    severity,
    duration: duration as string,
    says: summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, '($1)'),
  }))
}
