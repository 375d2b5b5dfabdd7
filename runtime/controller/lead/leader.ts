/**
 * Runs the leader's work: reconciles, source resolutions at git hosts, role bindings of agents.
 */
import type { Clock } from '../../platform/clock.ts'
import { asFault, Fault, type Reason } from '../../platform/fault.ts'
import { apiVersion, gatewaySyncKind } from '../../api/names.ts'
import type { Kube } from '../../kube/client.ts'
import type { EventRecorder } from '../../kube/events.ts'
import { gatewaySyncType } from '../../kube/types.ts'
import { type Log, logOf } from '../../platform/log/log.ts'
import type { Metrics } from '../../telemetry/metrics/metrics.ts'
import { type CommitStatuses, createCommitStatuses } from '../../notifications/commit-status.ts'
import { createNotifications, type Notifications } from '../../notifications/notify.ts'
import { FairLimiter } from '../../platform/async/fair-limiter.ts'
import { longestPollMs } from '../../reconcile/decide/source-resolution.ts'
import { GatewayQueries } from '../../reconcile/gateway-queries.ts'
import { hostSlots, Resolutions } from '../../reconcile/source/resolutions.ts'
import { Queue } from '../../platform/async/queue.ts'
import { reconcile, type ReconcileDeps } from '../../reconcile/reconcile.ts'
import { type SharedLimiters, Throttling } from '../../reconcile/throttling.ts'
import type { SecretChanges } from '../../reconcile/source/secret-changes.ts'
import type { ChangeKind, Store } from '../../reconcile/store/store.ts'
import { parseSyncKey, projectGatewaySync, type SyncKey } from '../../reconcile/store/records.ts'
import type { SyncMirrors } from '../../reconcile/source/mirrors-of-syncs.ts'
import type { Receiver } from '../../settings/controller.ts'
import type { OpenHostApi } from '../../git/api/host-api.ts'
import type { Network } from '../../git/remote/network.ts'
import type { Tracing } from '../../telemetry/tracing/trace.ts'
import type { Captures } from '../captures/captures.ts'
import { openRequestId, loggedSteps, logChanges } from './leader-log.ts'
import { reportPodTroubles } from '../cluster/pod-events.ts'
import { specOf } from '../../api/schema/spec-of.ts'
import { readCurrent } from '../cluster/change-sync.ts'
import { openAgentBindings } from './agent-bindings.ts'

/** Collaborators of a leader during one term. */
export type LeaderDeps = Pick<ReconcileDeps, 'validate' | 'prepareValidation' | 'verify' | 'delivery' | 'allowLocal'> & {
  kube: Kube
  /** A client only for the status, with its own connections. */
  statusKube: Pick<Kube, 'mergePatch' | 'listPages'>
  store: Store
  mirrors: SyncMirrors
  /** Capture offers from agents. */
  captures: Pick<Captures, 'known' | 'lead'>
  /** For commit statuses. */
  hostApi: OpenHostApi
  /** The receivers of notifications, and how they are reached. */
  receivers: readonly Receiver[]
  network: Network
  /** Hosts that the installation permits; empty: any. */
  allowedHosts: readonly string[]
  /** Detects changes of the Secrets that sources need. */
  secrets: Pick<SecretChanges, 'count' | 'run'>
  events: EventRecorder
  tracing: Pick<Tracing, 'ended'>
  clock: Clock
  log: Log
  /** Metrics of the queue, reconciles, resolutions and notifications. */
  metrics: Pick<Metrics, 'queued' | 'waited' | 'observed' | 'reconciled' | 'fetched' | 'notified' | 'limiting'>
  /** The limiters of this replica; the leader adds that of source resolutions. */
  limiters: SharedLimiters
  /** The ClusterRole to bind gateway pods' ServiceAccounts to; undefined: the installation's owner does that. */
  bindAgentsTo: string | undefined
  /** Namespaces to work in; empty: all. */
  watchNamespaces: readonly string[]
  /** Calls `changed` with each GatewaySync that a change may concern; returns a function that unsubscribes. */
  subscribe(changed: (key: SyncKey, kind: ChangeKind) => void): () => void
}

const workers = 5
/** One reconcile handles all reports and pods that change within this time: a fleet's reports arrive within a second of each push. */
const gatewaysShareMs = 250
/** Attempts of a reconcile whose object changes concurrently; then the queue's backoff applies. */
const maxAttempts = 3

/** Runs until `signal` aborts, which also happens when the Lease is lost. */
export async function runLeader(deps: LeaderDeps, signal: AbortSignal): Promise<void> {
  const { store, clock, log, metrics } = deps
  const reconcileOne = (key: SyncKey, own: AbortSignal) =>
    measured(clock, metrics.reconciled, own, () => retryOnConflict(deps, key, own, () => reconcile(reconcileDeps, key, own)))
  const failed = (key: SyncKey, error: unknown): void => logFailedReconcile({ store, log }, key, error)
  const queue: Queue = new Queue({ clock, workers, reconcile: reconcileOne, failed, depth: metrics.queued, waited: metrics.waited })
  const hosts = new FairLimiter({ ...hostSlots, clock })
  const resolutions = new Resolutions({ clock, hosts, ready: (key) => queue.add(key), signal })
  const limiters: SharedLimiters = new Map([...deps.limiters, ['source-resolution', hosts]])
  for (const [resource, limiter] of limiters) metrics.limiting(resource, limiter)
  const pollMs = (key: SyncKey): number => {
    const { namespace, name } = parseSyncKey(key)
    const record = store.sync(namespace, name)
    const spec = specOf(record)
    return spec === undefined ? 0 : longestPollMs(spec)
  }
  const throttling = new Throttling({
    clock,
    limiters,
    resolving: (...of) => resolutions.resolving(...of),
    pollMs,
    changed: (key) => queue.add(key),
  })
  const statuses = openCommitStatuses(deps, signal)
  const notifications = createNotifications({ ...deps, delivered: metrics.notified }, signal)
  const queries = new GatewayQueries({ ...deps, changed: (key) => queue.add(key) })
  const reconcileDeps = {
    ...reconcileDepsOf(deps, resolutions, { statuses, notifications, queries }),
    throttled: (key: SyncKey) => throttling.messageOf(key),
  }
  const bindings = openAgentBindings(deps)
  const changed = (key: SyncKey, kind: ChangeKind): void => {
    if (kind === 'other') queue.add(key)
    else queue.addSoon(key, gatewaysShareMs)
    if (kind !== 'report') bindings.changed(key.split('/')[0] ?? '')
  }
  const stop = deps.subscribe(changed)
  try {
    for (const { namespace, name } of store.syncs()) changed(`${namespace}/${name}`, 'other')
    const capturing = deps.captures.lead((key) => queue.add(key), signal)
    await Promise.all([
      queue.run(signal),
      queries.run(signal),
      throttling.run(signal),
      bindings.run(signal),
      deps.secrets.run(signal),
      reportPodTroubles(deps, signal),
      capturing,
    ])
    await Promise.all([resolutions.settled(), statuses.settled(), notifications.settled()])
  } finally {
    stop()
  }
}

/** Builds the collaborators of a reconcile in a cluster. */
function reconcileDepsOf(
  deps: LeaderDeps,
  resolutions: Resolutions,
  { statuses, notifications, queries }: { statuses: CommitStatuses; notifications: Notifications; queries: GatewayQueries },
): ReconcileDeps {
  const { store, mirrors, metrics, tracing, clock, log } = deps
  const now = (): number => clock.now().epochMilliseconds
  return {
    ...deps,
    ...loggedSteps(deps),
    resolutions,
    queries,
    observed(key, status) {
      metrics.observed(key, status)
      const { namespace, name } = parseSyncKey(key)
      // Only what the API server accepted is sent to git hosts and receivers.
      const record = store.sync(namespace, name)
      const spec = specOf(record)
      if (record === undefined) statuses.forget({ namespace, name })
      else if (spec !== undefined) statuses.observed({ namespace, name, git: spec.git, status: record.status })
    },
    captured: (key) => deps.captures.known(key),
    secretChanges: deps.secrets.count,
    resolve: resolveThrough(deps),
    adopt: ({ namespace, name }, spec, commit, signal) => mirrors.adopt({ namespace, name, spec }, commit, signal),
    async writeStatus(record, status, patch, signal) {
      const { namespace, name, uid, resourceVersion } = record
      // The uid keeps a status from being written to another object of the same name, the resourceVersion from overwriting a state it was
      // not decided from: a delayed request or a paused process must not bring back an old commit after its Lease is lost.
      const body = { metadata: { uid, resourceVersion }, status: patch }
      const subresource = { subresource: 'status' }
      const observe = (reason: 'ok' | Reason, durationMs: number): void => {
        const requestId = status.source?.requested?.id
        const commit = status.published?.commit
        if (requestId === undefined || commit === undefined || commit === record.status.published?.commit) return
        const attributes = { namespace, name, commit }
        tracing.ended(requestId, { name: 'commit published', kind: 'client', endedAtMs: now(), durationMs, reason, attributes })
      }
      const written = await measured(clock, observe, signal, () =>
        deps.statusKube.mergePatch(gatewaySyncType, { namespace, name }, body, subresource, signal),
      )
      logChanges(log, record, status)
      notifications.changed(record, status)
      return projectGatewaySync(written)
    },
    recordEvents({ namespace, name, uid }, events) {
      const regarding = { apiVersion, kind: gatewaySyncKind.kind, namespace, name, uid }
      for (const { type, reason, note } of events) deps.events.record({ regarding, type, reason, action: 'Sync', note })
    },
    deleted: ({ namespace, name }) => mirrors.forget(`${namespace}/${name}`),
  }
}

/** Queries git hosts, and measures, logs and traces that. */
function resolveThrough({ mirrors, metrics, tracing, clock, log }: LeaderDeps): ReconcileDeps['resolve'] {
  return async ({ namespace, name }, spec, desired, fresh, signal) => {
    const observe = (reason: 'ok' | Reason, durationMs: number): void => {
      metrics.fetched(reason, durationMs)
      const requestId = desired.request?.id
      const about = { namespace, name, ref: desired.ref, reason, durationMs: Math.round(durationMs) }
      log.debug({ ...about, ...(requestId === undefined ? {} : { requestId }) }, 'git host queried')
      if (requestId === undefined || !desired.undecided) return
      const attributes = { namespace, name, ref: desired.ref }
      tracing.ended(requestId, {
        name: 'git host queried',
        kind: 'client',
        endedAtMs: clock.now().epochMilliseconds,
        durationMs,
        reason,
        attributes,
      })
    }
    const { mirror, resolved } = await measured(clock, observe, signal, async () => {
      const mirror = await mirrors.of({ namespace, name, spec }, signal)
      return { mirror, resolved: await mirror.resolve(desired.ref, { fresh }, signal) }
    })
    mirrors.answered(`${namespace}/${name}`, mirror)
    return resolved
  }
}

/** Writes commit statuses at git hosts, and records an Event on the GatewaySync if its host rejects one. */
function openCommitStatuses({ hostApi, store, events, clock, log, metrics }: LeaderDeps, signal: AbortSignal): CommitStatuses {
  return createCommitStatuses(
    {
      clock,
      log,
      open: hostApi,
      delivered: metrics.notified,
      failed({ namespace, name }, { reason, message }) {
        const uid = store.sync(namespace, name)?.uid
        if (uid === undefined) return
        const regarding = { apiVersion, kind: gatewaySyncKind.kind, namespace, name, uid }
        events.record({ regarding, type: 'Warning', reason, action: 'Sync', note: message })
      },
    },
    signal,
  )
}

function logFailedReconcile({ store, log }: Pick<LeaderDeps, 'store' | 'log'>, key: SyncKey, error: unknown): void {
  const { reason, message } = asFault(error)
  const { namespace, name } = parseSyncKey(key)
  const record = store.sync(namespace, name)
  const spec = specOf(record)
  const open = record === undefined || spec === undefined ? undefined : openRequestId(record, spec)
  logOf(log, open ?? record?.status.source?.requested?.id).warn(
    { namespace, name, reason, message, ...(reason === 'Unexpected' ? { err: error } : {}) },
    'reconcile failed',
  )
}

/** Repeats a reconcile on the latest state when the object was changed between decision and write. */
async function retryOnConflict<Result>(
  { statusKube, store }: LeaderDeps,
  key: SyncKey,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Fault) || error.reason !== 'Conflict' || attempt === maxAttempts) throw error
      const { namespace, name } = parseSyncKey(key)
      store.updateSync(await readCurrent(statusKube, { namespace, name }, signal))
    }
  }
}

/** Runs `work` and reports its duration and result: `ok` or the reason. Aborted work is not reported. */
async function measured<Result>(
  clock: Clock,
  observe: (ended: 'ok' | Reason, durationMs: number) => void,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  const startedMs = clock.monotonicMs()
  try {
    const result = await work()
    observe('ok', clock.monotonicMs() - startedMs)
    return result
  } catch (error) {
    if (!signal.aborted) observe(asFault(error).reason, clock.monotonicMs() - startedMs)
    throw error
  }
}
