/**
 * The stored objects of one namespace, bounded in number and in bytes: a tenant may create as many as the API server accepts.
 */
import { gatewaySyncOfPod } from '../decide/gateways.ts'
import { type GatewaySyncRecord, maxNamespaceSyncs, type PodRecord, type ReportRecord } from './records.ts'
import { createPodModes } from './modes-in-use.ts'

type Bounds<Item> = { maxCount: number; maxBytes: number; bytesOf(item: Item): number }

/** GatewaySyncs with and without specs; those beyond `maxNamespaceSyncs` are kept without, so that their status can say why. */
export const maxKeptSyncs = 2 * maxNamespaceSyncs
/** Limits for pods and, separately, for SyncReports. A controller is sized for 5,000 pods in all. In a typical fleet a pod has 600 bytes, and a report 1,200. */
export const gatewayBounds = { maxCount: 10_000, maxBytes: 12 * 1024 * 1024 } as const

/** By name. */
export class BoundedObjects<Item> {
  readonly #bounds: Bounds<Item>
  readonly #items = new Map<string, { item: Item; bytes: number }>()
  #bytes = 0

  constructor(bounds: Bounds<Item>) {
    this.#bounds = bounds
  }

  get size(): number {
    return this.#items.size
  }

  get bytes(): number {
    return this.#bytes
  }

  get(name: string): Item | undefined {
    return this.#items.get(name)?.item
  }

  has(name: string): boolean {
    return this.#items.has(name)
  }

  keys(): IterableIterator<string> {
    return this.#items.keys()
  }

  *values(): Generator<Item> {
    for (const { item } of this.#items.values()) yield item
  }

  /** The number and bytes of the objects with other names. */
  beside(name: string): { count: number; bytes: number } {
    const own = this.#items.get(name)
    return { count: this.#items.size - (own === undefined ? 0 : 1), bytes: this.#bytes - (own?.bytes ?? 0) }
  }

  /** Returns false if there is no space for it; then the earlier object of that name is removed too. */
  set(name: string, item: Item): boolean {
    const { maxCount, maxBytes, bytesOf } = this.#bounds
    const bytes = bytesOf(item)
    const others = this.beside(name)
    if (others.count >= maxCount || others.bytes + bytes > maxBytes) {
      this.delete(name)
      return false
    }
    this.#items.set(name, { item, bytes })
    this.#bytes = others.bytes + bytes
    return true
  }

  delete(name: string): boolean {
    this.#bytes = this.beside(name).bytes
    return this.#items.delete(name)
  }
}

/** Without a limit in bytes: `withinShare` in records.ts removes the specs that exceed it. */
export function syncsOfNamespace(): BoundedObjects<GatewaySyncRecord> {
  const bytesOf = ({ tooLarge, keptBytes = 0 }: GatewaySyncRecord): number => (tooLarge === undefined ? keptBytes : 0)
  return new BoundedObjects({ maxCount: maxKeptSyncs, maxBytes: Number.POSITIVE_INFINITY, bytesOf })
}

export function reportsOfNamespace(): BoundedObjects<ReportRecord> {
  return new BoundedObjects<ReportRecord>(gateways)
}

const gateways = {
  ...gatewayBounds,
  bytesOf: (record: object): number => JSON.stringify(record).length,
}

/** The pods of a namespace, indexed by the GatewaySync that they name, so that no search visits all pods for each GatewaySync. */
class PodsOfNamespace extends BoundedObjects<PodRecord> {
  readonly #following = new Map<string, Map<string, PodRecord>>()

  constructor() {
    super(gateways)
  }

  override set(name: string, pod: PodRecord): boolean {
    this.#forget(name)
    if (!super.set(name, pod)) return false
    const named = namedBy(pod)
    this.#following.set(named, (this.#following.get(named) ?? new Map<string, PodRecord>()).set(name, pod))
    return true
  }

  override delete(name: string): boolean {
    this.#forget(name)
    return super.delete(name)
  }

  /** The pods that name a GatewaySync; without a name, those that name none. */
  naming(sync = ''): PodRecord[] {
    return [...(this.#following.get(sync)?.values() ?? [])]
  }

  #forget(name: string): void {
    const pod = this.get(name)
    const pods = pod === undefined ? undefined : this.#following.get(namedBy(pod))
    pods?.delete(name)
    if (pod !== undefined && pods?.size === 0) this.#following.delete(namedBy(pod))
  }
}

function namedBy({ annotations }: PodRecord): string {
  return gatewaySyncOfPod(annotations, undefined) ?? ''
}

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
