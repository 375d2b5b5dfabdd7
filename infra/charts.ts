/**
 * Both charts, as this repository's `dist/` has them.
 */
import type { Chart } from 'cdk8s'
import type { Construct } from 'constructs'
import { CrdChart, OperatorChart, type OperatorProps } from './operator-chart.ts'
import { checkValues } from './values/check.ts'

/** Creates the charts `crds` and `operator`, in the order in which they are applied. Throws as `OperatorChart` does. */
export function createCharts(app: Construct, props: OperatorProps): Chart[] {
  const { crds } = checkValues(props.values ?? {}).values
  // OperatorChart warns of `crds.install`, which has its effect here.
  const operator = { ...props, values: { ...props.values, crds: {} } }
  return [...(crds.install ? [new CrdChart(app, 'crds')] : []), new OperatorChart(app, 'operator', operator)]
}
