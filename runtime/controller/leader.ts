/**
 * Flow B, on the replica that holds the Lease: passes over GatewaySyncs, questions to git hosts, role bindings of agents.
 */
import type { Clock } from '../clock.ts'
import { asFault } from '../fault.ts'
import { apiVersion, fieldManager, gatewaySyncKind } from '../gatewaysync/names.ts'
import { isCommitHash } from '../gatewaysync/values.ts'
import type { Kube } from '../kube/client.ts'
import type { EventRecorder } from '../kube/events.ts'
import { gatewaySyncType, roleBindingType } from '../kube/types.ts'
import type { Log } from '../log.ts'
import { agentRoleBinding } from '../reconcile/agent-rbac.ts'
import { createLookups } from '../reconcile/lookups.ts'
import { createQueue, type Queue } from '../reconcile/queue.ts'
import { reconcile, type ReconcileDeps } from '../reconcile/reconcile.ts'
import { projectGatewaySync, type Store, type SyncKey } from '../reconcile/store.ts'
import { keptCommits, type SyncMirrors } from '../reconcile/sync-mirrors.ts'

export type LeaderDeps = Pick<ReconcileDeps, 'check' | 'delivery' | 'observed' | 'allowLocal'> & {
  kube: Kube
  store: Store
  mirrors: SyncMirrors
  events: EventRecorder
  clock: Clock
  log: Log
  /** The ClusterRole to bind gateway pods' ServiceAccounts to; undefined: someone else does that. */
  bindAgentsTo: string | undefined
  /** Calls back with each GatewaySync that an observation may concern; returns how to stop that. */
  subscribe(changed: (key: SyncKey) => void): () => void
}

const workers = 5
/** Questions under way at once; each may hold a git child process. */
const questionsAtOnce = 8

/** Works until the signal, which also means that the Lease is lost. */
export async function lead(deps: LeaderDeps, signal: AbortSignal): Promise<void> {
  const { store, clock, log, mirrors } = deps
  const failed = (key: SyncKey, error: unknown): void => {
    const fault = asFault(error)
    log.warn(
      { reconcile: key, reason: fault.reason, message: fault.message, ...(fault.reason === 'Unexpected' ? { err: error } : {}) },
      'pass failed',
    )
  }
  const queue: Queue = createQueue({ clock, workers, pass: (key, own) => reconcile(passDeps, key, own), failed })
  const lookups = createLookups({ clock, concurrency: questionsAtOnce, answered: (key) => queue.add(key), signal })
  const passDeps: ReconcileDeps = {
    ...deps,
    lookups,
    resolve: (_record, spec, wanted, fresh, own) => mirrors.of(spec).resolve(wanted.ref, { fresh }, own),
    async writeStatus(record, _status, patch, own) {
      const key = { namespace: record.namespace, name: record.name }
      // With the uid a status never lands on another object of the same name.
      const body = { metadata: { uid: record.uid }, status: patch }
      const written = projectGatewaySync(await deps.kube.mergePatch(gatewaySyncType, key, body, { subresource: 'status' }, own))
      return written
    },
    recordEvents(record, events) {
      const { namespace, name, uid } = record
      const regarding = { apiVersion, kind: gatewaySyncKind.kind, namespace, name, uid }
      for (const { type, reason, note } of events) deps.events.record({ regarding, type, reason, action: 'Sync', note })
    },
    gone: ({ namespace, name }) => mirrors.forget(`${namespace}/${name}`),
  }
  const bindings = createBindings(deps)
  const changed = (key: SyncKey): void => {
    queue.add(key)
    bindings.changed(key)
  }
  const stop = deps.subscribe(changed)
  try {
    for (const { namespace, name } of store.syncs()) changed(`${namespace}/${name}`)
    await Promise.all([queue.run(signal), bindings.run(signal)])
    await lookups.settled()
  } finally {
    stop()
  }
}

/** Binds the ServiceAccounts of gateway pods to the agents' role, one RoleBinding a namespace, written only when it changes. */
function createBindings({ kube, store, clock, log, bindAgentsTo }: LeaderDeps): {
  changed(key: SyncKey): void
  run(signal: AbortSignal): Promise<void>
} {
  const written = new Map<string, string>()
  const queue = createQueue({
    clock,
    workers: 1,
    async pass(namespace, signal) {
      const pods = store.podsIn(namespace).filter((pod) => store.syncOfPod(pod) !== undefined)
      const binding = bindAgentsTo === undefined ? undefined : agentRoleBinding(namespace, bindAgentsTo, pods)
      const text = JSON.stringify(binding)
      if (binding === undefined || written.get(namespace) === text) return { wakeAfterMs: undefined }
      await kube.apply(roleBindingType, binding, { fieldManager, force: true }, signal)
      written.set(namespace, text)
      return { wakeAfterMs: undefined }
    },
    failed: (namespace, error) =>
      log.warn({ namespace, reason: asFault(error).reason, message: asFault(error).message }, 'agents are not bound'),
  })
  return {
    changed: (key) => queue.add(key.split('/')[0] ?? ''),
    run: (signal) => queue.run(signal),
  }
}

/** Tells the mirror which commits of a GatewaySync must stay: published ones, and whatever a gateway reports. */
export function keepCommits(store: Store, mirrors: SyncMirrors, spec: Parameters<SyncMirrors['keep']>[1], key: SyncKey): void {
  const [namespace = '', name = ''] = key.split('/')
  const record = store.sync(namespace, name)
  if (record === undefined) return
  const reported = [...store.reportsIn(namespace).values()]
    .filter(({ gatewaySync }) => gatewaySync === name)
    .flatMap(({ status }) => status?.commit ?? [])
    .filter(isCommitHash)
  mirrors.keep(key, spec, [...new Set([...keptCommits(record.status), ...reported])])
}
