/**
 * From the start of a process to its first answers: controller and agent bundled and started as in their images, on a real API server, with
 * one GatewaySync and one gateway that has its commit. An idle Node process is the reference, since no process can start faster.
 */
import { spawnSync } from 'node:child_process'
import { systemClock } from '../../runtime/platform/clock.ts'
import { install, simulatedGateway } from '../support/installation.ts'
import { shippedRelease } from '../support/releases.ts'
import { temporaryFolder } from '../support/repository.ts'
import { until } from '../support/world.ts'
import { type Figure, median } from './figures.ts'

const answersWithinMs = 60_000
const askEveryMs = 2

export async function run({ rounds = 10 }: { rounds?: number }): Promise<Figure[]> {
  const teardowns: (() => unknown)[] = []
  const t = { teardown: (handler: () => unknown) => void teardowns.push(handler) }
  try {
    const cluster = await install(t, ['plant'], {}, { release: shippedRelease(temporaryFolder(t, 'programs')) })
    const { host, folder, ports } = cluster
    const head = host.repository('plant.git').commit({ 'projects/line/project.json': '{}' })
    const namespace = cluster.namespace('plant')
    const { simulator, dataDir, port } = await simulatedGateway(t, folder, 'plant')
    await cluster.gatewaySync(namespace, 'plant', {
      git: { repo: host.url('plant.git/.git'), ref: 'main' },
      polling: { enabled: false },
      gateway: { port },
      sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
    })
    const gateway = await cluster.gateway(namespace, 'plant', { account: 'gateway', simulator, dataDir })
    await until(async () => ((await cluster.report(namespace, 'plant'))?.commit === head ? true : undefined), 'the gateway is synced')

    const took: Record<'node' | 'agentLives' | 'agentStarted' | 'controllerReady', number[]> = {
      node: [],
      agentLives: [],
      agentStarted: [],
      controllerReady: [],
    }
    for (let round = 0; round < rounds; round += 1) {
      const startedMs = performance.now()
      spawnSync(process.execPath, ['--eval', ''])
      took.node.push(performance.now() - startedMs)
      await gateway.stop()
      await gateway.start()
      const agentMs = performance.now()
      took.agentLives.push((await answered(`http://127.0.0.1:${gateway.agentPort}/livez`)) - agentMs)
      took.agentStarted.push((await answered(`http://127.0.0.1:${gateway.agentPort}/startz`)) - agentMs)
      await cluster.stopController()
      const controllerMs = performance.now()
      const ready = answered(`http://127.0.0.1:${ports.probes}/readyz`)
      await cluster.startController()
      took.controllerReady.push((await ready) - controllerMs)
    }
    return [
      { name: 'node that does nothing, started and ended', value: median(took.node), unit: 'ms' },
      { name: 'agent, from its start to its first answer', value: median(took.agentLives), unit: 'ms' },
      { name: 'agent, until its gateway may start', value: median(took.agentStarted), unit: 'ms' },
      { name: 'controller, from its start to ready', value: median(took.controllerReady), unit: 'ms' },
    ]
  } finally {
    for (const handler of teardowns.toReversed()) await handler()
  }
}

/** The time at which a probe first succeeds. */
async function answered(url: string): Promise<number> {
  const endMs = performance.now() + answersWithinMs
  while (performance.now() < endMs) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(answersWithinMs) }).catch(() => undefined)
    if (answer?.status === 200) return performance.now()
    await systemClock.wait(askEveryMs)
  }
  throw new Error(`not within ${answersWithinMs / 1000} s: ${url} answers`)
}
