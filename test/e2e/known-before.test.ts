/**
 * Missing configuration removes nothing from a gateway: its profile, its label, a folder of its commit, its GatewaySync and a valid commit
 * are removed, each in turn, and the applied files stay until it is back.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { listTree } from '../../scripts/quickstart/check.ts'
import { engineFolder } from '../../runtime/api/names.ts'
import type { SyncReportStatus } from '../../runtime/api/schema/report.ts'
import type { GatewaySyncStatus } from '../../runtime/api/schema/status.ts'
import { gatewaySyncType } from '../../runtime/kube/types.ts'
import { matchObject } from '../support/assertions.ts'
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
/** The files of the first commit for a pod whose label is `north`. */
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
      // The deletion limit must not be the reason that files stay.
      sync: { defaults: { syncPeriod: '5s', maxDeletions: '100%' }, profiles: { default: profile } },
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
    /** Sets or removes the label. */
    setLabel: (value: string | null) => gateway.change({ labels: { [label]: value } }),
    commit: repository.commit,
    push: () => pushTo(receiver, namespace, 'plant'),
    /** The files in the gateway's folder by path, without the engine's records. */
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
    /** Waits for a status with this Ready reason. */
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

void t.test('applied files stay while the configuration of the gateway is missing', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const plant = await startPlant(t)
  const { first } = plant
  t.strictSame(plant.files(), applied)

  await t.test('removing the profile from the GatewaySync leaves every file in place', async (t) => {
    await plant.setProfiles({ default: null, renamed: profile })
    const report = await plant.untilReported(({ reason }) => reason === 'UnknownProfile', 'the report says that there is no such profile')
    matchObject(t, report, { phase: 'Blocked', commit: first, message: /"default" does not exist; there are: renamed$/ })
    const status = await plant.untilReadyIs('GatewaysBlocked', first)
    matchObject(t, conditionOf(status, 'Ready'), { status: 'False', message: /gw-0: UnknownProfile, / })
    t.strictSame(plant.files(), applied)
    await plant.setProfiles({ default: profile, renamed: null })
    await plant.ready(first)
    t.strictSame(plant.files(), applied)
  })

  await t.test("a missing label in a mapping's template keeps the applied files", async (t) => {
    await plant.setLabel(null)
    const second = plant.commit({ 'recipes/a.txt': 'three', 'recipes/deep/b.txt': null })
    await plant.push()
    const report = await plant.untilReported(
      ({ reason, attempt }) => reason === 'TemplateFailed' && attempt?.commit === second,
      'the report says that the second commit cannot be rendered',
    )
    matchObject(t, report, { phase: 'Blocked', commit: first, message: /undefined variable: pod\.labels/ })
    const status = await plant.untilReadyIs('GatewaysBlocked', second)
    matchObject(t, conditionOf(status, 'Ready'), { status: 'False', message: /gw-0: TemplateFailed, / })
    t.strictSame(plant.files(), applied)
    await plant.setLabel('north')
    await plant.ready(second)
    const { 'recipes/deep/b.txt': _deleted, ...rest } = applied
    t.strictSame(plant.files(), { ...rest, 'recipes/a.txt': 'three' })
  })

  await t.test('a commit without the folder of a mapping keeps the applied files', async (t) => {
    const before = plant.files()
    const without = plant.commit({ 'recipes/a.txt': null })
    await plant.push()
    const report = await plant.untilReported(
      ({ reason, attempt }) => reason === 'SourcePathMissing' && attempt?.commit === without,
      'the report says that the commit has no such folder',
    )
    matchObject(t, report, { phase: 'Blocked', message: /recipes/ })
    await plant.untilReadyIs('GatewaysBlocked', without)
    t.strictSame(plant.files(), before)
    const back = plant.commit({ 'recipes/a.txt': 'three' })
    await plant.push()
    await plant.ready(back)
    t.strictSame(plant.files(), before)
  })

  await t.test('deleting the GatewaySync leaves every file, and the agent resumes when it is recreated', async (t) => {
    const before = plant.files()
    await plant.removeSync()
    const report = await plant.untilReported(({ reason }) => reason === 'NotFound', 'the report says that the GatewaySync is gone')
    matchObject(t, report, { phase: 'Pending', commit: /./, message: /GatewaySync "plant" does not exist/ })
    t.strictSame(plant.files(), before)
    const third = plant.commit({ 'recipes/a.txt': 'four' })
    await plant.createSync()
    await plant.ready(third)
    t.strictSame(plant.files(), { ...before, 'recipes/a.txt': 'four' })
  })

  await t.test('a commit that fails validation appears in the status at once, without polling', async (t) => {
    const before = plant.files()
    const good = plant.commit({})
    await plant.push()
    await plant.ready(good)
    const bad = plant.commit({ 'recipes/a.txt': 'five', 'resources/dev/config-mode.json': orphan })
    await plant.push()
    const status = await plant.untilReadyIs('CollectionsInvalid', good)
    const file = 'resources/dev/config-mode.json'
    matchObject(t, status, {
      source: { ref: 'refs/heads/main', commit: bad, held: 'CollectionsInvalid' },
      findings: { errors: 1, items: [{ path: file }] },
      gateways: { total: 1, synced: 1 },
    })
    matchObject(t, status.history?.[0], { commit: bad, outcome: 'Refused', reason: 'CollectionsInvalid' })
    matchObject(t, status.requests?.at(-1), { ref: 'refs/heads/main', outcome: 'Refused', reason: 'CollectionsInvalid' })
    for (const type of ['Ready', 'CollectionsValid'])
      matchObject(t, conditionOf(status, type), { status: 'False', message: new RegExp(file) })
    matchObject(t, conditionOf(status, 'Stalled'), { status: 'True', reason: 'CollectionsInvalid' })
    t.strictSame(plant.files(), before)
    const mended = plant.commit({ 'resources/dev/config-mode.json': coresChild })
    await plant.push()
    await plant.ready(mended)
    t.strictSame(plant.files(), { ...before, 'recipes/a.txt': 'five' })
  })
})
