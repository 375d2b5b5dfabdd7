/**
 * Serves the endpoints of every replica: webhooks, admission, content, metrics, probes. Each is an app over the store; none of them syncs.
 */
import type { GatewaySpec } from '../api/schema/spec.ts'
import type { CertificateKeeper } from '../certificates/serving.ts'
import type { GatewayAccess } from '../content/protocol/protocol.ts'
import type { Clock } from '../platform/clock.ts'
import { leadingApp } from '../content/server/leader-connection.ts'
import { deliveryApp, deliveryConnections, type DeliveryDeps } from '../content/server/server.ts'
import { admissionApp, admissionConnections } from '../injection/app.ts'
import type { FoundSync } from '../injection/inject.ts'
import type { Kube } from '../kube/client.ts'
import type { EventRecorder } from '../kube/events.ts'
import type { Log } from '../platform/log/log.ts'
import { metricsApp, probesApp } from '../telemetry/metrics/app.ts'
import { createMetricsAuthorizer } from './serve/metrics-access.ts'
import type { Metrics } from '../telemetry/metrics/metrics.ts'
import { connectionBounds } from '../receiver/limits.ts'
import type { Store } from '../reconcile/store/store.ts'
import type { SyncMirrors } from '../reconcile/source/mirrors-of-syncs.ts'
import { publishedCommits } from '../reconcile/source/needed-commits.ts'
import type { Network } from '../git/remote/network.ts'
import type { ReadSecret } from '../git/remote/secrets.ts'
import { type Served, serve, type ServeOptions } from '../http/serve.ts'
import { Fault } from '../platform/fault.ts'
import type { ControllerSettings } from '../settings/controller.ts'
import type { TracingSettings } from '../telemetry/tracing/settings.ts'
import type { Tracing } from '../telemetry/tracing/trace.ts'
import { Authorizer } from './serve/authorize.ts'
import type { Captures } from './captures/captures.ts'
import type { PushKeys } from './serve/webhook-keys.ts'
import { controllerReceiver } from './serve/receiver.ts'
import type { OtherClusters } from './page/other-clusters.ts'
import { specOf } from '../api/schema/spec-of.ts'
import { controllerStatusPage, statusPageConnections, warningsOf } from './page/status-page.ts'
import type { Unfollowed } from './cluster/pod-events.ts'

/** Collaborators of the apps. */
export type EndpointDeps = {
  kube: Kube
  /** A client only for token reviews, so that reviews caused by unknown callers delay nothing else. */
  reviews: Kube
  store: Store
  mirrors: SyncMirrors
  network: Pick<Network, 'proxy'>
  captures: Pick<Captures, 'offered'>
  readSecret: ReadSecret
  metrics: Metrics
  events: EventRecorder
  keys: PushKeys
  certificates: CertificateKeeper
  tracing: Tracing
  /** The tracing settings sent to agents. */
  tracingSettings: TracingSettings | undefined
  leader: DeliveryDeps['leader']
  /** Returns the name of this replica while it leads. */
  leads(): string | undefined
  unfollowed: Pick<Unfollowed, 'note'>
  /** The fleets that the status page of a hub shows. */
  clusters: Pick<OtherClusters, 'views' | 'watch'>
  clock: Clock
  log: Log
  /** Returns why this replica is not ready; empty when it is. */
  notReady(): string[]
}

/** Collaborators of the probes. */
export type ProbeDeps = Pick<EndpointDeps, 'log' | 'notReady'> & {
  /** Returns why this process should be restarted; empty when it need not be. */
  notLive(): string[]
}

const requestTimeoutMs = 10_000
/** Connections for kubelets and scrapers, which are few and send no bodies. */
const fewConnections = { maxConnections: 64, readAheadBytes: 16 * 1024 }

/** Opens the port for the kubelet first, because it probes from the start. Throws InvalidConfiguration. */
export async function openProbes(
  { log, notLive, notReady }: ProbeDeps,
  { ports, host }: ControllerSettings,
  signal: AbortSignal,
): Promise<Served> {
  const app = probesApp({ live: notLive, ready: notReady })
  return await serve({ app, port: ports.probes, host, bounds: fewConnections, log: log.child({ component: 'probes' }) }, signal)
}

/** Opens every other port that the settings enable; settles when all are open. Throws InvalidConfiguration. */
export async function openEndpoints(deps: EndpointDeps, settings: ControllerSettings, signal: AbortSignal): Promise<Served[]> {
  const { certificates, log } = deps
  const { ports, host } = settings
  const served: Served[] = []
  const open = async (app: ServeOptions['app'], port: number, secure: boolean, component: string, bounds = {}): Promise<void> => {
    const tls = secure ? { tls: certificates.current() } : {}
    const one = await serve({ app, port, host, ...tls, bounds, log: log.child({ component }) }, signal)
    if (secure) certificates.onChange((next) => one.exchange(next))
    served.push(one)
  }
  await open(delivery(deps, settings), ports.delivery, true, 'delivery', deliveryConnections)
  if (settings.injection.enabled) await open(admission(deps, settings), ports.admission, true, 'admission', admissionConnections)
  if (settings.receiver.enabled)
    await open(controllerReceiver(deps, settings.receiver), ports.receiver, false, 'receiver', connectionBounds)
  if (settings.metrics.enabled) await open(metricsEndpoint(deps), ports.metrics, true, 'metrics', fewConnections)
  if (settings.statusPage !== undefined)
    await open(
      controllerStatusPage(
        {
          ...deps,
          receives: settings.receiver.enabled,
          warnings: () => warningsOf(deps.certificates.current().until, settings, deps.clock.now()),
        },
        settings.statusPage,
        signal,
      ),
      settings.statusPage.port,
      true,
      'status-page',
      statusPageConnections,
    )
  return served
}

function delivery(
  { reviews, store, mirrors, captures, readSecret, metrics, leader, leads, clock, log }: EndpointDeps,
  { watchNamespaces: watched }: ControllerSettings,
) {
  const authorizer = new Authorizer({ kube: reviews, store, watched, clock })
  const app = deliveryApp({
    authorize: (caller, signal) => authorizer.authorize(caller, signal),
    lookup(namespace, name) {
      const record = store.sync(namespace, name)
      const spec = specOf(record)
      if (record === undefined || spec === undefined) return undefined
      return {
        commits: new Set<string>(publishedCommits(record.status)),
        source: mirrors.source({ namespace, name, spec }),
        hasProfile: (profile) => Object.hasOwn(spec.sync.profiles, profile),
        revision: `${record.uid} ${record.generation}`,
        capture: (pod, offer) => captures.offered({ namespace, name }, pod, offer),
        access: (signal) => readGatewayAccess(readSecret, namespace, spec.gateway, signal),
      }
    },
    ...(leader === undefined ? {} : { leader }),
    observe: metrics.delivered,
    streaming: metrics.streaming,
    clock,
    log,
  })
  return app.route('/', leadingApp(leads))
}

function admission(
  { store, notReady, metrics, unfollowed, tracingSettings: tracing, clock, log }: EndpointDeps,
  { agent, delivery: { url } }: ControllerSettings,
) {
  return admissionApp({
    settings: { agent, delivery: { url }, tracing },
    notReady,
    lookup({ namespace, name, peer }): FoundSync {
      const found = findSync(store, namespace, name)
      if (found.kind === 'missing' || found.kind === 'ambiguous') unfollowed.note(namespace, peer)
      return found
    },
    clock,
    log,
    observe: metrics.admitted,
  })
}

function findSync(store: Store, namespace: string, name: string | undefined): FoundSync {
  const others = store.othersIn(namespace)
  if (name !== undefined) {
    if (others.has(name)) return { kind: 'foreign', name }
    const record = store.sync(namespace, name)
    return record === undefined ? { kind: 'missing', name } : { kind: 'found', name, spec: record.spec }
  }
  const ours = store.syncs(namespace)
  const count = ours.length + others.size
  const [only] = ours
  const [other] = others
  if (count !== 1) return { kind: 'ambiguous', count }
  if (only !== undefined) return { kind: 'found', name: only.name, spec: only.spec }
  return { kind: 'foreign', name: other ?? '' }
}

function metricsEndpoint({ reviews, metrics, clock }: EndpointDeps) {
  const post = (path: string, body: unknown): Promise<unknown> => reviews.post(path, body, AbortSignal.timeout(requestTimeoutMs))
  return metricsApp({ text: (format) => metrics.text(format), authorize: createMetricsAuthorizer({ post, clock }) })
}

/** Throws SecretNotFound naming Secret and key, ApiUnavailable, Forbidden. */
async function readGatewayAccess(
  readSecret: ReadSecret,
  namespace: string,
  { api, caBundle }: GatewaySpec,
  signal: AbortSignal,
): Promise<GatewayAccess> {
  const read = async (name: string, key: string): Promise<string> => {
    const value = (await readSecret(namespace, name, signal))?.data.get(key)?.toString('utf8').trim() ?? ''
    if (value === '') throw new Fault('SecretNotFound', `Secret ${namespace}/${name} has no key ${key}, or it is empty`)
    return value
  }
  return {
    ...(api === undefined ? {} : { apiKey: await read(api.secretName, api.secretKey) }),
    ...(caBundle === undefined ? {} : { caBundle: await read(caBundle.secretRef.name, caBundle.secretRef.key) }),
  }
}
