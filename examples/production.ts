/**
 * Values for a production cluster: two replicas on two machines, of which an eviction never takes the last, and a monitoring
 * system that collects the figures and knows when to call someone. `CLUSTER_SYNC_VALUES=examples/production.ts npx cdk8s synth`
 */
import { chartName } from '../infra/names.ts'
import type { ValuesInput } from '../infra/values.ts'

/** Selects the controller's pods, whatever the release is named. */
const labelSelector = { matchLabels: { 'app.kubernetes.io/name': chartName } }

export const values = {
  replicaCount: 2,
  // Preferred only: with as many machines as replicas, an update could not place its new pod otherwise.
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
