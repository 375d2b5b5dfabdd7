/**
 * The installation in this repository's own `dist/`. Commit a change to it with the manifests that it changes.
 */
import type { OperatorProps } from './operator-chart.ts'

export const install: OperatorProps = {
  release: { name: 'cluster-sync-operator', namespace: 'cluster-sync' },
  createNamespace: true,
  values: {},
}
