/**
 * Connects a replica's webhook receiver: it reads from the store, and writes requests as annotations through the API server.
 */
import type { Hono } from 'hono'
import type { Clock } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import { apiVersion, gatewaySyncKind, requestAnnotations } from '../../api/names.ts'
import { freeRequestSlots, supersededBy } from '../../reconcile/decide/request.ts'
import { isRefused } from '../../reconcile/decide/request-outcomes.ts'
import type { Kube } from '../../kube/client.ts'
import type { EventRecorder, EventToWrite } from '../../kube/events.ts'
import { podType } from '../../kube/types.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Metrics } from '../../telemetry/metrics/metrics.ts'
import { receiverApp } from '../../receiver/app.ts'
import type { ReceiverDeps, ReceiverNotice } from '../../receiver/receiver-deps.ts'
import { targetOf } from '../../receiver/request/choose-ref.ts'
import { type GatewaySyncRecord, parseSyncKey, type SyncKey, syncKey } from '../../reconcile/store/records.ts'
import type { Store } from '../../reconcile/store/store.ts'
import type { ControllerSettings } from '../../settings/controller.ts'
import type { Tracing } from '../../telemetry/tracing/trace.ts'
import { type PushKeys, keySource } from './webhook-keys.ts'
import { changeSync } from '../cluster/change-sync.ts'
import { specOf } from '../../api/schema/spec-of.ts'
import { SyncIndex } from '../../receiver/request/sync-index.ts'

/** Collaborators of the receiver in a cluster. */
export type ReceiverParts = {
  kube: Pick<Kube, 'listPages' | 'mergePatch'>
  store: Store
  metrics: Pick<Metrics, 'received'>
  events: Pick<EventRecorder, 'record'>
  keys: PushKeys
  tracing: Pick<Tracing, 'began'>
  clock: Clock
  log: Log
  /** Returns why this replica does not know the cluster's objects yet; empty when it does. */
  notReady(): string[]
}

/** Events of the receiver on a GatewaySync; docs/reference/operations.md documents them. */
export const receiverEvents = {
  WebhookReceived: { type: 'Normal', when: 'a webhook requested a ref', note: 'a push requested a sync' },
  RefNotAllowed: {
    type: 'Warning',
    when: 'an authenticated delivery requests a ref that `spec.git.allowedRefs` does not permit',
    note: 'a push requested a ref that spec.git.allowedRefs does not permit',
  },
  AuthNotReady: {
    type: 'Warning',
    when: 'a delivery was refused, and a key in `spec.webhook` or of the installation is missing, empty or unreadable',
    note: 'a push was refused: a key that authenticates pushes (spec.webhook, or webhookReceiver.hmac and .token) is missing, empty or unreadable',
  },
  ReceiverOpen: {
    type: 'Warning',
    when: 'no key is configured, so every call is accepted; also reported on the controller pod when it starts',
    note: 'a push was accepted without authentication: neither the installation (webhookReceiver.hmac, .token) nor spec.webhook configures a key',
  },
} as const

const reasonByNotice: Record<ReceiverNotice, keyof typeof receiverEvents> = {
  RefNotAllowed: 'RefNotAllowed',
  Unauthenticated: 'ReceiverOpen',
  AuthNotReady: 'AuthNotReady',
}

/** The app of the webhook port; every replica serves one. */
export function controllerReceiver(parts: ReceiverParts, settings: Pick<ReceiverDeps, 'trustedProxies' | 'limits' | 'budget'>): Hono {
  const { store, events, keys, metrics, clock, log } = parts
  const indexOf = createSyncIndexes(store)
  return receiverApp({
    ...settings,
    lookup(namespace, name) {
      if (parts.notReady().length > 0) throw new Fault('ApiUnavailable', 'the GatewaySyncs have not been read yet')
      const record = store.sync(namespace, name)
      const spec = specOf(record)
      if (record === undefined || spec === undefined) return undefined
      return targetOf(spec, record.annotations, record.status)
    },
    syncs(namespace) {
      if (parts.notReady().length > 0) throw new Fault('ApiUnavailable', 'the GatewaySyncs have not been read yet')
      return indexOf(namespace)
    },
    freeSlots(namespace, name) {
      const record = store.sync(namespace, name)
      return record === undefined ? Number.POSITIVE_INFINITY : freeRequestSlots(record.annotations, record.status)
    },
    isRefused: (namespace, name, id) => isRefused(store.sync(namespace, name)?.status ?? {}, id),
    keys(namespace, name) {
      const record = store.sync(namespace, name)
      return keys.of(namespace, specOf(record)?.webhook)
    },
    async request(namespace, name, annotations, superseded) {
      const record = await changeSync(parts, { namespace, name }, (record) => {
        // A request that another replica wrote meanwhile is named as superseded, not lost.
        const named = supersededBy(annotations, record.annotations, record.status, superseded)
        return { metadata: { annotations: { ...annotations, [requestAnnotations.superseded]: named } } }
      })
      events.record(eventOf(record, 'WebhookReceived'))
    },
    notify(namespace, name, notice) {
      const record = store.sync(namespace, name)
      if (record !== undefined) events.record(eventOf(record, reasonByNotice[notice]))
    },
    observe: metrics.received,
    began: parts.tracing.began,
    clock,
    log,
  })
}

/** Whether an installation has no webhook key, so that GatewaySyncs without their own key accept unauthenticated calls. */
export function isOpen({ enabled, hmacFile, tokenFile }: ControllerSettings['receiver']): boolean {
  return enabled && hmacFile === undefined && tokenFile === undefined
}

/** Warns at startup, in the log and by an Event on the pod, that unauthenticated callers may request syncs. Never throws. */
export async function warnOpen(
  { kube, events, log }: { kube: Pick<Kube, 'get'>; events: Pick<EventRecorder, 'record'>; log: Log },
  own: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<void> {
  log.warn({ component: 'receiver' }, 'the webhook receiver has no secret: anyone who can reach it can start a sync')
  const pod = await kube.get(podType, own, signal).catch(() => undefined)
  // Outside a cluster an Event has no pod to refer to.
  if (pod === undefined) return
  events.record({
    regarding: { apiVersion: 'v1', kind: 'Pod', ...own, uid: pod.metadata.uid },
    type: 'Warning',
    reason: 'ReceiverOpen',
    action: 'Start',
    note: 'the webhook receiver has no secret: set webhookReceiver.hmac or webhookReceiver.token, or spec.webhook of each GatewaySync',
  })
}

function eventOf({ namespace, name, uid }: GatewaySyncRecord, reason: keyof typeof receiverEvents): EventToWrite {
  const { type, note } = receiverEvents[reason]
  return { regarding: { apiVersion, kind: gatewaySyncKind.kind, namespace, name, uid }, type, reason, action: 'Push', note }
}

/**
 * Keeps the GatewaySyncs of each namespace indexed for webhook calls. What changed is indexed when a call needs it. Returns the index of a
 * namespace.
 */
export function createSyncIndexes(store: Pick<Store, 'sync' | 'syncs' | 'watch'>): (namespace: string) => SyncIndex {
  const namespaces = new Map<string, { index: SyncIndex; changed: Set<string> }>()

  const note = (sync: SyncKey): void => {
    const { namespace, name } = parseSyncKey(sync)
    const own = namespaces.get(namespace) ?? { index: new SyncIndex(), changed: new Set<string>() }
    if (store.sync(namespace, name) !== undefined) own.changed.add(name)
    else {
      own.changed.delete(name)
      own.index.delete(name)
    }
    if (own.changed.size === 0 && own.index.bySource.size === 0) namespaces.delete(namespace)
    else namespaces.set(namespace, own)
  }
  for (const { namespace, name } of store.syncs()) note(syncKey(namespace, name))
  store.watch((sync) => {
    if (sync !== undefined) note(sync)
  })

  return (namespace) => {
    const { index, changed } = namespaces.get(namespace) ?? { index: new SyncIndex(), changed: new Set<string>() }
    for (const name of changed) {
      const record = store.sync(namespace, name)
      const spec = specOf(record)
      index.set(name, { keySource: keySource(spec?.webhook), repository: spec?.webhook?.repo ?? spec?.git.repo })
    }
    changed.clear()
    return index
  }
}
