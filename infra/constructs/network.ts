/**
 * Who may reach the controller where that is restricted: each enabled port is open to those who need it.
 */
import type { ApiObject } from 'cdk8s'
import { k8s } from 'cdk8s-plus-28'
import { Construct } from 'constructs'
import { agentPodLabel, metricsReaderLabel } from '../../runtime/gatewaysync/names.ts'
import { isSet } from '../helm/combinators.ts'
import type { Live, Value } from '../helm/expression.ts'
import { choose, each, given, when } from '../helm/nodes.ts'
import type { Names } from '../names.ts'
import type { Values } from '../values.ts'
import { apiObjectWhen } from './api-object.ts'
import type { Installation } from './installation.ts'
import { namespaced } from './metadata.ts'
import { asGiven, type Written } from './written.ts'

type Peer = Written<k8s.NetworkPolicyPeer>
type Rule = Written<k8s.NetworkPolicyIngressRule>

/** Who may connect to the controller, and where it may connect to. */
export class Network extends Construct {
  readonly policy: ApiObject | undefined

  constructor(scope: Construct, id: string, { names, values }: Installation) {
    super(scope, id)
    const metadata = namespaced(names, names.fullname)
    const spec = policySpec(names, values)
    this.policy = apiObjectWhen(values.networkPolicy.enabled, this, 'policy', k8s.KubeNetworkPolicy, { metadata, spec })
  }
}

function policySpec({ selector }: Names, values: Live<Values>): Written<k8s.NetworkPolicySpec> {
  const { metrics, webhook, webhookReceiver: receiver, delivery, statusPage, networkPolicy } = values
  const restrictsEgress = networkPolicy.egress.enabled
  const replicas: Peer[] = [{ podSelector: { matchLabels: selector } }]
  return {
    podSelector: { matchLabels: selector },
    policyTypes: ['Ingress', ...when<string>(restrictsEgress, ['Egress'])],
    // Probes need no rule, because a pod's own node always reaches it.
    ingress: [
      ...when<Rule>(metrics.enabled, [rule(metrics.service.port, networkPolicy.metrics.from, metricsReaders)]),
      // API servers have no labels, and often no address that is known beforehand, so this port is open to everybody.
      ...when<Rule>(webhook.enabled, [{ ports: [tcp(webhook.port)] }]),
      ...when<Rule>(receiver.enabled, [rule(receiver.port, networkPolicy.receiver.from)]),
      ...when<Rule>(statusPage.enabled, [rule(statusPage.port, networkPolicy.statusPage.from, besideUs)]),
      rule(delivery.port, networkPolicy.delivery.from, agents),
      // Replicas always reach each other: one that lacks content asks the leader for it.
      { from: replicas, ports: [tcp(delivery.port)] },
    ],
    egress: given(restrictsEgress, [...egress(networkPolicy.egress), { to: replicas, ports: [tcp(delivery.port)] }]),
  }
}

/** A page without a login is closed to all others unless the values name them, such as the pods of the Ingress; scripts of gateways are anybody's. */
const besideUs: readonly Peer[] = [{ podSelector: { matchExpressions: [{ key: agentPodLabel, operator: 'DoesNotExist' }] } }]
/** Who collects metrics unless the values say: whatever runs beside the operator, and pods that are labelled for it. */
const metricsReaders: readonly Peer[] = [...besideUs, labelledAnywhere(metricsReaderLabel)]
const agents: readonly Peer[] = [labelledAnywhere({ key: agentPodLabel, value: 'true' })]

function labelledAnywhere({ key, value }: { key: string; value: string }): Peer {
  return { namespaceSelector: {}, podSelector: { matchLabels: { [key]: value } } }
}

/** Opens a port to the peers that the values name, else to the usual ones, or to everybody where there are no usual ones. */
function rule(port: Value<number>, named: Value<readonly unknown[]>, usual?: readonly Peer[]): Rule {
  const ports = [tcp(port)]
  return choose<Rule>(isSet(named), { from: asGiven(named), ports }, usual === undefined ? { ports } : { from: usual, ports })
}

/** No selector matches the API server and git hosts, so only their ports are restricted. */
function egress({ ports, dnsPort }: Live<Values>['networkPolicy']['egress']): Written<k8s.NetworkPolicyEgressRule>[] {
  return [{ ports: [{ port: dnsPort, protocol: 'UDP' }, tcp(dnsPort)] }, { ports: each('port', ports, tcp) }]
}

function tcp(port: Value<number>): Written<k8s.NetworkPolicyPort> {
  return { port, protocol: 'TCP' }
}
