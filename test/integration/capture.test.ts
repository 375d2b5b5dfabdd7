/**
 * Capture of local changes in a cluster: the controller and the agents of two gateways on the real API server, with a real https repository
 * that accepts pushes with one token only.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { captureCommand, requestCommand } from '../../runtime/cli/fleet/change-command.ts'
import { changesCommand, driftCommand } from '../../runtime/cli/fleet/drift-command.ts'
import type { Output } from '../../runtime/cli/output/output.ts'
import { changesAnnotations } from '../../runtime/api/names.ts'
import { gatewaySyncType, secretType, syncReportType } from '../../runtime/kube/types.ts'
import { lacksText, matchObject, rejectsWith } from '../support/assertions.ts'
import { install, simulatedGateway } from '../support/installation.ts'
import { startPushHost } from '../support/push-host.ts'
import { requires } from '../support/requires.ts'
import { shown } from '../support/shown-output.ts'
import { until } from '../support/world.ts'

const page = 'how-to/capture.md'
const token = 'token-that-only-captures-have'
const withinMs = 180_000

/** The output of a command, and its exit code. */
async function called(run: (output: Output) => Promise<number>): Promise<{ code: number; output: string }> {
  let output = ''
  const style = { width: 120, color: false, symbols: false }
  const code = await run({ style, isTerminal: false, write: (text) => (output += text) })
  return { code, output }
}

void t.test('local changes on gateways are detected and become commits', { timeout: 900_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl', 'openssl')) return
  const cluster = await install(t, ['plant'], {}, { lifetimeMs: 900_000 })
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.join(''))
  })
  const { world } = cluster
  const namespace = cluster.namespace('plant')
  const host = await startPushHost(t, cluster.folder, token)
  const repository = host.pushable('plant.git')
  const first = repository.commit({ 'projects/line/project.json': '{}', 'projects/line/a.txt': 'one' })
  const git = (...args: string[]): string =>
    repository
      .git(...args)
      .toString('utf8')
      .trim()
  const secret = async (name: string, key: string, value: string): Promise<void> => {
    const data = { [key]: Buffer.from(value).toString('base64') }
    await world.kube.create(secretType, { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, data }, world.signal)
  }
  await secret('git-ca', 'ca.crt', host.ca)
  await secret('push', 'token', token)
  const { simulator, dataDir, port } = await simulatedGateway(t, cluster.folder, 'gw')
  const other = path.join(cluster.folder, 'other')
  mkdirSync(other)
  await cluster.gatewaySync(namespace, 'plant', {
    git: { repo: host.url('plant.git/.git'), ref: 'main', caBundle: { secretRef: { name: 'git-ca', key: 'ca.crt' } } },
    polling: { enabled: false },
    gateway: { port },
    sync: { defaults: { syncPeriod: '5s' }, profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
    capture: { auth: { token: { secretRef: { name: 'push', key: 'token' } } } },
  })
  await cluster.gateway(namespace, 'gw-0', { account: 'gateway', simulator, dataDir })
  await cluster.gateway(namespace, 'gw-1', { account: 'gateway', simulator, dataDir: other })
  const phases = async (...desired: string[]): Promise<true> =>
    await until(
      async () => {
        const reports = await Promise.all(['gw-0', 'gw-1'].map((pod) => cluster.report(namespace, pod)))
        return reports.every((report, index) => report?.phase === desired[index]) ? true : undefined
      },
      `the gateways are ${desired.join(' and ')}`,
      withinMs,
    )
  await phases('Synced', 'Synced')
  const options = { kubeconfig: world.plane.adminKubeconfig, namespace, format: 'text' as const, timeout: withinMs }
  const drift = (): Promise<{ code: number; output: string }> => called((output) => driftCommand('plant', options, output))
  const capture = (only?: string): Promise<{ code: number; output: string }> =>
    called((output) => captureCommand('plant', { ...options, ...(only === undefined ? {} : { only }) }, output))
  const entries = async () => (await cluster.status(namespace, 'plant')).capture?.gateways ?? []
  const entryOf = async (pod: string) => (await entries()).find((entry) => entry.pod === pod)
  const write = (folder: string, file: string, text: string): void => writeFileSync(path.join(folder, 'projects/line', file), text)

  await t.test('drift lists the changed files of each gateway', async (t) => {
    matchObject(t, await drift(), { code: 0, output: '0 of 2 gateways with local changes, 2 without\n' })
    write(dataDir, 'a.txt', 'repaired')
    write(dataDir, 'project.json', '{"title":"Line"}')
    await phases('Drifted', 'Synced')
    const told = await drift()
    t.equal(told.code, 1)
    t.match(
      told.output,
      /^\S+\/gw-0: 2 files changed or deleted since commit [0-9a-f]{8}\n {2}projects\/line\/a\.txt\n {2}projects\/line\/project\.json\n1 of 2 gateways with local changes, 1 without\n$/,
    )
  })

  await t.test('agents report changed contents, including new files, until they have been read', async (t) => {
    write(dataDir, 'new.txt', 'added')
    const told = await called((output) => changesCommand('plant', options, output))
    t.equal(told.code, 1, told.output)
    shown(t, page, 'contents-of-a-cluster', told.output)
    const { metadata } = (await world.kube.get(gatewaySyncType, { namespace, name: 'plant' }, world.signal)) ?? {}
    t.equal(metadata?.annotations?.[changesAnnotations.at], undefined)
    await until(
      async () => {
        const { status } = (await world.kube.get(syncReportType, { namespace, name: 'gw-0' }, world.signal)) ?? {}
        return (status as object | undefined) === undefined || 'changes' in (status as object) ? undefined : true
      },
      'the report holds no contents any more',
      withinMs,
    )
    const both = ['gw-0', 'gw-1'].map((only) => called((output) => changesCommand('plant', { ...options, only }, output)))
    t.strictSame(
      (await Promise.all(both)).map(({ code }) => code),
      [1, 0],
      'two who ask at once are both answered',
    )
    const nobody = called((output) => changesCommand('plant', { ...options, only: 'gw-9' }, output))
    await rejectsWith(t, nobody, { reason: 'NotFound', message: /no gateway or pod "gw-9"/ })
  })

  await t.test("a requested capture pushes the changes as a commit on the gateway's branch with the capture credentials", async (t) => {
    const told = await capture('gw-0')
    t.equal(told.code, 0, told.output)
    shown(t, page, 'capture-of-a-cluster', told.output)
    const entry = await entryOf('gw-0')
    matchObject(t, entry, { state: 'Pushed', branch: 'captured/gw-0', files: 3, baseCommit: first })
    t.equal(git('rev-parse', 'captured/gw-0'), entry?.commit)
    t.equal(git('rev-parse', 'captured/gw-0^'), first)
    t.equal(git('show', 'captured/gw-0:projects/line/a.txt'), 'repaired')
    t.equal(
      git('diff', '--name-status', 'main', 'captured/gw-0'),
      'M\tprojects/line/a.txt\nA\tprojects/line/new.txt\nM\tprojects/line/project.json',
    )
    t.match(git('log', '-1', '--format=%B', 'captured/gw-0'), /Captured-Gateway: gw-0\n(?:.*\n)?Captured-On: /)
    t.ok(host.seen.pushes > 0)
    t.equal(host.seen.others, 0, 'nothing else uses the credentials')
    lacksText(t, cluster.logs.join(''), token)
    t.equal(await entryOf('gw-1'), undefined, 'another gateway was not asked')
  })

  await t.test('the same changes again result in the same commit', async (t) => {
    const { commit } = (await entryOf('gw-0')) ?? {}
    t.equal((await capture('gw-0')).code, 0)
    t.equal((await entryOf('gw-0'))?.commit, commit)
    t.equal(git('rev-parse', 'captured/gw-0'), commit)
  })

  await t.test('after the merge the gateway is in sync without a write, and the other one has the change', async (t) => {
    repository.git('merge', '-q', '--ff-only', 'captured/gw-0')
    const moved = await called((output) => requestCommand('plant', { ...options, ref: 'main', wait: true }, output))
    t.equal(moved.code, 0, moved.output)
    await phases('Synced', 'Synced')
    t.equal(readFileSync(path.join(other, 'projects/line/a.txt'), 'utf8'), 'repaired')
    matchObject(t, await capture(), { code: 1, output: /gw-0: nothing to capture; gw-1: nothing to capture/ })
  })

  await t.test('equal changes of two gateways are one commit, different ones have a branch each', async (t) => {
    for (const folder of [dataDir, other]) write(folder, 'a.txt', 'of both')
    const both = await capture()
    t.equal(both.code, 0, both.output)
    const [one, two] = [await entryOf('gw-0'), await entryOf('gw-1')]
    t.equal(one?.commit, two?.commit)
    t.equal(one?.branch, two?.branch)
    write(other, 'a.txt', 'of the second alone')
    const again = await capture()
    t.equal(again.code, 0, again.output)
    const [mine, its] = [await entryOf('gw-0'), await entryOf('gw-1')]
    t.not(mine?.commit, its?.commit)
    t.not(mine?.branch, its?.branch)
    for (const each of [mine, its]) t.equal(git('rev-parse', each?.branch ?? ''), each?.commit)
    t.equal(git('show', `${its?.branch ?? ''}:projects/line/a.txt`), 'of the second alone')
  })

  await t.test('a branch with a commit of another author is not overwritten', async (t) => {
    repository.git('switch', '-q', 'captured/gw-0')
    const theirs = repository.commit({ 'projects/line/theirs.txt': 'kept' })
    repository.git('switch', '-q', 'main')
    write(dataDir, 'a.txt', 'another repair')
    const refused = await capture('gw-0')
    t.equal(refused.code, 1, refused.output)
    matchObject(t, await entryOf('gw-0'), { state: 'Refused', reason: 'PushRefused' })
    t.equal(git('rev-parse', 'captured/gw-0'), theirs)
  })
})
