/**
 * The installation in this repository's `dist/`. Commit changes to this file together with the changed manifests.
 */
import type { OperatorProps } from './operator-chart.ts'

export const install: OperatorProps = {
  release: { name: 'cluster-sync-operator', namespace: 'cluster-sync' },
  createNamespace: true,
  values: {},
}
