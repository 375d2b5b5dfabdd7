/**
 * The clients and destinations of the controller: each open port is reachable only by its clients.
 */
import * as kplus from 'cdk8s-plus-28'
import { Construct } from 'constructs'
import { agentPodLabel, metricsReaderLabel } from '../../runtime/api/names.ts'
import type { SharedProps } from './shared-props.ts'
import { metadata } from '../names.ts'
import { appendTo } from './fields.ts'

/** Creates nothing if `networkPolicy.enabled` is false. */
export class NetworkPolicy extends Construct {
  readonly policy: kplus.NetworkPolicy | undefined

  constructor(scope: Construct, id: string, { names, values }: SharedProps) {
    super(scope, id)
    const { metrics, webhook, webhookReceiver, delivery, statusPage, networkPolicy } = values
    if (!networkPolicy.enabled) return

    const controller = kplus.Pods.select(this, 'Controller', { labels: names.selector })
    const allNamespaces = kplus.Namespaces.all(this, 'AllNamespaces')
    const agents = kplus.Pods.select(this, 'Agents', { labels: { [agentPodLabel]: 'true' }, namespaces: allNamespaces })
    const withoutAgent = kplus.Pods.select(this, 'WithoutAgent', { expressions: [kplus.LabelExpression.doesNotExist(agentPodLabel)] })
    const readerLabels = { [metricsReaderLabel.key]: metricsReaderLabel.value }
    const metricsReaders = [
      withoutAgent,
      kplus.Pods.select(this, 'MetricsReaders', { labels: readerLabels, namespaces: allNamespaces }),
      kplus.Namespaces.select(this, 'MetricsReaderNamespaces', { labels: readerLabels }),
    ]

    const policy = new kplus.NetworkPolicy(this, 'Policy', { metadata: metadata(names, names.fullname), selector: controller })
    /**
     * Opens a port to peers in the format of the Kubernetes API; to every client if there are none. cdk8s-plus has no rule without a peer, and
     * with some network plugins the IP block of `NetworkPolicyIpBlock.anyIpv4` does not include pods.
     */
    const open = (port: number, from: readonly unknown[] = []): void =>
      appendTo(policy, '/spec/ingress', [{ ...(from.length > 0 && { from }), ports: [tcp(port)] }])
    /** Opens a port to the peers in the values, otherwise to the default peers. */
    const allow = (port: number, from: readonly unknown[], peers: readonly kplus.INetworkPolicyPeer[]): void => {
      if (from.length > 0) open(port, from)
      else for (const peer of peers) policy.addIngressRule(peer, [kplus.NetworkPolicyPort.tcp(port)])
    }

    // Probes need no rule, because the node of a pod can always reach it. Replicas fetch content from the leader.
    policy.addIngressRule(controller, [kplus.NetworkPolicyPort.tcp(delivery.port)])
    allow(delivery.port, networkPolicy.delivery.from, [agents])
    if (metrics.enabled) allow(metrics.service.port, networkPolicy.metrics.from, metricsReaders)
    // Pods with an agent are excluded, because scripts of gateways are untrusted.
    if (statusPage.enabled) allow(statusPage.port, networkPolicy.statusPage.from, [withoutAgent])
    // API servers have no labels, and often no address that is known in advance.
    if (webhook.enabled) open(webhook.port)
    if (webhookReceiver.enabled) open(webhookReceiver.port, networkPolicy.webhookReceiver.from)

    if (networkPolicy.egress.enabled) {
      const { ports, dnsPort } = networkPolicy.egress
      policy.addEgressRule(controller, [kplus.NetworkPolicyPort.tcp(delivery.port)])
      // No selector matches the API server and git hosts, so only their ports are restricted.
      appendTo(policy, '/spec/egress', [{ ports: [{ port: dnsPort, protocol: 'UDP' }, tcp(dnsPort)] }, { ports: ports.map(tcp) }])
    }
    this.policy = policy
  }
}

function tcp(port: number): object {
  return { port, protocol: 'TCP' }
}
