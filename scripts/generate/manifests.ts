/**
 * dist/: the committed manifests are those of infra/install.ts.
 */
import { App, Yaml } from 'cdk8s'
import { createCharts } from '../../infra/charts.ts'
import { install } from '../../infra/install.ts'
import type { GeneratedFile } from './table.ts'

export async function manifests(): Promise<GeneratedFile[]> {
  // Warnings appear when the values are synthesized, so they are omitted here.
  const charts = createCharts(new App(), { ...install, onWarning: () => {} })
  return charts.map((chart) => ({ path: `dist/${chart.node.id}.k8s.yaml`, content: Yaml.stringify(...(chart.toJson() as unknown[])) }))
}
