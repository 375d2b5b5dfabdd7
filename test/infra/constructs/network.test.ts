/**
 * Who may reach the controller, and what it may reach, when that is restricted.
 */
import t from 'tap'
import type { ValuesInput } from '../../../infra/values.ts'
import { deploymentOf, everything, objectsOf, one } from '../installed.ts'

void t.test('when restricted, each port is open to those who need it and to nobody else', async (t) => {
  const tcp = (port: number): object => ({ port, protocol: 'TCP' })
  const labelled = (label: string): object => ({ namespaceSelector: {}, podSelector: { matchLabels: { [label]: 'true' } } })
  const ingress = (values: ValuesInput) => one(objectsOf(values), 'NetworkPolicy').spec.ingress
  const enabled = { networkPolicy: { enabled: true } }
  const delivery = { from: [labelled('clustersync.io/agent')], ports: [tcp(9445)] }
  const besideUs = { podSelector: { matchExpressions: [{ key: 'clustersync.io/agent', operator: 'DoesNotExist' }] } }
  const metrics = { from: [besideUs, labelled('clustersync.io/metrics-reader')], ports: [tcp(8443)] }
  const admission = { ports: [tcp(9443)] }
  const replicas = { from: [{ podSelector: { matchLabels: deploymentOf(objectsOf({})).spec.selector.matchLabels } }], ports: [tcp(9445)] }

  await t.test(
    'metrics to pods without an agent of the namespace and labelled ones, delivery to agents and replicas, admission to API servers, which have no label',
    async (t) => t.same(ingress(enabled), [metrics, admission, delivery, replicas]),
  )
  await t.test('the receiver to anybody, for git hosts call it', async (t) =>
    t.same(ingress({ ...enabled, webhookReceiver: { enabled: true } }), [metrics, admission, { ports: [tcp(9444)] }, delivery, replicas]),
  )
  await t.test('the status page to pods without an agent of the namespace of the release, for it has no login', async (t) =>
    t.same(ingress({ ...enabled, statusPage: { enabled: true } }), [
      metrics,
      admission,
      { from: [besideUs], ports: [tcp(8444)] },
      delivery,
      replicas,
    ]),
  )
  await t.test('probes to nobody, because the node of a pod always reaches it', async (t) =>
    t.notMatch(JSON.stringify(ingress(everything)), '8081'),
  )
  await t.test('what is off is not opened', async (t) =>
    t.same(ingress({ ...enabled, metrics: { enabled: false }, webhook: { enabled: false } }), [delivery, replicas]),
  )
  await t.test('values name others in place of the usual ones', async (t) => {
    const from = [{ ipBlock: { cidr: '198.18.0.0/15' } }]
    const named = { enabled: true, metrics: { from }, delivery: { from }, receiver: { from }, statusPage: { from } }
    t.same(ingress({ networkPolicy: named, webhookReceiver: { enabled: true }, statusPage: { enabled: true } }), [
      { from, ports: [tcp(8443)] },
      admission,
      { from, ports: [tcp(9444)] },
      { from, ports: [tcp(8444)] },
      { from, ports: [tcp(9445)] },
      replicas,
    ])
  })
})

void t.test('what goes out is limited to names, the API server, git hosts and replicas, when that is asked for', async (t) => {
  const { policyTypes, egress } = one(objectsOf({ networkPolicy: { enabled: true, egress: { enabled: true } } }), 'NetworkPolicy').spec
  t.same(policyTypes, ['Ingress', 'Egress'])
  const tcp = (port: number): object => ({ port, protocol: 'TCP' })
  const { matchLabels } = deploymentOf(objectsOf({})).spec.selector
  t.same(egress, [
    { ports: [{ port: 53, protocol: 'UDP' }, tcp(53)] },
    { ports: [tcp(443), tcp(6443), tcp(22)] },
    { to: [{ podSelector: { matchLabels } }], ports: [tcp(9445)] },
  ])
  t.same(one(objectsOf(everything), 'NetworkPolicy').spec.egress?.[1], { ports: [tcp(443), tcp(7999)] })
  const openShift = one(objectsOf({ networkPolicy: { enabled: true, egress: { enabled: true, dnsPort: 5353 } } }), 'NetworkPolicy').spec
  t.same(openShift.egress?.[0], { ports: [{ port: 5353, protocol: 'UDP' }, tcp(5353)] })
  t.same(
    objectsOf({ networkPolicy: { egress: { enabled: true } } }).filter(({ kind }) => kind === 'NetworkPolicy'),
    [],
  )
})
