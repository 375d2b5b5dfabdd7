/**
 * The bindings of agents as a leader keeps them: at the API server, for the pods that its store knows.
 */
import type { Clock } from '../../clock.ts'
import { asFault } from '../../fault.ts'
import { fieldManager } from '../../gatewaysync/names.ts'
import type { Kube, ListOptions } from '../../kube/client.ts'
import { roleBindingType } from '../../kube/types.ts'
import type { Log } from '../../log.ts'
import { managedByUs } from '../../reconcile/agent-rbac.ts'
import type { PodRecord } from '../../reconcile/records.ts'
import type { Store } from '../../reconcile/store.ts'
import { createAgentBindings } from './agent-bindings.ts'

type BindingsDeps = {
  kube: Kube
  store: Store
  /** The ClusterRole to bind gateway pods' ServiceAccounts to; undefined: the installation's owner does that. */
  bindAgentsTo: string | undefined
  watchNamespaces: readonly string[]
  clock: Clock
  log: Log
}

/** The role bindings for agents in pods that follow a GatewaySync of ours. */
export function openAgentBindings({
  kube,
  store,
  bindAgentsTo: role,
  watchNamespaces,
  clock,
  log,
}: BindingsDeps): ReturnType<typeof createAgentBindings> {
  return createAgentBindings({
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
      // By this selector the API server asks for the right to that name alone.
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
          // A namespace that is gone, or the roles of the release before: the others are looked after.
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
function followsOurs(store: Store, pod: PodRecord): boolean {
  const name = store.syncOfPod(pod)
  return name !== undefined && !store.isOther(pod.namespace, name)
}
