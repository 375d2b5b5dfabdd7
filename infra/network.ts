/**
 * Who may reach the controller, when that is restricted: every enabled port stays open to those who need it. Pure.
 */
import { ports } from '../runtime/gatewaysync/names.ts'
import type { Names } from './names.ts'
import type { Manifest } from './policies.ts'
import type { Values } from './values.ts'

export function network({ fullname, namespace, labels, selector }: Names, values: Values): Manifest[] {
  if (!values.networkPolicy.enabled) return []
  const { metrics, webhook, webhookReceiver: receiver, delivery } = values
  const open = [
    ...(metrics.enabled ? [metrics.service.port] : []),
    ...(webhook.enabled ? [webhook.port] : []),
    ...(receiver.enabled ? [receiver.port] : []),
    delivery.port,
    ports.probes,
  ]
  return [
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: fullname, namespace, labels },
      spec: {
        podSelector: { matchLabels: selector },
        policyTypes: ['Ingress'],
        ingress: [{ ports: open.map((port) => ({ port, protocol: 'TCP' })) }],
      },
    },
  ]
}
