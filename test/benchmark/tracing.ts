/**
 * Memory cost of traces: controller and agent bundled and started as in their images, on a real API server, restarted in every round and
 * measured after one push, with and without an endpoint for traces.
 */
import { systemClock } from '../../runtime/platform/clock.ts'
import { install, readyAt, simulatedGateway } from '../support/installation.ts'
import { childrenRunning, memoryOf } from '../support/measured-process.ts'
import { startOtlpReceiver } from '../support/otlp-receiver.ts'
import { shippedRelease } from '../support/releases.ts'
import { temporaryFolder } from '../support/repository.ts'
import { type Figure, median } from './figures.ts'

/** Time after a push until its memory is reclaimed (`runtime/controller/reclaim-memory.ts`). */
const restMs = 15_000

export async function run({ rounds = 5 }: { rounds?: number }): Promise<Figure[]> {
  const off = await withTraces(false, rounds)
  const on = await withTraces(true, rounds)
  return [
    { name: 'controller at rest after a push, no traces', value: median(off.controller), unit: 'MiB' },
    { name: 'the same, with traces', value: median(on.controller), unit: 'MiB' },
    { name: 'agent at rest after a push, no traces', value: median(off.agent), unit: 'MiB' },
    { name: 'the same, with traces', value: median(on.agent), unit: 'MiB' },
  ]
}

/** Anonymous memory of each process in MiB, for every round. */
async function withTraces(traced: boolean, rounds: number): Promise<{ controller: number[]; agent: number[] }> {
  const teardowns: (() => unknown)[] = []
  const t = { teardown: (handler: () => unknown) => void teardowns.push(handler) }
  try {
    const collector = traced ? await startOtlpReceiver() : undefined
    t.teardown(async () => collector?.stop())
    const tracing = collector && { endpoint: collector.endpoint }
    const cluster = await install(
      t,
      ['plant'],
      { ...(tracing && { tracing }) },
      { release: shippedRelease(temporaryFolder(t, 'programs')) },
    )
    const { host, folder } = cluster
    const plant = host.repository('plant.git')
    plant.commit({ 'projects/line/project.json': '{}' })
    const namespace = cluster.namespace('plant')
    const { simulator, dataDir, port } = await simulatedGateway(t, folder, 'plant')
    await cluster.gatewaySync(namespace, 'plant', {
      git: { repo: host.url('plant.git/.git'), ref: 'main' },
      polling: { interval: '5s' },
      gateway: { port },
      sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
    })
    const gateway = await cluster.gateway(namespace, 'plant', { account: 'gateway', simulator, dataDir })
    const held: { controller: number[]; agent: number[] } = { controller: [], agent: [] }
    for (let round = 0; round < rounds; round += 1) {
      await gateway.stop()
      await cluster.stopController()
      await cluster.startController()
      await gateway.start()
      await readyAt(cluster, namespace, plant.commit({ 'projects/line/view.json': `{"round":${round}}` }))
      await systemClock.wait(restMs)
      for (const name of ['controller', 'agent'] as const) {
        const [pid = 0] = childrenRunning(`${name}.js`)
        held[name].push(memoryOf(pid).anonymousMiB)
      }
    }
    return held
  } finally {
    for (const handler of teardowns.toReversed()) await handler()
  }
}
