/**
 * Translates NetworkPolicies into kernel rules for a node with one veth pair per pod, since no agent that enforces them is available as a
 * Go module. Supports only the fields that policies of the product use and refuses everything else. Pure.
 */

export type Labels = Record<string, string>
type Expression = { key: string; operator: string; values?: string[] }
type Selector = { matchLabels?: Labels; matchExpressions?: Expression[] }
type Peer = { podSelector?: Selector; namespaceSelector?: Selector; ipBlock?: { cidr: string; except?: string[] } }
type Port = { protocol?: string; port?: number | string; endPort?: number }

export type NetworkPolicy = {
  metadata: { namespace: string; name: string }
  spec: { podSelector: Selector; policyTypes?: string[]; ingress?: { from?: Peer[]; ports?: Port[] }[] }
}
export type Labeled = { metadata: { namespace?: string; name: string; labels?: Labels } }
export type Addressed = Labeled & { status: { podIP?: string } }

export const policyChain = 'NETWORK-POLICIES'

/**
 * Rules for `iptables-restore --noflush`: the chain for traffic to pods, without the jump to it. A pod that a policy selects accepts
 * traffic that a rule of any policy permits and refuses the rest. Traffic from the node itself does not pass this chain.
 */
export function policyRules(policies: readonly NetworkPolicy[], pods: readonly Addressed[], namespaces: readonly Labeled[]): string {
  const lines = pods.flatMap((pod) => {
    const { podIP } = pod.status
    const selecting = policies.filter(
      ({ metadata, spec }) => metadata.namespace === pod.metadata.namespace && selects(spec.podSelector, pod.metadata.labels),
    )
    if (podIP === undefined || selecting.length === 0) return []
    const permitted = selecting.flatMap(({ metadata, spec }) => {
      if (spec.policyTypes?.some((type) => type !== 'Ingress')) throw new Error(`${metadata.name}: only Ingress is translated`)
      return (spec.ingress ?? []).flatMap(({ from, ports }) => {
        const sources = from?.flatMap((peer) => addressesOf(peer, metadata.namespace, pods, namespaces)).map((address) => ` -s ${address}`)
        return (sources ?? ['']).flatMap((source) =>
          portsOf(ports).map((port) => `-A ${policyChain} -d ${podIP}${source}${port} -j RETURN`),
        )
      })
    })
    return [...permitted, `-A ${policyChain} -d ${podIP} -j REJECT`]
  })
  const established = `-A ${policyChain} -m conntrack --ctstate RELATED,ESTABLISHED -j RETURN`
  return ['*filter', `:${policyChain} - [0:0]`, established, ...lines, 'COMMIT', ''].join('\n')
}

function addressesOf(peer: Peer, namespace: string, pods: readonly Addressed[], namespaces: readonly Labeled[]): string[] {
  const { podSelector, namespaceSelector, ipBlock } = peer
  if (ipBlock !== undefined) {
    if (ipBlock.except !== undefined) throw new Error(`except ${ipBlock.except.join(', ')} is not translated`)
    return [ipBlock.cidr]
  }
  const within =
    namespaceSelector === undefined
      ? [namespace]
      : namespaces.filter((each) => selects(namespaceSelector, each.metadata.labels)).map(({ metadata }) => metadata.name)
  return pods
    .filter((pod) => within.includes(pod.metadata.namespace ?? '') && selects(podSelector ?? {}, pod.metadata.labels))
    .flatMap(({ status: { podIP } }) => (podIP === undefined ? [] : [podIP]))
}

function portsOf(ports: readonly Port[] | undefined): string[] {
  return (
    ports?.map(({ protocol = 'TCP', port, endPort }) => {
      if (typeof port !== 'number' || endPort !== undefined)
        throw new Error(`port ${port ?? 'any'} to ${endPort ?? 'none'} is not translated`)
      return ` -p ${protocol.toLowerCase()} --dport ${port}`
    }) ?? ['']
  )
}

function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels = {}): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator }) => {
      if (operator === 'Exists') return Object.hasOwn(labels, key)
      if (operator === 'DoesNotExist') return !Object.hasOwn(labels, key)
      throw new Error(`the operator ${operator} of matchExpressions is not translated`)
    })
  )
}
