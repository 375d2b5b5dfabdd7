/**
 * A namespace with GatewaySyncs and pods as large as the API server accepts: the shipped controller, within the memory limit of its
 * container, keeps running and publishes a push of another namespace. `size`: number of large GatewaySyncs, with twice as many large pods.
 */
import { podAnnotations } from '../../runtime/api/names.ts'
import { podType } from '../../runtime/kube/types.ts'
import { install } from '../support/installation.ts'
import { pushTo } from '../support/push.ts'
import { tinyPod, until } from '../support/world.ts'
import type { Figure } from './figures.ts'
import { change, figure } from './scale/bench.ts'
import { containController, sample } from './scale/contained.ts'
import { forEach, specOf } from './scale/plants.ts'

const limitMiB = 128
const pushes = 5
/** The API server stores objects of up to 1.5 MB. The patterns of each profile are limited, their total is not. */
const patterns = Array.from({ length: 64 }, (_, index) => `${index}-${'x'.repeat(500)}`)
const largeSpec = (repo: string): object => {
  const mappings = [{ source: 'projects', destination: 'projects' }]
  const profiles = Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`p${index}`, { mappings, excludePatterns: patterns }]))
  return { git: { repo, ref: 'main' }, sync: { profiles } }
}

export async function run({ size = 60 }: { size?: number }): Promise<Figure[]> {
  const teardowns: (() => unknown)[] = []
  const t = { teardown: (handler: () => unknown) => void teardowns.push(handler) }
  try {
    return await measure(t, size)
  } finally {
    for (const handler of teardowns.toReversed()) await handler()
  }
}

async function measure(t: Parameters<typeof install>[0], size: number): Promise<Figure[]> {
  const contained = containController(limitMiB)
  t.teardown(() => contained.remove())
  const options = { command: contained.command, wholeCluster: true, sourceParent: contained.folder }
  const cluster = await install(t, ['hostile', 'plant'], {}, options)
  const [hostile, plant] = [cluster.namespace('hostile'), cluster.namespace('plant')]
  const repository = cluster.host.repository('plant.git')
  change(repository, 'first')
  const repo = cluster.host.url('plant.git/.git')
  await cluster.stopController()
  const spec = largeSpec(repo)
  const names = Array.from({ length: size }, (_, index) => `large-${index}`)
  await forEach(
    names.flatMap((name) => [`${name}-0`, `${name}-1`]),
    async (name) => {
      const { kube, signal } = cluster.world
      await kube.create(podType, tinyPod(hostile, name, { account: 'gateway' }), signal)
      // Added later, so that the pod does not go through admission.
      const annotations = { [podAnnotations.inject]: 'true', 'clustersync.io/x': 'x'.repeat(250_000) }
      await kube.mergePatch(podType, { namespace: hostile, name }, { metadata: { annotations } }, {}, signal)
    },
  )
  await forEach(names, async (name) => await cluster.gatewaySync(hostile, name, spec))
  await cluster.gatewaySync(plant, 'plant', specOf(repo))
  contained.forgetProgram()
  const memory = sample(() => contained.workingSetMiB(cluster.controllerPid()))
  const anonymous = sample(() => contained.anonymousMiB(cluster.controllerPid()))
  const startedMs = performance.now()
  await cluster.startController()
  const readyMs = performance.now() - startedMs
  const publishedMs: number[] = []
  for (let index = 0; index < pushes; index += 1) {
    const commit = change(repository, `push ${index}`)
    const pushedMs = performance.now()
    await pushTo(cluster.receiver, plant, 'plant')
    await until(async () => ((await cluster.status(plant, 'plant')).published?.commit === commit ? true : undefined), 'published')
    publishedMs.push(performance.now() - pushedMs)
  }
  const isRefused = async (name: string): Promise<boolean> =>
    (await cluster.status(hostile, name)).conditions?.some(({ type, reason }) => type === 'Stalled' && reason === 'TooLarge') === true
  await until(async () => ((await Promise.all(names.map(isRefused))).every(Boolean) ? true : undefined), 'all large ones are Stalled')
  return [
    figure(`GatewaySyncs of ${(JSON.stringify(spec).length / 1e6).toPrecision(2)} MB, all Stalled with TooLarge`, size, ''),
    figure('pods with 250 KB of annotations', 2 * size, ''),
    figure('start until ready', readyMs, 'ms'),
    figure('first push of another namespace until published, after the start', publishedMs[0] ?? Number.NaN, 'ms'),
    figure('slowest of its next four pushes', Math.max(...publishedMs.slice(1)), 'ms'),
    figure('processes ended for want of memory', contained.killed(), ''),
    figure(`working set at most, of ${contained.limitMiB ?? 'no'} MiB`, memory.stop().peak, 'MiB'),
    figure('anonymous memory at most', anonymous.stop().peak, 'MiB'),
  ]
}
