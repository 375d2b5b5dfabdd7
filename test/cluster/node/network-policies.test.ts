/**
 * The translation of NetworkPolicies into rules of a node.
 */
import t from 'tap'
import { type Addressed, type NetworkPolicy, policyRules } from './network-policies.ts'

const pod = (namespace: string, name: string, podIP: string, labels = {}): Addressed => ({
  metadata: { namespace, name, labels },
  status: { podIP },
})
const namespaces = ['here', 'there'].map((name) => ({ metadata: { name, labels: { name } } }))
const pods = [
  pod('here', 'server', '10.0.0.1', { app: 'server' }),
  pod('here', 'neighbour', '10.0.0.2'),
  pod('there', 'reader', '10.0.0.3', { reads: 'yes' }),
  pod('there', 'stranger', '10.0.0.4'),
]
const policy = (spec: Partial<NetworkPolicy['spec']>): NetworkPolicy => ({
  metadata: { namespace: 'here', name: 'policy' },
  spec: { podSelector: { matchLabels: { app: 'server' } }, policyTypes: ['Ingress'], ...spec },
})
const rulesOf = (spec: Partial<NetworkPolicy['spec']>): string[] =>
  policyRules([policy(spec)], pods, namespaces)
    .split('\n')
    .filter((line) => line.includes(' -d '))
    .map((line) => line.replace('-A NETWORK-POLICIES -d ', ''))

void t.test('only pods that a policy selects have refusing rules', async (t) => {
  t.strictSame(rulesOf({}), ['10.0.0.1 -j REJECT'])
  t.strictSame(rulesOf({ podSelector: { matchLabels: { app: 'other' } } }), [])
  t.strictSame(rulesOf({ podSelector: { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] } }), ['10.0.0.2 -j REJECT'])
  t.strictSame(rulesOf({ podSelector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }), ['10.0.0.1 -j REJECT'])
})

void t.test('the permitting rules of a policy come before the refusal', async (t) => {
  const from = [{ podSelector: {} }, { namespaceSelector: {}, podSelector: { matchLabels: { reads: 'yes' } } }]
  t.strictSame(rulesOf({ ingress: [{ from, ports: [{ port: 80 }] }, { ports: [{ port: 90, protocol: 'TCP' }] }] }), [
    '10.0.0.1 -s 10.0.0.1 -p tcp --dport 80 -j RETURN',
    '10.0.0.1 -s 10.0.0.2 -p tcp --dport 80 -j RETURN',
    '10.0.0.1 -s 10.0.0.3 -p tcp --dport 80 -j RETURN',
    '10.0.0.1 -p tcp --dport 90 -j RETURN',
    '10.0.0.1 -j REJECT',
  ])
  t.strictSame(rulesOf({ ingress: [{ from: [{ ipBlock: { cidr: '192.0.2.0/24' } }] }] }), [
    '10.0.0.1 -s 192.0.2.0/24 -j RETURN',
    '10.0.0.1 -j REJECT',
  ])
  t.strictSame(rulesOf({ ingress: [{ from: [{ namespaceSelector: { matchLabels: { name: 'there' } } }] }] }).length, 3)
})

void t.test('an unsupported NetworkPolicy field is refused, not ignored', async (t) => {
  t.throws(() => rulesOf({ policyTypes: ['Ingress', 'Egress'] }), /only Ingress/)
  t.throws(() => rulesOf({ ingress: [{ ports: [{ port: 'http' }] }] }), /port http/)
  t.throws(() => rulesOf({ podSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['server'] }] } }), /matchExpressions/)
})
