/**
 * Defines the clients with which the facts of an installation check are read.
 */
import type { V1Pod } from '@kubernetes/client-node'
import type { Clock } from '../../platform/clock.ts'
import type { Probed } from '../../fleet/check/facts.ts'
import type { SyncFacts } from '../../fleet/facts.ts'
import type { Kube } from '../../kube/client.ts'
import type { Stored } from '../../kube/types.ts'

export type ProbeClients = {
  kube: Kube
  clock: Clock
  signal: AbortSignal
  /** Runs a read and returns its result or its fault as a fact. */
  probe<Value>(work: () => Promise<Value>): Promise<Probed<Value>>
}

/** The GatewaySyncs, and the pods that request an agent. */
export type Followers = { syncs: readonly SyncFacts[]; pods: readonly Stored<V1Pod>[] }
