/**
 * Values for production: two replicas, monitoring, alerts, network policy. `CLUSTER_SYNC_VALUES=examples/production.ts npx cdk8s synth`.
 * Set `prometheusRule.runbookURL` to your copy of docs/how-to/runbook.md, so that alerts link to it.
 */
import { chartName } from '../infra/names.ts'
import type { ValuesInput } from '../infra/values.ts'

/** Selects the controller's pods, whatever the release is named. If you set `nameOverride`, use its value instead. */
const labelSelector = { matchLabels: { 'app.kubernetes.io/name': chartName } }

export const values = {
  replicaCount: 2,
  // Preferred only: otherwise an update in a cluster with two nodes could not place its new pod.
  affinity: {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 100, podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector } },
      ],
    },
  },
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway', labelSelector },
  ],
  podDisruptionBudget: { enabled: true, minAvailable: 1 },
  serviceMonitor: { enabled: true },
  podMonitor: { enabled: true },
  prometheusRule: { enabled: true },
  grafanaDashboard: { enabled: true },
  networkPolicy: { enabled: true },
} satisfies ValuesInput
