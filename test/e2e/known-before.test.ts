/**
 * What is not known any more, or may not be followed, takes nothing from a gateway: its profile, its label, a folder of its commit, its GatewaySync and a commit that a
 * gateway could start with are taken away, each in turn, and the files that were applied last stay until it is back.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { listTree } from '../../scripts/quickstart/check.ts'
import { engineFolder } from '../../runtime/gatewaysync/names.ts'
import type { SyncReportStatus } from '../../runtime/gatewaysync/schema/report.ts'
import type { GatewaySyncStatus } from '../../runtime/gatewaysync/schema/status.ts'
import { gatewaySyncType } from '../../runtime/kube/types.ts'
import { install, readyAt, simulatedGateway } from '../support/installation.ts'
import { pushTo } from '../support/push.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

const modeManifest = (parent: string): string => JSON.stringify({ title: 'x', description: '', enabled: true, inheritable: true, parent })
const [externalsChild, coresChild, orphan] = [modeManifest('external'), modeManifest('core'), modeManifest('nowhere')]
const label = 'plant.example/site'

const profile = {
  collections: { root: 'resources', mode: 'dev' },
  mappings: [
    { source: 'recipes', destination: 'recipes' },
    { source: `sites/{{ pod.labels["${label}"] }}`, destination: 'site', template: true },
  ],
}
/** What it makes of the first commit on a pod whose label says `north`. */
const applied = {
  'config/resources/core/config-mode.json': externalsChild,
  'config/resources/dev/config-mode.json': coresChild,
  'recipes/a.txt': 'one',
  'recipes/deep/b.txt': 'two',
  'site/line.txt': 'line of north',
}

/** A gateway that runs the first commit. */
async function startPlant(t: Test) {
  const cluster = await install(t, ['plant'])
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.join(''))
  })
  const { host, folder, world, receiver } = cluster
  const { kube, signal } = world
  const namespace = cluster.namespace('plant')
  const repository = host.repository('plant.git')
  const first = repository.commit({
    'resources/core/config-mode.json': externalsChild,
    'resources/dev/config-mode.json': coresChild,
    'recipes/a.txt': 'one',
    'recipes/deep/b.txt': 'two',
    'sites/north/line.txt': `line of {{ pod.labels["${label}"] }}`,
    'sites/south/line.txt': 'line of others',
  })
  const { simulator, dataDir, port } = await simulatedGateway(t, folder, 'gw-0')
  const key = { namespace, name: 'plant' }
  const createSync = () =>
    cluster.gatewaySync(namespace, 'plant', {
      git: { repo: host.url('plant.git/.git'), ref: 'main' },
      polling: { enabled: false },
      gateway: { port },
      // No file stays because too many would go at once.
      sync: { defaults: { syncPeriod: 5, maxDeletions: '100%' }, profiles: { default: profile } },
    })
  await createSync()
  const labels = { [label]: 'north' }
  const gateway = await cluster.gateway(namespace, 'gw-0', { account: 'gateway', simulator, dataDir, mode: 'dev', labels })
  const ready = (commit: string) => readyAt(cluster, namespace, commit)
  await ready(first)
  return {
    first,
    ready,
    createSync,
    removeSync: () => kube.delete(gatewaySyncType, key, signal),
    setProfiles: (profiles: Record<string, object | null>) =>
      kube.mergePatch(gatewaySyncType, key, { spec: { sync: { profiles } } }, {}, signal),
    /** Sets the label or takes it away. */
    setLabel: (value: string | null) => gateway.change({ labels: { [label]: value } }),
    commit: repository.commit,
    push: () => pushTo(receiver, namespace, 'plant'),
    /** What the gateway's folder holds, by path, without our own records. */
    files: (): Record<string, string> =>
      Object.fromEntries(
        listTree(dataDir)
          .filter((file) => !file.startsWith(`${engineFolder}/`))
          .map((file) => [file, readFileSync(path.join(dataDir, file), 'utf8')]),
      ),
    /** Waits for a report of the gateway. */
    untilReported: (which: (report: SyncReportStatus) => boolean, what: string): Promise<SyncReportStatus> =>
      until(async () => {
        const report = await cluster.report(namespace, 'gw-0')
        return report !== undefined && which(report) ? report : undefined
      }, what),
    /** Waits for a status in which Ready has a reason. */
    untilReadyIs: (reason: string, published: string): Promise<GatewaySyncStatus> =>
      until(async () => {
        const status = await cluster.status(namespace, 'plant')
        return conditionOf(status, 'Ready')?.reason === reason && status.published?.commit === published ? status : undefined
      }, `Ready is ${reason} while ${published} is published`),
  }
}

function conditionOf({ conditions = [] }: GatewaySyncStatus, type: string) {
  return conditions.find((condition) => condition.type === type)
}

void t.test('what a gateway has stays while what it follows is not known', { timeout: 280_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const plant = await startPlant(t)
  const { first } = plant
  t.same(plant.files(), applied)

  await t.test('a profile that vanishes from the GatewaySync leaves every file where it is', async (t) => {
    await plant.setProfiles({ default: null, renamed: profile })
    const report = await plant.untilReported(({ reason }) => reason === 'UnknownProfile', 'the report says that there is no such profile')
    t.match(report, { phase: 'Blocked', commit: first, message: /"default" does not exist; there are: renamed$/ })
    const status = await plant.untilReadyIs('GatewaysBlocked', first)
    t.match(conditionOf(status, 'Ready'), { status: 'False', message: /gw-0: UnknownProfile, / })
    t.same(plant.files(), applied)
    await plant.setProfiles({ default: profile, renamed: null })
    await plant.ready(first)
    t.same(plant.files(), applied)
  })

  await t.test("a label that a mapping's template needs and that is missing now keeps what was last applied", async (t) => {
    await plant.setLabel(null)
    const second = plant.commit({ 'recipes/a.txt': 'three', 'recipes/deep/b.txt': null })
    await plant.push()
    const report = await plant.untilReported(
      ({ reason, attempt }) => reason === 'TemplateFailed' && attempt?.commit === second,
      'the report says that the second commit cannot be rendered',
    )
    t.match(report, { phase: 'Blocked', commit: first, message: /undefined variable: pod\.labels/ })
    const status = await plant.untilReadyIs('GatewaysBlocked', second)
    t.match(conditionOf(status, 'Ready'), { status: 'False', message: /gw-0: TemplateFailed, / })
    t.same(plant.files(), applied)
    await plant.setLabel('north')
    await plant.ready(second)
    const { 'recipes/deep/b.txt': _deleted, ...rest } = applied
    t.same(plant.files(), { ...rest, 'recipes/a.txt': 'three' })
  })

  await t.test('a folder that a mapping needs and that a commit lacks leaves what was last applied', async (t) => {
    const before = plant.files()
    const without = plant.commit({ 'recipes/a.txt': null })
    await plant.push()
    const report = await plant.untilReported(
      ({ reason, attempt }) => reason === 'SourcePathMissing' && attempt?.commit === without,
      'the report says that the commit has no such folder',
    )
    t.match(report, { phase: 'Blocked', message: /recipes/ })
    await plant.untilReadyIs('GatewaysBlocked', without)
    t.same(plant.files(), before)
    const back = plant.commit({ 'recipes/a.txt': 'three' })
    await plant.push()
    await plant.ready(back)
    t.same(plant.files(), before)
  })

  await t.test('a GatewaySync that is deleted leaves every file, and its agent goes on where it comes back', async (t) => {
    const before = plant.files()
    await plant.removeSync()
    const report = await plant.untilReported(({ reason }) => reason === 'NotFound', 'the report says that the GatewaySync is gone')
    t.match(report, { phase: 'Pending', commit: /./, message: /GatewaySync "plant" does not exist/ })
    t.same(plant.files(), before)
    const third = plant.commit({ 'recipes/a.txt': 'four' })
    await plant.createSync()
    await plant.ready(third)
    t.same(plant.files(), { ...before, 'recipes/a.txt': 'four' })
  })

  await t.test('a push whose commit the gate refuses is seen in the status at once, with polling off for ever', async (t) => {
    const before = plant.files()
    const good = plant.commit({})
    await plant.push()
    await plant.ready(good)
    const bad = plant.commit({ 'recipes/a.txt': 'five', 'resources/dev/config-mode.json': orphan })
    await plant.push()
    const status = await plant.untilReadyIs('CollectionsInvalid', good)
    const file = 'resources/dev/config-mode.json'
    t.match(status, {
      source: { ref: 'main', commit: bad, held: 'CollectionsInvalid' },
      findings: { errors: 1, items: [{ path: file }] },
      history: [{ commit: bad, outcome: 'Refused', reason: 'CollectionsInvalid' }],
      gateways: { total: 1, synced: 1 },
    })
    t.match(status.requests?.at(-1), { ref: 'main', outcome: 'Refused', reason: 'CollectionsInvalid' })
    for (const type of ['Ready', 'CollectionsValid']) t.match(conditionOf(status, type), { status: 'False', message: new RegExp(file) })
    t.match(conditionOf(status, 'Stalled'), { status: 'True', reason: 'CollectionsInvalid' })
    t.same(plant.files(), before)
    const mended = plant.commit({ 'resources/dev/config-mode.json': coresChild })
    await plant.push()
    await plant.ready(mended)
    t.same(plant.files(), { ...before, 'recipes/a.txt': 'five' })
  })
})
