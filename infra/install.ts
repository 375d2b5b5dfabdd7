/**
 * What this repository's own `dist/` installs: reviewed in pull requests, where a change of it is a change of the manifests beside it.
 */
import type { OperatorProps } from './operator-chart.ts'

export const install: OperatorProps = {
  release: { name: 'cluster-sync-operator', namespace: 'cluster-sync' },
  createNamespace: true,
  values: {},
}
