/**
 * Binds the ServiceAccounts of gateway pods to the agents' role, one RoleBinding per namespace. It is written when it changes, for each new
 * pod, and periodically, because it may have been removed or changed, also by deleting the namespace. It is removed some time after the
 * last gateway pod of the namespace, also by a leader that never saw that pod.
 */
import { fieldManager } from '../../api/names.ts'
import type { Kube, ListOptions } from '../../kube/client.ts'
import { roleBindingType } from '../../kube/types.ts'
import { type Clock, pause } from '../../platform/clock.ts'
import { asFault, isAbort } from '../../platform/fault.ts'
import type { Log } from '../../platform/log/log.ts'
import { Queue } from '../../platform/async/queue.ts'
import type { PodRecord } from '../../reconcile/store/records.ts'
import type { Store } from '../../reconcile/store/store.ts'

/** Collaborators of the agent bindings. */
export type AgentBindingsDeps = {
  /** The ClusterRole to bind to; undefined: the installation's owner binds agents. */
  role: string | undefined
  /** Returns the pods of a namespace that follow a GatewaySync. */
  pods(namespace: string): readonly PodRecord[]
  /** Server-side apply. Throws Rejected when the binding refers to another role, which is immutable. */
  apply(binding: RoleBinding, signal: AbortSignal): Promise<void>
  /** Deletes the binding of that name; a missing one is ignored. */
  remove(namespace: string, name: string, signal: AbortSignal): Promise<void>
  /** Returns the listable namespaces with a binding of that name written by the controller. Throws ApiUnavailable. */
  bound(name: string, signal: AbortSignal): Promise<readonly string[]>
  clock: Clock
  log: Log
}

/** How often an unchanged binding is applied again, in case it was modified: one request. */
const againAfterMs = 600_000
/** How long a namespace must be without gateway pods: recreating the only one leaves it without for a moment. */
const removedAfterMs = 600_000

/** Writes the bindings of agents. */
export class AgentBindings {
  readonly #deps: AgentBindingsDeps
  readonly #queue: Queue
  /** What was written, and the uids of the pods for which it was. */
  readonly #written = new Map<string, { text: string; uids: ReadonlySet<string>; untilMs: number }>()
  /** Since when, in monotonic ms, a namespace has had no gateway pod; infinite once its binding is removed. */
  readonly #withoutPods = new Map<string, number>()

  constructor(deps: AgentBindingsDeps) {
    this.#deps = deps
    this.#queue = new Queue({
      clock: deps.clock,
      workers: 1,
      reconcile: async (namespace, signal) => ({ wakeAfterMs: await this.#reconcile(namespace, signal) }),
      failed: (namespace, error) =>
        deps.log.warn(
          { namespace, reason: asFault(error).reason, message: asFault(error).message },
          'the RoleBinding of agents was not written',
        ),
    })
  }

  /** Call this with each namespace whose pods may have changed. */
  changed(namespace: string): void {
    this.#queue.add(namespace)
  }

  /** Writes until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#queue.run(signal), this.#addBound(signal)])
  }

  /** Returns when to reconcile the namespace again. */
  async #reconcile(namespace: string, signal: AbortSignal): Promise<number | undefined> {
    const { role, clock } = this.#deps
    if (role === undefined) return undefined
    const present = this.#deps.pods(namespace)
    const binding = agentRoleBinding(namespace, role, present)
    if (binding === undefined) {
      // If the pods are gone, the binding may have been deleted with the namespace.
      this.#written.delete(namespace)
      return await this.#removeLater(namespace, role, signal)
    }
    this.#withoutPods.delete(namespace)
    const text = JSON.stringify(binding)
    const last = this.#written.get(namespace)
    // A new pod needs its permissions immediately, even if the binding was changed since it was written.
    const isWritten = last?.text === text && present.every(({ uid }) => last.uids.has(uid))
    const leftMs = isWritten ? last.untilMs - clock.monotonicMs() : 0
    if (leftMs > 0) return leftMs
    await this.#write(binding, signal)
    this.#written.set(namespace, { text, uids: new Set(present.map(({ uid }) => uid)), untilMs: clock.monotonicMs() + againAfterMs })
    return againAfterMs
  }

  async #removeLater(namespace: string, name: string, signal: AbortSignal): Promise<number | undefined> {
    const nowMs = this.#deps.clock.monotonicMs()
    const sinceMs = this.#withoutPods.get(namespace) ?? nowMs
    this.#withoutPods.set(namespace, sinceMs)
    const leftMs = sinceMs + removedAfterMs - nowMs
    if (leftMs > 0) return Number.isFinite(leftMs) ? leftMs : undefined
    await this.#deps.remove(namespace, name, signal)
    this.#withoutPods.set(namespace, Number.POSITIVE_INFINITY)
    return undefined
  }

  async #write(binding: RoleBinding, signal: AbortSignal): Promise<void> {
    try {
      await this.#deps.apply(binding, signal)
    } catch (error) {
      if (asFault(error).reason !== 'Rejected') throw error
      // The role of a binding is immutable, so a binding to another role is deleted and created again.
      await this.#deps.remove(binding.metadata.namespace, binding.metadata.name, signal)
      await this.#deps.apply(binding, signal)
    }
  }

  /** A previous leader may have bound a namespace that no longer has a GatewaySync or pod, so no watch would report it. */
  async #addBound(signal: AbortSignal): Promise<void> {
    const { role, clock, log } = this.#deps
    while (role !== undefined && !signal.aborted) {
      try {
        for (const namespace of await this.#deps.bound(role, signal)) this.#queue.add(namespace)
        return
      } catch (error) {
        if (isAbort(error, signal)) return
        const { reason, message } = asFault(error)
        log.warn({ reason, message }, 'the bindings of agents cannot be listed')
        await pause(clock, againAfterMs, signal)
      }
    }
  }
}

type BoundPods = Pick<Store, 'podsIn' | 'syncOfPod' | 'isOther'>

type BindingsDeps = {
  kube: Kube
  store: BoundPods
  /** The ClusterRole to bind gateway pods' ServiceAccounts to; undefined: the installation's owner does that. */
  bindAgentsTo: string | undefined
  watchNamespaces: readonly string[]
  clock: Clock
  log: Log
}

/** Opens the role bindings for agents in pods that follow a GatewaySync of this installation. */
export function openAgentBindings({ kube, store, bindAgentsTo: role, watchNamespaces, clock, log }: BindingsDeps): AgentBindings {
  return new AgentBindings({
    role,
    pods: (namespace) => store.podsIn(namespace).filter((pod) => followsOurs(store, pod)),
    async apply(binding, signal) {
      await kube.apply(roleBindingType, binding, { fieldManager, force: true }, signal)
    },
    async remove(namespace, name, signal) {
      await kube.delete(roleBindingType, { namespace, name }, signal).catch((error: unknown) => {
        if (asFault(error).reason !== 'NotFound') throw error
      })
    },
    async bound(name, signal) {
      // With this selector, permission for that name suffices.
      const ours = { fieldSelector: `metadata.name=${name}`, labelSelector: managedByUs }
      const scopes: ListOptions[] = watchNamespaces.length === 0 ? [ours] : watchNamespaces.map((namespace) => ({ ...ours, namespace }))
      const namespaces = []
      for (const scope of scopes) {
        try {
          for await (const { items } of kube.listPages(roleBindingType, scope, signal))
            namespaces.push(...items.map(({ metadata }) => metadata.namespace ?? ''))
        } catch (error) {
          const { reason, message } = asFault(error)
          if (reason !== 'Forbidden') throw error
          // The namespace was deleted, or the roles are of an earlier release: continue with the others.
          const where = scope.namespace === undefined ? {} : { namespace: scope.namespace }
          log.warn({ ...where, reason, message }, 'the bindings of agents cannot be listed')
        }
      }
      return namespaces
    },
    clock,
    log,
  })
}

/** Whether a pod follows a GatewaySync of this installation, or names one that does not exist yet. */
function followsOurs(store: BoundPods, pod: PodRecord): boolean {
  const name = store.syncOfPod(pod)
  return name !== undefined && !store.isOther(pod.namespace, name)
}

/** The fields of a rbac.authorization.k8s.io/v1 RoleBinding that are written. */
export type RoleBinding = {
  apiVersion: 'rbac.authorization.k8s.io/v1'
  kind: 'RoleBinding'
  metadata: { name: string; namespace: string; labels: Record<string, string> }
  roleRef: { apiGroup: 'rbac.authorization.k8s.io'; kind: 'ClusterRole'; name: string }
  subjects: { kind: 'ServiceAccount'; name: string; namespace: string }[]
}

const managedBy = { key: 'app.kubernetes.io/managed-by', value: fieldManager } as const

/** Selects only objects that the controller has written itself. */
const managedByUs = `${managedBy.key}=${managedBy.value}`

/**
 * Only ServiceAccounts of gateway pods that follow a GatewaySync there need the agent's role. Without such a pod nothing is bound, not
 * even the default account. Returns the RoleBinding that a namespace should have, or undefined.
 */
export function agentRoleBinding(namespace: string, roleName: string, pods: readonly PodRecord[]): RoleBinding | undefined {
  // Agents of terminating pods still report how their last sync ended.
  const accounts = [...new Set(pods.map(({ serviceAccount }) => serviceAccount))].toSorted()
  if (accounts.length === 0) return undefined
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: roleName, namespace, labels: { [managedBy.key]: managedBy.value } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: roleName },
    subjects: accounts.map((name) => ({ kind: 'ServiceAccount', name, namespace })),
  }
}
