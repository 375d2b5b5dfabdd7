/**
 * Agent permissions on the real API server with the roles and policies of the manifests: an agent may write its own report and nothing
 * else.
 */
import t from 'tap'
import { gatewaySyncCrd, syncReportCrd } from '../../infra/crd.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { apiVersion } from '../../runtime/api/names.ts'
import type { Kube } from '../../runtime/kube/client.ts'
import { gatewaySyncType, podType, secretType, syncReportType } from '../../runtime/kube/types.ts'
import { presentRelease } from '../support/releases.ts'
import { requires } from '../support/requires.ts'
import { openWorld, tinyPod, until } from '../support/world.ts'

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.catch((thrown: unknown) => thrown)
  return error instanceof Fault ? `${error.reason} ${error.message}` : 'it was let through'
}

void t.test('an agent writes only its own report and no status of a GatewaySync', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const world = await openWorld(t)
  const { kube, signal } = world
  const operator = await world.namespace('operator')
  const [own, other] = [await world.namespace('plant', 'gateway'), await world.namespace('plant', 'gateway')]
  const values = { certManager: { enabled: false }, webhook: { enabled: false }, watchNamespaces: [own, other] }
  const manifests = presentRelease.manifests({ name: operator, namespace: operator }, values)
  await world.apply([gatewaySyncCrd(), syncReportCrd()])
  await world.apply(manifests)
  const fullname = `${operator}-cluster-sync-operator`
  for (const namespace of [own, other]) {
    await world.apply([
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'agents', namespace },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `${fullname}-agent` },
        subjects: [{ kind: 'ServiceAccount', name: 'gateway', namespace }],
      },
    ])
  }
  const podIn = async (namespace: string, name: string) =>
    (await kube.create(podType, tinyPod(namespace, name, { account: 'gateway' }), signal)).metadata
  const first = await podIn(own, 'gw-0')
  const second = await podIn(own, 'gw-1')
  const elsewhere = await podIn(other, 'gw-0')
  const agentOf = async (pod: typeof first): Promise<Kube> =>
    world.as(await world.token(pod.namespace ?? '', 'gateway', { pod: { name: pod.name, uid: pod.uid } }))
  const report = (pod: typeof first, owner = pod): object => ({
    apiVersion,
    kind: 'SyncReport',
    metadata: {
      namespace: own,
      name: pod.name,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: owner.name, uid: owner.uid }],
    },
    spec: { gatewaySync: 'plant', podUid: pod.uid },
  })
  const agent = await agentOf(first)
  const key = { namespace: own, name: 'gw-0' }
  // A new role binding and a new policy take effect within a second or two.
  await until(async () => agent.create(syncReportType, report(first), signal).catch(() => undefined), 'the agent may write its report')
  await until(
    async () =>
      (await refusalOf(agent.create(syncReportType, report(second), signal))).includes('ValidatingAdmissionPolicy') ? true : undefined,
    'the policy acts',
  )

  await t.test('an agent may write a valid status of its own report', async (t) => {
    t.equal(
      await refusalOf(agent.mergePatch(syncReportType, key, { status: { phase: 'Pending' } }, { subresource: 'status' }, signal)),
      'it was let through',
    )
    t.match(
      await refusalOf(agent.mergePatch(syncReportType, key, { status: { phase: 'Fine' } }, { subresource: 'status' }, signal)),
      /Rejected .*phase/,
    )
  })
  await t.test('an agent may not write the report of another pod, another namespace or an earlier pod', async (t) => {
    t.match(await refusalOf(agent.create(syncReportType, report(second), signal)), /pod gw-0 may write only its own SyncReport, not gw-1/)
    const stranger = await agentOf(elsewhere)
    t.match(
      await refusalOf(stranger.mergePatch(syncReportType, key, { status: { phase: 'Synced' } }, { subresource: 'status' }, signal)),
      /Forbidden/,
    )
    const unbound = world.as(await world.token(own, 'gateway'))
    const patch = { status: { phase: 'Synced' } }
    t.match(
      await refusalOf(unbound.mergePatch(syncReportType, key, patch, { subresource: 'status' }, signal)),
      /requires a token bound to a pod/,
    )
    t.match(
      await refusalOf(agent.mergePatch(syncReportType, key, { spec: { podUid: second.uid } }, {}, signal)),
      /spec\.podUid of SyncReport gw-0 must be/,
    )
    const orphan = { metadata: { ownerReferences: [] } }
    t.match(
      await refusalOf(agent.mergePatch(syncReportType, key, orphan, {}, signal)),
      /SyncReport gw-0 must have pod gw-0 with uid [0-9a-f-]+ as its only owner/,
    )
  })
  await t.test('an agent may not write GatewaySyncs, read Secrets or delete reports', async (t) => {
    const spec = {
      git: { repo: 'https://git.example/x', ref: 'main' },
      sync: { profiles: { default: { mappings: [{ source: 'a', destination: 'b' }] } } },
    }
    await kube.create(gatewaySyncType, { apiVersion, kind: 'GatewaySync', metadata: { namespace: own, name: 'plant' }, spec }, signal)
    const plant = { namespace: own, name: 'plant' }
    const status = { status: { delivery: { url: 'https://evil.example', caBundle: 'x' } } }
    t.match(await refusalOf(agent.mergePatch(gatewaySyncType, plant, status, { subresource: 'status' }, signal)), /Forbidden/)
    t.match(await refusalOf(agent.mergePatch(gatewaySyncType, plant, { spec: { paused: true } }, {}, signal)), /Forbidden/)
    t.match(await refusalOf(agent.get(secretType, { namespace: own, name: 'x' }, signal)), /Forbidden/)
    t.match(await refusalOf(agent.delete(syncReportType, key, signal)), /Forbidden/)
  })
  await t.test('only the controller may write the status of a GatewaySync, not even an administrator', async (t) => {
    const plant = { namespace: own, name: 'plant' }
    const patch = { status: { lastHandledRequest: 'x' } }
    t.match(
      await refusalOf(kube.mergePatch(gatewaySyncType, plant, patch, { subresource: 'status' }, signal)),
      /only the controller .* may write the status/,
    )
    const controller = world.as(await world.token(operator, fullname))
    t.equal(await refusalOf(controller.mergePatch(gatewaySyncType, plant, patch, { subresource: 'status' }, signal)), 'it was let through')
  })
  await t.test('the controller may write only its own annotations of a GatewaySync', async (t) => {
    const plant = { namespace: own, name: 'plant' }
    await kube.mergePatch(gatewaySyncType, plant, { metadata: { annotations: { note: 'mine' }, labels: { line: '1' } } }, {}, signal)
    const controller = world.as(await world.token(operator, fullname))
    const written = (patch: object) => refusalOf(controller.mergePatch(gatewaySyncType, plant, patch, {}, signal))
    t.equal(await written({ metadata: { annotations: { 'clustersync.io/requested-ref': 'v1' } } }), 'it was let through')
    t.equal(await written({ metadata: { annotations: { 'clustersync.io/requested-ref': null } } }), 'it was let through')
    t.match(await written({ spec: { git: { repo: 'https://evil.example/x' } } }), /the controller may not change the spec/)
    for (const metadata of [
      { annotations: { note: 'ours' } },
      { annotations: { note: null } },
      { annotations: { other: 'x' } },
      { labels: { line: '2' } },
      { finalizers: ['clustersync.io/x'] },
      { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'gw-0', uid: first.uid }] },
    ])
      t.match(await written({ metadata }), /may change only annotations/, JSON.stringify(metadata))
    t.equal(
      await refusalOf(kube.mergePatch(gatewaySyncType, plant, { spec: { paused: true } }, {}, signal)),
      'it was let through',
      'people may',
    )
  })
  await t.test('with a status page login the controller may also pause and change the ref of a spec', async (t) => {
    const proxy = { enabled: true, secretRef: { name: 'page' } }
    await world.apply(
      presentRelease.manifests({ name: operator, namespace: operator }, { ...values, statusPage: { enabled: true, proxy } }),
    )
    const plant = { namespace: own, name: 'plant' }
    const controller = world.as(await world.token(operator, fullname))
    const written = (spec: object) => refusalOf(controller.mergePatch(gatewaySyncType, plant, { spec }, {}, signal))
    let port = 10_000
    await until(
      async () =>
        // While the API server exchanges the policies, it may apply none; the same value a second time would be no change.
        (await written({ gateway: { port: (port += 1) } })) !== 'it was let through' &&
        (await written({ paused: false })) === 'it was let through'
          ? true
          : undefined,
      'the new policy acts',
    )
    t.equal(await written({ paused: true, git: { ref: 'v2' } }), 'it was let through')
    t.equal(await written({ git: { ref: null, semver: '>=1.2 <2' } }), 'it was let through')
    t.equal(await written({ git: { ref: 'main', semver: null } }), 'it was let through')
    const artifact = { namespace: own, name: 'artifact' }
    const oci = { url: 'oci://registry.example/x', tag: 'v1' }
    const sync = { profiles: { default: { mappings: [{ source: 'a', destination: 'b' }] } } }
    await kube.create(gatewaySyncType, { apiVersion, kind: 'GatewaySync', metadata: artifact, spec: { oci, sync } }, signal)
    const moved = (spec: object) => refusalOf(controller.mergePatch(gatewaySyncType, artifact, { spec }, {}, signal))
    t.equal(await moved({ oci: { tag: null, digest: `sha256:${'0'.repeat(64)}` } }), 'it was let through')
    t.equal(await moved({ oci: { tag: 'v1', digest: null }, paused: true }), 'it was let through')
    for (const spec of [
      { oci: { url: 'oci://evil.example/x' } },
      { oci: { insecure: true } },
      { oci: { verify: { secretRef: { name: 'x' } } } },
      { oci: null, git: { repo: 'https://evil.example/x' } },
    ])
      t.match(await moved(spec), /may change only spec\.paused and the followed ref/, JSON.stringify(spec))
    for (const spec of [
      { git: { repo: 'https://evil.example/x' } },
      { git: { allowedRefs: ['*'] } },
      { git: { auth: { token: { secretRef: { name: 'x', key: 'y' } } } } },
      { gateway: { port: 1234 } },
      { sync: { profiles: { default: { mappings: [{ source: 'a', destination: 'c' }] } } } },
      { validation: { policy: 'Off' } },
      { webhook: { token: { secretRef: { name: 'x', key: 'y' } } } },
      { paused: false, polling: { enabled: false } },
    ])
      t.match(await written(spec), /may change only spec\.paused and the followed ref/, JSON.stringify(spec))
  })
})
