/**
 * Reduces the GatewaySyncs of another cluster to what the page of a hub shows. Their content is untrusted: every text is cut and every type
 * checked, so that no cluster can fill the memory or break the page for the others. Pure.
 */
import * as v from 'valibot'
import type { SyncFacts } from './facts.ts'
import { syncView } from './sync-view.ts'
import { type ClusterSync, type ClusterView, compareLevels, worstOf } from './view.ts'

/** Copies the beginning of a text: a part of a string would keep the whole one in memory. */
const cut = (max: number) =>
  v.pipe(
    v.string(),
    v.transform((text) => Buffer.from(text.slice(0, max)).toString()),
  )
const number = v.pipe(v.number(), v.integer(), v.minValue(0))

const kept = v.object({
  namespace: cut(63),
  name: cut(253),
  level: v.picklist(['ok', 'working', 'warning', 'error']),
  ready: v.picklist(['True', 'False', 'Unknown']),
  reason: cut(64),
  message: cut(300),
  published: v.optional(v.object({ commit: cut(64), ref: cut(255), at: cut(40) })),
  counts: v.optional(v.object({ total: number })),
  upToDate: number,
})

/** Without its gateways, which only its own cluster shows. One whose status has an unknown form is shown as such. */
export function clusterSync(facts: SyncFacts): ClusterSync {
  const { namespace, name } = facts
  try {
    const { published, counts, ...row } = v.parse(kept, syncView(facts, [], [], { from: 'cluster' }))
    return { ...row, published, counts }
  } catch {
    const message = 'its status has a form that this version cannot read'
    const unknown = { level: 'warning', ready: 'Unknown', reason: 'Unexpected', message, upToDate: 0 }
    const { published, counts, ...row } = v.parse(kept, { namespace, name, ...unknown })
    return { ...row, published, counts }
  }
}

/** A cluster that cannot be read needs attention, regardless of the last state of its GatewaySyncs. */
export function clusterView({ syncs, ...cluster }: Omit<ClusterView, 'level'>): ClusterView {
  const level = cluster.failure === undefined ? worstOf(syncs.map((sync) => sync.level)) : 'error'
  return {
    ...cluster,
    level: level === 'ok' && cluster.seenAt === undefined ? 'working' : level,
    syncs: syncs.toSorted((a, b) => compareLevels(b.level, a.level) || compare(keyOf(a), keyOf(b))),
  }
}

function keyOf({ namespace, name }: ClusterSync): string {
  return `${namespace}/${name}`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
