/**
 * What is known of a fleet when somebody asks how it stands: GatewaySyncs, the pods beside them and their reports, from an API server or from
 * the state of a standalone run.
 */
import type { GatewayPod, GatewayReport } from '../gatewaysync/decide/gateways.ts'
import type { Annotations } from '../gatewaysync/decide/request.ts'
import type { GatewaySyncStatus } from '../gatewaysync/schema/status.ts'

/** A GatewaySync as it was read. */
export type SyncFacts = {
  namespace: string
  name: string
  generation: number
  annotations: Annotations
  /** As it is stored; undefined where nobody kept it. */
  spec: unknown
  status: GatewaySyncStatus
}

/** A SyncReport, read with what people want to know of it. Whoever may write one may write anything into it. */
export type ReportFacts = GatewayReport & { namespace: string; pod: string; gatewaySync: string }

/** What is out of the ordinary with the installation itself. `until`: when its certificate ends. */
export type Warning = { kind: 'openReceiver' } | { kind: 'certificate'; until: string }

/** Everything that the views are made of: no view reads anything itself. */
export type FleetFacts = {
  /** What commands are advised: those of a cluster mean nothing to a standalone run. */
  from: 'cluster' | 'standalone'
  /** All of a namespace: together they decide whom a pod follows that names none. */
  syncs: readonly SyncFacts[]
  /** Names of GatewaySyncs that belong to another installation: nothing is told of them, and they decide whom a pod follows just as well. */
  others?: readonly { namespace: string; name: string }[]
  /** Of which of them to tell; undefined: of all. */
  only?: string
  /** All pods that ask for an agent; undefined where nobody may list them: gateways are then known by their reports alone. */
  pods: readonly GatewayPod[] | undefined
  reports: readonly ReportFacts[]
  /** What the reader must know about how this was read, such as a right that was missing. */
  notes: readonly string[]
  /** Absent: nothing, or nobody knows. */
  warnings?: readonly Warning[]
}
