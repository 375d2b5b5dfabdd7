/**
 * Alerts use existing metrics with their labels, and name what to check.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { abnormalConditions, normalConditions } from '../../runtime/api/schema/conditions.ts'
import { type Metric, objectMetrics, processMetrics } from '../../runtime/telemetry/metrics/table.ts'
import { inputSchema } from '../../infra/values/json-schema.ts'
import { lacksText, matchObject } from '../support/assertions.ts'
import { everything, fullname, objectsOf, one } from './installed.ts'

const root = path.resolve(import.meta.dirname, '../..')
const { rules } = one(objectsOf(everything), 'PrometheusRule').spec.groups[0]
const table: Readonly<Record<string, Metric>> = { ...objectMetrics, ...processMetrics }

type Selected = { metric: string; labels: Record<string, string> }

function selections(expr: string): Selected[] {
  return [...expr.matchAll(/(clustersync_\w+)\{([^}]*)\}/g)].map(([, series = '', labels = '']) => ({
    // A histogram has several series.
    metric: series.replace(/_(?:bucket|count|sum)$/, ''),
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value])),
  }))
}

void t.test('an alert selects metrics of the controller, by the job of the ServiceMonitor and their own labels', async (t) => {
  for (const { alert, expr } of rules) {
    const selected = selections(expr)
    t.equal(selected.length, [...expr.matchAll(/clustersync_/g)].length, `${alert} selects each figure by labels`)
    for (const { metric, labels } of selected) {
      const { job, ...own } = labels
      t.equal(job, `${fullname}-metrics`, alert)
      const known = table[metric]?.labels ?? []
      t.ok(metric in table, `${alert}: ${metric}`)
      t.strictSame(
        Object.keys(own).filter((label) => !known.includes(label)),
        [],
        `${alert}: labels of ${metric}`,
      )
    }
  }
})

void t.test('an alert groups by labels of its metrics, and its annotations use no others', async (t) => {
  for (const { alert, expr, annotations } of rules) {
    const grouped = [...expr.matchAll(/ by \(([^)]*)\)/g)].map(([, labels = '']) => labels.split(', '))
    for (const [index, labels] of grouped.entries()) {
      const known = table[selections(expr)[index]?.metric ?? '']?.labels ?? []
      t.strictSame(
        labels.filter((label) => !known.includes(label)),
        [],
        alert,
      )
    }
    const used = [
      ...Object.values(annotations)
        .join(' ')
        .matchAll(/\$labels\.(\w+)/g),
    ].map(([, label = '']) => label)
    t.strictSame(
      used.filter((label) => grouped[0]?.includes(label) !== true),
      [],
      alert,
    )
  }
})

void t.test('the conditions and states of an alert exist', async (t) => {
  const types: readonly string[] = [...normalConditions, ...abnormalConditions]
  const named = rules.flatMap(({ expr }) => selections(expr)).flatMap(({ labels }) => labels['type'] ?? [])
  t.strictSame(new Set(named), new Set(['Paused', 'Stalled']))
  for (const type of named) t.ok(types.includes(type), type)
})

void t.test('every alert has a unique name, a duration and balanced parentheses', async (t) => {
  t.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
  for (const { alert, expr, for: duration } of rules) {
    t.match(duration, /^[0-9]+[mh]$/, alert)
    t.equal(expr.replaceAll(/[^(]/g, '').length, expr.replaceAll(/[^)]/g, '').length, alert)
  }
})

void t.test('the duration of the NotReady alert and the labels of the rules are values', async (t) => {
  t.equal(rules.find(({ alert }) => alert === 'ClusterSyncNotReady')?.for, '30m')
  matchObject(t, one(objectsOf(everything), 'PrometheusRule').metadata['labels'], { release: 'prometheus' })
})

void t.test('with the lowest objective that the values permit, all pushes being slow exceeds every threshold', async (t) => {
  const { minimum: percent = 0 } =
    inputSchema().properties?.['prometheusRule']?.properties?.['pushToApplied']?.properties?.['percent'] ?? {}
  const { spec } = one(objectsOf({ ...everything, prometheusRule: { enabled: true, pushToApplied: { percent } } }), 'PrometheusRule')
  const thresholds = spec.groups[0].rules.flatMap(({ expr }) => [...expr.matchAll(/> ([0-9.]+) \* \(100 - ([0-9]+)\)/g)])
  t.equal(thresholds.length, 4)
  for (const [threshold, factor, objective] of thresholds) t.ok(Number(factor) * (100 - Number(objective)) < 100, threshold)
})

void t.test('without a URL of the runbook no alert has a link to it', async (t) => {
  const { spec } = one(objectsOf({ ...everything, prometheusRule: { enabled: true, runbookURL: '' } }), 'PrometheusRule')
  lacksText(t, JSON.stringify(spec), 'runbook')
})

void t.test('every alert links to its section of the runbook at the configured URL', async (t) => {
  const sections = new Set(
    [...readFileSync(path.join(root, 'docs/how-to/runbook.md'), 'utf8').matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name),
  )
  for (const { alert, annotations } of rules) {
    t.ok(sections.has(alert), alert)
    t.equal(annotations['runbook_url'], `https://docs.example.com/runbook#${alert.toLowerCase()}`)
  }
})
