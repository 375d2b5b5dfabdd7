/**
 * The NetworkPolicy of the installation, enforced by the node's rules: pods with the label of a port reach it, others do not, and gateways
 * follow pushes as before.
 */
import { execFileSync } from 'node:child_process'
import type { Test } from 'tap'
import { type Addressed, type Labeled, type NetworkPolicy, policyChain, policyRules } from '../../../cluster/node/network-policies.ts'
import { agentPodLabel, metricsReaderLabel } from '../../../../runtime/api/names.ts'
import { gatewayImage } from '../../../support/node-images.ts'
import type { Repository } from '../../../support/repository.ts'
import { until } from '../../../support/world.ts'
import { type Cluster, operator, patience, tellReceiver, untilSynced } from '../cluster.ts'
import { plant } from './install.ts'

const namespace = 'monitoring'
const inMonitoring = `--namespace=${namespace}`
const services = ['metrics', 'delivery', 'webhook-receiver'] as const
type Reached = (typeof services)[number]

/** Clients in another namespace, and the ports open to them. */
const visitors: readonly { name: string; labels: Record<string, string>; reaches: Reached[] }[] = [
  { name: 'stranger', labels: {}, reaches: ['webhook-receiver'] },
  { name: 'collector', labels: { [metricsReaderLabel.key]: metricsReaderLabel.value }, reaches: ['metrics', 'webhook-receiver'] },
  { name: 'agent', labels: { [agentPodLabel]: 'true' }, reaches: ['delivery', 'webhook-receiver'] },
]

export async function keepNetworkPolicy(t: Test, cluster: Cluster, repository: Repository): Promise<void> {
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await cluster.kubectl('wait', '--for=create', 'serviceaccount/default', inMonitoring, patience.wait)
  const jump = ['FORWARD', '-j', policyChain]
  await enforce(cluster)
  iptables('-I', ...jump)
  t.teardown(() => {
    iptables('-D', ...jump)
    iptables('-F', policyChain)
    iptables('-X', policyChain)
  })

  await cluster.apply(...(await Promise.all(visitors.map(async (visitor) => visitorPod(cluster, visitor)))))
  const ended = await until(
    async () => {
      // A client has an address only once it runs.
      await enforce(cluster)
      const pods = await cluster.get<{ items: { metadata: { name: string }; status: { phase: string } }[] }>('pods', inMonitoring)
      return pods.items.every(({ status }) => status.phase === 'Succeeded' || status.phase === 'Failed') ? pods.items : undefined
    },
    'every visitor has tried',
    patience.waitMs,
  )
  t.equal(ended.length, visitors.length)
  for (const { name, reaches } of visitors) {
    t.strictSame(JSON.parse(await cluster.kubectl('logs', name, inMonitoring)), reaches.toSorted(), `a ${name} reaches nothing else`)
  }

  const commit = repository.commit({ 'services/projects/pushed.txt': 'under a NetworkPolicy' })
  await tellReceiver(cluster, plant.namespace, 'plant')
  await untilSynced(cluster, plant, 'plant', repository, commit)
  await cluster.kubectl('delete', 'namespace', namespace, '--wait=false')
}

/** Rewrites the rules for the current pods. */
async function enforce(cluster: Cluster): Promise<void> {
  const everywhere = '--all-namespaces'
  const { items: policies } = await cluster.get<{ items: NetworkPolicy[] }>('networkpolicies', everywhere)
  const { items: pods } = await cluster.get<{ items: (Addressed & { status: { phase?: string } })[] }>('pods', everywhere)
  const { items: namespaces } = await cluster.get<{ items: Labeled[] }>('namespaces')
  if (policies.length === 0) throw new Error('the installation has no NetworkPolicy')
  // The address of a finished pod may be reused.
  const running = pods.filter(({ status: { phase } }) => phase === 'Pending' || phase === 'Running')
  execFileSync('iptables-restore', ['--noflush', '--wait', '30'], {
    input: policyRules(policies, running, namespaces),
    stdio: ['pipe', 'ignore', 'pipe'],
  })
}

function iptables(...words: string[]): void {
  execFileSync('iptables', ['--wait', '30', ...words], { stdio: ['ignore', 'ignore', 'pipe'] })
}

/** Retries until everything that should be open is, and prints the open ports. */
async function visitorPod(cluster: Cluster, { name, labels, reaches }: (typeof visitors)[number]): Promise<object> {
  const targets = Object.fromEntries(
    await Promise.all(
      services.map(async (each) => {
        const service = `${operator.name}-${each}`
        const { spec } = await cluster.get<{ spec: { clusterIP: string; ports: { port: number }[] } }>(
          'service',
          service,
          `--namespace=${operator.namespace}`,
        )
        return [each, { host: spec.clusterIP, port: spec.ports[0]?.port }] as const
      }),
    ),
  )
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels },
    spec: {
      restartPolicy: 'Never',
      containers: [
        {
          name: 'visitor',
          image: gatewayImage,
          imagePullPolicy: 'Never',
          command: ['node', '--input-type=module', '--eval', tryAll],
          env: [
            { name: 'TARGETS', value: JSON.stringify(targets) },
            { name: 'WANTED', value: JSON.stringify(reaches) },
          ],
        },
      ],
    },
  }
}

const tryAll = `
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
const targets = Object.entries(JSON.parse(process.env.TARGETS))
const wanted = JSON.parse(process.env.WANTED)
const isOpen = (options) => new Promise((resolve) => {
  const socket = connect({ ...options, timeout: 10_000 }, () => { socket.destroy(); resolve(true) })
  socket.on('error', () => resolve(false))
  socket.on('timeout', () => socket.destroy(new Error('no answer')))
})
const open = async () => {
  const found = await Promise.all(targets.map(async ([name, options]) => [name, await isOpen(options)]))
  return found.flatMap(([name, yes]) => yes ? [name] : []).sort()
}
let found = await open()
for (let tries = 0; tries < 240 && !wanted.every((name) => found.includes(name)); tries += 1) {
  await wait(500)
  found = await open()
}
console.log(JSON.stringify(found))
`
