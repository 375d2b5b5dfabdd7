/**
 * Binds the ServiceAccounts of gateway pods to the agents' role, one RoleBinding a namespace: written when it changes, for each new pod,
 * and again now and then, because somebody may have removed or changed it meanwhile, also by deleting the namespace; removed some time after
 * the last gateway pod of the namespace, also by a leader that never saw that pod.
 */
import { type Clock, pause } from '../../clock.ts'
import { asFault, isAbort } from '../../fault.ts'
import type { Log } from '../../log.ts'
import { agentRoleBinding, type RoleBinding } from '../../reconcile/agent-rbac.ts'
import { createQueue } from '../../reconcile/queue.ts'
import type { PodRecord } from '../../reconcile/records.ts'

/** What the leader's part for agents' rights works with. */
export type AgentBindingsDeps = {
  /** The ClusterRole to bind to; undefined: the installation's owner binds agents. */
  role: string | undefined
  /** The pods of a namespace that follow a GatewaySync. */
  pods(namespace: string): readonly PodRecord[]
  /** Server-side apply. Throws Rejected when the binding refers to another role, which is immutable. */
  apply(binding: RoleBinding, signal: AbortSignal): Promise<void>
  /** Removes the binding of that name; a missing one is fine. */
  remove(namespace: string, name: string, signal: AbortSignal): Promise<void>
  /** The namespaces with a binding of that name which the controller has written, of those that may be listed. Throws ApiUnavailable. */
  bound(name: string, signal: AbortSignal): Promise<readonly string[]>
  clock: Clock
  log: Log
}

/** How often an unchanged binding is applied again, in case somebody changed it: one request. */
const againAfterMs = 600_000
/** How long a namespace must be without gateway pods: one that is recreated leaves it without for a moment. */
const removedAfterMs = 600_000

/** `changed` is called with each namespace whose pods may have changed; `run` writes until its signal. */
export function createAgentBindings(deps: AgentBindingsDeps): {
  changed(namespace: string): void
  run(signal: AbortSignal): Promise<void>
} {
  const { role, pods, clock, log } = deps
  /** What was written, and the uids of the pods for which it was. */
  const written = new Map<string, { text: string; uids: ReadonlySet<string>; untilMs: number }>()
  /** Since when, in monotonic ms, a namespace has had no gateway pod; infinite once its binding is removed. */
  const withoutPods = new Map<string, number>()

  const removeLater = async (namespace: string, name: string, signal: AbortSignal): Promise<number | undefined> => {
    const nowMs = clock.monotonicMs()
    const sinceMs = withoutPods.get(namespace) ?? nowMs
    withoutPods.set(namespace, sinceMs)
    const leftMs = sinceMs + removedAfterMs - nowMs
    if (leftMs > 0) return Number.isFinite(leftMs) ? leftMs : undefined
    await deps.remove(namespace, name, signal)
    withoutPods.set(namespace, Number.POSITIVE_INFINITY)
    return undefined
  }
  const write = async (binding: RoleBinding, signal: AbortSignal): Promise<void> => {
    try {
      await deps.apply(binding, signal)
    } catch (error) {
      if (asFault(error).reason !== 'Rejected') throw error
      // The role of a binding is immutable, so a binding to another role is deleted and created again.
      await deps.remove(binding.metadata.namespace, binding.metadata.name, signal)
      await deps.apply(binding, signal)
    }
  }
  const queue = createQueue({
    clock,
    workers: 1,
    async pass(namespace, signal) {
      if (role === undefined) return { wakeAfterMs: undefined }
      const present = pods(namespace)
      const binding = agentRoleBinding(namespace, role, present)
      if (binding === undefined) {
        // Where the pods are gone, the binding may have gone with the namespace.
        written.delete(namespace)
        return { wakeAfterMs: await removeLater(namespace, role, signal) }
      }
      withoutPods.delete(namespace)
      const text = JSON.stringify(binding)
      const last = written.get(namespace)
      // A new pod needs its rights at once, whatever became of the binding since it was written.
      const isWritten = last?.text === text && present.every(({ uid }) => last.uids.has(uid))
      const leftMs = isWritten ? last.untilMs - clock.monotonicMs() : 0
      if (leftMs > 0) return { wakeAfterMs: leftMs }
      await write(binding, signal)
      written.set(namespace, { text, uids: new Set(present.map(({ uid }) => uid)), untilMs: clock.monotonicMs() + againAfterMs })
      return { wakeAfterMs: againAfterMs }
    },
    failed: (namespace, error) =>
      log.warn({ namespace, reason: asFault(error).reason, message: asFault(error).message }, 'agents are not bound'),
  })
  /** A leader before this one may have bound a namespace that has neither GatewaySync nor pod any more: nothing else would tell of it. */
  const addBound = async (signal: AbortSignal): Promise<void> => {
    while (role !== undefined && !signal.aborted) {
      try {
        for (const namespace of await deps.bound(role, signal)) queue.add(namespace)
        return
      } catch (error) {
        if (isAbort(error, signal)) return
        const { reason, message } = asFault(error)
        log.warn({ reason, message }, 'the bindings of agents cannot be listed')
        await pause(clock, againAfterMs, signal)
      }
    }
  }
  return {
    changed: (namespace) => queue.add(namespace),
    run: async (signal) => void (await Promise.all([queue.run(signal), addBound(signal)])),
  }
}
