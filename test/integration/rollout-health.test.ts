/**
 * Conditions that stop a rollout besides a commit that cannot be applied, on the real API server with real agents: an unhealthy gateway
 * without stages; a health check, a pause and a closed window with stages.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { apiVersion } from '../../runtime/api/names.ts'
import type { RolloutStatus } from '../../runtime/api/schema/rollout-status.ts'
import { gatewaySyncType } from '../../runtime/kube/types.ts'
import { matchObject } from '../support/assertions.ts'
import { install, readyAt, simulatedGateway } from '../support/installation.ts'
import { temporaryFolder } from '../support/repository.ts'
import { startPrometheus } from '../support/prometheus.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

const waitMs = 120_000
const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const

/** A window that opens in three days. */
function closedWindow(): object {
  const day = days[(new Date().getUTCDay() + 3) % 7]
  return { days: [day], from: '10:00', to: '11:00', timeZone: 'UTC' }
}

void t.test('a rollout stops at unhealthy gateways, failed checks, a pause and a closed window', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl', 'prometheus')) return
  const cluster = await install(t, ['plant'], {}, { lifetimeMs: 400_000 })
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.join(''))
  })
  const { world, host, receiver } = cluster
  const { kube, signal } = world
  const namespace = cluster.namespace('plant')
  const repository = host.repository('plant.git')
  const commit = (text: string, project = '{"title":"Line"}'): string =>
    repository.commit({ 'projects/line/project.json': project, 'projects/line/a.txt': text })
  const push = async (): Promise<void> => {
    const { status } = await fetch(`${receiver.url}/webhook/${namespace}/plant`, {
      method: 'POST',
      headers: { authorization: `Bearer ${receiver.token}`, 'content-type': 'application/json' },
      body: '{"ref":"main"}',
    })
    t.equal(status, 202)
  }
  const patch = (spec: object) => kube.mergePatch(gatewaySyncType, { namespace, name: 'plant' }, { spec }, {}, signal)
  const rolled = (what: string, isReached: (rollout: RolloutStatus) => boolean): Promise<RolloutStatus> =>
    until(
      async () => {
        const { rollout } = await cluster.status(namespace, 'plant')
        return rollout !== undefined && isReached(rollout) ? rollout : undefined
      },
      what,
      waitMs,
    )

  const first = commit('one')
  const { simulator, port, dataDir } = await simulatedGateway(t, cluster.folder, 'gw')
  // The simulated gateway reads the files of gw-a only, and answers both agents.
  const folders = { 'gw-a': dataDir, 'gw-b': temporaryFolder(t, 'gw-b') }
  const onDisk = (): string[] => Object.values(folders).map((folder) => readFileSync(path.join(folder, 'projects/line/a.txt'), 'utf8'))
  await kube.create(
    gatewaySyncType,
    {
      apiVersion,
      kind: 'GatewaySync',
      metadata: { namespace, name: 'plant' },
      spec: {
        git: { repo: host.url('plant.git/.git'), ref: 'main' },
        polling: { enabled: false },
        gateway: { port },
        sync: { rollbackOnFailedScan: true, profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
      },
    },
    signal,
  )
  for (const [name, folder] of Object.entries(folders)) {
    await cluster.gateway(namespace, name, { account: 'gateway', simulator, dataDir: folder })
    const synced = async () => ((await cluster.report(namespace, name))?.phase === 'Synced' ? true : undefined)
    await until(synced, `${name} is synced`, waitMs)
  }
  await readyAt(cluster, namespace, first, waitMs)

  await t.test('without stages a commit with a new gateway problem is rolled back everywhere, and the next one is applied', async (t) => {
    const bad = commit('bad', '{')
    await push()
    const { refused, message } = await rolled('it was rolled back', ({ state }) => state === 'RolledBack')
    t.equal(refused?.commit, bad)
    t.match(message, /stage all failed: .*NewProblems/)
    const isBack = async () => (onDisk().every((text) => text === 'one') ? true : undefined)
    await until(isBack, 'both have the commit before', waitMs)
    matchObject(t, await cluster.status(namespace, 'plant'), {
      published: { commit: first },
      source: { commit: bad, held: 'RolloutFailed' },
    })
    matchObject(t, (await cluster.status(namespace, 'plant')).history?.[0], {
      commit: bad,
      outcome: 'Refused',
      by: 'rollout',
      stages: [{ name: 'all', gateways: 2 }],
    })
    const second = commit('two')
    await push()
    await readyAt(cluster, namespace, second, waitMs)
    t.strictSame(onDisk(), ['two', 'two'])
  })

  await t.test('a stage continues once its gateway has passed its check', async (t) => {
    await patch({
      rollout: { stages: [{ name: 'test', selector: { names: ['gw-a'] } }, { name: 'plant' }] },
      sync: { defaults: { healthCheck: { http: { path: '/data/api/v1/gateway-info' } } } },
    })
    const third = commit('three')
    await push()
    await rolled('every stage is done', ({ state, commit }) => state === 'Done' && commit === third)
    t.strictSame(onDisk(), ['three', 'three'])
    const asked = simulator.requests.filter(({ path }) => path === '/data/api/v1/gateway-info').length
    t.ok(asked >= 2, `${asked} questions`)
    await readyAt(cluster, namespace, third, waitMs)
  })

  await t.test('a pause and a closed window keep all gateways from starting', async (t) => {
    await patch({ paused: true })
    const fourth = commit('four')
    await push()
    await rolled('the pause holds it', ({ commit, waitsFor }) => commit === fourth && waitsFor === 'Pause')
    await patch({ paused: false, rollout: { windows: [closedWindow()] } })
    await rolled('the window holds it', ({ commit, waitsFor }) => commit === fourth && waitsFor === 'Window')
    t.strictSame(onDisk(), ['three', 'three'])
    const { conditions = [] } = await cluster.status(namespace, 'plant')
    matchObject(
      t,
      conditions.find(({ type }) => type === 'Progressing'),
      { status: 'True', reason: 'WaitsForWindow' },
    )
    await patch({ rollout: { windows: null } })
    await readyAt(cluster, namespace, fourth, waitMs)
  })

  await t.test('a failed check rolls the commit back from the first stage, and the second never gets it', async (t) => {
    await patch({ rollout: { onFailure: 'Rollback' } })
    const good = (await cluster.status(namespace, 'plant')).published?.commit
    simulator.failNext({ path: '/data/api/v1/gateway-info', status: 500, times: 10_000 })
    const bad = commit('five')
    await push()
    const { message } = await rolled('it was rolled back', ({ state, refused }) => state === 'RolledBack' && refused?.commit === bad)
    t.match(message, /stage test failed: gw-a: HealthCheckFailed/)
    const isBack = async () => (onDisk().every((text) => text === 'four') ? true : undefined)
    await until(isBack, 'the first stage is back', waitMs)
    matchObject(t, await cluster.status(namespace, 'plant'), { published: { commit: good }, source: { held: 'RolloutFailed' } })
    t.notOk((await cluster.report(namespace, 'gw-b'))?.history?.some(({ commit }) => commit === bad))
  })

  await t.test('a stage waits for a Prometheus check, and a query error is not a failure', async (t) => {
    const { url } = await startPrometheus(t, { folder: cluster.folder, scrapeConfigs: [] })
    const ask = (query: string) => patch({ sync: { defaults: { healthCheck: { http: null, prometheus: { query, url } } } } })
    await ask('vector(')
    const sixth = commit('six')
    await push()
    const first = async () => (onDisk()[0] === 'six' ? true : undefined)
    await until(first, 'the first stage has it', waitMs)
    await rolled('it waits', ({ state, commit, waitsFor }) => state === 'Progressing' && commit === sixth && waitsFor === 'Gateways')
    t.equal(onDisk()[1], 'four')
    await ask('label_replace(vector(1), "gateway", "{{ gateway.name }}", "", "")')
    await rolled('every stage is done', ({ state, commit }) => state === 'Done' && commit === sixth)
    await until(async () => (onDisk()[1] === 'six' ? true : undefined), 'the second stage has it', waitMs)
  })
})
