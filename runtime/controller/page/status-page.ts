/**
 * The status page of a replica, over the store that the watches keep. Only who looks at a single gateway asks the API server, for its report.
 */
import { type Clock, deadline } from '../../clock.ts'
import type { FleetFacts, Warning } from '../../fleet/facts.ts'
import type { Kube } from '../../kube/client.ts'
import type { EventRecorder } from '../../kube/events.ts'
import type { PostReview } from '../../kube/token-review.ts'
import type { Log } from '../../log.ts'
import type { SyncMirrors } from '../../reconcile/mirrors-of-syncs.ts'
import type { Store } from '../../reconcile/store.ts'
import { statusPageApp } from '../../statuspage/app.ts'
import type { ControllerSettings } from '../../settings.ts'
import type { Network } from '../../source/remote/network.ts'
import type { Doing, People } from '../../statuspage/people.ts'
import { createOidcLogin } from './oidc-login.ts'
import { createPageAccess } from './page-access.ts'
import { createPageActions } from './page-actions.ts'
import { commitsOfStore, createReportReader } from './page-contents.ts'
import { missingPrefixes } from './page-warnings.ts'
import { createProxyLogin } from './proxy-login.ts'

/** What the page works with in a cluster. */
export type StatusPageParts = {
  store: Pick<Store, 'all' | 'watch' | 'sync' | 'updateSync'>
  mirrors: Pick<SyncMirrors, 'serving'>
  kube: Pick<Kube, 'listPages' | 'mergePatch'>
  events: Pick<EventRecorder, 'record'>
  /** A client only for reviews. */
  reviews: Pick<Kube, 'post'>
  /** By which proxy a provider of identities is reached. */
  network: Pick<Network, 'proxy'>
  clock: Clock
  log: Log
  /** Why this replica does not know the cluster's objects yet; empty when it does. */
  notReady(): string[]
  /** What is out of the ordinary with the installation. */
  warnings?(): Warning[]
}

/** Connections for two hundred viewers, of whom each has one for news and, for a moment, one for the page. */
export const statusPageConnections = { maxConnections: 450, readAheadBytes: 16 * 1024 } as const

/** Deadline of one review. */
const reviewTimeoutMs = 10_000

/** How people log in; none of them: whoever reaches the page sees all of it. */
export type PageLogins = Pick<NonNullable<ControllerSettings['statusPage']>, 'proxy' | 'oidc'>

/** The app of the port for people; every replica serves one. Without a login the page says so. */
export function controllerStatusPage(parts: StatusPageParts, logins: PageLogins, signal: AbortSignal): ReturnType<typeof statusPageApp> {
  const { store, mirrors, kube, reviews, clock, notReady, warnings } = parts
  const post = (path: string, body: unknown): Promise<unknown> => reviews.post(path, body, deadline(reviewTimeoutMs, signal))
  const login = loginOf(parts, logins)
  const people = login === undefined ? undefined : peopleOf(parts, login, post)
  return statusPageApp({
    facts: () => ({ ...factsOfStore(store, notReady()), warnings: warnings?.() ?? [] }),
    people,
    subscribe: store.watch,
    // Its certificate is for its own names alone, so that a page from elsewhere cannot reach it under another one.
    hosts: undefined,
    isOpen: people === undefined,
    commits: commitsOfStore({ store, mirrors, clock }),
    report: createReportReader({ kube, clock }),
    clock,
    signal,
  })
}

type PageLogin = Pick<People, 'identify' | 'login'> & Pick<Doing, 'formKeys'>

function loginOf({ network, clock, log }: StatusPageParts, { proxy, oidc }: PageLogins): PageLogin | undefined {
  const missing = missingPrefixes({ proxy, oidc })
  if (missing.length > 0)
    log.warn(
      { component: 'status-page', message: `${missing.join(' and ')}: empty` },
      'people and groups of the login have the rights of whoever has their name in the cluster',
    )
  if (proxy !== undefined) return createProxyLogin(proxy, { clock, log })
  if (oidc === undefined) return undefined
  const { login, formKeys } = createOidcLogin(oidc, { proxies: network.proxy, clock, log })
  return { identify: login.identify, login, formKeys }
}

/** Who somebody is says the login; what they see and may do says the API server. */
function peopleOf({ kube, store, events, clock, log }: StatusPageParts, { formKeys, ...login }: PageLogin, post: PostReview): People {
  const access = createPageAccess({ post, clock })
  return { ...login, sees: access.sees, doing: createPageActions({ access, formKeys, kube, store, events, clock, log }) }
}

function factsOfStore(store: Pick<Store, 'all'>, unknown: readonly string[]): FleetFacts {
  const notes = unknown.length === 0 ? [] : [`This replica has just started and does not know everything yet: ${unknown.join('; ')}.`]
  return { from: 'cluster', ...store.all(), notes }
}
