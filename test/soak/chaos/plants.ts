/**
 * The GatewaySyncs of the soak, each with its own branch and gateway, so that a lost push is detected.
 */
import path from 'node:path'
import * as v from 'valibot'
import { resolveProfile, syncHash } from '../../../runtime/api/schema/profile.ts'
import { gatewaySyncSpec } from '../../../runtime/api/schema/spec.ts'
import { createPods, createReports, forEach, type Plant, specOf } from '../../benchmark/scale/plants.ts'
import type { Seen } from '../../benchmark/scale/seen.ts'
import { type Installation, simulatedGateway } from '../../support/installation.ts'
import type { Repository } from '../../support/repository.ts'
import { type LightGateway, lightGateway } from './gateway.ts'

const plantsInAll = 200
const plantsOfNamespace = 50
const plantsOfRepository = 20
const realAgents = 4

/** `dataDir`: of a gateway with a real agent; `light`: a gateway without one. */
export type Followed = Plant & {
  repository: Repository
  branch: string
  head: string
  round?: number
  dataDir?: string
  light?: LightGateway
}

type Scope = { teardown(handler: () => unknown): void }

/** Prefixes for `install`, one per namespace. */
export const prefixes = Array.from({ length: plantsInAll / plantsOfNamespace }, (_, index) => `plant-${index}`)

/** Repositories and branches, each with a first commit; the cluster is still empty. */
export function makePlants(cluster: Installation): Followed[] {
  const repositories = Array.from({ length: plantsInAll / plantsOfRepository }, (_, index) => cluster.host.repository(`${index}.git`))
  for (const repository of repositories) repository.commit({ 'projects/base.json': '{}' })
  return Array.from({ length: plantsInAll }, (_, index) => {
    const of = index % repositories.length
    const repository = repositories[of]
    if (repository === undefined) throw new Error('there is no repository')
    const branch = `line-${index}`
    repository.git('branch', branch, 'main')
    const namespace = cluster.namespace(prefixes[index % prefixes.length] ?? '')
    const repo = cluster.host.url(`${of}.git/.git`)
    const plant: Followed = { namespace, name: `plant-${index}`, repo, repository, branch, head: '' }
    plant.head = change(plant, 0)
    return plant
  })
}

/** Creates the GatewaySyncs, then their gateways: the first few with a real agent, all others light. */
export async function openPlants(t: Scope, cluster: Installation, seen: Seen, plants: readonly Followed[]): Promise<void> {
  const real = plants.slice(0, realAgents)
  const gateways = await Promise.all(real.map(({ name }) => simulatedGateway(t, cluster.folder, name)))
  await forEach(plants, async ({ namespace, name, repo, branch }) => {
    const { port } = gateways[real.findIndex((plant) => plant.name === name)] ?? { port: undefined }
    await cluster.gatewaySync(namespace, name, {
      git: { repo, ref: branch },
      polling: { enabled: false },
      gateway: port === undefined ? {} : { port },
      sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
    })
  })
  for (const [index, plant] of real.entries()) {
    const gateway = gateways[index]
    if (gateway === undefined) continue
    plant.dataDir = gateway.dataDir
    await cluster.gateway(plant.namespace, `${plant.name}-gw-0`, { account: 'gateway', follows: plant.name, ...gateway })
  }
  const light = plants.slice(realAgents)
  const pods = await createPods(cluster, light, 1)
  await createReports(cluster, pods)
  const hash = hashOf(light[0]?.repo ?? '')
  for (const pod of pods) {
    const plant = light.find(({ name }) => name === pod.plant.name)
    if (plant !== undefined) plant.light = lightGateway(cluster, pod, hash)
  }
  t.teardown(() => Promise.all(light.map(async (plant) => await plant.light?.stop())))
  const byKey = new Map(light.map((plant) => [keyOf(plant), plant.light]))
  seen.onChange((key, { published, delivery }) => {
    if (published !== undefined && delivery !== undefined) byKey.get(key)?.follow(published.commit, delivery)
  })
  for (const plant of light) {
    const { published, delivery } = seen.of(keyOf(plant)) ?? {}
    if (published !== undefined && delivery !== undefined) plant.light?.follow(published.commit, delivery)
  }
}

/** The report of a gateway that has applied the configuration of the light ones. */
function hashOf(repo: string): string {
  const spec = v.parse(gatewaySyncSpec({ allowLocal: false }), specOf(repo))
  return syncHash(resolveProfile(spec.sync, 'default'), spec.gateway)
}

/** Changes one file, adds one and removes the one of the previous round; returns the new head of the branch. */
export function change(plant: Pick<Followed, 'repository' | 'branch' | 'round'>, round: number): string {
  const { repository, branch } = plant
  repository.git('checkout', '-q', branch)
  const gone = plant.round === undefined ? {} : { [fileOf(plant.round)]: null }
  plant.round = round
  return repository.commit({ 'projects/line/project.json': JSON.stringify({ round }), [fileOf(round)]: `round ${round}`, ...gone })
}

function fileOf(round: number): string {
  return `projects/line/${round}.txt`
}

export function keyOf({ namespace, name }: Plant): string {
  return path.posix.join(namespace, name)
}
