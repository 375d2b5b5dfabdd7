/**
 * Simultaneous reports of many gateways on the real API server: one reconcile handles them together.
 */
import type { V1Pod } from '@kubernetes/client-node'
import path from 'node:path'
import t from 'tap'
import { gatewaySyncCrd, syncReportCrd } from '../../infra/crd.ts'
import { agentVariables } from '../../runtime/settings/agent.ts'
import { agentContainerName, agentPodLabel, apiVersion, podAnnotations } from '../../runtime/api/names.ts'
import type { GatewaySyncStatus } from '../../runtime/api/schema/status.ts'
import { gatewaySyncType, type New, podType, type Stored, syncReportType } from '../../runtime/kube/types.ts'
import { startGitHost } from '../support/git-host.ts'
import { startReplica } from '../support/replica.ts'
import { temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { openWorld, tinyPod, until } from '../support/world.ts'

const gateways = Array.from({ length: 53 }, (_, index) => `gw-${index}`)
const [alone, together] = [gateways.slice(0, 3), gateways.slice(3)]
/** Reports within this time share a reconcile. */
const shareMs = 250

/** A gateway pod after admission, with the fields that the controller reads. */
function pod(namespace: string, name: string): New<Stored<V1Pod>> {
  const asked = tinyPod(namespace, name, { annotations: { [podAnnotations.inject]: 'true' }, labels: { [agentPodLabel]: 'true' } })
  const agent = { name: agentContainerName, image: 'agent:1', env: [{ name: agentVariables.dataDir, value: '/data' }] }
  return { ...asked, spec: { containers: [{ name: 'gateway', image: 'gateway:8.3' }, agent] } }
}

void t.test('fifty simultaneous reports share a reconcile', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl')) return
  const { kube, plane, signal, apply, ...world } = await openWorld(t)
  const folder = temporaryFolder(t, 'reports')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const commit = host.repository('plant.git').commit({ 'projects/a.txt': 'one' })
  await apply([gatewaySyncCrd(), syncReportCrd()])
  const namespace = await world.namespace('reports')
  const spec = {
    git: { repo: host.url('plant.git/.git'), ref: 'main' },
    polling: { enabled: false },
    sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  }
  const object = { apiVersion, kind: 'GatewaySync', metadata: { namespace, name: 'plant' }, spec }
  await until(() => kube.create(gatewaySyncType, object, signal).catch(() => undefined), 'the API server serves the kind')
  for (const name of gateways) {
    const { uid } = (await kube.create(podType, pod(namespace, name), signal)).metadata
    const report = { apiVersion, kind: 'SyncReport', metadata: { namespace, name }, spec: { gatewaySync: 'plant', podUid: uid } }
    await kube.create(syncReportType, report, signal)
  }
  const replica = await startReplica(t, { kubeconfig: plane.adminKubeconfig, namespace, folder: path.join(folder, 'replica'), leads: true })
  const counted = (which: (status: GatewaySyncStatus) => boolean, what: string) =>
    until(async () => {
      const status = (await kube.get(gatewaySyncType, { namespace, name: 'plant' }, signal))?.status as GatewaySyncStatus | undefined
      return status !== undefined && which(status) ? true : undefined
    }, what)
  await counted(({ published, gateways: seen }) => published?.commit === commit && seen?.pending === gateways.length, 'all are waited for')

  const status = { phase: 'Failed', commit, reason: 'DiskFull', message: 'the volume is full' }
  const fail = (name: string) => kube.mergePatch(syncReportType, { namespace, name }, { status }, { subresource: 'status' }, signal)
  const failed = (count: number) => counted(({ gateways: seen }) => seen?.failed === count, `${count} have failed`)
  const aloneMs: number[] = []
  for (const [index, name] of alone.entries()) {
    const beganMs = performance.now()
    await fail(name)
    await failed(index + 1)
    aloneMs.push(performance.now() - beganMs)
  }
  t.ok(Math.max(...aloneMs) >= shareMs, `a report is looked at after ${aloneMs.map(Math.round).join(', ')} ms, when others could have come`)

  const [passes, beganMs] = [replica.passes(), performance.now()]
  await Promise.all(together.map(fail))
  await failed(gateways.length)
  const [made, tookMs] = [replica.passes() - passes, performance.now() - beganMs]
  // One per interval, and one that was due before.
  t.ok(made >= 1 && made <= Math.ceil(tookMs / shareMs) + 1, `${made} passes in ${Math.round(tookMs)} ms`)
})
