/**
 * Many gateways that follow one GatewaySync.
 */
import { pushTo } from '../../support/push.ts'
import type { Repository } from '../../support/repository.ts'
import { plantFiles } from '../contents.ts'
import { type Figure, median } from '../figures.ts'
import { type Bench, change, figure, keyOf } from './bench.ts'
import { processorMs } from './contained.ts'
import { type Followers, startFollowers } from './followers.ts'
import { type Plant, specOf, untilTaken } from './plants.ts'
import { isReadyAt } from './seen.ts'
import { lookForStrain } from './strain.ts'

const files = 100
const rounds = 7

/** The time from a push until every gateway has its file and has reported, and the load on the git host. */
export async function followed(bench: Bench, prefix: string, count: number): Promise<Figure[]> {
  const { cluster, seen } = bench
  const repository = cluster.host.repository(`${prefix}.git`)
  const first = repository.commit(plantFiles({ files: files, folders: files / 2 }))
  const plant: Plant = { namespace: cluster.namespace(prefix), name: prefix, repo: cluster.host.url(`${prefix}.git/.git`) }
  await cluster.gatewaySync(plant.namespace, plant.name, { ...specOf(plant.repo), polling: { enabled: false } })
  await seen.all([keyOf(plant)], ({ published }) => published?.commit === first, 60_000)
  const name = `${count} gateways of one`
  const strain = lookForStrain(bench)
  const { ended, failures } = await pushes({ bench, plant, repository, first }, count).catch(async (error: unknown) => {
    await strain.stop(name)
    throw error
  })
  const of = (member: keyof (typeof ended)[number]): number => median(ended.map((one) => one[member]))
  const figures: [string, number, string][] = [
    ['push to the file of half of them, median', of('middle'), 'ms'],
    ['push to the last file, median', of('last'), 'ms'],
    ['push to Ready, median', of('ready'), 'ms'],
    ['questions to the git host, most', Math.max(...ended.map(({ fetches }) => fetches)), ''],
    ['status writes, median', of('writes'), ''],
    ['processor time of the controller with git, median', of('ms'), 'ms'],
    ['syncs that failed and were begun again', failures, ''],
  ]
  const told = figures.map(([what, value, unit]) => figure(`${name}: ${what}`, value, unit))
  return [...told, ...(await strain.stop(name))]
}

type Pushed = { last: number; middle: number; ready: number; fetches: number; writes: number; ms: number }
type Pushing = { bench: Bench; plant: Plant; repository: Repository; first: string }

/** First syncs of all gateways. */
async function pushes({ bench, plant, repository, first }: Pushing, count: number): Promise<{ ended: Pushed[]; failures: number }> {
  const { cluster, seen, hash } = bench
  const followers = await startFollowers(cluster, seen, plant, { count, syncHash: hash })
  await followers.have(first)
  await seen.all([keyOf(plant)], isReadyAt(first), 120_000)
  await followers.settled()
  const ended: Pushed[] = []
  for (let round = 0; round < rounds; round += 1) ended.push(await pushOnce(bench, plant, repository, followers, round))
  return { ended, failures: followers.failures() }
}

async function pushOnce(
  { cluster, seen, calls }: Bench,
  plant: Plant,
  repository: Repository,
  followers: Followers,
  round: number,
): Promise<Pushed> {
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
