/**
 * The compiler checks requests against the types of client-node. Each expected error fails the build when the compiler does not find it.
 */
import type { V1Pod } from '@kubernetes/client-node'
import t from 'tap'
import type { Kube } from '../../../runtime/kube/client.ts'
import { gatewaySyncType, type Json, leaseType, podType, roleBindingType } from '../../../runtime/kube/types.ts'

void t.test('times are text, and a wrong body or patch does not compile', async (t) => {
  const status: Json<V1Pod>['status'] = { startTime: '2026-01-01T00:00:00Z' }
  t.equal(typeof status.startTime, 'string')
  const signal = AbortSignal.timeout(1)
  const key = { namespace: 'plant', name: 'a' }
  const calls = (kube: Kube) => [
    kube.mergePatch(leaseType, key, { spec: { holderIdentity: null, renewTime: '2026-01-01T00:00:00.000000Z' } }, {}, signal),
    // @ts-expect-error: a number is no identity
    kube.mergePatch(leaseType, key, { spec: { holderIdentity: 1 } }, {}, signal),
    // @ts-expect-error: no such field
    kube.mergePatch(podType, key, { spec: { container: [] } }, {}, signal),
    // @ts-expect-error: a RoleBinding needs a roleRef
    kube.create(roleBindingType, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: key }, signal),
    kube.create(gatewaySyncType, { kind: 'GatewaySync', anything: 'else' }, signal),
  ]
  t.equal(typeof calls, 'function')
})
