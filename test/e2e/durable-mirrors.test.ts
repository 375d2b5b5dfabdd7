/**
 * An unreachable git host and a restarted controller at the same time: the published commit is delivered from the mirror on the volume.
 */
import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { differences } from '../../scripts/quickstart/check.ts'
import { matchObject } from '../support/assertions.ts'
import { install, simulatedGateway } from '../support/installation.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

/** A kubelet's permission change for a remounted claim of a pod with an fsGroup. */
function makeWritableForGroup(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const full = path.join(folder, entry.name)
    if (entry.isSymbolicLink()) continue
    chmodSync(full, lstatSync(full).mode | (entry.isDirectory() ? 0o2770 : 0o660))
    if (entry.isDirectory()) makeWritableForGroup(full)
  }
}

void t.test('a controller that starts without a git host delivers the published commit', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl')) return
  const cluster = await install(t, ['plant'])
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.join(''))
  })
  const { host, folder } = cluster
  const repository = host.repository('plant.git')
  const commit = repository.commit({ 'projects/line/project.json': '{}', 'projects/line/a.txt': 'one' })
  const namespace = cluster.namespace('plant')
  const { simulator, dataDir, port } = await simulatedGateway(t, folder, 'gw-0')
  await cluster.gatewaySync(namespace, 'plant', {
    git: { repo: host.url('plant.git/.git'), ref: 'main' },
    polling: { interval: '5s' },
    gateway: { port },
    sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  })
  await until(async () => (await cluster.status(namespace, 'plant')).published, 'the commit is published')
  t.equal(await cluster.stopController(), 0)
  await host.stop()
  makeWritableForGroup(path.join(folder, 'controller-0', 'mirrors'))

  await cluster.startController()
  await cluster.gateway(namespace, 'gw-0', { account: 'gateway', simulator, dataDir })
  const published = await until(async () => {
    const report = await cluster.report(namespace, 'gw-0')
    return report?.phase === 'Synced' && report.commit === commit ? report : undefined
  }, 'a gateway that is new has the commit')
  matchObject(t, published, { files: { added: 2 } })
  const placed = [{ source: 'projects', destination: 'projects' }]
  t.strictSame(differences({ repository: repository.folder, commit, dataDir, placed }), [])
  const source = await until(async () => {
    const found = (await cluster.status(namespace, 'plant')).conditions?.find(({ type }) => type === 'SourceReady')
    return found?.status === 'False' ? found : undefined
  }, 'the source says that its host is away')
  t.equal(source.reason, 'GitConnectionRefused')
  t.equal((await cluster.status(namespace, 'plant')).published?.commit, commit)
})
