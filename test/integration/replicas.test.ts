/**
 * Two installed replicas of the controller, and an agent that connects to the standby.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { install, type Installation, readyAt, simulatedGateway } from '../support/installation.ts'
import type { Repository } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

/** A Lease expires after 15 s. An idle machine takes 1.2 to 2 s; one that runs three test files may be slow. */
const wellBeforeMs = 10_000

void t.test(
  'a push causes one fetch whichever replica the agent uses, and the other replica leads after the first',
  { timeout: 600_000 },
  async (t) => {
    if (!requires(t, 'git', 'kubectl')) return
    const cluster = await install(t, ['plant'], {}, { agentsAskStandby: true })
    t.teardown(() => {
      if (!t.passing()) t.comment(cluster.logs.join(''))
    })
    const { host, receiver } = cluster
    const { namespace, repository, content } = await startPlant(t, cluster)

    const before = host.fetches()
    const second = repository.commit({ 'projects/a.txt': 'two' })
    const headers = { authorization: `Bearer ${receiver.token}`, 'content-type': 'application/json' }
    const push = await fetch(`${receiver.url}/webhook/${namespace}/plant`, { method: 'POST', headers, body: '{"ref":"main"}' })
    t.equal(push.status, 202)
    await readyAt(cluster, namespace, second)
    t.equal(content(), 'two')
    t.equal(host.fetches() - before, 1)

    // This commit is not announced: the next leader checks without a push.
    const third = repository.commit({ 'projects/a.txt': 'three' })
    t.equal(await cluster.stopController(), 0)
    await readyAt(cluster, namespace, third)
    t.equal(content(), 'three')
  },
)

void t.test('a killed leader is replaced long before its Lease expires', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl')) return
  const cluster = await install(t, ['plant'], {}, { agentsAskStandby: true })
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.join(''))
  })
  const { namespace, repository, content } = await startPlant(t, cluster)
  const killedMs = performance.now()
  process.kill(cluster.controllerPid(), 'SIGKILL')
  // This commit is not announced: the next leader checks without a push.
  const second = repository.commit({ 'projects/a.txt': 'two' })
  await until(async () => ((await cluster.leader()) === 'controller-1' ? true : undefined), 'the other replica leads')
  const followedMs = performance.now() - killedMs
  t.ok(followedMs < wellBeforeMs, `after ${Math.round(followedMs)} ms`)
  t.match(cluster.logs.join(''), /probing it through the Lease/, 'by its question, and not by time')
  await readyAt(cluster, namespace, second)
  t.equal(content(), 'two')
})

/** Two replicas, and a gateway with the first commit of its GatewaySync `plant`. */
async function startPlant(t: Test, cluster: Installation): Promise<{ namespace: string; repository: Repository; content: () => string }> {
  const { host, folder } = cluster
  const namespace = cluster.namespace('plant')
  await cluster.startStandby()
  const repository = host.repository('plant.git')
  const first = repository.commit({ 'projects/a.txt': 'one' })
  const { simulator, dataDir, port } = await simulatedGateway(t, folder, 'gateway-0')
  await cluster.gatewaySync(namespace, 'plant', {
    git: { repo: host.url('plant.git/.git'), ref: 'main' },
    polling: { enabled: false },
    gateway: { port },
    sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  })
  await cluster.gateway(namespace, 'gateway-0', { account: 'gateway', simulator, dataDir })
  const content = (): string => readFileSync(path.join(dataDir, 'projects/a.txt'), 'utf8')
  await readyAt(cluster, namespace, first)
  t.equal(content(), 'one')
  return { namespace, repository, content }
}
