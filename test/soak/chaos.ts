/**
 * Three replicas of the controller, two hundred GatewaySyncs with a gateway each, random pushes, and faults in between: the API server
 * killed and its history dropped, all connections cut, connections frozen without notice, leaders and standbys killed, leaders frozen, the
 * Lease taken away; each at least once. In the end the watches must have delivered each version that etcd wrote and that they owed, no list
 * of a replica may have found a version that its watch had missed, each accepted push must have an outcome, and each gateway must hold
 * exactly the content of git.
 *
 * Some of the gateways have a real agent and a simulator; the others are light ones (chaos/gateway.ts).
 */
import { differences } from '../../scripts/quickstart/check.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import { isReadyAt } from '../benchmark/scale/seen.ts'
import type { Installation } from '../support/installation.ts'
import { filesOf } from './chaos/gateway.ts'
import { differencesOfFiles, violationsOf, type Observed } from './chaos/violations.ts'
import { type Meddled, meddle } from './chaos/meddle.ts'
import { type Followed, keyOf } from './chaos/plants.ts'
import { countWatches, relistAll } from './chaos/relist.ts'
import { type Soak, startSoak } from './chaos/soak.ts'

/** A dead watch is detected after two and a half minutes without a bookmark. */
const settleMs = 300_000
/** To start, to settle three times, and to stop. */
const besidesMs = 600_000 + 3 * settleMs

export const isSeeded = true

export async function run({ minutes, seed }: { minutes: number; seed: number }): Promise<string[]> {
  const teardowns: (() => unknown)[] = []
  const t = { teardown: (handler: () => unknown) => void teardowns.push(handler) }
  try {
    const soak = await startSoak(t, { lifetimeMs: Math.ceil(minutes * 60_000) + besidesMs, seed })
    await allReady(soak).catch((error: unknown) => {
      process.stdout.write(troublesOf(soak.cluster))
      throw error
    })
    const usual = await countWatches(soak)
    const meddled = await meddle(soak, { minutes, seed })
    const broken = await settle(soak, usual)
    const observed = await observe(soak, meddled, broken)
    tell(observed, meddled)
    const wrong = violationsOf(observed)
    if (wrong.length > 0) process.stdout.write(troublesOf(soak.cluster))
    return wrong
  } finally {
    for (const handler of teardowns.toReversed()) await handler()
  }
}

async function allReady({ seen, plants }: Soak): Promise<void> {
  const heads = new Map(plants.map((plant) => [keyOf(plant), plant.head]))
  await seen.all([...heads.keys()], (status, key) => isReadyAt(heads.get(key))(status), settleMs)
}

/** Resolves when everything matches git and all replicas have listed once more; returns the unmet conditions. */
async function settle(soak: Soak, usual: Awaited<ReturnType<typeof countWatches>>): Promise<string[]> {
  const broken: string[] = []
  const inTime = async (what: string, work: Promise<void>): Promise<void> => {
    const startedMs = systemClock.monotonicMs()
    await work.then(
      () => process.stdout.write(`${what} after ${Math.round((systemClock.monotonicMs() - startedMs) / 1000)} s\n`),
      (error: unknown) => broken.push(`not ${what}: ${String(error)}`),
    )
  }
  await inTime('every GatewaySync Ready at its head', allReady(soak))
  await inTime('every watch back after a list', relistAll(soak, usual, settleMs))
  return broken
}

async function observe({ watchers, replicas, readings, read, plants, taken, outcomes }: Soak, meddled: Meddled, broken: string[]) {
  // A watch whose connection was dropped silently is detected after a time without bookmarks.
  const endMs = systemClock.monotonicMs() + settleMs
  let missed = await watchers.missed()
  while (missed.length > 0 && systemClock.monotonicMs() < endMs) {
    await systemClock.wait(5_000)
    missed = await watchers.missed()
  }
  for (const replica of replicas.all) readings.push(await read(replica, 'at the end'))
  const gateways = plants.map((plant) => ({ name: plant.name, wrong: heldWrongly(plant) }))
  return {
    broken: [...meddled.broken, ...broken],
    faults: meddled.faults,
    followedMs: replicas.followedMs,
    interrupted: watchers.interrupted(),
    watched: watchers.watched(),
    missed,
    readings,
    taken,
    outcomes,
    gateways,
  } satisfies Observed
}

/** Differences between the gateway of a plant and the head of its branch. */
function heldWrongly({ repository, head, dataDir, light }: Followed): string[] {
  if (dataDir === undefined) return differencesOfFiles(light?.files, filesOf(repository.folder, head))
  const placed = [{ source: 'projects', destination: 'projects' }]
  return differences({ repository: repository.folder, commit: head, dataDir, placed })
}

function tell({ faults, interrupted, watched, followedMs, readings, taken, outcomes }: Observed, { pushes, toldAgain }: Meddled): void {
  const list = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')
  const sum = (of: 'differences' | 'lists' | 'resumed'): number =>
    readings.flatMap(({ figures }) => Object.values(figures)).reduce((whole, one) => whole + one[of], 0)
  const ends = Object.groupBy([...taken.keys()], (id) => outcomes.get(id) ?? 'no outcome')
  const lines = [
    list(faults),
    `the own watches: ${list({ ...interrupted, lists: watched.lists, 'versions told by watches': watched.versions })}`,
    `the replicas' watches: listed anew ${sum('lists')}, went on ${sum('resumed')}, differences ${sum('differences')}; read ${readings.length} times`,
    ...Object.entries(followedMs).map(
      ([how, times]) => `another leader after one that was ${how}: ${times.map((ms) => (ms / 1000).toFixed(1)).join(', ')} s`,
    ),
    `${pushes} pushes, told again ${toldAgain} times, ${taken.size} requests: ${list(Object.fromEntries(Object.entries(ends).map(([end, ids = []]) => [end, ids.length])))}`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** The last log lines of controllers and agents about leadership and errors. */
function troublesOf({ logs }: Installation): string {
  return logs
    .filter((line) => /"level":"(warn|error)"|leading|the leader/.test(line))
    .slice(-150)
    .join('')
}
