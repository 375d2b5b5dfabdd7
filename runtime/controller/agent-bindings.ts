/**
 * Binds the ServiceAccounts of gateway pods to the agents' role, one RoleBinding a namespace: written when it changes, and again now and
 * then, because somebody may have removed or changed it meanwhile.
 */
import type { Clock } from '../clock.ts'
import { asFault } from '../fault.ts'
import type { Log } from '../log.ts'
import { agentRoleBinding, type RoleBinding } from '../reconcile/agent-rbac.ts'
import { createQueue } from '../reconcile/queue.ts'
import type { PodRecord } from '../reconcile/store.ts'

export type AgentBindingsDeps = {
  /** The ClusterRole to bind to; undefined: someone else does that. */
  role: string | undefined
  /** The pods of a namespace that follow a GatewaySync. */
  pods(namespace: string): readonly PodRecord[]
  apply(binding: RoleBinding, signal: AbortSignal): Promise<void>
  clock: Clock
  log: Log
}

/** Writing what is there already is one request, which changes nothing. */
const againAfterMs = 600_000

export function createAgentBindings({ role, pods, apply, clock, log }: AgentBindingsDeps): {
  changed(namespace: string): void
  run(signal: AbortSignal): Promise<void>
} {
  const written = new Map<string, { text: string; untilMs: number }>()
  const queue = createQueue({
    clock,
    workers: 1,
    async pass(namespace, signal) {
      const binding = role === undefined ? undefined : agentRoleBinding(namespace, role, pods(namespace))
      if (binding === undefined) {
        written.delete(namespace)
        return { wakeAfterMs: undefined }
      }
      const text = JSON.stringify(binding)
      const last = written.get(namespace)
      const leftMs = last?.text === text ? last.untilMs - clock.monotonicMs() : 0
      if (leftMs > 0) return { wakeAfterMs: leftMs }
      await apply(binding, signal)
      written.set(namespace, { text, untilMs: clock.monotonicMs() + againAfterMs })
      return { wakeAfterMs: againAfterMs }
    },
    failed: (namespace, error) =>
      log.warn({ namespace, reason: asFault(error).reason, message: asFault(error).message }, 'agents are not bound'),
  })
  return { changed: (namespace) => queue.add(namespace), run: (signal) => queue.run(signal) }
}
