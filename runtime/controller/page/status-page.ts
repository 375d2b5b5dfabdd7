/**
 * Builds the status page of a replica from the store. Only the page of a single gateway queries the API server, for its report.
 */
import { type Clock, deadline } from '../../platform/clock.ts'
import type { FleetFacts, Warning } from '../../fleet/facts.ts'
import type { Kube } from '../../kube/client.ts'
import type { EventRecorder } from '../../kube/events.ts'
import type { PostReview } from '../../kube/token-review.ts'
import type { Log } from '../../platform/log/log.ts'
import type { SyncMirrors } from '../../reconcile/source/mirrors-of-syncs.ts'
import type { Store } from '../../reconcile/store/store.ts'
import { type StatusPageDeps, statusPageApp } from '../../statuspage/app.ts'
import type { ControllerSettings } from '../../settings/controller.ts'
import type { Network } from '../../git/remote/network.ts'
import type { UserActions, PageAuth } from '../../statuspage/views/page-auth.ts'
import { createOidcLogin } from './oidc-login.ts'
import type { OtherClusters } from './other-clusters.ts'
import { createPageAccess, createPageActions } from './page-access.ts'
import { commitsOfStore, createReportReader } from './page-contents.ts'
import { createProxyLogin } from './proxy-login.ts'
import { Temporal } from '../../platform/temporal.ts'
import { isOpen } from '../serve/receiver.ts'

/** Collaborators of the page in a cluster. */
export type StatusPageParts = {
  store: Pick<Store, 'all' | 'watch' | 'sync' | 'updateSync'>
  mirrors: Pick<SyncMirrors, 'serving'>
  kube: Pick<Kube, 'listPages' | 'mergePatch'>
  events: Pick<EventRecorder, 'record'>
  /** A client only for reviews. */
  reviews: Pick<Kube, 'post'>
  /** The proxy for the identity provider. */
  network: Pick<Network, 'proxy'>
  clock: Clock
  log: Log
  /** Returns why this replica does not know the cluster's objects yet; empty when it does. */
  notReady(): string[]
  /** Whether webhooks are received. */
  receives: boolean
  /** Returns problems of the installation. */
  warnings?(): Warning[]
  clusters?: Pick<OtherClusters, 'views' | 'watch'>
}

/** Connections for two hundred viewers: each has one for server-sent events and, briefly, one for the page. */
export const statusPageConnections = { maxConnections: 450, readAheadBytes: 16 * 1024 } as const

/** Deadline of one review. */
const reviewTimeoutMs = 10_000

/** The configured logins; without one, everyone who reaches the page sees everything. */
export type PageLogins = Pick<NonNullable<ControllerSettings['statusPage']>, 'proxy' | 'oidc'>

/** The app of the status-page port; every replica serves one. Without a login the page shows a note. */
export function controllerStatusPage(
  parts: StatusPageParts,
  { trustedProxies = [], ...logins }: PageLogins & Pick<StatusPageDeps, 'trustedProxies'>,
  signal: AbortSignal,
): ReturnType<typeof statusPageApp> {
  const { store, mirrors, kube, reviews, clock, notReady, receives, warnings, clusters } = parts
  const post = (path: string, body: unknown): Promise<unknown> => reviews.post(path, body, deadline(reviewTimeoutMs, signal))
  const login = loginOf(parts, logins)
  const auth = login === undefined ? undefined : pageAuthOf(parts, login, post)
  return statusPageApp({
    facts: () => ({ ...factsOfStore(store, notReady()), receives, warnings: warnings?.() ?? [] }),
    auth,
    clusters: () => clusters?.views() ?? [],
    subscribe(changed) {
      const ends = [store.watch(changed), clusters?.watch(changed)]
      return () => ends.forEach((end) => end?.())
    },
    // Its certificate is valid only for its own names, so DNS rebinding cannot reach it under another one.
    hosts: undefined,
    isOpen: auth === undefined,
    commits: commitsOfStore({ store, mirrors, clock }),
    report: createReportReader({ kube, clock }),
    trustedProxies,
    clock,
    signal,
  })
}

type PageLogin = Pick<PageAuth, 'identify' | 'login'> & Pick<UserActions, 'formKeys'>

function loginOf({ network, clock, log }: StatusPageParts, { proxy, oidc }: PageLogins): PageLogin | undefined {
  const missing = missingPrefixes({ proxy, oidc })
  if (missing.length > 0)
    log.warn(
      { component: 'status-page', message: `${missing.join(' and ')}: empty` },
      'users and groups of the login have the permissions of the cluster users and groups of the same name',
    )
  if (proxy !== undefined) return createProxyLogin(proxy, { clock, log })
  if (oidc === undefined) return undefined
  const { login, formKeys } = createOidcLogin(oidc, { proxies: network.proxy, clock, log })
  return { identify: login.identify, login, formKeys }
}

/** The login authenticates people; the API server authorizes what they see and do. */
function pageAuthOf({ kube, store, events, clock, log }: StatusPageParts, { formKeys, ...login }: PageLogin, post: PostReview): PageAuth {
  const access = createPageAccess({ post, clock })
  return {
    ...login,
    sees: access.sees,
    seesAll: access.seesAll,
    actions: createPageActions({ access, formKeys, kube, store, events, clock, log }),
  }
}

function factsOfStore(store: Pick<Store, 'all'>, unknown: readonly string[]): FleetFacts {
  const notes = unknown.length === 0 ? [] : [`This replica has just started and has not read everything yet: ${unknown.join('; ')}.`]
  return { from: 'cluster', ...store.all(), notes }
}

/** A certificate is renewed long before; one that expires this soon was not renewed. */
const renewedBefore = { hours: 72 }

/**
 * Lists problems of the installation itself that the page shows to everyone. `until`: when the certificate of the ports expires.
 */
export function warningsOf(until: Temporal.Instant, { receiver }: Pick<ControllerSettings, 'receiver'>, now: Temporal.Instant): Warning[] {
  const isEnding = Temporal.Instant.compare(until, now.add(renewedBefore)) < 0
  return [
    ...(isOpen(receiver) ? [{ kind: 'openReceiver' as const }] : []),
    ...(isEnding ? [{ kind: 'certificate' as const, until: until.toString().slice(0, 10) }] : []),
  ]
}

type Logins = Pick<NonNullable<ControllerSettings['statusPage']>, 'proxy' | 'oidc'>

/**
 * Returns the login settings without a prefix for names: without one, anyone who can choose a name or create a group at the provider can
 * choose one that has permissions in the cluster. The API server's own login has prefixes for the same reason.
 */
export function missingPrefixes({ proxy, oidc }: Logins): string[] {
  const named = {
    'statusPage.proxy.usernamePrefix': proxy?.usernamePrefix,
    'statusPage.proxy.groupsPrefix': proxy?.groupsPrefix,
    'statusPage.oidc.usernamePrefix': oidc?.usernamePrefix,
    'statusPage.oidc.groupsPrefix': oidc?.groupsPrefix,
  }
  return Object.entries(named).flatMap(([key, prefix]) => (prefix === '' ? [key] : []))
}
