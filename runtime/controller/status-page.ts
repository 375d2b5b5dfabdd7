/**
 * The status page of a replica, over the store that the watches keep: no look at it asks the API server for anything.
 */
import type { Hono } from 'hono'
import type { Clock } from '../clock.ts'
import type { FleetFacts } from '../fleet/facts.ts'
import type { Store } from '../reconcile/store.ts'
import { statusPageApp } from '../statuspage/app.ts'

/** What the page works with in a cluster. */
export type StatusPageParts = {
  store: Pick<Store, 'all' | 'watch'>
  clock: Clock
  /** Why this replica does not know the cluster's objects yet; empty when it does. */
  notReady(): string[]
}

/** Connections for two hundred viewers, of whom each has one for news and, for a moment, one for the page. */
export const statusPageConnections = { maxConnections: 450, readAheadBytes: 16 * 1024, keptAliveMs: 5_000 } as const

/** The app of the port for people; every replica serves one. Without a login it only shows, and says so. */
export function controllerStatusPage({ store, clock, notReady }: StatusPageParts, signal: AbortSignal): Hono {
  return statusPageApp({
    facts: () => factsOfStore(store, notReady()),
    subscribe: store.watch,
    // Its certificate is for its own names alone, so that a page from elsewhere cannot reach it under another one.
    hosts: undefined,
    isOpen: true,
    clock,
    signal,
  })
}

function factsOfStore(store: Pick<Store, 'all'>, unknown: readonly string[]): FleetFacts {
  const notes = unknown.length === 0 ? [] : [`This replica has just started and does not know everything yet: ${unknown.join('; ')}.`]
  return { from: 'cluster', ...store.all(), notes }
}
