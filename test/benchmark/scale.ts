/**
 * A large installation: 1,000 GatewaySyncs of 20 repositories with 5,000 gateway pods and their reports, another GatewaySync with 500
 * gateways, and another with 50. API server, etcd, git host and gateways run outside; the controller is the shipped one, within the memory
 * limit of its container. Measures its memory, processor time and API calls at rest, the time that a push takes, and its peak memory.
 * `size`: number of GatewaySyncs. `stages`: measures only that many gateways of one GatewaySync, in that number of stages, under pushes.
 */
import { systemClock } from '../../runtime/platform/clock.ts'
import { install } from '../support/installation.ts'
import { pushTo } from '../support/push.ts'
import { temporaryFolder } from '../support/repository.ts'
import { until } from '../support/world.ts'
import { plantFiles } from './contents.ts'
import { type Figure, median } from './figures.ts'
import { logCalls } from './scale/api-calls.ts'
import { type Bench, change, figure, keyOf } from './scale/bench.ts'
import { type Contained, containController, processorMs, sample } from './scale/contained.ts'
import { followed } from './scale/fleet.ts'
import { openScraper, type Scrape } from './scale/scrape.ts'
import { staged } from './scale/staged.ts'
import {
  createPlants,
  createPods,
  createReports,
  forEach,
  type GatewayPod,
  hashOf,
  type Plant,
  untilTaken,
  writeReport,
} from './scale/plants.ts'
import { isReadyAt, watchPlants } from './scale/seen.ts'
import { lookForStrain } from './scale/strain.ts'

/** From `resources.limits` in the manifests. */
const limitMiB = 128
const podsOfEach = 5
const filesOfRepository = 100
const plantsOfNamespace = 20
const plantsOfRepository = 50
/** After a start, until its effects have settled. */
const settleMs = 15_000
const restMs = 60_000
/** After the last push, until the validation thread has ended and its memory is collected. */
const quietMs = 45_000
/** The default scrape interval of the monitors. */
const scrapeEachMs = 15_000
const scrapes = 5
/** For the whole installation, on a machine that is busy with creating it. */
const fillMs = 600_000
const lifetimeMs = 3_600_000
/** Maximum length of the controller log that is printed when a run fails. */
const linesOfLog = 60

export async function run({ size = 1_000, stages }: { size?: number; stages?: number }): Promise<Figure[]> {
  if (stages !== undefined && stages > 10)
    throw new Error('--stages must be 10 at most: each has gateways by the last digit of their names')
  const teardowns: (() => unknown)[] = []
  const t = { teardown: (handler: () => unknown) => void teardowns.push(handler) }
  try {
    const contained = containController(limitMiB)
    t.teardown(() => contained.remove())
    const calls = logCalls(temporaryFolder(t, 'scale'))
    const namespaces = Array.from(
      { length: stages === undefined ? Math.ceil(size / plantsOfNamespace) : 0 },
      (_, index) => `plant-${index}`,
    )
    const options = { ...calls.plane, command: contained.command, wholeCluster: true, sourceParent: contained.folder, lifetimeMs }
    const cluster = await install(t, [...namespaces, 'fleet', 'line'], {}, options)
    const seen = watchPlants(cluster)
    t.teardown(() => seen.stop())
    const repositories = Array.from({ length: Math.max(2, Math.ceil(size / plantsOfRepository)) }, (_, index) => {
      const repository = cluster.host.repository(`${index}.git`)
      repository.commit(plantFiles({ files: filesOfRepository, folders: filesOfRepository / 2 }))
      return repository
    })
    const bench: Bench = { cluster, contained, calls, seen, repositories, hash: hashOf(cluster.host.url('0.git/.git')) }
    const measured = stages === undefined ? measure(bench, namespaces, size) : staged(bench, size, stages)
    return await measured.catch((error: unknown) => {
      process.stderr.write(`${cluster.logs.join('').split('\n').slice(-linesOfLog).join('\n')}\n`)
      throw error
    })
  } finally {
    for (const handler of teardowns.toReversed()) await handler()
  }
}

async function measure(bench: Bench, prefixes: readonly string[], size: number): Promise<Figure[]> {
  const { cluster, contained, seen } = bench
  const { plants, pods } = await fill(bench, prefixes, size)
  await cluster.stopController()
  contained.forgetProgram()
  // Measures from here on, since the start counts toward the peak.
  const memory = sample(() => contained.workingSetMiB(cluster.controllerPid()))
  const own = sample(() => contained.anonymousMiB(cluster.controllerPid()))
  const startedMs = performance.now()
  await cluster.startController()
  const started = figure('start until ready', performance.now() - startedMs, 'ms')
  const rest = await atRest(bench)
  const scraped = await scrapeAll(bench, plants)
  const pushed = await pushAll(bench, plants, pods)
  const line = await followed(bench, 'line', Math.min(50, Math.ceil(size / 2)))
  const fleet = await followed(bench, 'fleet', Math.ceil(size / 2))
  await systemClock.wait(quietMs)
  const held = holding(contained, cluster.controllerPid())
  await systemClock.wait(settleMs)
  const afterwards = held('at rest after all of it')
  const killed = contained.killed()
  if (killed > 0) throw new Error(`${killed} processes of the controller were ended for want of memory`)
  const { peak } = memory.stop()
  const { peak: ownPeak } = own.stop()
  await seen.stop()
  const limit = contained.limitMiB
  return [
    figure(`GatewaySyncs, with ${pods.length} pods`, plants.length, ''),
    figure(`memory limit${limit === undefined ? ', which could not be set here' : ''}`, limitMiB, 'MiB'),
    ...(contained.readAheadKiB === undefined ? [] : [figure('read-ahead of the disk', contained.readAheadKiB, 'KiB')]),
    started,
    ...rest,
    ...scraped,
    ...pushed,
    ...line,
    ...fleet,
    ...afterwards,
    figure('processes ended for want of memory', killed, ''),
    figure('working set at most, from the start on', peak, 'MiB'),
    figure('anonymous memory at most, from the start on', ownPeak, 'MiB'),
  ]
}

/** Published GatewaySyncs, pods, and reports of every gateway at the published commit. */
async function fill({ cluster, seen, repositories, hash }: Bench, prefixes: readonly string[], size: number) {
  const plants = Array.from({ length: size }, (_, index): Plant => {
    const namespace = cluster.namespace(prefixes[index % prefixes.length] ?? '')
    return { namespace, name: `plant-${index}`, repo: cluster.host.url(`${index % repositories.length}.git/.git`) }
  })
  await step('GatewaySyncs made', async () => createPlants(cluster, plants))
  const pods = await step('pods made', async () => createPods(cluster, plants, podsOfEach))
  await step('reports made', async () => createReports(cluster, pods))
  const keys = plants.map(keyOf)
  await step('all have published', async () => seen.all(keys, ({ published }) => published !== undefined, fillMs))
  await step('all gateways have reported', async () => reportAll({ cluster, seen, hash }, pods))
  await step('all are ready', async () => seen.all(keys, (status) => isReadyAt(status.published?.commit)(status), fillMs))
  return { plants, pods }
}

/** Prints the duration of a preparation step; a step of a large installation takes minutes. */
async function step<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  const startedMs = performance.now()
  const result = await work()
  process.stderr.write(`${what} after ${((performance.now() - startedMs) / 1000).toFixed(1)} s\n`)
  return result
}

async function reportAll({ cluster, seen, hash }: Pick<Bench, 'cluster' | 'seen' | 'hash'>, pods: readonly GatewayPod[]): Promise<void> {
  await forEach(pods, async (pod) => {
    const commit = seen.of(keyOf(pod.plant))?.published?.commit ?? ''
    await writeReport(cluster, pod, { commit, syncHash: hash })
  })
}

async function atRest({ cluster, contained, calls }: Bench): Promise<Figure[]> {
  const pid = cluster.controllerPid()
  await systemClock.wait(settleMs)
  const before = { mark: calls.mark(), ms: processorMs(pid), fetches: cluster.host.fetches() }
  const held = holding(contained, pid)
  await systemClock.wait(restMs)
  const memory = held('at rest')
  const minutes = restMs / 60_000
  const asked = calls.between(before.mark, calls.mark())
  return [
    ...memory,
    figure('at rest: processor time with git', (processorMs(pid) - before.ms) / minutes / 1000, 's/min'),
    figure('at rest: questions to the git host', (cluster.host.fetches() - before.fetches) / minutes, '/min'),
    ...[...asked].map(([call, count]) => figure(`at rest: API calls, ${call}`, count / minutes, '/min')),
  ]
}

/** Starts to sample; the returned function stops and returns the figures. */
function holding(contained: Contained, pid: number): (when: string) => Figure[] {
  const looks = [
    ['working set', sample(() => contained.workingSetMiB(pid), 250)],
    ['anonymous memory', sample(() => contained.anonymousMiB(pid), 250)],
    ['pages of files among the working set', sample(() => contained.filesMiB() ?? 0, 250)],
  ] as const
  return (when) => looks.map(([what, look]) => figure(`${when}: ${what}, mean`, look.stop().mean, 'MiB'))
}

/** The cost of a Prometheus that scrapes at the interval of the monitors. */
async function scrapeAll({ cluster, contained, seen }: Bench, [plant]: readonly Plant[]): Promise<Figure[]> {
  if (plant === undefined) return []
  const pid = cluster.controllerPid()
  const scraper = await openScraper(cluster, plant.namespace, seen.of(keyOf(plant))?.delivery?.caBundle ?? '')
  const scrape = () => scraper(cluster.ports.metrics)
  await until(async () => ((await scrape()).status === 200 ? true : undefined), 'the account may read the metrics')
  const memory = sample(() => contained.anonymousMiB(pid))
  const before = processorMs(pid)
  const read: Scrape[] = []
  for (let round = 0; round < scrapes; round += 1) {
    read.push(await scrape())
    await systemClock.wait(scrapeEachMs)
  }
  const [last] = read
  return [
    figure('a scrape: series', last?.series ?? 0, ''),
    figure('a scrape: size', (last?.bytes ?? 0) / 1024 / 1024, 'MiB'),
    figure('a scrape: time, median', median(read.map(({ ms }) => ms)), 'ms'),
    figure('scraped every 15 s: processor time', (processorMs(pid) - before) / ((scrapes * scrapeEachMs) / 60_000) / 1000, 's/min'),
    figure('scraped every 15 s: anonymous memory at most', memory.stop().peak, 'MiB'),
  ]
}

/** One push per repository, with a webhook call for one of its GatewaySyncs; then each gateway reports the commit. */
async function pushAll(bench: Bench, plants: readonly Plant[], pods: readonly GatewayPod[]): Promise<Figure[]> {
  const { cluster, seen, repositories, calls } = bench
  const heads = new Map(repositories.map((repository, index) => [cluster.host.url(`${index}.git/.git`), change(repository, 'all')]))
  const before = { mark: calls.mark(), fetches: cluster.host.fetches(), ms: processorMs(cluster.controllerPid()) }
  const strain = lookForStrain(bench)
  const headOf = new Map(plants.map((plant) => [keyOf(plant), heads.get(plant.repo)]))
  const startedMs = performance.now()
  await Promise.all(
    plants.slice(0, repositories.length).map(({ namespace, name }) => untilTaken(() => pushTo(cluster.receiver, namespace, name))),
  )
  const published = await seen.all(plants.map(keyOf), (status, key) => status.published?.commit === headOf.get(key), fillMs)
  const fetches = cluster.host.fetches() - before.fetches
  await reportAll(bench, pods)
  const reportedMs = performance.now()
  const ready = await seen.all(plants.map(keyOf), (status, key) => isReadyAt(headOf.get(key))(status), fillMs)
  const writes = calls.between(before.mark, calls.mark()).get('patch gatewaysyncs/status') ?? 0
  return [
    figure('one push of each repository: all have published after', (published - startedMs) / 1000, 's'),
    figure('one push of each repository: questions to the git host', fetches, ''),
    figure('all gateways reported: all are ready after the last', Math.max(0, ready - reportedMs) / 1000, 's'),
    figure('one push of each repository and all reports: status writes', writes, ''),
    figure('the same: processor time with git', (processorMs(cluster.controllerPid()) - before.ms) / 1000, 's'),
    ...(await strain.stop('the same')),
  ]
}
