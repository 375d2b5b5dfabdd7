/**
 * Access to the metrics, authorized by a real API server.
 */
import t from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { createKube, type Kube, loadKube } from '../../runtime/kube/client.ts'
import type { ResourceType } from '../../runtime/kube/types.ts'
import { metricsApp } from '../../runtime/telemetry/metrics/app.ts'
import { createMetricsAuthorizer } from '../../runtime/controller/serve/metrics-access.ts'
import { startControlPlane } from '../cluster/control-plane.ts'
import { requires } from '../support/requires.ts'

const core = { group: '', version: 'v1' }
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
const namespaceType: ResourceType = { ...core, plural: 'namespaces', kind: 'Namespace', namespaced: false }
const serviceAccountType: ResourceType = { ...core, plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true }
const roleType: ResourceType = { ...rbac, plural: 'clusterroles', kind: 'ClusterRole', namespaced: false }
const bindingType: ResourceType = { ...rbac, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding', namespaced: false }

const signal = AbortSignal.timeout(120_000)

async function tokenOf(kube: Kube, namespace: string, name: string): Promise<string> {
  await kube.create(serviceAccountType, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } }, signal)
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`
  const answer = await kube.post(path, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }, signal)
  return (answer as { status: { token: string } }).status.token
}

void t.test('only an account that may get /metrics reads the metrics', { timeout: 600_000 }, async (t) => {
  if (!requires(t)) return
  const plane = await startControlPlane()
  t.teardown(() => plane.stop())
  const kube = createKube(loadKube({ kubeconfig: plane.adminKubeconfig }), { clock: systemClock, userAgent: 'test' })
  t.teardown(() => kube.close())
  const name = `metrics-${Math.random().toString(36).slice(2, 8)}`
  await kube.create(namespaceType, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, signal)
  const [reader, other] = [await tokenOf(kube, name, 'reader'), await tokenOf(kube, name, 'other')]
  const rules = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }]
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  await kube.create(roleType, { apiVersion, kind: 'ClusterRole', metadata: { name }, rules }, signal)
  const roleRef = { apiGroup: rbac.group, kind: 'ClusterRole', name }
  const subjects = [{ kind: 'ServiceAccount', namespace: name, name: 'reader' }]
  await kube.create(bindingType, { apiVersion, kind: 'ClusterRoleBinding', metadata: { name }, roleRef, subjects }, signal)

  const authorize = createMetricsAuthorizer({ post: (path, body) => kube.post(path, body, signal), clock: systemClock })
  const app = metricsApp({ text: () => ReadableStream.from(['m 1\n']), authorize })
  const status = async (token: string): Promise<number> =>
    (await app.request('/metrics', { headers: { authorization: `Bearer ${token}` } })).status

  // A new binding takes effect within a moment.
  const until = Date.now() + 60_000
  let allowed = await status(reader)
  while (allowed !== 200 && Date.now() < until) {
    const fresh = createMetricsAuthorizer({ post: (path, body) => kube.post(path, body, signal), clock: systemClock })
    if ((await fresh(reader)) === 'allowed') allowed = 200
  }
  t.equal(allowed, 200)
  t.equal(await status(other), 403)
  t.equal(await status('nonsense'), 401)
  t.equal(await status(`${reader.slice(0, -4)}AAAA`), 401)
})
