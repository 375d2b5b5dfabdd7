/**
 * Ten gateways in four namespaces with two repositories and three modes at once, and a report of how a push reached each of them.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { agentContainerName } from '../../../../runtime/api/names.ts'
import type { Repository } from '../../../support/repository.ts'
import { arrivalAt } from '../arrivals.ts'
import { type Cluster, operator, plantRepository, tellReceiver, untilSynced } from '../cluster.ts'
import { say } from '../given.ts'
import { memoryOf } from '../processes.ts'
import { plantSite, type Site } from '../site.ts'
import { timelineOf } from '../timeline.ts'

const sync = 'site'
const sites: readonly Site[] = [
  { namespace: 'north', name: 'gateway', replicas: 3, mode: 'dev', repository: 'rivers.git', sync },
  { namespace: 'south', name: 'gateway', replicas: 3, mode: 'prod', repository: 'rivers.git', sync },
  { namespace: 'east', name: 'gateway', replicas: 2, mode: 'trial', repository: 'lakes.git', sync },
  { namespace: 'west', name: 'gateway', replicas: 2, mode: 'prod', repository: 'lakes.git', sync },
]
const changed = 'services/projects/fleet.txt'
/** In the build folder, beside other local output. */
const reportFile = path.join(import.meta.dirname, '../../../../build/fleet.svg')

export async function reachFleet(t: Test, cluster: Cluster): Promise<void> {
  const repositories = new Map(['rivers.git', 'lakes.git'].map((name) => [name, fleetRepository(cluster, name)]))
  const repositoryOf = (site: Site): Repository => {
    const repository = repositories.get(site.repository)
    if (repository === undefined) throw new Error(`there is no ${site.repository}`)
    return repository
  }
  await Promise.all(sites.map(async (site) => plantSite(cluster, site)))
  const head = (site: Site): string => repositoryOf(site).git('rev-parse', 'HEAD').toString('utf8').trim()
  await Promise.all(sites.map(async (site) => untilSynced(cluster, site, sync, repositoryOf(site), head(site))))
  t.pass('every gateway has the first commit')

  const fetchesBefore = fetches(cluster)
  for (const repository of repositories.values()) repository.commit({ [changed]: 'pushed to all' })
  const pushedMs = performance.now()
  const arrivals = sites.flatMap((site) =>
    Array.from({ length: site.replicas }, async (_, ordinal) => {
      const pushed = { file: 'projects/fleet.txt', text: 'pushed to all', sinceMs: pushedMs }
      return { site, ordinal, arrivedMs: await arrivalAt(cluster, { gateways: site, ordinal }, pushed) }
    }),
  )
  const toldMs = new Map<Site, number>()
  for (const site of sites) {
    toldMs.set(site, performance.now() - pushedMs)
    await tellReceiver(cluster, site.namespace, sync)
  }
  const arrived = (await Promise.all(arrivals)).map((arrival) => ({ ...arrival, toldMs: toldMs.get(arrival.site) ?? 0 }))
  await Promise.all(sites.map(async (site) => untilSynced(cluster, site, sync, repositoryOf(site), head(site))))
  t.equal(arrived.length, 10)
  await report(t, cluster, arrived, fetches(cluster) - fetchesBefore)
}

/** In milliseconds since the commits were made: when the receiver was called, and when the files were in place. */
type Arrival = { site: Site; ordinal: number; toldMs: number; arrivedMs: number }

async function report(t: Test, cluster: Cluster, arrived: readonly Arrival[], fetched: number): Promise<void> {
  const bars = arrived.map(({ site, ordinal, toldMs, arrivedMs }) => ({
    name: `${site.namespace}/${site.name}-${ordinal} (${site.mode})`,
    fromMs: toldMs,
    toMs: arrivedMs,
  }))
  const title = 'Push to files in place, ten gateways'
  const drawing = timelineOf(title, bars)
  mkdirSync(path.dirname(reportFile), { recursive: true })
  writeFileSync(reportFile, drawing)
  say(`${title}:`)
  for (const { name, fromMs, toMs } of bars) say(`  ${name.padEnd(28)} ${Math.round(toMs - fromMs)} ms`)
  say(`asked the git host for both repositories: ${fetched} times`)
  const containers = [
    ...(await cluster.pods(operator.namespace)).map((pod) => ({ pod, container: 'controller' })),
    ...(await Promise.all(sites.map(async ({ namespace }) => cluster.pods(namespace))))
      .flat()
      .map((pod) => ({ pod, container: agentContainerName })),
  ]
  for (const { pod, container } of containers) {
    const { peakMiB, kills } = memoryOf(pod, container)
    const { namespace, name } = pod.metadata
    say(`  ${namespace}/${name} ${container}: ${Math.round(peakMiB)} MiB at most, with the pages of files`)
    t.equal(kills, 0, `${namespace}/${name} ${container} was never short of memory`)
  }
  say(`as a drawing (${reportFile}):`)
  say(drawing)
}

/** The repository of the examples with a third mode. */
function fleetRepository(cluster: Cluster, name: string): Repository {
  const repository = plantRepository(cluster, name)
  const mode = { title: 'Trial', description: '', enabled: true, inheritable: true, parent: 'core' }
  repository.commit({ 'services/config/resources/trial/config-mode.json': JSON.stringify(mode) })
  return repository
}

/** The number of requests to the git host for one of the fleet's repositories. */
function fetches({ host }: Cluster): number {
  return host.requests.filter((url) => /^\/(?:rivers|lakes)\.git\/info\/refs/.test(url)).length
}
