/**
 * What is mounted into the agent's container.
 */
import t from 'tap'
import { matchObject, containsText } from '../../support/assertions.ts'
import { env, inject, plant, spec, gateway } from '../../support/injected.ts'
import { chartPod, barePod } from '../../support/pods.ts'

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

void t.test("the data volume is found with the gateway's mount path and subPath", async (t) => {
  const cases: { name: string; annotation?: string; volumes: string[]; mount?: object; expected: object; warning?: RegExp }[] = [
    { name: "is the chart's", volumes: ['data'], expected: { name: 'data', mountPath: '/usr/local/bin/ignition/data' } },
    {
      name: "is, of several, the one at the gateway's data directory",
      volumes: ['data', 'ignition-data', 'plant-store'],
      mount: { name: 'plant-store', mountPath: '/usr/local/bin/ignition/data/' },
      expected: { name: 'plant-store', mountPath: '/usr/local/bin/ignition/data/' },
    },
    {
      name: 'is the one that the annotation names',
      annotation: 'plant-store',
      volumes: ['data', 'plant-store'],
      mount: { name: 'plant-store', mountPath: '/x/' },
      expected: { name: 'plant-store', mountPath: '/x/' },
    },
    {
      name: "keeps the gateway's subPath",
      volumes: ['data'],
      mount: { name: 'data', mountPath: '/d', subPath: 'gw/data' },
      expected: { name: 'data', mountPath: '/d', subPath: 'gw/data' },
    },
    {
      name: 'keeps what a subPathExpr is made of',
      volumes: ['data'],
      mount: { name: 'data', mountPath: '/d', subPathExpr: '$(GATEWAY_POD_INDEX)/$$(X)' },
      expected: { name: 'data', mountPath: '/d', subPathExpr: '$(CLUSTER_SYNC_COPY_GATEWAY_POD_INDEX)/$$(X)' },
    },
    {
      name: 'is written even where the gateway only reads it, with a warning',
      volumes: ['data'],
      mount: { name: 'data', mountPath: '/d', readOnly: true },
      expected: { name: 'data', mountPath: '/d' },
      warning: /read-only/,
    },
    {
      name: 'that the gateway does not mount is taken whole, with a warning',
      volumes: ['data'],
      mount: { name: 'other', mountPath: '/d' },
      expected: { name: 'data', mountPath: '/usr/local/bin/ignition/data' },
      warning: /does not mount the data volume "data"/,
    },
  ]
  for (const { name, annotation, volumes, mount, expected, warning } of cases) {
    const pod = chartPod(annotation === undefined ? {} : { 'clustersync.io/data-volume': annotation })
    pod.spec.volumes = volumes.map((volume) => ({ name: volume, emptyDir: {} }))
    if (mount !== undefined) gateway(pod)['volumeMounts'] = [mount]
    const { agent, warnings } = inject(pod)
    t.strictSame(agent.volumeMounts?.[0], expected, name)
    t.equal(env(agent)['CLUSTER_SYNC_DATA_DIR'], (expected as { mountPath: string }).mountPath, name)
    const others = warnings.filter((text) => !text.includes('Guaranteed'))
    if (warning === undefined) t.strictSame(others, [], name)
    else containsText(t, others[0], warning, name)
  }
})

void t.test('a mount of a part or a parent of the data directory is not taken for it', async (t) => {
  const dataDir = '/usr/local/bin/ignition/data'
  const cases: [string[], string][] = [
    [[`${dataDir}/projects`, `${dataDir}/config`], `${dataDir}/projects`],
    [[`${dataDir}/config/`], `${dataDir}/config`],
    [['/usr/local/bin/ignition'], '/usr/local/bin/ignition'],
    [['/usr/local/bin'], '/usr/local/bin'],
  ]
  for (const [paths, told] of cases) {
    const pod = chartPod()
    pod.spec.volumes = [{ name: 'data', emptyDir: {} }]
    gateway(pod)['volumeMounts'] = paths.map((mountPath, index) => ({ name: 'data', mountPath, subPath: `part-${index}` }))
    const { agent, warnings } = inject(pod)
    t.notOk('CLUSTER_SYNC_DATA_DIR' in env(agent), told)
    const why = `volume "data" is mounted at ${told}, which is not the data directory; mount the whole data directory, ${dataDir}`
    t.strictSame(
      warnings.filter((text) => !text.includes('Guaranteed')),
      [`${why}; the agent stays idle`],
    )
  }
})

void t.test('a pod without a data volume gets an idle agent and a warning how to name the volume', async (t) => {
  const { agent, warnings, pod } = inject(barePod())
  t.notOk('CLUSTER_SYNC_DATA_DIR' in env(agent))
  matchObject(t, warnings, [/no volume ignition-data or data; name it in the annotation clustersync.io\/data-volume; the agent stays idle/])
  t.equal(pod.spec.volumes?.length, 3)
  const several = chartPod()
  several.spec.volumes = ['data', 'ignition-data'].map((name) => ({ name, emptyDir: {} }))
  gateway(several)['volumeMounts'] = [{ name: 'data', mountPath: '/d' }]
  const ambiguous = inject(several)
  t.notOk('CLUSTER_SYNC_DATA_DIR' in env(ambiguous.agent), 'nobody guesses which of two is meant')
  matchObject(t, ambiguous.warnings, [/has the volumes ignition-data and data, none of them mounted at/, /loses the QoS class Guaranteed/])
  const misnamed = inject(chartPod({ 'clustersync.io/data-volume': 'dta' }))
  matchObject(t, misnamed.warnings, [/the pod has no volume "dta"; it has: data/, /loses the QoS class Guaranteed/])
})
