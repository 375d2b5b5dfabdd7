/**
 * A large installation: 1,000 GatewaySyncs of 20 repositories with 5,000 gateway pods and their reports, 500 gateways under one more, and 50
 * under another. API server, etcd, git host and gateways are outside; the controller is the one that is shipped, in the memory of its
 * container. What it holds, computes and asks while nothing happens; how long a push takes; what it holds at most. `size`: GatewaySyncs.
 */
import * as v from 'valibot'
import { resolveProfile, syncHash } from '../../runtime/gatewaysync/decide/profile.ts'
import { gatewaySyncSpec } from '../../runtime/gatewaysync/schema/spec.ts'
import { systemClock } from '../../runtime/clock.ts'
import { install, type Installation } from '../support/installation.ts'
import { pushTo } from '../support/push.ts'
import { type Repository, temporaryFolder } from '../support/repository.ts'
import { plantFiles } from './contents.ts'
import { type Figure, median } from './figures.ts'
import { type CallLog, logCalls } from './scale/api-calls.ts'
import { type Contained, containController, processorMs, sample } from './scale/contained.ts'
import { type Followers, startFollowers } from './scale/followers.ts'
import {
  createPlants,
  createPods,
  createReports,
  forEach,
  type GatewayPod,
  type Plant,
  specOf,
  untilTaken,
  writeReport,
} from './scale/plants.ts'
import { isReadyAt, type Seen, watchPlants } from './scale/seen.ts'

/** Of `resources.limits` of the manifests. */
const limitMiB = 128
const podsOfEach = 5
const plantsOfNamespace = 20
const plantsOfRepository = 50
const filesOfRepository = 100
/** After a start, until what it caused is over. */
const settleMs = 15_000
const restMs = 60_000
const pushes = 7
const lifetimeMs = 1_500_000

type Bench = { cluster: Installation; contained: Contained; calls: CallLog; seen: Seen; repositories: readonly Repository[]; hash: string }

export async function run({ size = 1_000 }: { size?: number }): Promise<Figure[]> {
  const teardowns: (() => unknown)[] = []
  const t = { teardown: (handler: () => unknown) => void teardowns.push(handler) }
  try {
    const contained = containController(limitMiB)
    t.teardown(() => contained.remove())
    const calls = logCalls(temporaryFolder(t, 'scale'))
    const namespaces = Array.from({ length: Math.ceil(size / plantsOfNamespace) }, (_, index) => `plant-${index}`)
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
    return await measure(bench, namespaces, size)
  } finally {
    for (const handler of teardowns.toReversed()) await handler()
  }
}

async function measure(bench: Bench, prefixes: readonly string[], size: number): Promise<Figure[]> {
  const { cluster, contained, seen } = bench
  const { plants, pods } = await fill(bench, prefixes, size)
  await cluster.stopController()
  // From here on: its start is part of what it holds at most.
  const memory = sample(() => contained.workingSetMiB(cluster.controllerPid()))
  const own = sample(() => contained.anonymousMiB(cluster.controllerPid()))
  const startedMs = performance.now()
  await cluster.startController()
  const started = figure('start until ready', performance.now() - startedMs, 'ms')
  const rest = await atRest(bench)
  const pushed = await pushAll(bench, plants, pods)
  const fleet = await followed(bench, 'fleet', Math.ceil(size / 2))
  const line = await followed(bench, 'line', Math.min(50, Math.ceil(size / 2)))
  const { peak } = memory.stop()
  const { peak: ownPeak } = own.stop()
  await seen.stop()
  const limit = contained.limitMiB
  return [
    figure(`GatewaySyncs, with ${pods.length} pods`, plants.length, ''),
    figure(`memory limit${limit === undefined ? ', which could not be set here' : ''}`, limitMiB, 'MiB'),
    started,
    ...rest,
    ...pushed,
    ...fleet,
    ...line,
    figure('working set at most, from the start on', peak, 'MiB'),
    figure('anonymous memory at most, from the start on', ownPeak, 'MiB'),
  ]
}

/** GatewaySyncs that have published, pods, and reports that each gateway runs what is published. */
async function fill({ cluster, seen, repositories, hash }: Bench, prefixes: readonly string[], size: number) {
  const plants = Array.from({ length: size }, (_, index): Plant => {
    const namespace = cluster.namespace(prefixes[index % prefixes.length] ?? '')
    return { namespace, name: `plant-${index}`, repo: cluster.host.url(`${index % repositories.length}.git/.git`) }
  })
  await createPlants(cluster, plants)
  const pods = await createPods(cluster, plants, podsOfEach)
  await createReports(cluster, pods)
  await seen.all(plants.map(keyOf), ({ published }) => published !== undefined, 300_000)
  await reportAll({ cluster, seen, hash }, pods)
  await seen.all(plants.map(keyOf), (status) => isReadyAt(status.published?.commit)(status), 300_000)
  return { plants, pods }
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
  const memory = sample(() => contained.workingSetMiB(pid), 250)
  const own = sample(() => contained.anonymousMiB(pid), 250)
  await systemClock.wait(restMs)
  const { mean } = memory.stop()
  const minutes = restMs / 60_000
  const asked = calls.between(before.mark, calls.mark())
  return [
    figure('at rest: working set, mean', mean, 'MiB'),
    figure('at rest: anonymous memory, mean', own.stop().mean, 'MiB'),
    figure('at rest: processor time with git', (processorMs(pid) - before.ms) / minutes / 1000, 's/min'),
    figure('at rest: questions to the git host', (cluster.host.fetches() - before.fetches) / minutes, '/min'),
    ...[...asked].map(([call, count]) => figure(`at rest: API calls, ${call}`, count / minutes, '/min')),
  ]
}

/** One push of each repository, of which its host tells one GatewaySync; then each gateway reports that it has the commit. */
async function pushAll(bench: Bench, plants: readonly Plant[], pods: readonly GatewayPod[]): Promise<Figure[]> {
  const { cluster, seen, repositories, calls } = bench
  const heads = new Map(repositories.map((repository, index) => [cluster.host.url(`${index}.git/.git`), change(repository, 'all')]))
  const before = { mark: calls.mark(), fetches: cluster.host.fetches(), ms: processorMs(cluster.controllerPid()) }
  const headOf = new Map(plants.map((plant) => [keyOf(plant), heads.get(plant.repo)]))
  const startedMs = performance.now()
  await Promise.all(
    plants.slice(0, repositories.length).map(({ namespace, name }) => untilTaken(() => pushTo(cluster.receiver, namespace, name))),
  )
  const published = await seen.all(plants.map(keyOf), (status, key) => status.published?.commit === headOf.get(key), 300_000)
  const fetches = cluster.host.fetches() - before.fetches
  await reportAll(bench, pods)
  const reportedMs = performance.now()
  const ready = await seen.all(plants.map(keyOf), (status, key) => isReadyAt(headOf.get(key))(status), 300_000)
  const writes = calls.between(before.mark, calls.mark()).get('patch gatewaysyncs/status') ?? 0
  return [
    figure('one push of each repository: all have published after', (published - startedMs) / 1000, 's'),
    figure('one push of each repository: questions to the git host', fetches, ''),
    figure('all gateways reported: all are ready after the last', Math.max(0, ready - reportedMs) / 1000, 's'),
    figure('one push of each repository and all reports: status writes', writes, ''),
    figure('the same: processor time with git', (processorMs(cluster.controllerPid()) - before.ms) / 1000, 's'),
  ]
}

/** Many gateways under one GatewaySync: from a push until each has its file, until all is reported, and what that cost the git host. */
async function followed(bench: Bench, prefix: string, count: number): Promise<Figure[]> {
  const { cluster, seen, hash } = bench
  const name = `${prefix}.git`
  const repository = cluster.host.repository(name)
  const first = repository.commit(plantFiles({ files: filesOfRepository, folders: filesOfRepository / 2 }))
  const plant: Plant = { namespace: cluster.namespace(prefix), name: prefix, repo: cluster.host.url(`${name}/.git`) }
  await cluster.gatewaySync(plant.namespace, plant.name, { ...specOf(plant.repo), polling: { enabled: false } })
  await seen.all([keyOf(plant)], ({ published }) => published?.commit === first, 60_000)
  const followers = await startFollowers(cluster, seen, plant, { count, syncHash: hash })
  await followers.have(first)
  await seen.all([keyOf(plant)], isReadyAt(first), 120_000)
  await followers.settled()
  const ended: { last: number; middle: number; ready: number; fetches: number; writes: number; ms: number }[] = []
  for (let round = 0; round < pushes; round += 1) ended.push(await pushOnce(bench, plant, repository, followers, round))
  const of = (member: keyof (typeof ended)[number]): number => median(ended.map((one) => one[member]))
  const figures: [string, number, string][] = [
    ['push to the file of half of them, median', of('middle'), 'ms'],
    ['push to the last file, median', of('last'), 'ms'],
    ['push to Ready, median', of('ready'), 'ms'],
    ['questions to the git host, most', Math.max(...ended.map(({ fetches }) => fetches)), ''],
    ['status writes, median', of('writes'), ''],
    ['processor time of the controller with git, median', of('ms'), 'ms'],
  ]
  return figures.map(([what, value, unit]) => figure(`${count} gateways of one: ${what}`, value, unit))
}

async function pushOnce({ cluster, seen, calls }: Bench, plant: Plant, repository: Repository, followers: Followers, round: number) {
  const before = { mark: calls.mark(), ms: processorMs(cluster.controllerPid()) }
  const asked = cluster.host.requests.length
  const head = change(repository, `round ${round}`)
  const startedMs = performance.now()
  await untilTaken(() => pushTo(cluster.receiver, plant.namespace, plant.name))
  const times = await followers.have(head)
  const ready = await seen.all([keyOf(plant)], isReadyAt(head), 120_000)
  await followers.settled()
  const own = `/${plant.name}.git/`
  return {
    last: Math.max(...times) - startedMs,
    middle: median(times) - startedMs,
    ready: ready - startedMs,
    fetches: cluster.host.requests.slice(asked).filter((url) => url.startsWith(own) && url.includes('/info/refs')).length,
    writes: calls.between(before.mark, calls.mark()).get('patch gatewaysyncs/status') ?? 0,
    ms: processorMs(cluster.controllerPid()) - before.ms,
  }
}

function change(repository: Repository, text: string): string {
  return repository.commit({ 'projects/f0/0.json': `${text}\n` })
}

/** What agents of the plants report to have applied. */
function hashOf(repo: string): string {
  const spec = v.parse(gatewaySyncSpec({ allowLocal: false }), specOf(repo))
  return syncHash(resolveProfile(spec.sync, 'default'), spec.gateway)
}

function keyOf({ namespace, name }: Plant): string {
  return `${namespace}/${name}`
}

/** Also says it at once: a run takes long, and what it has told is not lost when it fails. */
function figure(name: string, value: number, unit: string): Figure {
  process.stderr.write(`${name}: ${Number(value.toFixed(2))} ${unit}\n`)
  return { name, value, unit }
}
