/**
 * Three replicas of the controller, two hundred GatewaySyncs with a gateway each, pushes at random, and faults between: the API server killed
 * and its history dropped, every connection cut, connections that lead nowhere and tell nobody, leaders and standbys killed, leaders frozen,
 * the Lease taken away. In the end no watch may have missed anything, each push that was taken must have an outcome, and each gateway hold
 * exactly what git says.
 *
 * Some of the gateways have a real agent and a simulator; the others are light ones (chaos/gateway.ts).
 */
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { differences } from '../../scripts/quickstart/check.ts'
import { systemClock } from '../../runtime/clock.ts'
import { isReadyAt, type Seen, watchPlants } from '../benchmark/scale/seen.ts'
import { install, type Installation } from '../support/installation.ts'
import { bundlePrograms } from '../support/measured-process.ts'
import { presentRelease } from '../support/releases.ts'
import { temporaryFolder } from '../support/repository.ts'
import { openRoad, type Road } from '../support/road.ts'
import { filesOf } from './chaos/gateway.ts'
import { change, type Followed, keyOf, makePlants, openPlants, prefixes } from './chaos/plants.ts'
import { replicaPorts, type Replicas, startReplicas } from './chaos/replicas.ts'
import { startWatchers, type Watchers } from './chaos/watchers.ts'

const pushEveryMs = 400
const faultEveryMs = 6_000
/** A watch that leads nowhere is noticed after two and a half minutes without a bookmark. */
const settleMs = 300_000
/** Of the times until another replica leads, the median must be below this: by waiting for the Lease alone it would be above 15 s. */
const followedWithinMs = 10_000

type Soak = {
  cluster: Installation
  roads: { controllers: Road; agents: Road }
  replicas: Replicas
  seen: Seen
  watchers: Watchers
  plants: Followed[]
  /** Each request that was taken, with the GatewaySync that it was for; and those that had an outcome. */
  taken: Map<string, string>
  outcomes: Map<string, string>
}

export async function run({ minutes }: { minutes: number }): Promise<string[]> {
  const teardowns: (() => unknown)[] = []
  const t = { teardown: (handler: () => unknown) => void teardowns.push(handler) }
  try {
    const soak = await start(t, minutes)
    const { counts, broken } = await meddle(soak, minutes)
    return [...broken, ...(await judge(soak, counts))]
  } finally {
    for (const handler of teardowns.toReversed()) await handler()
  }
}

type Scope = { teardown(handler: () => unknown): void }

async function start(t: Scope, minutes: number): Promise<Soak> {
  const folder = temporaryFolder(t, 'chaos')
  const [controller = '', agent = ''] = await bundlePrograms(['runtime/controller.ts', 'runtime/agent.ts'], folder)
  const ports = await replicaPorts()
  const apiServer: number[] = []
  const [controllers, agents] = [await openRoad(t, () => apiServer), await openRoad(t, () => apiServer)]
  const any = (port: 'admission' | 'delivery') => () => ports.map((own) => own[port]).toSorted(() => Math.random() - 0.5)
  const [admission, delivery] = [await openRoad(t, any('admission')), await openRoad(t, any('delivery'))]
  // The first to ask for its way is the controller.
  let next = controllers
  const cluster = await install(
    t,
    prefixes,
    {},
    {
      shared: false,
      lifetimeMs: minutes * 60_000 + settleMs + 600_000,
      wholeCluster: true,
      release: { ...presentRelease, controller: [process.execPath, controller], agent: [process.execPath, agent] },
      service: { admission: admission.port, delivery: delivery.port },
      through(kubeconfig) {
        const road = next
        next = agents
        apiServer[0] ??= portOf(kubeconfig)
        return road.through(kubeconfig, folder)
      },
    },
  )
  const replicas = await startReplicas(cluster, ports)
  const seen = watchPlants(cluster)
  t.teardown(() => seen.stop())
  const watchers = startWatchers(controllers.through(cluster.world.plane.adminKubeconfig, folder), cluster.world.kube, cluster.world.signal)
  t.teardown(() => watchers.stop())
  const soak: Soak = {
    cluster,
    roads: { controllers, agents },
    replicas,
    seen,
    watchers,
    plants: makePlants(cluster),
    taken: new Map(),
    outcomes: new Map(),
  }
  seen.onChange((_key, { requests = [] }) => {
    for (const { id, outcome } of requests) soak.outcomes.set(id, outcome)
  })
  await openPlants(t, cluster, seen, soak.plants)
  await allReady(soak).catch((error: unknown) => {
    process.stdout.write(troublesOf(cluster))
    throw error
  })
  return soak
}

function portOf(kubeconfig: string): number {
  const { clusters } = JSON.parse(readFileSync(kubeconfig, 'utf8')) as { clusters: { cluster: { server: string } }[] }
  return Number(new URL(clusters[0]?.cluster.server ?? '').port)
}

type Counts = Record<string, number>

/** Pushes and faults until the time is over, each fault ended. `broken`: what of both could not be done. */
async function meddle(soak: Soak, minutes: number): Promise<{ counts: Counts; broken: string[] }> {
  const broken: string[] = []
  const orTell = async (what: string, work: Promise<void> | void): Promise<void> => {
    try {
      await work
    } catch (error) {
      broken.push(`${what}: ${String(error)}`)
    }
  }
  const endMs = systemClock.monotonicMs() + minutes * 60_000
  const counts: Counts = { pushes: 0, 'pushes told again': 0 }
  const count = (name: string): void => void (counts[name] = (counts[name] ?? 0) + 1)
  const meddling = (async () => {
    while (systemClock.monotonicMs() < endMs) {
      const [name, cause] = faults[Math.floor(Math.random() * faults.length)] ?? []
      if (name === undefined || cause === undefined) continue
      await orTell(name, cause(soak))
      count(name)
      await systemClock.wait(faultEveryMs * (0.5 + Math.random()))
    }
  })()
  const pushing = new Set<Promise<void>>()
  const busy = new Set<Followed>()
  for (let round = 1; systemClock.monotonicMs() < endMs; round += 1) {
    await systemClock.wait(pushEveryMs * (0.5 + Math.random()))
    const plant = soak.plants[Math.floor(Math.random() * soak.plants.length)]
    if (plant === undefined || busy.has(plant)) continue
    plant.head = change(plant, round)
    count('pushes')
    busy.add(plant)
    const told = push(soak, plant, () => count('pushes told again'))
    const work: Promise<void> = orTell('a push', told).finally(() => {
      pushing.delete(work)
      busy.delete(plant)
    })
    pushing.add(work)
  }
  await meddling
  await Promise.all(pushing)
  return { counts, broken }
}

const faults: readonly (readonly [string, (soak: Soak) => Promise<void> | void])[] = [
  ['API server killed, history dropped', ({ cluster }) => cluster.world.plane.restartApiServer()],
  ['connections of controllers cut', ({ roads }) => roads.controllers.cut()],
  ['connections of agents cut', ({ roads }) => roads.agents.cut()],
  ['connections of controllers half open', ({ roads }) => void roads.controllers.freeze()],
  ['connections of agents half open', ({ roads }) => void roads.agents.freeze()],
  ['leader killed', ({ replicas }) => replicas.kill('leader')],
  ['leader gone until another leads', ({ replicas }) => replicas.replaceLeader('SIGKILL')],
  ['leader frozen until another leads', ({ replicas }) => replicas.replaceLeader('SIGSTOP')],
  ['Lease taken by nobody', ({ cluster }) => cluster.stealLease()],
  ['standby killed', ({ replicas }) => replicas.kill('standby')],
]

/** Tells one replica, and as a git host would the next one where that does not take it; for a minute, as a person would who sees it fail. */
async function push({ replicas, cluster, taken }: Soak, plant: Followed, again: () => void): Promise<void> {
  const headers = { authorization: `Bearer ${cluster.receiver.token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ ref: `refs/heads/${plant.branch}` })
  const first = Math.floor(Math.random() * replicas.receivers.length)
  for (let attempt = 0; ; attempt += 1) {
    const url = replicas.receivers[(first + attempt) % replicas.receivers.length] ?? ''
    try {
      const signal = AbortSignal.timeout(30_000)
      const answer = await fetch(`${url}/webhook/${plant.namespace}/${plant.name}`, { method: 'POST', headers, body, signal })
      const { requestId } = (await answer.json()) as { requestId?: string }
      if (answer.status === 202 && requestId !== undefined) {
        taken.set(requestId, keyOf(plant))
        return
      }
      if (answer.status < 429) throw new Error(`${keyOf(plant)}: the push was answered with ${answer.status}`)
    } catch (error) {
      if (attempt > 600 || (error instanceof Error && error.message.includes('was answered'))) throw error
    }
    again()
    await systemClock.wait(250)
  }
}

async function allReady({ seen, plants }: Soak): Promise<void> {
  const heads = new Map(plants.map((plant) => [keyOf(plant), plant.head]))
  await seen.all([...heads.keys()], (status, key) => isReadyAt(heads.get(key))(status), settleMs)
}

async function judge(soak: Soak, counts: Counts): Promise<string[]> {
  const { plants, taken, outcomes, watchers, cluster, replicas } = soak
  const startedMs = systemClock.monotonicMs()
  const late = await allReady(soak).then(
    () => [],
    (error: unknown) => [`not every GatewaySync is Ready at its head: ${String(error)}`],
  )
  const settledMs = systemClock.monotonicMs() - startedMs
  const told = Object.entries({ ...counts, ...watchers.counts() }).map(([name, count]) => `${name} ${count}`)
  process.stdout.write(`${told.join(', ')}\nall ready ${Math.round(settledMs / 1000)} s after the last fault\n`)
  const followedMs = replicas.followedMs.toSorted((a, b) => a - b)
  const followed = followedMs.map((ms) => (ms / 1000).toFixed(1))
  process.stdout.write(`another leader after ${followed.join(', ')} s\n`)
  const medianMs = followedMs[Math.floor(followedMs.length / 2)] ?? 0
  // A watch that was forgotten by somebody between is noticed by its silence.
  let missed = await watchers.missed()
  const endMs = systemClock.monotonicMs() + settleMs
  while (missed.length > 0 && systemClock.monotonicMs() < endMs) {
    await systemClock.wait(5_000)
    missed = await watchers.missed()
  }
  const lost = [...taken].filter(([id]) => !outcomes.has(id))
  process.stdout.write(`${taken.size} requests were taken, ${lost.length} have no outcome\n`)
  const wrong = plants.flatMap((plant) => {
    const { repository, head, dataDir, light, name } = plant
    if (dataDir !== undefined) {
      const placed = [{ source: 'projects', destination: 'projects' }]
      return differences({ repository: repository.folder, commit: head, dataDir, placed }).map((text) => `${name}: ${text}`)
    }
    return isDeepStrictEqual(light?.files, filesOf(repository.folder, head)) ? [] : [`${name} does not hold ${head}`]
  })
  const result = [
    ...late,
    ...(medianMs < followedWithinMs ? [] : [`half of the lost leaders were followed after ${Math.round(medianMs)} ms or later`]),
    ...summary('events were missed', missed),
    ...summary(
      'requests have no outcome',
      lost.map(([id, key]) => `${id} of ${key}`),
    ),
    ...summary('gateways are not exact', wrong),
  ]
  if (result.length > 0) process.stdout.write(troublesOf(cluster))
  return result
}

/** The last words of controllers and agents about who leads and what went wrong. */
function troublesOf({ logs }: Installation): string {
  return logs
    .filter((line) => /"level":"(warn|error)"|leading|the leader/.test(line))
    .slice(-150)
    .join('')
}

function summary(what: string, list: readonly string[]): string[] {
  return list.length === 0 ? [] : [`${list.length} ${what}: ${list.slice(0, 10).join('; ')}`]
}
