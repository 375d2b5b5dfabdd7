/**
 * The network policy: who may connect to the controller, and where it may connect to.
 */
import { readFileSync } from 'node:fs'
import t from 'tap'
import type { ValuesInput } from '../../../infra/values.ts'
import { deploymentOf, everything, objectsOf, one } from '../installed.ts'
import { lacksText } from '../../support/assertions.ts'

void t.test('with a network policy each port is open only to its clients', async (t) => {
  const tcp = (port: number): object => ({ port, protocol: 'TCP' })
  const labeled = (label: string): object => ({ namespaceSelector: {}, podSelector: { matchLabels: { [label]: 'true' } } })
  const ingress = (values: ValuesInput) => one(objectsOf(values), 'NetworkPolicy').spec.ingress
  const enabled = { networkPolicy: { enabled: true } }
  const delivery = { from: [labeled('clustersync.io/agent')], ports: [tcp(9445)] }
  const besideUs = { podSelector: { matchExpressions: [{ key: 'clustersync.io/agent', operator: 'DoesNotExist' }] } }
  const reader = { 'clustersync.io/metrics-reader': 'true' }
  const metrics = [besideUs, labeled('clustersync.io/metrics-reader'), { namespaceSelector: { matchLabels: reader }, podSelector: {} }].map(
    (peer) => ({ from: [peer], ports: [tcp(8443)] }),
  )
  const admission = { ports: [tcp(9443)] }
  const replicas = { from: [{ podSelector: { matchLabels: deploymentOf(objectsOf({})).spec.selector.matchLabels } }], ports: [tcp(9445)] }

  await t.test('metrics are open to local pods and readers, content to agents and replicas, admission to all', async (t) =>
    t.strictSame(ingress(enabled), [replicas, delivery, ...metrics, admission]),
  )
  await t.test('the runbook names the label that opens the metrics to a pod, and to the pods of a namespace', async (t) => {
    const runbook = readFileSync(new URL('../../../docs/how-to/runbook.md', import.meta.url), 'utf8')
    const [, label] = /label the namespace or pod of Prometheus `([^`]+)`/.exec(runbook) ?? []
    t.equal(label, Object.entries(reader)[0]?.join('='))
  })
  await t.test('the receiver is open to all, since git hosts call it', async (t) =>
    t.strictSame(ingress({ ...enabled, webhookReceiver: { enabled: true } }), [
      replicas,
      delivery,
      ...metrics,
      admission,
      { ports: [tcp(9444)] },
    ]),
  )
  await t.test('the status page without a login is open to pods without an agent in its namespace', async (t) =>
    t.strictSame(ingress({ ...enabled, statusPage: { enabled: true } }), [
      replicas,
      delivery,
      ...metrics,
      { from: [besideUs], ports: [tcp(8444)] },
      admission,
    ]),
  )
  await t.test('probes are open to no one, since the kubelet always reaches its pods', async (t) =>
    lacksText(t, JSON.stringify(ingress(everything)), '8081'),
  )
  await t.test('disabled endpoints are not opened', async (t) =>
    t.strictSame(ingress({ ...enabled, metrics: { enabled: false }, webhook: { enabled: false } }), [replicas, delivery]),
  )
  await t.test('peers in the values replace the defaults', async (t) => {
    const from = [{ ipBlock: { cidr: '198.18.0.0/15' } }]
    const named = { enabled: true, metrics: { from }, delivery: { from }, webhookReceiver: { from }, statusPage: { from } }
    t.strictSame(ingress({ networkPolicy: named, webhookReceiver: { enabled: true }, statusPage: { enabled: true } }), [
      replicas,
      { from, ports: [tcp(9445)] },
      { from, ports: [tcp(8443)] },
      { from, ports: [tcp(8444)] },
      admission,
      { from, ports: [tcp(9444)] },
    ])
  })
})

void t.test('limited egress permits DNS, the API server, git hosts and replicas', async (t) => {
  const { policyTypes, egress } = one(objectsOf({ networkPolicy: { enabled: true, egress: { enabled: true } } }), 'NetworkPolicy').spec
  t.strictSame(policyTypes, ['Ingress', 'Egress'])
  const tcp = (port: number): object => ({ port, protocol: 'TCP' })
  const { matchLabels } = deploymentOf(objectsOf({})).spec.selector
  t.strictSame(egress, [
    { to: [{ podSelector: { matchLabels } }], ports: [tcp(9445)] },
    { ports: [{ port: 53, protocol: 'UDP' }, tcp(53)] },
    { ports: [tcp(443), tcp(6443), tcp(22)] },
  ])
  t.strictSame(one(objectsOf(everything), 'NetworkPolicy').spec.egress?.[2], { ports: [tcp(443), tcp(7999)] })
  const openShift = one(objectsOf({ networkPolicy: { enabled: true, egress: { enabled: true, dnsPort: 5353 } } }), 'NetworkPolicy').spec
  t.strictSame(openShift.egress?.[1], { ports: [{ port: 5353, protocol: 'UDP' }, tcp(5353)] })
  t.strictSame(
    objectsOf({ networkPolicy: { egress: { enabled: true } } }).filter(({ kind }) => kind === 'NetworkPolicy'),
    [],
  )
})
