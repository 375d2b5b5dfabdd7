/**
 * Adjacent versions together: the agent of the previous release with this controller, and the reverse. Each treats the other as up to date,
 * and a gateway has exactly its files.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { differences } from '../../scripts/quickstart/check.ts'
import { podType } from '../../runtime/kube/types.ts'
import { type Gateway, install, readyAt, simulatedGateway } from '../support/installation.ts'
import { presentRelease, previousRelease, type Release } from '../support/releases.ts'
import type { Changes } from '../support/repository.ts'
import { requires } from '../support/requires.ts'

/** The previous release may wait longer after repeated failures than this one. */
const patienceMs = 120_000
const placed = [{ source: 'projects', destination: 'projects' }]
/** Files of the gateway itself beside the synced ones, which must not be touched. */
const ofGateway = { 'db/config.idb': 'identity', 'projects/made-in-designer/project.json': '{}' }

type Plant = Awaited<ReturnType<typeof startPlant>>

/** A gateway that runs a first commit, both created by the given release. */
async function startPlant(t: Test, release: Release) {
  const cluster = await install(t, ['plant'], {}, { shared: false, release })
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.join(''))
  })
  const { host, folder } = cluster
  const repository = host.repository('plant.git')
  const first = repository.commit({ 'projects/line/project.json': '{}', 'projects/line/a.txt': 'one', 'projects/line/gone.txt': 'one' })
  const namespace = cluster.namespace('plant')
  const { simulator, dataDir, port } = await simulatedGateway(t, folder, 'gw-0')
  for (const [file, content] of Object.entries(ofGateway)) {
    mkdirSync(path.dirname(path.join(dataDir, file)), { recursive: true })
    writeFileSync(path.join(dataDir, file), content)
  }
  await cluster.gatewaySync(namespace, 'plant', {
    git: { repo: host.url('plant.git/.git'), ref: 'main' },
    polling: { enabled: false },
    gateway: { port },
    sync: { defaults: { syncPeriod: '5s' }, profiles: { default: { mappings: [{ source: 'projects/', destination: 'projects' }] } } },
  })
  const start = (): Promise<Gateway> => cluster.gateway(namespace, 'gw-0', { account: 'gateway', simulator, dataDir })
  const plant = { cluster, repository, namespace, dataDir, start, agent: await start() }
  await readyAt(cluster, namespace, first)
  return plant
}

async function push({ cluster, repository, namespace }: Plant, changes: Changes): Promise<string> {
  const commit = repository.commit(changes)
  const headers = { authorization: `Bearer ${cluster.receiver.token}`, 'content-type': 'application/json' }
  const url = `${cluster.receiver.url}/webhook/${namespace}/plant`
  const answer = await fetch(url, { method: 'POST', headers, body: '{"ref":"refs/heads/main"}' })
  if (answer.status !== 202) throw new Error(`the push was answered with ${answer.status}`)
  return commit
}

/** Recreates the pod, with the agent of the installed release, over the volume of the previous agent. */
async function recreate(plant: Plant): Promise<void> {
  const { cluster, namespace } = plant
  await plant.agent.stop()
  await cluster.world.kube.delete(podType, { namespace, name: 'gw-0' }, cluster.world.signal)
  plant.agent = await plant.start()
}

/** Differences between the data directory and the commit, except the gateway's own files. */
function wrongIn({ repository, dataDir }: Plant, commit: string): string[] {
  const ignored = (file: string): boolean => Object.hasOwn(ofGateway, file)
  return differences({ repository: repository.folder, commit, dataDir, placed, ignored })
}

/** The gateway's own files, which must be complete and unchanged. */
function ownFilesOf({ dataDir }: Plant): Record<string, string> {
  return Object.fromEntries(Object.keys(ofGateway).map((file) => [file, readFileSync(path.join(dataDir, file), 'utf8')]))
}

void t.test('gateways follow each commit through an upgrade and a downgrade', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'tar')) return
  const previous = await previousRelease(t)
  if (previous === undefined) return
  const plant = await startPlant(t, previous)
  const { cluster, namespace, dataDir } = plant

  await t.test('an agent of the previous release continues with this controller', async (t) => {
    await cluster.change(presentRelease)
    const commit = await push(plant, { 'projects/line/a.txt': 'two', 'projects/line/b.txt': 'new', 'projects/line/gone.txt': null })
    await readyAt(cluster, namespace, commit, patienceMs)
    t.strictSame(wrongIn(plant, commit), [])
    t.strictSame(ownFilesOf(plant), ofGateway)
  })

  await t.test('an agent of this release takes over the volume of the previous one', async (t) => {
    await recreate(plant)
    const commit = await push(plant, { 'projects/line/a.txt': 'three', 'projects/line/b.txt': null })
    await readyAt(cluster, namespace, commit, patienceMs)
    // A file that the commit no longer has is deleted, or the report names it with the fix.
    const { findings = [] } = (await cluster.report(namespace, 'gw-0')) ?? {}
    for (const wrong of wrongIn(plant, commit)) {
      const [file = ''] = wrong.split(' ')
      t.ok(wrong.endsWith('should not be there') && findings.some(({ message }) => message.includes(file)), wrong)
      rmSync(path.join(dataDir, file))
    }
    t.strictSame(wrongIn(plant, commit), [])
    t.strictSame(ownFilesOf(plant), ofGateway)
  })

  await t.test('an agent of this release continues with the controller of the previous one', async (t) => {
    // Helm leaves CRDs unchanged.
    await cluster.change(previous, { crds: false })
    const commit = await push(plant, { 'projects/line/a.txt': 'four', 'projects/line/c.txt': 'new' })
    await readyAt(cluster, namespace, commit, patienceMs)
    t.strictSame(wrongIn(plant, commit), [])
    t.strictSame(ownFilesOf(plant), ofGateway)
  })

  await t.test('an agent of the previous release takes over the volume of this one', async (t) => {
    await recreate(plant)
    const commit = await push(plant, { 'projects/line/a.txt': 'five' })
    await readyAt(cluster, namespace, commit, patienceMs)
    t.strictSame(wrongIn(plant, commit), [])
    t.strictSame(ownFilesOf(plant), ofGateway)
  })
})
