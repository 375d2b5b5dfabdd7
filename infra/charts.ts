/**
 * Both charts of this repository's `dist/`.
 */
import type { Chart } from 'cdk8s'
import type { Construct } from 'constructs'
import { CrdChart, OperatorChart, type OperatorProps } from './operator-chart.ts'
import { checkValues } from './values/check.ts'

/** Creates the charts `crds` and `operator`, in the order in which they are applied. Throws as `OperatorChart` does. */
export function createCharts(app: Construct, props: OperatorProps): Chart[] {
  const { crds } = checkValues(props.values ?? {}).values
  // OperatorChart would warn that `crds.install` has no effect, but here it has one.
  const operator = { ...props, values: { ...props.values, crds: {} } }
  return [...(crds.install ? [new CrdChart(app, 'crds')] : []), new OperatorChart(app, 'operator', operator)]
}
