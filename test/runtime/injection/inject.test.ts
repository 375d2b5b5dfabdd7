import { jsonpatch } from 'json-p3'
import t from 'tap'
import * as v from 'valibot'
import type { Container } from '../../../runtime/injection/pod.ts'
import { type FoundSync, type Injection, injectAgent, type InjectionSettings } from '../../../runtime/injection/inject.ts'
import { type Pod, pod as podSchema } from '../../../runtime/injection/pod.ts'
import { agentSettings, barePod, chartPod, type PodShape } from '../../support/pods.ts'

const settings: InjectionSettings = {
  agent: agentSettings({
    image: 'registry.example:5000/clustersync/agent:1.2.3',
    imagePullPolicy: 'IfNotPresent',
    imagePullSecrets: [{ name: 'pull' }],
    resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } },
    allowImageOverride: false,
    clusterRole: 'cso-agent',
    autoBind: true,
  }),
  delivery: { url: 'https://cso-delivery.operator.svc:9445' },
}

const spec = {
  git: { repo: 'https://git.example/plant.git', ref: 'main' },
  sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
}
const plant: FoundSync = { kind: 'found', name: 'plant', spec }

type Result = { pod: Pod & PodShape; agent: Record<string, unknown> & Container; warnings: string[] }

function inject(pod: Pod & PodShape, sync: FoundSync = plant, changed: Partial<InjectionSettings> = {}): Result {
  const injection = injectAgent(pod, { ...settings, ...changed }, sync)
  if (injection.kind !== 'patch') throw new Error(injection.why)
  const patched = apply(pod, injection)
  const agent = [...(patched.spec.initContainers ?? [])].find(({ name }) => name === 'cluster-sync-agent')
  if (agent === undefined) throw new Error('no agent')
  return { pod: patched, agent, warnings: injection.warnings }
}

function apply(pod: Pod & PodShape, injection: Injection & { kind: 'patch' }): Pod & PodShape {
  const operations = structuredClone(injection.operations) as Parameters<typeof jsonpatch.apply>[0]
  return jsonpatch.apply(operations, structuredClone(pod) as never) as never
}

function env(agent: Container): Record<string, unknown> {
  return Object.fromEntries((agent.env ?? []).map(({ name, value, valueFrom }) => [name, value ?? valueFrom]))
}

/** The container of a pod by its name, to change it before injection. */
function gateway(pod: PodShape): Record<string, unknown> {
  return pod.spec.containers.find(({ name }) => name === 'gateway') ?? {}
}

void t.test('the agent stands after the init container that seeds the data volume', async (t) => {
  const { pod } = inject(chartPod())
  t.same(
    pod.spec.initContainers?.map(({ name }) => name),
    ['preconfigure', 'cluster-sync-agent'],
  )
})

void t.test(
  'a native sidecar that is there already, such as the proxy of a mesh, starts before the agent and stays as it is',
  async (t) => {
    const proxy = {
      name: 'istio-proxy',
      image: 'proxy',
      restartPolicy: 'Always',
      ports: [{ name: 'metrics', containerPort: 15090 }],
      startupProbe: { httpGet: { path: '/ready', port: 15021 } },
    }
    const before = chartPod()
    before.spec.initContainers = [proxy, ...(before.spec.initContainers ?? [])]
    const { pod } = inject(v.parse(podSchema, before) as Pod & PodShape)
    t.same(
      pod.spec.initContainers?.map(({ name }) => name),
      ['istio-proxy', 'preconfigure', 'cluster-sync-agent'],
    )
    t.same(pod.spec.initContainers?.[0], proxy)
  },
)

void t.test('the agent stands first where the installation says so', async (t) => {
  const { pod } = inject(chartPod(), plant, { place: 'first' })
  t.same(
    pod.spec.initContainers?.map(({ name }) => name),
    ['cluster-sync-agent', 'preconfigure'],
  )
})

void t.test('the patch touches nothing but what is ours', async (t) => {
  const before = chartPod()
  const { pod } = inject(before)
  t.same(pod.spec.containers, before.spec.containers)
  t.same(pod.spec.initContainers?.slice(0, 1), before.spec.initContainers)
  t.same(pod.spec.volumes?.slice(0, 1), before.spec.volumes)
  t.same(
    pod.spec.volumes?.slice(1).map(({ name }) => name),
    ['cluster-sync-delivery-token', 'cluster-sync-api-token', 'cluster-sync-pod-info'],
  )
  t.match(pod.metadata, {
    labels: { ...before.metadata.labels, 'clustersync.io/agent': 'true' },
    annotations: { ...before.metadata.annotations, 'clustersync.io/injected': 'true', 'clustersync.io/gateway-sync': 'plant' },
  })
})

void t.test('injecting twice is injecting once', async (t) => {
  const { pod } = inject(chartPod())
  t.same(injectAgent(v.parse(podSchema, pod), settings, plant), { kind: 'unchanged', why: 'the pod has its agent' })
})

void t.test('a pod that does not ask is left alone', async (t) => {
  for (const value of ['false', 'True', '']) {
    const pod = chartPod({ 'clustersync.io/inject': value })
    t.equal(injectAgent(pod, settings, plant).kind, 'unchanged', JSON.stringify(value))
  }
})

void t.test('the agent is a native sidecar that holds the gateway back until its first sync', async (t) => {
  const { agent } = inject(chartPod())
  t.match(agent, {
    image: 'registry.example:5000/clustersync/agent:1.2.3',
    restartPolicy: 'Always',
    startupProbe: { httpGet: { path: '/startz', port: 8083 } },
    livenessProbe: { httpGet: { path: '/livez', port: 8083 } },
    resources: { limits: { memory: '256Mi' } },
    securityContext: {
      runAsNonRoot: true,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
  })
  t.notOk('readinessProbe' in agent, 'an agent that is down takes no gateway out of service')
  t.notOk('runAsUser' in (agent.securityContext ?? {}), "the pod's own user")
})

void t.test("the agent runs as the gateway's own user where that differs from the pod's", async (t) => {
  const pod = chartPod()
  gateway(pod)['securityContext'] = { runAsUser: 1000, runAsGroup: 1001, seLinuxOptions: { level: 's0:c1' }, privileged: true }
  const context = inject(pod).agent.securityContext
  t.match(context, { runAsUser: 1000, runAsGroup: 1001, seLinuxOptions: { level: 's0:c1' }, runAsNonRoot: true })
  t.notOk('privileged' in (context ?? {}))
})

void t.test('a pod of root gets an agent that the kubelet will start', async (t) => {
  const pod = chartPod()
  pod.spec.securityContext = { runAsUser: 0 }
  t.match(inject(pod).agent.securityContext, { runAsNonRoot: false })
})

void t.test("a security context of the installation takes the place of ours, beside the gateway's user", async (t) => {
  const pod = chartPod()
  gateway(pod)['securityContext'] = { runAsUser: 1_000_650_000, seLinuxOptions: { level: 's0:c26,c0' } }
  const agent = { ...settings.agent, securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } }
  t.same(inject(pod, plant, { agent }).agent.securityContext, {
    runAsUser: 1_000_650_000,
    seLinuxOptions: { level: 's0:c26,c0' },
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
  })
})

void t.test('an agent is told how much to log only where that is not the usual', async (t) => {
  t.notOk('CLUSTER_SYNC_LOG_LEVEL' in env(inject(chartPod()).agent))
  t.equal(env(inject(chartPod(), plant, { agent: { ...settings.agent, logLevel: 'debug' } }).agent)['CLUSTER_SYNC_LOG_LEVEL'], 'debug')
})

void t.test('the data volume', async (t) => {
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
    t.same(agent.volumeMounts?.[0], expected, name)
    t.equal(env(agent)['CLUSTER_SYNC_DATA_DIR'], (expected as { mountPath: string }).mountPath, name)
    const others = warnings.filter((text) => !text.includes('Guaranteed'))
    if (warning === undefined) t.same(others, [], name)
    else t.match(others[0], warning, name)
  }
})

void t.test('a pod without a data volume gets an idle agent and is told how to name the volume', async (t) => {
  const { agent, warnings, pod } = inject(barePod())
  t.notOk('CLUSTER_SYNC_DATA_DIR' in env(agent))
  t.match(warnings, [/no volume ignition-data or data; name it in the annotation clustersync.io\/data-volume; the agent stays idle/])
  t.equal(pod.spec.volumes?.length, 3)
  const several = chartPod()
  several.spec.volumes = ['data', 'ignition-data'].map((name) => ({ name, emptyDir: {} }))
  gateway(several)['volumeMounts'] = [{ name: 'data', mountPath: '/d' }]
  const ambiguous = inject(several)
  t.notOk('CLUSTER_SYNC_DATA_DIR' in env(ambiguous.agent), 'nobody guesses which of two is meant')
  t.match(ambiguous.warnings, [/has the volumes ignition-data and data, none of them mounted at/])
  const misnamed = inject(chartPod({ 'clustersync.io/data-volume': 'dta' }))
  t.match(misnamed.warnings, [/the pod has no volume "dta"; it has: data/])
})

void t.test('the agent has tokens of its own, whatever the pod mounts by itself', async (t) => {
  const { pod, agent } = inject(chartPod())
  t.match(pod.spec.volumes?.slice(1), [
    { projected: { sources: [{ serviceAccountToken: { audience: 'clustersync.io/delivery', expirationSeconds: 3600 } }] } },
    {
      projected: {
        sources: [{ serviceAccountToken: { path: 'token' } }, { configMap: { name: 'kube-root-ca.crt' } }, { downwardAPI: {} }],
      },
    },
    { downwardAPI: { items: [{ path: 'annotations' }, { path: 'labels' }] } },
  ])
  t.ok(agent.volumeMounts?.some(({ mountPath }) => mountPath === '/var/run/secrets/kubernetes.io/serviceaccount'))
  t.match(env(agent), {
    CLUSTER_SYNC_DELIVERY_TOKEN_FILE: '/var/run/cluster-sync/delivery/token',
    CLUSTER_SYNC_POD_INFO_DIR: '/var/run/cluster-sync/pod',
    CLUSTER_SYNC_DELIVERY_HOST: 'cso-delivery.operator.svc:9445',
    CLUSTER_SYNC_GATEWAY_SYNC: 'plant',
    POD_NAME: { fieldRef: { fieldPath: 'metadata.name' } },
    POD_NAMESPACE: { fieldRef: { fieldPath: 'metadata.namespace' } },
    POD_UID: { fieldRef: { fieldPath: 'metadata.uid' } },
  })
})

void t.test('a volume name that is taken gets a number', async (t) => {
  const pod = chartPod()
  pod.spec.volumes = [...(pod.spec.volumes ?? []), { name: 'cluster-sync-pod-info', emptyDir: {} }]
  const result = inject(pod)
  const names = result.pod.spec.volumes?.map(({ name }) => name) ?? []
  t.equal(new Set(names).size, names.length)
  t.ok(names.includes('cluster-sync-pod-info-2'))
  t.ok(result.agent.volumeMounts?.some(({ name }) => name === 'cluster-sync-pod-info-2'))
})

void t.test('a port that a container of the pod claims is left to it', async (t) => {
  const pod = chartPod()
  gateway(pod)['ports'] = [{ containerPort: 8083 }, { containerPort: 8084 }]
  const { agent } = inject(pod)
  t.match(agent, { ports: [{ containerPort: 8085 }], livenessProbe: { httpGet: { port: 8085 } } })
  t.equal(env(agent)['CLUSTER_SYNC_PORT'], '8085')
})

void t.test('a pod mounts nothing but tokens and what it says of itself, whatever its GatewaySync names', async (t) => {
  const gatewaySpec = { api: { secretName: 'gw-key' }, caBundle: { secretRef: { name: 'gw-ca', key: 'ca.pem' } }, tls: true }
  const named = inject(chartPod(), { ...plant, spec: { ...spec, gateway: gatewaySpec } })
  t.strictSame(named.pod, inject(chartPod(), plant).pod)
  t.notMatch(JSON.stringify(named.pod), /gw-key|gw-ca/)
  t.ok(named.agent.volumeMounts?.slice(1).every(({ readOnly }) => readOnly === true))
})

void t.test('the deployment mode', async (t) => {
  const from = (pod: Pod & PodShape): unknown[] => {
    const { agent } = inject(pod)
    return (agent.env ?? []).filter(({ name }) => /COPY|MODE/.test(name)).map(({ name, value, valueFrom }) => [name, value ?? valueFrom])
  }
  const withGateway = (changes: Record<string, unknown>): Pod & PodShape => {
    const pod = chartPod()
    Object.assign(gateway(pod), changes)
    return pod
  }
  t.same(
    from(chartPod()),
    [
      ['CLUSTER_SYNC_COPY_SITE', 'north'],
      ['CLUSTER_SYNC_MODE_ENVIRONMENT', '$(CLUSTER_SYNC_COPY_SITE)-prod'],
      ['CLUSTER_SYNC_COPY_DEPLOYMENT_MODE', '$(CLUSTER_SYNC_COPY_SITE)-prod'],
      ['CLUSTER_SYNC_MODE_ARGUMENT', '-Dignition.config.mode=$(CLUSTER_SYNC_COPY_DEPLOYMENT_MODE)'],
    ],
    'is left to the kubelet to expand, for the agent as for the gateway',
  )
  t.same(
    from(withGateway({ args: ['-Dignition.config.mode=a', '-Dsecret=x', '-Dignition.config.mode=b'], env: [] })),
    [['CLUSTER_SYNC_MODE_ARGUMENT', '-Dignition.config.mode=b']],
    'is the last that the arguments name, and no other argument comes along',
  )
  t.same(from(withGateway({ args: ['-n', 'x'], env: undefined })), [], 'may be missing')
  const reference = { configMapKeyRef: { name: 'site', key: 'mode' } }
  t.same(
    from(withGateway({ args: [], env: [{ name: 'DEPLOYMENT_MODE', valueFrom: reference }] })),
    [['CLUSTER_SYNC_MODE_ENVIRONMENT', reference]],
    'is read where the gateway reads it',
  )
  t.same(
    from(withGateway({ args: [], env: [], envFrom: [{ configMapRef: { name: 'site' } }, { prefix: 'X_', secretRef: { name: 's' } }] })),
    [['CLUSTER_SYNC_MODE_ENVIRONMENT', { configMapKeyRef: { name: 'site', key: 'DEPLOYMENT_MODE', optional: true } }]],
    'is found in a whole ConfigMap',
  )
  t.same(
    from(withGateway({ args: ['-Dignition.config.mode=$(A)'], env: [{ name: 'A', value: '$(A)' }] })).at(-1),
    ['CLUSTER_SYNC_MODE_ARGUMENT', '-Dignition.config.mode=$(CLUSTER_SYNC_COPY_A)'],
    'may name itself without end',
  )
})

void t.test('no decision about a GatewaySync refuses the pod', async (t) => {
  const cases: [string, FoundSync, string | undefined, RegExp][] = [
    ['a named one that is missing', { kind: 'missing', name: 'plnt' }, 'plnt', /GatewaySync "plnt" does not exist/],
    ['none in the namespace', { kind: 'ambiguous', count: 0 }, undefined, /has 0 GatewaySyncs; name one/],
    ['several in the namespace', { kind: 'ambiguous', count: 3 }, undefined, /has 3 GatewaySyncs; name one/],
    ['an invalid one', { kind: 'found', name: 'plant', spec: { git: {} } }, 'plant', /GatewaySync "plant" is invalid: spec.git.repo/],
    ['an unreadable one', { kind: 'unknown', name: undefined, why: 'down' }, undefined, /could not be read: down/],
  ]
  for (const [name, sync, followed, warning] of cases) {
    const { agent, warnings, pod } = inject(chartPod(), sync)
    t.equal(env(agent)['CLUSTER_SYNC_GATEWAY_SYNC'], followed, name)
    t.equal(pod.metadata.annotations?.['clustersync.io/gateway-sync'], followed, name)
    t.match(warnings[0], warning, name)
  }
})

void t.test('a pod that follows a GatewaySync of another installation gets no agent of ours, and why', async (t) => {
  const injection = injectAgent(chartPod(), settings, { kind: 'foreign', name: 'south' })
  t.equal(injection.kind, 'unchanged')
  t.match(injection, { why: /GatewaySync "south" is not one of this installation's; give the pod the labels/ })
})

void t.test('a pod that names its GatewaySync keeps the name', async (t) => {
  const before = chartPod({ 'clustersync.io/gateway-sync': 'mine' })
  const injection = injectAgent(before, settings, { ...plant, name: 'mine' })
  t.notMatch(JSON.stringify(injection), 'metadata/annotations/clustersync.io~1gateway-sync')
})

void t.test("the GatewaySync's image", async (t) => {
  const asked = { ...spec, agent: { image: { tag: '2.0.0', pullPolicy: 'Always' } } }
  const refused = inject(chartPod(), { ...plant, spec: asked })
  t.equal(refused.agent['image'], settings.agent.image, 'is not used unless the installation permits it')
  t.match(refused.warnings[0], /spec.agent.image is not used/)
  const agent = { ...settings.agent, allowImageOverride: true }
  const taken = inject(chartPod(), { ...plant, spec: asked }, { agent })
  t.match(taken.agent, { image: 'registry.example:5000/clustersync/agent:2.0.0', imagePullPolicy: 'Always' }, 'names a tag alone')
  const other = inject(chartPod(), { ...plant, spec: { ...spec, agent: { image: { repository: 'other/agent' } } } }, { agent })
  t.equal(other.agent['image'], 'other/agent:1.2.3', 'names a repository alone')
  const spaced = inject(chartPod(), { ...plant, spec: { ...spec, agent: { image: { tag: '2 ' } } } }, { agent })
  t.equal(spaced.agent['image'], settings.agent.image, 'is not used where the API server would refuse the pod')
})

void t.test('pull secrets are added once', async (t) => {
  const pod = chartPod()
  pod.spec.imagePullSecrets = [{ name: 'pull' }]
  const asked = { ...spec, agent: { imagePullSecrets: [{ name: 'pull' }, { name: 'own' }] } }
  t.same(inject(pod, { ...plant, spec: asked }).pod.spec.imagePullSecrets, [{ name: 'pull' }, { name: 'own' }])
})

void t.test("the GatewaySync's resources replace the installation's", async (t) => {
  const equal = { cpu: '50m', memory: '128Mi' }
  const { agent, warnings } = inject(chartPod(), { ...plant, spec: { ...spec, agent: { resources: { requests: equal, limits: equal } } } })
  t.same(agent.resources, { requests: equal, limits: equal })
  t.same(warnings, [])
  t.match(inject(chartPod()).warnings, [/loses the class Guaranteed/])
  const burstable = chartPod()
  gateway(burstable)['resources'] = {}
  t.same(inject(burstable).warnings, [])
})

void t.test('a pod of the class Guaranteed', async (t) => {
  const equal = { cpu: '500m', memory: '256Mi' }
  const agent = { ...settings.agent, guaranteed: equal }
  const of = (pod: Pod & PodShape, resources?: object) => {
    const sync = resources === undefined ? plant : { ...plant, spec: { ...spec, agent: { resources } } }
    const { agent: container, warnings } = inject(pod, sync, { agent })
    return [container.resources, warnings]
  }
  t.same(of(chartPod()), [{ requests: equal, limits: equal }, []], 'stays so: the agent has equal requests and limits')
  const burstable = chartPod()
  gateway(burstable)['resources'] = { requests: { cpu: '1' }, limits: { cpu: '1', memory: 0 } }
  t.same(of(burstable), [settings.agent.resources, []], 'is none where a limit is missing or nothing; there the agent has no CPU limit')
  t.match(
    of(chartPod(), { limits: { memory: '1Gi' } }),
    [{ limits: { memory: '1Gi' } }, [/loses the class Guaranteed/]],
    'is as its GatewaySync says',
  )
  const more = { ...settings.agent.resources, limits: { 'ephemeral-storage': '1Gi', memory: '1Gi' } }
  t.same(
    inject(chartPod(), plant, { agent: { ...agent, resources: more } }).agent.resources,
    { requests: equal, limits: { ...equal, 'ephemeral-storage': '1Gi' } },
    'has what else the installation says',
  )
  const whole = chartPod()
  whole.spec['resources'] = { requests: { memory: '2Gi' }, limits: { memory: '2Gi' } }
  const { agent: shared, warnings } = inject(whole, plant, { agent })
  t.notOk('resources' in shared, 'shares them with its agent where they are of the pod as a whole')
  t.same(warnings, [])
})

void t.test('resources that the API server would refuse the pod for are not used', async (t) => {
  const cases: [object, object, string[]][] = [
    [{ requests: { memory: '1Gi' }, limits: { memory: '512Mi' } }, settings.agent.resources, ['a request exceeds its limit; not used']],
    [{ requests: { cpu: 1 }, limits: { cpu: '1000m' } }, { requests: { cpu: 1 }, limits: { cpu: '1000m' } }, []],
    [{ requests: { memory: '1G' } }, { requests: { memory: '1G' } }, []],
    [
      { limits: { gpus: 1, memory: '1Gi' } },
      { limits: { memory: '1Gi' } },
      ['gpus is not used; there are: cpu, memory, ephemeral-storage'],
    ],
    [{ limits: { memory: '-1Gi' } }, { limits: {} }, ['memory is not used; there are: cpu, memory, ephemeral-storage']],
  ]
  for (const [resources, expected, warnings] of cases) {
    const result = inject(chartPod(), { ...plant, spec: { ...spec, agent: { resources } } })
    t.same(result.agent.resources, expected)
    const found = result.warnings.filter((text) => !text.includes('Guaranteed'))
    t.same(
      found,
      warnings.map((text) => `spec.agent.resources: ${text}`),
    )
  }
})
