/**
 * Pods in the network of their node: its ports are shared with every program of the node, and with other gateways there. Pure.
 */
import type { Pod } from './pod.ts'

/** Whether all containers of the pod use their node's network. */
export function isOnHostNetwork(pod: Pod): boolean {
  return pod.spec.hostNetwork === true
}

/** Why the agent will not find delivery, whose host is `deliveryHost` (`host:port`); undefined: it will. */
export function unresolvable({ spec: { hostNetwork, dnsPolicy = 'ClusterFirst' } }: Pod, deliveryHost: string): string | undefined {
  if (!/\.svc(?:\.|:|$)/.test(deliveryHost)) return undefined
  const remedy = `set dnsPolicy: ${hostNetwork === true ? 'ClusterFirstWithHostNet' : 'ClusterFirst'}, or the agent does not find ${deliveryHost}`
  if (dnsPolicy === 'Default') return `dnsPolicy: Default knows no Services; ${remedy}`
  return hostNetwork === true && dnsPolicy === 'ClusterFirst'
    ? `dnsPolicy: ClusterFirst knows no Services on hostNetwork; ${remedy}`
    : undefined
}
