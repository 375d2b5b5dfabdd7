/**
 * The fleet commands against the real API server, with a running controller and a gateway's agent: their output is that of
 * docs/how-to/fleet.md.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { pauseCommand, requestCommand, rollbackCommand } from '../../runtime/cli/fleet/change-command.ts'
import { historyCommand } from '../../runtime/cli/fleet/history.ts'
import type { Output } from '../../runtime/cli/output/output.ts'
import { statusCommand } from '../../runtime/cli/fleet/status-command.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import { cliFieldManager } from '../../runtime/api/names.ts'
import { gatewaySyncType, type ResourceType, roleBindingType } from '../../runtime/kube/types.ts'
import { containsText, matchObject, rejectsWith } from '../support/assertions.ts'
import { type Installation, install, simulatedGateway } from '../support/installation.ts'
import { requires } from '../support/requires.ts'
import { shown } from '../support/shown-output.ts'
import { linesOf, openShell } from '../support/docs-shell.ts'
import { textsIn } from '../support/page.ts'
import { kept, ofAnyCluster } from '../support/transcript.ts'
import { until } from '../support/world.ts'

const page = 'how-to/fleet.md'
const roleType: ResourceType = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'roles', kind: 'Role', namespaced: true }

type Called = { code: number; output: string }
type Run<Options> = (options: Options, output: Output) => Promise<number>

/** In this process, because each start of the command takes a second or more; component tests cover the start. */
const callsWith = (kubeconfig: string, namespace: string) => {
  const shared = { kubeconfig, namespace, format: 'text' as const, timeout: 120_000 }
  const call = async (run: Run<typeof shared>): Promise<Called> => {
    let text = ''
    const style = { width: 120, color: false, symbols: false }
    const code = await run(shared, { style, isTerminal: false, write: (more) => (text += more) })
    return { code, output: text }
  }
  return {
    status: (name?: string, format: 'text' | 'json' = 'text') =>
      call((options, output) => statusCommand(name, { ...options, format }, output)),
    history: (name: string) => call((options, output) => historyCommand(name, options, output)),
    request: (name: string, ref: string, more: { wait?: true; timeout?: number } = {}) =>
      call((options, output) => requestCommand(name, { ...options, ref, ...more }, output)),
    rollback: (name: string, more: { to?: string; wait?: true } = {}) =>
      call((options, output) => rollbackCommand(name, { ...options, ...more }, output)),
    pause: (name: string) => call((options, output) => pauseCommand(name, true, options, output)),
    resume: (name: string) => call((options, output) => pauseCommand(name, false, { ...options, wait: true }, output)),
  }
}

const ready = (cluster: Installation, namespace: string, commit: string): Promise<true> =>
  until(
    async () => {
      const { published, conditions } = await cluster.status(namespace, 'plant')
      const isReady = conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
      return isReady && published?.commit === commit ? true : undefined
    },
    `Ready with ${commit}`,
    120_000,
  )

/** Times in a status have a resolution of a second, and a list of events is in order only if they differ. */
const nextSecond = async (): Promise<void> => {
  const now = (): number => Math.floor(systemClock.now().epochMilliseconds / 1000)
  const before = now()
  await until(() => (now() > before ? true : undefined), 'the next second')
}

void t.test('commands show, move, roll back and pause a fleet', { timeout: 900_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl')) return
  const cluster = await install(t, ['plant'], {}, { lifetimeMs: 900_000 })
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.join(''))
  })
  const { world, host } = cluster
  const namespace = cluster.namespace('plant')
  const calls = callsWith(world.plane.adminKubeconfig, namespace)
  t.strictSame(await calls.status(), { code: 0, output: 'There is no GatewaySync.\n' })

  const repository = host.repository('plant.git')
  const first = repository.commit({ 'projects/line/project.json': '{}', 'projects/line/a.txt': 'one' })
  const { simulator, dataDir, port } = await simulatedGateway(t, cluster.folder, 'gw')
  await cluster.gatewaySync(namespace, 'plant', {
    git: { repo: host.url('plant.git/.git'), ref: 'main' },
    polling: { enabled: false },
    gateway: { port },
    sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  })
  await cluster.gateway(namespace, 'gw-0', { account: 'gateway', simulator, dataDir })
  await ready(cluster, namespace, first)
  const onDisk = (): string => readFileSync(path.join(dataDir, 'projects/line/a.txt'), 'utf8')

  await t.test('status prints every GatewaySync, one with its gateways, and the same as JSON', async (t) => {
    const all = await calls.status()
    matchObject(t, all, { code: 0 })
    shown(t, page, 'status', all.output)
    const one = await calls.status('plant')
    matchObject(t, one, { code: 0 })
    shown(t, page, 'status-of-one', one.output)
    for (const line of `${all.output}${one.output}`.split('\n')) t.ok(line.length <= 120, line)
    const json = await calls.status('plant', 'json')
    matchObject(t, JSON.parse(json.output), {
      allReady: true,
      syncs: [{ name: 'plant', published: { commit: first }, gateways: [{ pod: 'gw-0', state: 'synced', commit: first }] }],
    })
  })

  const second = repository.commit({ 'projects/line/a.txt': 'two' })
  repository.git('tag', 'v2')
  await t.test('a request moves the gateways, and a refused one changes nothing', async (t) => {
    await nextSecond()
    const moved = await calls.request('plant', 'v2', { wait: true })
    matchObject(t, moved, { code: 0 })
    t.match(moved.output, /^plant-\w+\/plant: 1 of 1 gateways run commit [0-9a-f]{8}$/m)
    t.equal(onDisk(), 'two')
    const object = await world.kube.get(gatewaySyncType, { namespace, name: 'plant' }, world.signal)
    matchObject(t, object?.metadata.annotations, { 'clustersync.io/requested-ref': 'v2', 'clustersync.io/requested-by': /^cluster-sync: / })
    await nextSecond()
    const refused = await calls.request('plant', 'no-such-tag')
    matchObject(t, refused, { code: 1 })
    shown(t, page, 'request-refused', refused.output)
    t.equal((await cluster.status(namespace, 'plant')).published?.commit, second)
  })

  await t.test('a rollback returns to the previous commit and stays there', async (t) => {
    await nextSecond()
    const back = await calls.rollback('plant', { wait: true })
    matchObject(t, back, { code: 0 })
    shown(t, page, 'rollback', back.output)
    t.equal(onDisk(), 'one')
    const object = (await world.kube.get(gatewaySyncType, { namespace, name: 'plant' }, world.signal)) as unknown as {
      spec: { git: { ref: string } }
      metadata: { managedFields: { manager: string }[] }
    }
    t.equal(object.spec.git.ref, first)
    t.ok(object.metadata.managedFields.some(({ manager }) => manager === cliFieldManager))
    await nextSecond()
    const absent = await calls.rollback('plant', { to: '0'.repeat(40) })
    matchObject(t, absent, { code: 1, output: /commit [0-9a-f]{8} stays published/ })
    await nextSecond()
    t.equal((await calls.rollback('plant', { to: 'main', wait: true })).code, 0)
    t.equal(onDisk(), 'two')
  })

  await t.test('history lists published and requested commits', async (t) => {
    const history = await calls.history('plant')
    matchObject(t, history, { code: 0 })
    shown(t, page, 'history', history.output)
  })

  await t.test('kubectl shows the same states and events', async (t) => {
    const kubectl = async (args: readonly string[]): Promise<string> => {
      const { stdout, stderr, code } = await world.plane.kubectl([...args, '--namespace', namespace])
      return `$ kubectl ${args.join(' ')} --namespace plant\n${ofAnyCluster(stdout + stderr)}${code === 0 ? '' : `[exit ${code}]\n`}`
    }
    const described = await kubectl(['describe', 'gatewaysync', 'plant'])
    const shownEvents = described.slice(described.indexOf('Events:'))
    for (const reason of ['Published', 'RequestRefused']) containsText(t, shownEvents, reason)
    const calls = [
      await kubectl(['get', 'gatewaysyncs']),
      await kubectl(['get', 'gatewaysyncs', '--output=wide']),
      await kubectl(['get', 'syncreports']),
      described,
      await kubectl(['describe', 'syncreport', 'gw-0']),
      await kubectl(['get', 'gatewaysync', 'plnt']),
    ]
    kept(t, path.join(import.meta.dirname, 'transcripts/kubectl.txt'), calls.join('\n'))
  })

  await t.test('a paused GatewaySync is not ready until it is resumed', async (t) => {
    const paused = await calls.pause('plant')
    matchObject(t, paused, {
      code: 0,
      output: /: paused; commits are still fetched and validated\n {2}-> Resume: cluster-sync resume plant -n /,
    })
    matchObject(t, await calls.status(), { code: 1, output: /is not ready \(Paused\)[^]*cluster-sync resume plant/ })
    matchObject(t, await calls.resume('plant'), { code: 0, output: /1 of 1 gateways run commit/ })
  })

  await t.test('the permissions of docs/how-to/fleet.md suffice, and a missing one is reported in one line', async (t) => {
    const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(readFileSync(path.resolve(import.meta.dirname, '../../docs', page), 'utf8')) ?? []
    const role = parse(yaml) as { metadata: { name: string } }
    await world.kube.create(roleType, { ...role, metadata: { ...role.metadata, namespace } }, world.signal)
    const token = await world.token(namespace, 'default')
    const stranger = callsWith(world.plane.kubeconfigFor(token), namespace)
    const words = `you \\(system:serviceaccount:${namespace}:default\\) may not list gatewaysyncs\\S* in namespace "${namespace}"; for the permissions of each command, see \\S*docs/how-to/fleet`
    await rejectsWith(t, stranger.status(), { reason: 'Forbidden', message: new RegExp(`^${words}`) })
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { namespace, name: 'fleet-operator' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role.metadata.name },
      subjects: [{ kind: 'ServiceAccount', namespace, name: 'default' }],
    }
    await world.kube.create(roleBindingType, binding, world.signal)
    const kube = world.as(token)
    await until(
      () => kube.get(gatewaySyncType, { namespace, name: 'plant' }, world.signal).catch(() => undefined),
      'the rights have arrived',
    )
    matchObject(t, await stranger.status(), { code: 0 })
    matchObject(t, await stranger.request('plant', 'main'), { code: 0 })
  })

  await t.test('the kubectl commands of the pages succeed', async (t) => {
    const shell = await openShell(t, world.plane.adminKubeconfig)
    const places: [string, string][] = [
      ['--namespace plant', `--namespace ${namespace}`],
      ['gateway-0', 'gw-0'],
      ['<commit>', second],
    ]
    for (const shownOn of ['docs/reference/operations.md', 'docs/how-to/runbook.md', 'docs/how-to/rollout.md']) {
      const commands = textsIn(shownOn, 'sh').flatMap((text) => linesOf(text.replaceAll(/\\\n\s*/g, ' ')))
      t.not(commands.length, 0, shownOn)
      for (const command of commands.filter((line) => !line.startsWith('kubectl logs '))) {
        const here = places.reduce((text, [from, to]) => text.replaceAll(from, to), command)
        const { code, output } = await shell.run(here)
        t.equal(code, 0, `${command}\n${output}`)
      }
    }
    matchObject(t, await calls.resume('plant'), { code: 0 }, 'the last one paused it')
  })

  await t.test('a missing GatewaySync and a stopped controller are reported with the next step', async (t) => {
    await rejectsWith(t, calls.status('plnt'), {
      reason: 'NotFound',
      message: /there is no GatewaySync "plnt" in namespace ".*"; it has plant/,
    })
    await cluster.stopController()
    const unanswered = await calls.request('plant', 'v2', { timeout: 1_000 })
    matchObject(t, unanswered, {
      code: 1,
      output: /after 1 s: the controller has not responded yet; the request remains in effect[^]*cluster-sync check/,
    })
  })
})
