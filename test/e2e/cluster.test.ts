/**
 * One push along the whole path with real parts: git host, API server, admission, controller, content server, agent, gateway's HTTP API.
 */
import path from 'node:path'
import t from 'tap'
import { differences } from '../../scripts/quickstart/check.ts'
import { install, type Installation, readyAt, simulatedGateway } from '../support/installation.ts'
import { confirmDeletionsAnnotation } from '../../runtime/api/names.ts'
import { gatewaySyncType, syncReportType } from '../../runtime/kube/types.ts'
import { matchObject } from '../support/assertions.ts'
import { leavesSettingsOut } from '../support/real-history.ts'
import { cloneBundle, commitsOf } from '../support/repository.ts'
import { requires, sharedData } from '../support/requires.ts'
import { isNeverWritten } from '../support/never-written.ts'
import { eventsIn, until } from '../support/world.ts'

void t.test('a push over HTTP reaches the files of a gateway, its scan and every status', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const cluster = await install(t, ['plant'])
  const { world, host, receiver, folder } = cluster
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.join(''))
  })
  const repository = host.repository('plant.git')
  const first = repository.commit({ 'projects/line/project.json': '{}', 'projects/line/a.txt': 'one', 'notes/x.txt': 'not mapped' })
  const namespace = cluster.namespace('plant')
  const { simulator, dataDir, port } = await simulatedGateway(t, folder, 'gw-0')
  await cluster.gatewaySync(namespace, 'plant', {
    git: { repo: host.url('plant.git/.git'), ref: 'main' },
    polling: { enabled: false },
    gateway: { port },
    sync: { profiles: { default: { mappings: [{ source: 'projects/', destination: 'projects' }] } } },
  })
  const published = await until(async () => (await cluster.status(namespace, 'plant')).published, 'the first commit is published')
  t.equal(published.commit, first)

  const agent = await cluster.gateway(namespace, 'gw-0', { account: 'gateway', simulator, dataDir })
  t.equal(agent.pod.metadata.annotations?.['clustersync.io/gateway-sync'], 'plant', 'admission chose the only GatewaySync')
  const ready = (commit: string) => readyAt(cluster, namespace, commit)
  const placed = [{ source: 'projects', destination: 'projects' }]
  const status = await ready(first)
  matchObject(t, status.gateways, { total: 1, synced: 1 })
  t.strictSame(differences({ repository: repository.folder, commit: first, dataDir, placed }), [])

  const second = repository.commit({ 'projects/line/a.txt': 'two', 'projects/line/b.txt': 'new' })
  const scansBefore = simulator.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/scan/projects')).length
  const push = await pushTo(cluster, namespace, 'refs/heads/main')
  t.equal(push.status, 202)
  const { requestId } = (await push.json()) as { requestId: string }
  const after = await ready(second)
  t.equal(after.lastHandledRequest, requestId)
  matchObject(t, after.requests?.at(-1), { id: requestId, ref: 'refs/heads/main', outcome: 'Handled' })
  t.strictSame(differences({ repository: repository.folder, commit: second, dataDir, placed }), [])
  t.equal(simulator.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/scan/projects')).length, scansBefore + 1)
  matchObject(t, await cluster.report(namespace, 'gw-0'), {
    phase: 'Synced',
    commit: second,
    files: { added: 1, changed: 1 },
    gateway: 'gw-0',
  })

  await world.kube.delete(syncReportType, { namespace, name: 'gw-0' }, world.signal)
  await until(async () => {
    const report = await cluster.report(namespace, 'gw-0')
    return report?.phase === 'Synced' && report.commit === second ? report : undefined
  }, 'a report that somebody removed is written again while nothing else happens')
  await ready(second)

  const shown = await world.plane.kubectl(['get', 'gs,sr', '-n', namespace])
  t.match(shown.stdout, /gatewaysync\.clustersync\.io\/plant +True +1\/1 +[0-9a-f]{8} +\w+ +1 of 1 gateways run the published commit/)
  t.match(shown.stdout, /syncreport\.clustersync\.io\/gw-0 +plant +Synced +[0-9a-f]{8} +\w+/)

  const refused = await fetch(`${receiver.url}/webhook/${namespace}/plant`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"ref":"main"}',
  })
  t.equal(refused.status, 401)
  t.equal(await cluster.stopController(), 0, 'the controller gives everything back and ends')

  const third = repository.commit({ 'projects/line/a.txt': null })
  t.equal(await agent.stop(), 0, 'so does the agent')
  const events = await eventsIn(world, namespace)
  t.strictSame(
    events.filter(({ type }) => type !== 'Normal'),
    [],
    'neither a new resource nor a push is a reason to warn',
  )
  t.ok(
    events.some(({ regarding, reason }) => regarding.kind === 'GatewaySync' && reason === 'Published'),
    'but Events are written',
  )
  await cluster.startController()
  await until(
    async () => ((await cluster.status(namespace, 'plant')).published?.commit === third ? true : undefined),
    'a new controller finds what it missed',
  )
  await agent.start()
  await ready(third)
  t.strictSame(differences({ repository: repository.folder, commit: third, dataDir, placed }), [], 'and so does a new agent')
})

void t.test('all commits of a real gateway project arrive byte for byte through controller and agent', { timeout: 600_000 }, async (t) => {
  const bundle = sharedData(t, 'real/lab04.bundle')
  if (bundle === undefined || !requires(t, 'git')) return
  const cluster = await install(t, ['replay'])
  const { host, folder } = cluster
  const repository = cloneBundle(bundle, path.join(folder, 'git', 'lab.git'))
  const commits = commitsOf(repository)
  repository.git('branch', '-f', 'replayed', commits[0] ?? '')
  const namespace = cluster.namespace('replay')
  const { simulator, dataDir, port } = await simulatedGateway(t, folder, 'gw-0')
  await cluster.gatewaySync(namespace, 'plant', {
    git: { repo: host.url('lab.git/.git'), ref: 'replayed' },
    polling: { enabled: false },
    gateway: { port },
    validation: { policy: 'Off' },
    sync: {
      defaults: { maxDeletions: '100%' },
      profiles: { default: { mappings: [{ source: 'services', destination: '.', required: false }] } },
    },
  })
  await cluster.gateway(namespace, 'gw-0', { account: 'gateway', simulator, dataDir })
  for (const commit of commits) {
    repository.git('branch', '-f', 'replayed', commit)
    t.equal((await pushTo(cluster, namespace, 'refs/heads/replayed')).status, 202)
    if (commit === leavesSettingsOut) await confirmWhereRefused(cluster, namespace, commit)
    await readyAt(cluster, namespace, commit)
    const placed = [{ source: 'services', destination: '.' }]
    t.strictSame(differences({ repository: repository.folder, commit, dataDir, placed, ignored: isNeverWritten }), [], commit)
  }
  t.equal(commits.length, 16)
})

async function confirmWhereRefused(cluster: Installation, namespace: string, commit: string): Promise<void> {
  await until(async () => {
    const report = await cluster.report(namespace, 'gw-0')
    return report?.phase === 'Blocked' && report.reason === 'ModeRemoved' ? true : undefined
  }, 'the gateway keeps what it would lose')
  const confirmed = { metadata: { annotations: { [confirmDeletionsAnnotation]: commit } } }
  await cluster.world.kube.mergePatch(gatewaySyncType, { namespace, name: 'plant' }, confirmed, {}, cluster.world.signal)
}

async function pushTo({ receiver }: Installation, namespace: string, ref: string): Promise<Response> {
  const headers = { authorization: `Bearer ${receiver.token}`, 'content-type': 'application/json' }
  return await fetch(`${receiver.url}/webhook/${namespace}/plant`, { method: 'POST', headers, body: JSON.stringify({ ref }) })
}
