/**
 * The status page of an installed controller behind a proxy with a login: its content for each user according to the API server, live
 * updates of a push, agreement with the command line, and actions.
 */
import { writeFileSync } from 'node:fs'
import type * as http from 'node:http'
import * as https from 'node:https'
import path from 'node:path'
import t, { type Test } from 'tap'
import { readCluster } from '../../runtime/cli/fleet/read-fleet.ts'
import { fleetView } from '../../runtime/fleet/fleet-view.ts'
import type { FleetView } from '../../runtime/fleet/view.ts'
import { eventType, gatewaySyncType, secretType } from '../../runtime/kube/types.ts'
import { Temporal } from '../../runtime/platform/temporal.ts'
import { containsText, lacksText, matchObject } from '../support/assertions.ts'
import { ann, boss, by, pageSecret, patchRights, rightsOf } from '../support/page-rights.ts'
import { freePort } from '../support/ports.ts'
import { install, type Installation, readyAt, simulatedGateway } from '../support/installation.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

const now = Temporal.Instant.from('2026-03-01T12:00:00Z')

/** Requests that trust only the installation's authority. */
function askerOf(ca: string, port: number) {
  const open = (path: string, headers: http.OutgoingHttpHeaders, method = 'GET', body?: string): Promise<http.IncomingMessage> =>
    new Promise((resolve, reject) => {
      const call = https.request(`https://localhost:${port}${path}`, { ca, agent: false, headers, method }, resolve)
      call.on('error', reject)
      call.end(body)
    })
  const ask = async (
    path: string,
    headers: http.OutgoingHttpHeaders,
    method?: string,
    body?: string,
  ): Promise<{ status: number | undefined; text: string }> => {
    const answer = await open(path, headers, method, body)
    return { status: answer.statusCode, text: Buffer.concat((await answer.toArray()) as Buffer[]).toString('utf8') }
  }
  return { open, ask, text: async (path: string, headers: http.OutgoingHttpHeaders) => (await ask(path, headers)).text }
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

/** The parts that do not depend on the time. */
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

void t.test('the status page of an installation shows each user what that user may see', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl')) return
  const port = await freePort()
  // A separate prefix, because the control plane is shared and so are cluster-wide permissions.
  const name = `page-${port}`
  const proxy = { enabled: true, secretRef: { name: 'page-proxy' }, groupsPrefix: `${name}:` }
  const cluster = await install(t, ['north', 'south'], { statusPage: { enabled: true, port, proxy } })
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.join(''))
  })
  const { kube, signal } = cluster.world
  const { open, ask, text } = askerOf(await authorityOf(cluster), port)
  const { namespace, repository, first } = await startPlant(t, cluster)
  const south = cluster.namespace('south')

  await t.test('every request is refused until the proxy secret exists, and then without it', async (t) => {
    for (const path of ['/', '/status.json', '/events']) t.equal((await ask(path, boss)).status, 401, path)
    writeFileSync(path.join(cluster.folder, 'page-proxy-secret'), `${pageSecret}\n`)
    await cluster.world.apply(rightsOf(name, namespace))
    await until(async () => ((await ask('/', boss)).status === 200 ? true : undefined), 'the secret is read')
    t.equal((await ask('/', { ...boss, 'x-cluster-sync-proxy-secret': 'another one of the same len' })).status, 401)
  })

  await t.test('the page shows the gateways of every namespace and the problem in one of them', async (t) => {
    const page = await until(async () => {
      const shown = await text('/', boss)
      return shown.includes('RefNotFound') && shown.includes(first.slice(0, 8)) ? shown : undefined
    }, 'both are shown')
    for (const words of [`${namespace}/plant`, `${south}/line`, 'gateway-0']) containsText(t, page, words)
    lacksText(t, page, 'Login is not enabled')
    containsText(t, await text(`/gatewaysyncs/${south}/line`, boss), 'no-such-branch')
  })

  await t.test('a user sees only the namespaces with GatewaySyncs that the user may list', async (t) => {
    const page = await until(async () => {
      const shown = await text('/', ann)
      return shown.includes(`${namespace}/plant`) ? shown : undefined
    }, 'her right is known')
    lacksText(t, page, south)
    lacksText(t, await text('/status.json', ann), south)
    t.equal((await ask(`/gatewaysyncs/${south}/line`, ann)).status, 404)
    const stranger = await ask('/', by('eve'))
    t.equal(stranger.status, 200)
    lacksText(t, stranger.text, namespace)
    containsText(t, stranger.text, 'You do not have permission to see GatewaySyncs')
  })

  await t.test('the page of a gateway reads the complete report for a user who may see it', async (t) => {
    const place = `/gatewaysyncs/${namespace}/plant/gateways/gateway-0`
    for (const person of [boss, ann]) {
      const page = await text(place, person)
      t.match(page, /1 new, 0 changed, 0 deleted/, 'what the controller does not keep')
      lacksText(t, page, 'The changes cannot be read')
    }
    t.equal((await ask(place, by('eve'))).status, 404)
  })

  await t.test('page and command line agree', async (t) => {
    for (const own of [namespace, south]) {
      await until(async () => {
        const ofPage = told(JSON.parse(await text('/status.json', boss)) as FleetView, own)
        const ofTerminal = told(fleetView(await readCluster({ kube, namespace: own }, signal), now), own)
        return JSON.stringify(ofPage) === JSON.stringify(ofTerminal) ? true : undefined
      }, `page and terminal agree on ${own}`).catch((error: unknown) => t.fail(String(error)))
    }
  })

  await t.test('a viewer gets an event for a push, and the page shows its commit', async (t) => {
    const events = await open('/events', boss)
    let heard = ''
    const listening = (async () => {
      for await (const chunk of events) heard += (chunk as Buffer).toString('utf8')
    })().catch(() => undefined)
    const { url, token } = cluster.receiver
    const second = repository.commit({ 'projects/a.txt': 'two' })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const push = await fetch(`${url}/webhook/${namespace}/plant`, { method: 'POST', headers, body: '{"ref":"main"}' })
    t.equal(push.status, 202)
    await readyAt(cluster, namespace, second)
    await until(async () => (heard.includes('event: changed') ? true : undefined), 'the viewer is notified')
    await until(async () => ((await text('/', boss)).includes(second.slice(0, 8)) ? true : undefined), 'the page shows the commit')
    events.destroy()
    await listening
  })

  await t.test('a user with the patch permission changes a GatewaySync there, other users cannot', async (t) => {
    const place = `/gatewaysyncs/${namespace}/plant`
    t.equal((await ask(`${place}/actions/pause`, ann)).status, 403)
    lacksText(t, await text(place, ann), '/actions/')
    await cluster.world.apply(patchRights(`${name}-patch`, namespace, 'ann'))
    const act = async (action: string): Promise<number | undefined> => {
      const where = `${place}/actions/${action}`
      const answer = await until(async () => {
        const shown = await open(where, ann)
        const page = Buffer.concat((await shown.toArray()) as Buffer[]).toString('utf8')
        return shown.statusCode === 200 ? { page, cookies: shown.headers['set-cookie'] ?? [] } : undefined
      }, 'her right is known')
      const token = /name="token" value="([^"]+)"/.exec(answer.page)?.[1] ?? ''
      const headers = { ...ann, 'sec-fetch-site': 'same-origin', cookie: answer.cookies.map((one) => one.split(';')[0]).join('; ') }
      return (await ask(where, headers, 'POST', new URLSearchParams({ token }).toString())).status
    }
    const key = { namespace, name: 'plant' }
    t.equal(await act('pause'), 303)
    matchObject(t, await kube.get(gatewaySyncType, key, signal), { spec: { paused: true } })
    await until(async () => ((await text(place, ann)).includes('Paused') ? true : undefined), 'the page shows that it is paused')
    t.equal(await act('resume'), 303)
    const third = repository.commit({ 'projects/a.txt': 'three' })
    t.equal(await act('sync'), 303)
    await readyAt(cluster, namespace, third)
    matchObject(t, await kube.get(gatewaySyncType, key, signal), { status: { source: { requested: { by: 'status page: ann' } } } })
    t.equal(await act(`rollback?of=${first}`), 303)
    await readyAt(cluster, namespace, first)
    matchObject(t, await kube.get(gatewaySyncType, key, signal), { spec: { git: { ref: first } } })
    await until(async () => {
      const notes: string[] = []
      for await (const { items } of kube.listPages(eventType, { namespace, limit: 500 }, signal))
        notes.push(...items.map((item) => String((item as { note?: unknown }).note)))
      return ['Pause', 'Resume', 'Sync now', `Back to ${first.slice(0, 8)}`].every((label) =>
        notes.includes(`ann requested on the status page: ${label}`),
      )
        ? true
        : undefined
    }, 'an Event tells of each')
  })
})
