/**
 * Alerts ask for figures that exist, with labels that these figures have, and say what to look at.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { abnormalConditions, normalConditions } from '../../runtime/gatewaysync/decide/conditions.ts'
import { type Metric, objectMetrics, processMetrics } from '../../runtime/metrics/table.ts'
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

void t.test('every figure is one of the controller, collected by its ServiceMonitor, with labels of its own', async (t) => {
  for (const { alert, expr } of rules) {
    const selected = selections(expr)
    t.equal(selected.length, [...expr.matchAll(/clustersync_/g)].length, `${alert} selects each figure by labels`)
    for (const { metric, labels } of selected) {
      const { job, ...own } = labels
      t.equal(job, `${fullname}-metrics`, alert)
      const known = table[metric]?.labels ?? []
      t.ok(metric in table, `${alert}: ${metric}`)
      t.same(
        Object.keys(own).filter((label) => !known.includes(label)),
        [],
        `${alert}: labels of ${metric}`,
      )
    }
  }
})

void t.test('an alert is grouped by labels that its figures have, and its words use no others', async (t) => {
  for (const { alert, expr, annotations } of rules) {
    const grouped = [...expr.matchAll(/ by \(([^)]*)\)/g)].map(([, labels = '']) => labels.split(', '))
    for (const [index, labels] of grouped.entries()) {
      const known = table[selections(expr)[index]?.metric ?? '']?.labels ?? []
      t.same(
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
    t.same(
      used.filter((label) => grouped[0]?.includes(label) !== true),
      [],
      alert,
    )
  }
})

void t.test('conditions and states that an alert names exist', async (t) => {
  const types: readonly string[] = [...normalConditions, ...abnormalConditions]
  const named = rules.flatMap(({ expr }) => selections(expr)).flatMap(({ labels }) => labels['type'] ?? [])
  t.same(new Set(named), new Set(['Paused', 'Stalled']))
  for (const type of named) t.ok(types.includes(type), type)
})

void t.test('every alert has a name of its own, a duration and closed brackets', async (t) => {
  t.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
  for (const { alert, expr, for: duration } of rules) {
    t.match(duration, /^[0-9]+[mh]$/, alert)
    t.equal(expr.replaceAll(/[^(]/g, '').length, expr.replaceAll(/[^)]/g, '').length, alert)
  }
})

void t.test('how long a GatewaySync may be not ready is a value, as are the labels by which the rules are found', async (t) => {
  t.equal(rules.find(({ alert }) => alert === 'ClusterSyncNotReady')?.for, '30m')
  t.match(one(objectsOf(everything), 'PrometheusRule').metadata['labels'], { release: 'prometheus' })
})

void t.test('every alert leads to its section of the runbook, wherever that is read', async (t) => {
  const sections = new Set(
    [...readFileSync(path.join(root, 'docs/runbook.md'), 'utf8').matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name),
  )
  for (const { alert, annotations } of rules) {
    t.ok(sections.has(alert), alert)
    t.equal(annotations['runbook_url'], `https://docs.example.com/runbook#${alert.toLowerCase()}`)
  }
})
