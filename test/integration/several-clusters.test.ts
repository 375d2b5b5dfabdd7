/**
 * `status` of several contexts against two real API servers: one view of both, also while further clusters do not answer.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { gatewaySyncCrd, syncReportCrd } from '../../infra/crd.ts'
import { apiVersion } from '../../runtime/api/names.ts'
import { gatewaySyncType } from '../../runtime/kube/types.ts'
import { matchObject } from '../support/assertions.ts'
import { temporaryFolder } from '../support/repository.ts'
import { runCli } from '../support/run-cli.ts'
import { openWorld, until, type World, type WorldOptions } from '../support/world.ts'

const commit = '24a7d5c9c97cf8e04c02ea0114063d89b0766069'
const at = new Date(Date.now() - 5.5 * 3_600_000).toISOString()
const spec = {
  git: { repo: 'https://git.example/plant.git', ref: 'main' },
  sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
}
const gateways = { total: 2, synced: 2, pending: 0, failed: 0, blocked: 0, drifted: 0, dryRun: 0, paused: 0, missingAgent: 0 }
const ready = { type: 'Ready', status: 'True', reason: 'Synced', message: 'all synced', lastTransitionTime: at }
const paused = { type: 'Ready', status: 'False', reason: 'Paused', message: 'writing is paused', lastTransitionTime: at }

type Cluster = { world: World; namespace: string }

/** An API server with one GatewaySync, as a controller leaves it. */
async function clusterWith(t: Test, name: string, condition: object, options: WorldOptions): Promise<Cluster> {
  const world = await openWorld(t, options)
  await world.apply([gatewaySyncCrd(), syncReportCrd()])
  const namespace = await world.namespace('plant')
  const object = { apiVersion, kind: 'GatewaySync', metadata: { namespace, name }, spec }
  await until(async () => world.kube.create(gatewaySyncType, object, world.signal).catch(() => undefined), 'the kinds are served')
  const status = { source: { ref: 'main', commit }, published: { commit, ref: 'main', at }, gateways, conditions: [condition] }
  await world.kube.mergePatch(gatewaySyncType, { namespace, name }, { status }, { subresource: 'status' }, world.signal)
  return { world, namespace }
}

type Entry = { server: string; ca?: string; user?: object; namespace: string }

function writeKubeconfig(folder: string, entries: Record<string, Entry>): string {
  const all = Object.entries(entries)
  const file = path.join(folder, 'kubeconfig')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: all.map(([name, { server, ca }]) => ({ name, cluster: { server, 'certificate-authority': ca } })),
    users: all.map(([name, { user = { token: 'none' } }]) => ({ name, user })),
    contexts: all.map(([name, { namespace }]) => ({ name, context: { cluster: name, user: name, namespace } })),
    'current-context': all[0]?.[0],
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}

function entryOf({ world: { plane }, namespace }: Cluster): Entry {
  const { users } = JSON.parse(readFileSync(plane.adminKubeconfig, 'utf8')) as { users: { user: object }[] }
  return { server: plane.url, ca: plane.caFile, user: users[0]?.user ?? {}, namespace }
}

/** The address of a server that accepts connections and never answers. */
async function silentServer(t: Test): Promise<string> {
  const server = createServer((socket) => socket.resume())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise<void>((resolve) => void server.close(() => resolve())))
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
}

void t.test(
  'status shows the fleets of several contexts, and the reason for each that does not answer',
  { timeout: 600_000 },
  async (t) => {
    const north = await clusterWith(t, 'packing', ready, {})
    const south = await clusterWith(t, 'filling', paused, { shared: false })
    const namespace = 'plant'
    const plugin = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sleep', args: ['60'], interactiveMode: 'Never' }
    const kubeconfig = writeKubeconfig(temporaryFolder(t, 'several-clusters'), {
      north: entryOf(north),
      south: entryOf(south),
      'south-again': entryOf(south),
      refused: { server: 'https://127.0.0.1:1', namespace },
      silent: { server: await silentServer(t), namespace },
      'no-login': { ...entryOf(north), user: { exec: plugin } },
    })
    const status = async (contexts: readonly string[], ...more: readonly string[]) =>
      await runCli(['status', ...contexts.flatMap((context) => ['--context', context]), ...more], { env: { KUBECONFIG: kubeconfig } })

    await t.test('all in one table, with the context of each row and in the commands that it suggests', async (t) => {
      const { code, stdout, stderr } = await status(['south', 'north', 'south'])
      t.strictSame({ code, stderr }, { code: 1, stderr: '' })
      t.strictSame(stdout.split('\n'), [
        'CONTEXT  NAMESPACE       NAME     READY  REF   COMMIT    GATEWAYS  PUBLISHED  WHY',
        `south    ${south.namespace}  filling  no     main  24a7d5c9  2/2       5h         Paused`,
        `north    ${north.namespace}  packing  yes    main  24a7d5c9  2/2       5h         Synced`,
        '',
        `south: ${south.namespace}/filling is not ready (Paused)`,
        '  writing is paused',
        '  Meaning: paused: nothing is written.',
        `  -> Resume: cluster-sync resume filling -n ${south.namespace} --context south`,
        '',
        '1 of 2 GatewaySyncs are ready; 4 of 4 gateways run the published commit.',
        '',
      ])
    })

    await t.test('the others are shown while some do not answer, each with its own deadline', async (t) => {
      const startMs = performance.now()
      const { code, stdout, stderr } = await status(['refused', 'silent', 'north', 'no-login'], '--format', 'json')
      const tookMs = performance.now() - startMs
      t.strictSame({ code, stderr }, { code: 2, stderr: '' })
      const late = (server: RegExp) => new RegExp(`^the cluster at ${server.source} did not answer within 15 s$`)
      matchObject(t, JSON.parse(stdout), {
        allReady: false,
        level: 'error',
        summary: '1 of 1 GatewaySync is ready; 2 of 2 gateways run the published commit. 3 of 4 clusters cannot be read.',
        syncs: [{ context: 'north', namespace: north.namespace, name: 'packing', ready: 'True' }],
        failures: [
          {
            context: 'refused',
            reason: 'ApiUnavailable',
            message: /^the cluster at https:\/\/127\.0\.0\.1:1 does not answer: ECONNREFUSED/,
            next: /^Check the API server/,
          },
          { context: 'silent', reason: 'ApiUnavailable', message: late(/https:\/\/127\.0\.0\.1:\d+/) },
          { context: 'no-login', reason: 'ApiUnavailable', message: late(/https:\/\/127\.0\.0\.1:\d+/) },
        ],
      })
      t.ok(tookMs < 50_000, `the deadlines run at the same time, and a credential plugin does not keep the command: ${tookMs} ms`)
    })

    await t.test('a cluster without the named GatewaySync is a failure, and an unknown context an invalid option', async (t) => {
      const { code, stdout } = await status(['south', 'south-again', 'north'], 'filling', '-n', south.namespace)
      t.equal(code, 2)
      t.match(stdout, new RegExp(`^south: ${south.namespace}/filling is not ready \\(Paused\\)\\n`))
      t.match(stdout, new RegExp(`\\n\\nsouth-again: ${south.namespace}/filling is not ready \\(Paused\\)\\n`))
      t.match(stdout, /\n\nnorth cannot be read \(NotFound\)\n {2}there is no GatewaySync "filling" in namespace "\S+"; it has none\n/)
      matchObject(t, await status(['north', 'nroth']), { code: 2, stdout: '', stderr: /no context "nroth"; it has north, south/ })
    })
  },
)
