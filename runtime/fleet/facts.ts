/**
 * The input of the fleet views: GatewaySyncs, their pods and reports, from an API server or from the state of a standalone run.
 */
import type { GatewayPod, GatewayReport } from '../reconcile/decide/gateways.ts'
import type { Annotations } from '../reconcile/decide/request.ts'
import type { GatewaySyncStatus } from '../api/schema/status.ts'

/** A GatewaySync as it was read. */
export type SyncFacts = {
  namespace: string
  name: string
  generation: number
  annotations: Annotations
  /** The stored spec; undefined if it was not kept. */
  spec: unknown
  status: GatewaySyncStatus
}

/** A SyncReport with the fields that views show. Its content is untrusted: anyone with write permission can put anything into it. */
export type ReportFacts = GatewayReport & { namespace: string; pod: string; gatewaySync: string }

/** A warning about the installation. `until`: when its certificate expires. */
export type Warning = { kind: 'openReceiver' } | { kind: 'certificate'; until: string }

/** The complete input of the views; a view reads nothing else. */
export type FleetFacts = {
  /** Selects the commands to suggest: cluster commands do not apply to a standalone run. */
  from: 'cluster' | 'standalone'
  /** The context of the kubeconfig that the user named. */
  context?: string | undefined
  /** All GatewaySyncs of a namespace: together they determine which one a pod without an annotation follows. */
  syncs: readonly SyncFacts[]
  /** Names of GatewaySyncs that belong to another installation. They are not shown, but also determine which GatewaySync a pod follows. */
  others?: readonly { namespace: string; name: string }[]
  /** The name of the one GatewaySync to show; undefined: all. */
  only?: string
  /** All pods that request an agent; undefined without permission to list pods: gateways are then known only by their reports. */
  pods: readonly GatewayPod[] | undefined
  reports: readonly ReportFacts[]
  /** Notes for the reader about incomplete data, such as a missing permission. */
  notes: readonly string[]
  /** Whether webhooks are received; absent: unknown, for example for another cluster. */
  receives?: boolean
  /** Absent: none, or unknown. */
  warnings?: readonly Warning[]
}
