/**
 * A controller that is replaced: it keeps serving until its clients know, and none of its earlier decisions is written after another
 * leader's.
 */
import path from 'node:path'
import t from 'tap'
import { gatewaySyncCrd, syncReportCrd } from '../../infra/crd.ts'
import { apiVersion } from '../../runtime/api/names.ts'
import { gatewaySyncType } from '../../runtime/kube/types.ts'
import { matchObject } from '../support/assertions.ts'
import { startGitHost } from '../support/git-host.ts'
import { install } from '../support/installation.ts'
import { startReplica } from '../support/replica.ts'
import { temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { openWorld, until } from '../support/world.ts'

const spec = (repo: string) => ({
  git: { repo, ref: 'main' },
  polling: { enabled: false },
  sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
})

void t.test('a stopping controller keeps serving, releases the Lease at once and then exits', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl')) return
  const cluster = await install(t, ['plant'], {}, { shutdownDelaySeconds: 6 })
  const { ports, receiver, host } = cluster
  const namespace = cluster.namespace('plant')
  host.repository('plant.git').commit({ 'projects/a.txt': 'one' })
  await cluster.gatewaySync(namespace, 'plant', spec(host.url('plant.git/.git')))
  await until(async () => (await cluster.status(namespace, 'plant')).published, 'it is published')
  const ready = async (): Promise<number> => (await fetch(`http://127.0.0.1:${ports.probes}/readyz`)).status
  t.equal(await ready(), 200)
  let isOver = false
  const ended = cluster.stopController().finally(() => (isOver = true))
  await until(async () => ((await ready()) === 503 ? true : undefined), 'it is not ready any more')
  t.equal((await fetch(`http://127.0.0.1:${ports.probes}/healthz`)).status, 200, 'and alive')
  await until(async () => ((await cluster.leader()) === '' ? true : undefined), 'nobody holds the Lease')
  const push = await fetch(`${receiver.url}/webhook/${namespace}/plant`, {
    method: 'POST',
    headers: { authorization: `Bearer ${receiver.token}`, 'content-type': 'application/json' },
    body: '{"ref":"main"}',
  })
  t.equal(push.status, 202, 'a push that comes then is taken')
  t.notOk(isOver, 'for another may lead while this one still answers')
  t.equal(await ended, 0)
})

void t.test('a status decided from an outdated object is decided again', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl')) return
  const world = await openWorld(t)
  const { kube, plane, signal } = world
  const folder = temporaryFolder(t, 'fencing')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const commit = host.repository('plant.git').commit({ 'projects/a.txt': 'one' })
  await world.apply([gatewaySyncCrd(), syncReportCrd()])
  const namespace = await world.namespace('fencing')
  const key = { namespace, name: 'plant' }
  await until(async () => {
    const object = { apiVersion, kind: 'GatewaySync', metadata: key, spec: spec(host.url('plant.git/.git')) }
    return await kube.create(gatewaySyncType, object, signal).catch(() => undefined)
  }, 'the API server serves the kind')
  let writes = 0
  await startReplica(t, {
    kubeconfig: plane.adminKubeconfig,
    namespace,
    folder: path.join(folder, 'replica'),
    leads: true,
    async beforeStatus() {
      writes += 1
      if (writes > 2) return
      // Like another leader between decision and write.
      const status = { published: { commit: 'f'.repeat(40), ref: 'main', at: '2026-01-01T00:00:00Z' } }
      await kube.mergePatch(
        gatewaySyncType,
        key,
        { status: writes === 1 ? status : { published: null } },
        { subresource: 'status' },
        signal,
      )
    },
  })
  const published = await until(async () => {
    const { published } = ((await kube.get(gatewaySyncType, key, signal))?.status ?? {}) as { published?: { commit: string } }
    return published?.commit === commit ? published : undefined
  }, 'the commit is published')
  matchObject(t, published, { commit, ref: 'main' })
  t.ok(writes > 2, 'after the writes that came too late')
})
