/**
 * Who may reach the controller, when that is restricted: each enabled port those who need it. Pure.
 */
import { agentPodLabel, metricsReaderLabel } from '../runtime/gatewaysync/names.ts'
import { isSet } from './helm/combinators.ts'
import type { Live, Value } from './helm/expression.ts'
import { choose, each, members, when } from './helm/nodes.ts'
import { namespaced } from './metadata.ts'
import type { Names } from './names.ts'
import type { LiveManifest } from './manifest.ts'
import type { Values } from './values.ts'

type Peers = Value<readonly Readonly<Record<string, unknown>>[]>

export function network(names: Names, values: Live<Values>): LiveManifest {
  const { metrics, webhook, webhookReceiver: receiver, delivery, networkPolicy } = values
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: namespaced(names, names.fullname),
    spec: {
      podSelector: { matchLabels: names.selector },
      policyTypes: ['Ingress', ...when(networkPolicy.egress.enabled, ['Egress'])],
      // No rule for probes: the node of a pod always reaches it.
      ingress: [
        ...when(metrics.enabled, [rule(metrics.service.port, networkPolicy.metrics.from, metricsReaders)]),
        // API servers have no label, and often no address that is known beforehand.
        ...when(webhook.enabled, [{ ports: [tcp(webhook.port)] }]),
        ...when(receiver.enabled, [rule(receiver.port, networkPolicy.receiver.from)]),
        rule(delivery.port, networkPolicy.delivery.from, agents),
        // Whoever else the values name: a replica asks the one that leads for what it does not have.
        { from: [{ podSelector: { matchLabels: names.selector } }], ports: [tcp(delivery.port)] },
      ],
      ...members(networkPolicy.egress.enabled, {
        egress: [...egress(networkPolicy.egress), { to: [{ podSelector: { matchLabels: names.selector } }], ports: [tcp(delivery.port)] }],
      }),
    },
  }
}

/** Who collects metrics unless the values say: whatever runs beside the operator, and pods that are labelled for it. */
const metricsReaders = [{ podSelector: {} }, labelledAnywhere(metricsReaderLabel)]
const agents = [labelledAnywhere({ key: agentPodLabel, value: 'true' })]

function labelledAnywhere({ key, value }: { key: string; value: string }): object {
  return { namespaceSelector: {}, podSelector: { matchLabels: { [key]: value } } }
}

/** Opens a port to those that the values name, else to the usual ones; to everybody where nobody is usual. */
function rule(port: Value<number>, named: Peers, usual?: readonly object[]): object {
  const ports = [tcp(port)]
  return choose<object>(isSet(named), { from: named, ports }, usual === undefined ? { ports } : { from: usual, ports })
}

/** Where the API server and git hosts are cannot be said by a selector, only their ports can. */
function egress({ ports, dnsPort }: Live<Values>['networkPolicy']['egress']): object[] {
  return [{ ports: [{ port: dnsPort, protocol: 'UDP' }, tcp(dnsPort)] }, { ports: each('port', ports, tcp) }]
}

function tcp(port: Value<number>): { port: Value<number>; protocol: 'TCP' } {
  return { port, protocol: 'TCP' }
}
