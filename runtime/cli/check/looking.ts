/**
 * With what the facts of a check are looked for.
 */
import type { Clock } from '../../clock.ts'
import type { Looked } from '../../fleet/check/facts.ts'
import type { SyncFacts } from '../../fleet/facts.ts'
import type { Kube } from '../../kube/client.ts'
import type { KubeObject } from '../../kube/types.ts'

export type Looking = {
  kube: Kube
  clock: Clock
  signal: AbortSignal
  /** What comes of a look; a fault is a fact too. */
  look<Value>(work: () => Promise<Value>): Promise<Looked<Value>>
}

/** The GatewaySyncs, and the pods that ask for an agent. */
export type Followers = { syncs: readonly SyncFacts[]; pods: readonly KubeObject[] }
