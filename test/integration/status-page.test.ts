/**
 * The status page of an installed controller: what it shows of several namespaces, that a push is seen without asking again, and that page and
 * terminal say the same.
 */
import * as https from 'node:https'
import t, { type Test } from 'tap'
import { readCluster } from '../../runtime/cli/fleet/read-fleet.ts'
import { fleetView } from '../../runtime/fleet/fleet-view.ts'
import type { FleetView } from '../../runtime/fleet/view.ts'
import { secretType } from '../../runtime/kube/types.ts'
import { freePort, install, type Installation, readyAt, simulatedGateway } from '../support/installation.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

const now = Temporal.Instant.from('2026-03-01T12:00:00Z')

/** Asks with trust in the installation's own authority alone. */
function askerOf(ca: string, port: number) {
  const open = (path: string): Promise<AsyncIterable<Buffer> & { statusCode?: number | undefined; destroy(): void }> =>
    new Promise((resolve, reject) => {
      https.get(`https://localhost:${port}${path}`, { ca, agent: false }, resolve).on('error', reject)
    })
  return {
    open,
    async text(path: string): Promise<string> {
      const chunks: Buffer[] = []
      for await (const chunk of await open(path)) chunks.push(chunk)
      return Buffer.concat(chunks).toString('utf8')
    },
  }
}

async function authorityOf({ world, manifests }: Installation): Promise<string> {
  const { kube, signal } = world
  const namespace = manifests.find(({ kind }) => kind === 'Deployment')?.metadata['namespace']
  const name = /"secretName": ?\\?"([^"\\]+)/.exec(JSON.stringify(manifests).replaceAll('\\"', '"'))?.[1] ?? ''
  const secret = await until(
    async () => await kube.get(secretType, { namespace: String(namespace), name }, signal),
    'the Secret with the certificate',
  )
  return Buffer.from((secret as unknown as { data: Record<string, string> }).data['ca.crt'] ?? '', 'base64').toString('utf8')
}

/** What does not depend on when it was looked at. */
function told({ syncs }: FleetView, namespace: string): unknown {
  return JSON.parse(JSON.stringify(syncs.filter((sync) => sync.namespace === namespace)))
}

async function startPlant(t: Test, cluster: Installation) {
  const namespace = cluster.namespace('north')
  const repository = cluster.host.repository('plant.git')
  const first = repository.commit({ 'projects/a.txt': 'one' })
  const { simulator, dataDir, port } = await simulatedGateway(t, cluster.folder, 'gateway-0')
  const spec = {
    git: { repo: cluster.host.url('plant.git/.git'), ref: 'main' },
    polling: { enabled: false },
    gateway: { port },
    sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  }
  await cluster.gatewaySync(namespace, 'plant', spec)
  const elsewhere = { ...spec, git: { ...spec.git, ref: 'no-such-branch' } }
  await cluster.gatewaySync(cluster.namespace('south'), 'line', elsewhere)
  await cluster.gateway(namespace, 'gateway-0', { account: 'gateway', simulator, dataDir })
  await readyAt(cluster, namespace, first)
  return { namespace, repository, first }
}

void t.test('the page of an installation', { timeout: 280_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl', 'prlimit')) return
  const port = await freePort()
  const cluster = await install(t, ['north', 'south'], { statusPage: { enabled: true, port } })
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.join(''))
  })
  const { kube, signal } = cluster.world
  const { open, text } = askerOf(await authorityOf(cluster), port)
  const { namespace, repository, first } = await startPlant(t, cluster)
  const south = cluster.namespace('south')

  await t.test('shows the gateways of every namespace, what is wrong in one of them, and that there is no login', async (t) => {
    const page = await until(async () => {
      const shown = await text('/')
      return shown.includes('RefNotFound') && shown.includes(first.slice(0, 8)) ? shown : undefined
    }, 'both are shown')
    for (const words of [`${namespace}/plant`, `${south}/line`, 'gateway-0', 'There is no login']) t.match(page, words)
    t.match(await text(`/gatewaysyncs/${south}/line`), 'no-such-branch')
  })

  await t.test('says what the terminal says', async (t) => {
    for (const own of [namespace, south]) {
      await until(async () => {
        const ofPage = told(JSON.parse(await text('/status.json')) as FleetView, own)
        const ofTerminal = told(fleetView(await readCluster({ kube, namespace: own }, signal), now), own)
        return JSON.stringify(ofPage) === JSON.stringify(ofTerminal) ? true : undefined
      }, `page and terminal agree on ${own}`).catch((error: unknown) => t.fail(String(error)))
    }
  })

  await t.test('tells a viewer of a push, whose commit the page then shows', async (t) => {
    const events = await open('/events')
    let heard = ''
    const listening = (async () => {
      for await (const chunk of events) heard += chunk.toString('utf8')
    })().catch(() => undefined)
    const { url, token } = cluster.receiver
    const second = repository.commit({ 'projects/a.txt': 'two' })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const push = await fetch(`${url}/webhook/${namespace}/plant`, { method: 'POST', headers, body: '{"ref":"main"}' })
    t.equal(push.status, 202)
    await readyAt(cluster, namespace, second)
    await until(async () => (heard.includes('event: changed') ? true : undefined), 'the viewer is told')
    await until(async () => ((await text('/')).includes(second.slice(0, 8)) ? true : undefined), 'the page shows the commit')
    events.destroy()
    await listening
  })

  await t.test('nothing can be written there', async (t) => {
    for (const path of ['/', `/gatewaysyncs/${namespace}/plant`, '/status.json']) {
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const call = https.request(
          `https://localhost:${port}${path}`,
          { method: 'POST', rejectUnauthorized: false, agent: false },
          (answer) => {
            answer.resume()
            resolve(answer.statusCode)
          },
        )
        call.on('error', reject)
        call.end()
      })
      t.equal(status, 404, path)
    }
  })
})
