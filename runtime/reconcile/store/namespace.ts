/**
 * The stored objects of one namespace.
 */
import { createPodModes } from './modes-in-use.ts'
import { type BoundedObjects, maxKeptSyncs, PodsOfNamespace, reportsOfNamespace, syncsOfNamespace } from './bounded-objects.ts'
import { type GatewaySyncRecord, type ReportRecord } from './records.ts'

/**
 * The objects of one namespace. `others`: names of GatewaySyncs that belong to another installation. `full`: kinds with more objects than are
 * kept.
 */
export type Namespace = {
  syncs: BoundedObjects<GatewaySyncRecord>
  others: Set<string>
  pods: PodsOfNamespace
  reports: BoundedObjects<ReportRecord>
  modes: ReturnType<typeof createPodModes>
  full: Set<StoredKind>
}

/** The kinds of objects that are kept. */
export type StoredKind = 'GatewaySync' | 'Pod' | 'SyncReport'

export function emptyNamespace(): Namespace {
  return {
    syncs: syncsOfNamespace(),
    others: new Set(),
    pods: new PodsOfNamespace(),
    reports: reportsOfNamespace(),
    modes: createPodModes(),
    full: new Set(),
  }
}

/** GatewaySyncs of other installations count too. */
export function hasSpaceFor({ name }: GatewaySyncRecord, { syncs, others }: Namespace): boolean {
  return syncs.has(name) || syncs.size + others.size < maxKeptSyncs
}
