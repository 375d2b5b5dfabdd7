/**
 * Who may reach the controller, when that is restricted: every enabled port stays open to those who need it. Pure.
 */
import { ports } from '../runtime/gatewaysync/names.ts'
import type { Live, Value } from './helm/expression.ts'
import { each, members, when } from './helm/nodes.ts'
import type { Names } from './names.ts'
import type { LiveManifest } from './policies.ts'
import type { Values } from './values.ts'

export function network({ fullname, namespace, labels, selector }: Names, values: Live<Values>): LiveManifest {
  const { metrics, webhook, webhookReceiver: receiver, delivery, networkPolicy } = values
  const open = [
    ...when(metrics.enabled, [tcp(metrics.service.port)]),
    ...when(webhook.enabled, [tcp(webhook.port)]),
    ...when(receiver.enabled, [tcp(receiver.port)]),
    tcp(delivery.port),
    tcp(ports.probes),
  ]
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: fullname, namespace, labels },
    spec: {
      podSelector: { matchLabels: selector },
      policyTypes: ['Ingress', ...when(networkPolicy.egress.enabled, ['Egress'])],
      ingress: [{ ports: open }],
      ...members(networkPolicy.egress.enabled, { egress: egress(networkPolicy.egress.ports) }),
    },
  }
}

/** Where the API server and git hosts are cannot be said by a selector, only their ports can. */
function egress(ports: Value<readonly number[]>): object[] {
  return [{ ports: [{ port: 53, protocol: 'UDP' }, tcp(53)] }, { ports: each('port', ports, tcp) }]
}

function tcp(port: Value<number>): { port: Value<number>; protocol: 'TCP' } {
  return { port, protocol: 'TCP' }
}
