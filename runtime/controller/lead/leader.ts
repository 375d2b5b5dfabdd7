/**
 * Flow B, on the replica that holds the Lease: reconcile passes, lookups at git hosts, role bindings of agents.
 */
import type { Clock } from '../../clock.ts'
import { asFault, Fault, type Reason } from '../../fault.ts'
import { apiVersion, gatewaySyncKind } from '../../gatewaysync/names.ts'
import type { Kube } from '../../kube/client.ts'
import type { EventRecorder } from '../../kube/events.ts'
import { gatewaySyncType } from '../../kube/types.ts'
import { type Log, logOf } from '../../log.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { type CommitStatuses, createCommitStatuses } from '../../notify/commit-status/tell.ts'
import { createNotifications, type Notifications } from '../../notify/receivers/notify.ts'
import { createGatewayQueries, type GatewayQueries } from '../../reconcile/gateway-queries.ts'
import { createLookups, type Lookups } from '../../reconcile/lookups.ts'
import { createQueue, type Queue } from '../../reconcile/queue.ts'
import { reconcile, type ReconcileDeps } from '../../reconcile/reconcile.ts'
import type { SecretChanges } from '../../reconcile/secret-changes.ts'
import type { ChangeKind, Store } from '../../reconcile/store.ts'
import { projectGatewaySync, type SyncKey } from '../../reconcile/records.ts'
import type { SyncMirrors } from '../../reconcile/mirrors-of-syncs.ts'
import type { Receiver } from '../../settings.ts'
import type { OpenHostApi } from '../../source/host-api.ts'
import type { Network } from '../../source/remote/network.ts'
import type { Tracing } from '../../tracing/trace.ts'
import { openAgentBindings } from './open-agent-bindings.ts'
import type { Captures } from '../captures/captures.ts'
import { logChanges } from './log-changes.ts'
import { openRequestId, toldSteps } from './lookup-steps.ts'
import { tellPodTroubles } from '../cluster/pod-events.ts'
import { readAnew } from '../cluster/read-anew.ts'
import { specOf } from '../../reconcile/spec-of.ts'

/** What a leader works with during one term. */
export type LeaderDeps = Pick<ReconcileDeps, 'check' | 'prepareCheck' | 'verify' | 'delivery' | 'allowLocal'> & {
  kube: Kube
  /** A client only for the status, so that it never waits for a connection behind anything else. */
  statusKube: Pick<Kube, 'mergePatch' | 'listPages'>
  store: Store
  mirrors: SyncMirrors
  /** What agents tell of changes of their gateways. */
  captures: Pick<Captures, 'known' | 'lead'>
  /** For commit statuses. */
  hostApi: OpenHostApi
  /** Who receives notifications, and how they are reached. */
  receivers: readonly Receiver[]
  network: Network
  /** Hosts that the installation permits; empty: any. */
  allowedHosts: readonly string[]
  /** Notices changes of the Secrets that sources need. */
  secrets: Pick<SecretChanges, 'count' | 'run'>
  events: EventRecorder
  tracing: Pick<Tracing, 'ended'>
  clock: Clock
  log: Log
  /** Receives figures about the queue, each pass, each lookup and each message to others. */
  metrics: Pick<Metrics, 'queued' | 'waited' | 'observed' | 'reconciled' | 'fetched' | 'notified'>
  /** The ClusterRole to bind gateway pods' ServiceAccounts to; undefined: the installation's owner does that. */
  bindAgentsTo: string | undefined
  /** Namespaces to work in; empty: all. */
  watchNamespaces: readonly string[]
  /** Calls `changed` with each GatewaySync that an observation may concern; returns a function that stops it. */
  subscribe(changed: (key: SyncKey, kind: ChangeKind) => void): () => void
}

const workers = 5
/** One pass handles all reports and pods that change within this time: a fleet's reports arrive within a second of each push. */
const gatewaysShareMs = 250
/** Attempts of a pass whose object changes under it each time; then the queue's backoff follows. */
const mostAttempts = 3
/** Lookups under way at once; each may hold a process of git. */
const questionsAtOnce = 8

/** Works until the signal, which also means that the Lease is lost. */
export async function runLeader(deps: LeaderDeps, signal: AbortSignal): Promise<void> {
  const { store, clock, log, metrics } = deps
  const pass = (key: SyncKey, own: AbortSignal) =>
    measured(clock, metrics.reconciled, own, () => decidedAnew(deps, key, own, () => reconcile(passDeps, key, own)))
  const failed = (key: SyncKey, error: unknown): void => logFailedPass({ store, log }, key, error)
  const queue: Queue = createQueue({ clock, workers, pass, failed, depth: metrics.queued, waited: metrics.waited })
  const lookups = createLookups({ clock, concurrency: questionsAtOnce, ready: (key) => queue.add(key), signal })
  const statuses = openCommitStatuses(deps, signal)
  const notifications = createNotifications({ ...deps, told: metrics.notified }, signal)
  const queries = createGatewayQueries({ ...deps, changed: (key) => queue.add(key) })
  const passDeps = passDepsOf(deps, lookups, { statuses, notifications, queries })
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
      bindings.run(signal),
      deps.secrets.run(signal),
      tellPodTroubles(deps, signal),
      capturing,
    ])
    await Promise.all([lookups.settled(), statuses.settled(), notifications.settled()])
  } finally {
    stop()
  }
}

/** What a reconcile pass reads from and writes to in a cluster. */
function passDepsOf(
  deps: LeaderDeps,
  lookups: Lookups,
  { statuses, notifications, queries }: { statuses: CommitStatuses; notifications: Notifications; queries: GatewayQueries },
): ReconcileDeps {
  const { store, mirrors, metrics, tracing, clock, log } = deps
  const now = (): number => clock.now().epochMilliseconds
  return {
    ...deps,
    ...toldSteps(deps),
    lookups,
    queries,
    observed(key, status) {
      metrics.observed(key, status)
      const [namespace = '', name = ''] = key.split('/')
      // What the API server has taken, and no more, is told to others.
      const record = store.sync(namespace, name)
      const spec = record === undefined ? undefined : specOf(record)
      if (record === undefined) statuses.forget({ namespace, name })
      else if (spec !== undefined) statuses.observed({ namespace, name, git: spec.git, status: record.status })
    },
    captured: deps.captures.known,
    secretChanges: deps.secrets.count,
    async resolve({ namespace, name }, spec, wanted, fresh, signal) {
      const tell = (reason: 'ok' | Reason, durationMs: number): void => {
        metrics.fetched(reason, durationMs)
        const requestId = wanted.request?.id
        const about = { namespace, name, ref: wanted.ref, reason, durationMs: Math.round(durationMs) }
        log.debug({ ...about, ...(requestId === undefined ? {} : { requestId }) }, 'git host asked')
        if (requestId === undefined || !wanted.undecided) return
        const attributes = { namespace, name, ref: wanted.ref }
        tracing.ended(requestId, { name: 'git host asked', kind: 'client', endedAtMs: now(), durationMs, reason, attributes })
      }
      const { mirror, resolved } = await measured(clock, tell, signal, async () => {
        const mirror = await mirrors.of({ namespace, name, spec }, signal)
        return { mirror, resolved: await mirror.resolve(wanted.ref, { fresh }, signal) }
      })
      mirrors.answered(`${namespace}/${name}`, mirror)
      return resolved
    },
    adopt: ({ namespace, name }, spec, commit, signal) => mirrors.adopt({ namespace, name, spec }, commit, signal),
    async writeStatus(record, status, patch, signal) {
      const { namespace, name, uid, resourceVersion } = record
      // The uid keeps a status from landing on another object of the same name, the resourceVersion from landing on a state that it was not
      // decided from: a delayed request, or a paused process, must not bring back an old commit after its Lease is lost.
      const body = { metadata: { uid, resourceVersion }, status: patch }
      const subresource = { subresource: 'status' }
      const tell = (reason: 'ok' | Reason, durationMs: number): void => {
        const requestId = status.source?.requested?.id
        const commit = status.published?.commit
        if (requestId === undefined || commit === undefined || commit === record.status.published?.commit) return
        const attributes = { namespace, name, commit }
        tracing.ended(requestId, { name: 'commit published', kind: 'client', endedAtMs: now(), durationMs, reason, attributes })
      }
      const written = await measured(clock, tell, signal, () =>
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
    gone: ({ namespace, name }) => mirrors.forget(`${namespace}/${name}`),
  }
}

/** Writes commit statuses at git hosts, and records an Event on the GatewaySync whose host does not take one. */
function openCommitStatuses({ hostApi, store, events, clock, log, metrics }: LeaderDeps, signal: AbortSignal): CommitStatuses {
  return createCommitStatuses(
    {
      clock,
      log,
      open: hostApi,
      told: metrics.notified,
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

function logFailedPass({ store, log }: Pick<LeaderDeps, 'store' | 'log'>, key: SyncKey, error: unknown): void {
  const { reason, message } = asFault(error)
  const [namespace = '', name = ''] = key.split('/')
  const record = store.sync(namespace, name)
  const spec = record === undefined ? undefined : specOf(record)
  const open = record === undefined || spec === undefined ? undefined : openRequestId(record, spec)
  logOf(log, open ?? record?.status.source?.requested?.id).warn(
    { namespace, name, reason, message, ...(reason === 'Unexpected' ? { err: error } : {}) },
    'pass failed',
  )
}

/** Repeats a pass, on the API server's present state, when the object was changed between decision and write. */
async function decidedAnew<Result>(
  { statusKube, store }: LeaderDeps,
  key: SyncKey,
  signal: AbortSignal,
  pass: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await pass()
    } catch (error) {
      if (!(error instanceof Fault) || error.reason !== 'Conflict' || attempt === mostAttempts) throw error
      const [namespace = '', name = ''] = key.split('/')
      store.updateSync(await readAnew(statusKube, { namespace, name }, signal))
    }
  }
}

/** Runs `work` and reports its duration and how it ended: `ok` or the reason. Aborted work is not reported. */
async function measured<Result>(
  clock: Clock,
  tell: (ended: 'ok' | Reason, durationMs: number) => void,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  const startedMs = clock.monotonicMs()
  try {
    const result = await work()
    tell('ok', clock.monotonicMs() - startedMs)
    return result
  } catch (error) {
    if (!signal.aborted) tell(asFault(error).reason, clock.monotonicMs() - startedMs)
    throw error
  }
}
