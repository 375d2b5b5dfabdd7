/**
 * The files of the Helm chart: the templates of this folder, and files that are generated from the sources of the synthesized manifests.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Yaml } from 'cdk8s'
import manifest from '../../package.json' with { type: 'json' }
import { alertGroups } from '../constructs/alerts.ts'
import { dashboards } from '../constructs/dashboards.ts'
import { specUnchanged } from '../constructs/policies.ts'
import { gatewaySyncCrd, syncReportCrd } from '../crd.ts'
import { namesOf } from '../names.ts'
import { checkValues } from '../values/check.ts'
import { chartReadme } from './readme.ts'
import { valuesSchemaJson, valuesYaml } from './values-files.ts'

/** `path` is relative to the chart. */
export type ChartFile = { path: string; content: string }

const templates = path.join(import.meta.dirname, 'templates')

/** Every file of the chart. */
export function chartFiles(): ChartFile[] {
  const { name, description, version } = manifest
  const chart = { apiVersion: 'v2', name, description, type: 'application', version, appVersion: version, kubeVersion: '>=1.30.0-0' }
  return [
    { path: 'Chart.yaml', content: Yaml.stringify(chart) },
    { path: 'README.md', content: chartReadme() },
    { path: 'values.yaml', content: valuesYaml() },
    { path: 'values.schema.json', content: valuesSchemaJson() },
    ...[gatewaySyncCrd(), syncReportCrd()].map((crd) => ({ path: `crds/${crd.metadata.name}.yaml`, content: Yaml.stringify(crd) })),
    ...readdirSync(templates).map((file) => ({ path: `templates/${file}`, content: readFileSync(path.join(templates, file), 'utf8') })),
    ...Object.entries(dashboards()).map(([file, dashboard]) => ({
      path: `files/dashboards/${file}`,
      content: JSON.stringify(dashboard, undefined, 2),
    })),
    { path: 'files/alerts.json', content: alerts() },
    { path: 'files/spec-unchanged.cel', content: specUnchanged },
  ]
}

/** Writes the chart to a folder, which then contains nothing else. */
export function writeChart(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  for (const { path: name, content } of chartFiles()) {
    const file = path.join(folder, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
}

/** The alerts, with placeholders that the template replaces. */
function alerts(): string {
  const release = { name: 'placeholder', namespace: '$(namespace)' }
  const { values } = checkValues({})
  const names = { ...namesOf(release, values, ''), fullname: '$(fullname)', metricsService: '$(fullname)-metrics' }
  const pushToApplied = { percent: '$(percent)', seconds: '$(seconds)' }
  const groups = alertGroups(names, { notReadyFor: '$(notReadyFor)', runbookURL: '$(runbookURL)', pushToApplied })
  return `${JSON.stringify(groups, (_, value: unknown) => (isExpression(value) ? value.value : value), 2)}\n`
}

/** Whether a value is an instance of PrometheusRuleSpecGroupsRulesExpr, which wraps the text of a query. */
function isExpression(value: unknown): value is { value: unknown } {
  return typeof value === 'object' && value !== null && Object.keys(value).join() === 'value'
}
