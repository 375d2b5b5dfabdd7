/**
 * Who may reach the controller, when that is restricted: every enabled port stays open to those who need it. Pure.
 */
import { ports } from '../runtime/gatewaysync/names.ts'
import type { Names } from './names.ts'
import type { Manifest } from './policies.ts'
import type { Values } from './values.ts'

export function network({ fullname, namespace, labels, selector }: Names, values: Values): Manifest {
  const { metrics, webhook, webhookReceiver: receiver, delivery, networkPolicy } = values
  const open = [
    ...(metrics.enabled ? [metrics.service.port] : []),
    ...(webhook.enabled ? [webhook.port] : []),
    ...(receiver.enabled ? [receiver.port] : []),
    delivery.port,
    ports.probes,
  ]
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: fullname, namespace, labels },
    spec: {
      podSelector: { matchLabels: selector },
      policyTypes: ['Ingress', ...(networkPolicy.egress.enabled ? ['Egress'] : [])],
      ingress: [{ ports: open.map(tcp) }],
      ...(networkPolicy.egress.enabled ? { egress: egress(networkPolicy.egress.ports) } : {}),
    },
  }
}

/** Where the API server and git hosts are cannot be said by a selector, only their ports can. */
function egress(ports: readonly number[]): object[] {
  return [{ ports: [{ port: 53, protocol: 'UDP' }, tcp(53)] }, { ports: ports.map(tcp) }]
}

function tcp(port: number): { port: number; protocol: 'TCP' } {
  return { port, protocol: 'TCP' }
}
