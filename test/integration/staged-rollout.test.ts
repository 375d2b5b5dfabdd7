/**
 * A staged rollout with three gateways on the real API server: an approval, a controller that is replaced meanwhile, a bad commit that is
 * rolled back before the last gateway gets it, and the permission to skip the stages.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { approveCommand } from '../../runtime/cli/fleet/change-command.ts'
import { statusCommand } from '../../runtime/cli/fleet/status-command.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { apiVersion, skipStagesAnnotation } from '../../runtime/api/names.ts'
import type { RolloutStatus } from '../../runtime/api/schema/rollout-status.ts'
import { gatewaySyncType, type ResourceType, roleBindingType } from '../../runtime/kube/types.ts'
import { containsText, matchObject } from '../support/assertions.ts'
import { install, readyAt, simulatedGateway } from '../support/installation.ts'
import { temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

const names = ['gw-a', 'gw-b', 'gw-c'] as const
const roleType: ResourceType = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'roles', kind: 'Role', namespaced: true }
const stages = (approval: 'Automatic' | 'Manual') => [
  { name: 'test', selector: { matchLabels: { line: 'test' } } },
  { name: 'first', selector: { names: ['gw-b'] }, approval },
  { name: 'plant' },
]

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.catch((thrown: unknown) => thrown)
  return error instanceof Fault ? `${error.reason} ${error.message}` : 'it was let through'
}

void t.test('a commit passes the stages, and a bad one is rolled back before the last gateway gets it', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl')) return
  const cluster = await install(t, ['plant'], {}, { lifetimeMs: 600_000 })
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.join(''))
  })
  const { world, host, receiver } = cluster
  const { kube, signal, plane } = world
  const namespace = cluster.namespace('plant')
  const repository = host.repository('plant.git')
  const commit = (text: string): string => repository.commit({ 'projects/line/project.json': '{}', 'projects/line/a.txt': text })
  const push = async (): Promise<void> => {
    const { status } = await fetch(`${receiver.url}/webhook/${namespace}/plant`, {
      method: 'POST',
      headers: { authorization: `Bearer ${receiver.token}`, 'content-type': 'application/json' },
      body: '{"ref":"main"}',
    })
    t.equal(status, 202)
  }
  const rolled = (what: string, isReached: (rollout: RolloutStatus) => boolean): Promise<RolloutStatus> =>
    until(
      async () => {
        const { rollout } = await cluster.status(namespace, 'plant')
        return rollout !== undefined && isReached(rollout) ? rollout : undefined
      },
      what,
      120_000,
    )
  const folders = Object.fromEntries(names.map((name) => [name, temporaryFolder(t, name)]))
  const onDisk = (): string[] => names.map((name) => readFileSync(path.join(folders[name] ?? '', 'projects/line/a.txt'), 'utf8'))
  const told = { kubeconfig: plane.adminKubeconfig, namespace, format: 'text' as const, timeout: 120_000 }
  let printed = ''
  const output = { style: { width: 120, color: false, symbols: false }, isTerminal: false, write: (more: string) => (printed += more) }

  const first = commit('one')
  const { simulator, port } = await simulatedGateway(t, cluster.folder, 'gw')
  const spec = {
    git: { repo: host.url('plant.git/.git'), ref: 'main' },
    polling: { enabled: false },
    gateway: { port },
    sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects', template: true }] } } },
  }
  const create = (rollout: object) =>
    kube.create(
      gatewaySyncType,
      { apiVersion, kind: 'GatewaySync', metadata: { namespace, name: 'plant' }, spec: { ...spec, rollout } },
      signal,
    )

  await t.test('invalid stages are refused by the API server', async (t) => {
    const rows: [object, RegExp][] = [
      [{ stages: [{ name: 'a', selector: { names: ['x'] } }] }, /the last stage takes all remaining gateways/],
      [{ stages: [{ name: 'a', selector: { names: ['x'] } }, { name: 'a' }] }, /Duplicate value/],
      [{ stages: [{ name: 'a', maxConcurrent: '0%' }] }, /from 1% to 100%/],
      [{ stages: [{ name: 'a', maxConcurrent: 0 }] }, /from 1/],
      [{ stages: [{ name: 'a', selector: {} }, { name: 'b' }] }, /needs names or matchLabels/],
      [{ stages: [{ name: 'a' }], windows: [{ days: ['Mon'], from: '25:00', to: '04:00' }] }, /from/],
    ]
    for (const [rollout, refusal] of rows) containsText(t, await refusalOf(create(rollout)), refusal)
  })

  await create({ stages: stages('Manual'), onFailure: 'Rollback' })
  // One after the other: they share a simulated gateway with one lock for scans.
  for (const name of names) {
    const labels: Record<string, string> = name === 'gw-a' ? { line: 'test' } : {}
    await cluster.gateway(namespace, name, { account: 'gateway', simulator, dataDir: folders[name] ?? '', labels })
    await until(async () => ((await cluster.report(namespace, name))?.phase === 'Synced' ? true : undefined), `${name} is synced`)
  }
  await readyAt(cluster, namespace, first, 120_000)

  await t.test('a stage waits for its approval across a controller restart while the other gateways stay', async (t) => {
    const second = commit('two')
    await push()
    await rolled('the second stage waits', ({ waitsFor, stage }) => waitsFor === 'Approval' && stage === 'first')
    t.strictSame(onDisk(), ['two', 'one', 'one'])
    const waits = async () => ((await cluster.report(namespace, 'gw-c'))?.reason === 'WaitsForStage' ? true : undefined)
    await until(waits, 'gw-c says what it waits for')
    matchObject(t, await cluster.report(namespace, 'gw-c'), { phase: 'Pending', commit: first })
    await cluster.stopController()
    await cluster.startController()
    printed = ''
    t.equal(await statusCommand('plant', told, output), 1)
    t.match(printed, /stage first: waiting for approval[^]*cluster-sync approve plant -n/)
    t.strictSame(onDisk(), ['two', 'one', 'one'])
    t.equal(await approveCommand('plant', { ...told, wait: true }, output), 0, printed)
    const { state, stages: done = [] } = await rolled('every stage is done', ({ state }) => state === 'Done')
    t.equal(state, 'Done')
    matchObject(t, done[1], { name: 'first', approvedBy: /^cluster-sync: / })
    t.strictSame(onDisk(), ['two', 'two', 'two'])
    await readyAt(cluster, namespace, second, 120_000)
  })

  await t.test('a commit that fails on the second gateway is rolled back on the first, and the third never gets it', async (t) => {
    await kube.mergePatch(gatewaySyncType, { namespace, name: 'plant' }, { spec: { rollout: { stages: stages('Automatic') } } }, {}, signal)
    const good = (await cluster.status(namespace, 'plant')).published?.commit
    const bad = commit('{% if pod.name == "gw-b" %}{{ vars.nowhere }}{% endif %}three')
    await push()
    const { refused, message } = await rolled('it was rolled back', ({ state }) => state === 'RolledBack')
    t.equal(refused?.commit, bad)
    t.match(message, /gw-b: TemplateFailed/)
    const isBack = async () => ((await cluster.status(namespace, 'plant')).gateways?.synced === 3 ? true : undefined)
    await until(isBack, 'every gateway runs the commit before')
    t.strictSame(onDisk(), ['two', 'two', 'two'])
    matchObject(t, await cluster.status(namespace, 'plant'), {
      published: { commit: good },
      source: { commit: bad, held: 'RolloutFailed' },
    })
    matchObject(t, (await cluster.status(namespace, 'plant')).history?.[0], { commit: bad, outcome: 'Refused', reason: 'RolloutFailed' })
    const had = async (name: string) => ((await cluster.report(namespace, name))?.history ?? []).map((entry) => entry.commit)
    t.ok((await had('gw-a')).includes(bad), 'the first had it')
    t.notOk((await had('gw-c')).includes(bad))
  })

  await t.test('skipping the stages requires a separate permission', async (t) => {
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { namespace, name: 'asker' },
      rules: [{ apiGroups: ['clustersync.io'], resources: ['gatewaysyncs'], verbs: ['get', 'patch'] }],
    }
    await kube.create(roleType, role, signal)
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { namespace, name: 'asker' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'asker' },
      subjects: [{ kind: 'ServiceAccount', namespace, name: 'default' }],
    }
    await kube.create(roleBindingType, binding, signal)
    const asker = world.as(await world.token(namespace, 'default'))
    await until(() => asker.get(gatewaySyncType, { namespace, name: 'plant' }, signal).catch(() => undefined), 'the rights have arrived')
    const four = commit('four')
    const skip = { metadata: { annotations: { [skipStagesAnnotation]: four } } }
    const key = { namespace, name: 'plant' }
    const refused = async () => {
      const refusal = await refusalOf(asker.mergePatch(gatewaySyncType, key, skip, {}, signal))
      return refusal.includes('requires the verb skip-stages') ? true : undefined
    }
    await until(refused, 'the policy is in force')
    await kube.mergePatch(gatewaySyncType, key, skip, {}, signal)
    await push()
    await readyAt(cluster, namespace, four, 120_000)
    t.strictSame(onDisk(), ['four', 'four', 'four'])
  })
})
