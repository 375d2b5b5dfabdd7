/**
 * What is mounted into the agent's container.
 */
import t from 'tap'
import { matchObject } from '../../support/assertions.ts'
import { env, inject, plant, spec } from '../../support/injected.ts'
import { chartPod } from '../../support/pods.ts'

void t.test('the agent has its own tokens, whatever the pod mounts', async (t) => {
  const { pod, agent } = inject(chartPod())
  matchObject(t, pod.spec.volumes?.slice(1), [
    { projected: { sources: [{ serviceAccountToken: { audience: 'clustersync.io/delivery', expirationSeconds: 3600 } }] } },
    {
      projected: {
        sources: [{ serviceAccountToken: { path: 'token' } }, { configMap: { name: 'kube-root-ca.crt' } }, { downwardAPI: {} }],
      },
    },
    { downwardAPI: { items: [{ path: 'annotations' }, { path: 'labels' }] } },
  ])
  t.ok(agent.volumeMounts?.some(({ mountPath }) => mountPath === '/var/run/secrets/kubernetes.io/serviceaccount'))
  matchObject(t, env(agent), {
    CLUSTER_SYNC_DELIVERY_TOKEN_FILE: '/var/run/cluster-sync/delivery/token',
    CLUSTER_SYNC_POD_INFO_DIR: '/var/run/cluster-sync/pod',
    CLUSTER_SYNC_DELIVERY_HOST: 'cso-delivery.operator.svc:9445',
    CLUSTER_SYNC_GATEWAY_SYNC: 'plant',
    POD_NAME: { fieldRef: { fieldPath: 'metadata.name' } },
    POD_NAMESPACE: { fieldRef: { fieldPath: 'metadata.namespace' } },
    POD_UID: { fieldRef: { fieldPath: 'metadata.uid' } },
  })
})

void t.test('a volume name that is in use gets a number', async (t) => {
  const pod = chartPod()
  pod.spec.volumes = [...(pod.spec.volumes ?? []), { name: 'cluster-sync-pod-info', emptyDir: {} }]
  const result = inject(pod)
  const names = result.pod.spec.volumes?.map(({ name }) => name) ?? []
  t.equal(new Set(names).size, names.length)
  t.ok(names.includes('cluster-sync-pod-info-2'))
  t.ok(result.agent.volumeMounts?.some(({ name }) => name === 'cluster-sync-pod-info-2'))
})

void t.test('a pod mounts only tokens and pod metadata, whatever its GatewaySync names', async (t) => {
  const gatewaySpec = { api: { secretName: 'gw-key' }, caBundle: { secretRef: { name: 'gw-ca', key: 'ca.pem' } }, tls: true }
  const named = inject(chartPod(), { ...plant, spec: { ...spec, gateway: gatewaySpec } })
  t.strictSame(named.pod, inject(chartPod(), plant).pod)
  t.notMatch(JSON.stringify(named.pod), /gw-key|gw-ca/)
  t.ok(named.agent.volumeMounts?.slice(1).every(({ readOnly }) => readOnly === true))
})
