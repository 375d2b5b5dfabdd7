/**
 * The agent's container: a native sidecar, its user, and its probe port.
 */
import t from 'tap'
import { lacksText, matchObject } from '../../support/assertions.ts'
import { env, gateway, inject, plant, settings, spec } from '../../support/injected.ts'
import { chartPod, type PodShape } from '../../support/pods.ts'
import type { Pod } from '../../../runtime/injection/pod.ts'

void t.test('the agent is a native sidecar that holds the gateway until its first sync', async (t) => {
  const { agent } = inject(chartPod())
  matchObject(t, agent, {
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

void t.test("the agent runs as the gateway's user if it differs from the pod's", async (t) => {
  const pod = chartPod()
  gateway(pod)['securityContext'] = { runAsUser: 1000, runAsGroup: 1001, seLinuxOptions: { level: 's0:c1' }, privileged: true }
  const context = inject(pod).agent.securityContext
  matchObject(t, context, { runAsUser: 1000, runAsGroup: 1001, seLinuxOptions: { level: 's0:c1' }, runAsNonRoot: true })
  t.notOk('privileged' in (context ?? {}))
})

void t.test('in a pod that runs as root the kubelet starts the agent', async (t) => {
  const pod = chartPod()
  pod.spec.securityContext = { runAsUser: 0 }
  matchObject(t, inject(pod).agent.securityContext, { runAsNonRoot: false })
})

void t.test("a security context of the installation replaces the default, and keeps the gateway's user", async (t) => {
  const pod = chartPod()
  gateway(pod)['securityContext'] = { runAsUser: 1_000_650_000, seLinuxOptions: { level: 's0:c26,c0' } }
  const agent = { ...settings.agent, securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } }
  t.strictSame(inject(pod, plant, { agent }).agent.securityContext, {
    runAsUser: 1_000_650_000,
    seLinuxOptions: { level: 's0:c26,c0' },
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
  })
})

void t.test('the log level is set only if it is not the default', async (t) => {
  t.notOk('CLUSTER_SYNC_LOG_LEVEL' in env(inject(chartPod()).agent))
  t.equal(env(inject(chartPod(), plant, { agent: { ...settings.agent, logLevel: 'debug' } }).agent)['CLUSTER_SYNC_LOG_LEVEL'], 'debug')
})

void t.test('a port that a container of the pod uses is avoided', async (t) => {
  const pod = chartPod()
  gateway(pod)['ports'] = [{ containerPort: 8083 }, { containerPort: 8084 }]
  const { agent } = inject(pod)
  matchObject(t, agent, { ports: [{ containerPort: 8085 }], livenessProbe: { httpGet: { port: 8085 } } })
  t.equal(env(agent)['CLUSTER_SYNC_PORT'], '8085')
})

void t.test('with hostNetwork the agent opens no port, because others on the node may use it', async (t) => {
  const pod = chartPod()
  Object.assign(pod.spec, { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' })
  const { agent, pod: injected, warnings } = inject(pod)
  t.notOk('ports' in agent, 'one that is declared is reserved on the node, and a second gateway is not scheduled there')
  t.notOk('CLUSTER_SYNC_PORT' in env(agent))
  const folder = env(agent)['CLUSTER_SYNC_PROBE_DIR']
  t.equal(folder, '/var/run/cluster-sync/probes')
  const command = (file: string) => ({ exec: { command: ['node', '-e', /readFileSync/, `/var/run/cluster-sync/probes/${file}`] } })
  matchObject(t, agent, { startupProbe: command('start'), livenessProbe: command('live') })
  lacksText(t, JSON.stringify(agent), 'httpGet')
  matchObject(t, agent.volumeMounts?.at(-1), { name: 'cluster-sync-probes', mountPath: folder })
  matchObject(t, injected.spec.volumes?.at(-1), { name: 'cluster-sync-probes', emptyDir: { medium: 'Memory' } })
  lacksText(t, warnings.join(), 'dnsPolicy')
})

void t.test("the GatewaySync's resources replace the installation's", async (t) => {
  const equal = { cpu: '50m', memory: '128Mi' }
  const { agent, warnings } = inject(chartPod(), { ...plant, spec: { ...spec, agent: { resources: { requests: equal, limits: equal } } } })
  t.strictSame(agent.resources, { requests: equal, limits: equal })
  t.strictSame(warnings, [])
  matchObject(t, inject(chartPod()).warnings, [/loses the QoS class Guaranteed/])
  const burstable = chartPod()
  gateway(burstable)['resources'] = {}
  t.strictSame(inject(burstable).warnings, [])
})

void t.test('a pod with the QoS class Guaranteed keeps it', async (t) => {
  const equal = { cpu: '500m', memory: '256Mi' }
  const agent = { ...settings.agent, guaranteed: equal }
  const of = (pod: Pod & PodShape, resources?: object) => {
    const sync = resources === undefined ? plant : { ...plant, spec: { ...spec, agent: { resources } } }
    const { agent: container, warnings } = inject(pod, sync, { agent })
    return [container.resources, warnings]
  }
  t.strictSame(of(chartPod()), [{ requests: equal, limits: equal }, []], 'stays so: the agent has equal requests and limits')
  const burstable = chartPod()
  gateway(burstable)['resources'] = { requests: { cpu: '1' }, limits: { cpu: '1', memory: 0 } }
  t.strictSame(
    of(burstable),
    [settings.agent.resources, []],
    'is none where a limit is missing or nothing; there the agent has no CPU limit',
  )
  matchObject(
    t,
    of(chartPod(), { limits: { memory: '1Gi' } }),
    [{ limits: { memory: '1Gi' } }, [/loses the QoS class Guaranteed/]],
    'is as its GatewaySync says',
  )
  const more = { ...settings.agent.resources, limits: { 'ephemeral-storage': '1Gi', memory: '1Gi' } }
  t.strictSame(
    inject(chartPod(), plant, { agent: { ...agent, resources: more } }).agent.resources,
    { requests: equal, limits: { ...equal, 'ephemeral-storage': '1Gi' } },
    'has what else the installation says',
  )
  const whole = chartPod()
  whole.spec['resources'] = { requests: { memory: '2Gi' }, limits: { memory: '2Gi' } }
  const { agent: shared, warnings } = inject(whole, plant, { agent })
  t.notOk('resources' in shared, 'shares them with its agent where they are of the pod as a whole')
  t.strictSame(warnings, [])
})

void t.test('resources that the API server would reject are ignored', async (t) => {
  const cases: [object, object, string[]][] = [
    [
      { requests: { memory: '1Gi' }, limits: { memory: '512Mi' } },
      settings.agent.resources,
      ['a request exceeds its limit, so no value is used'],
    ],
    [{ requests: { cpu: 1 }, limits: { cpu: '1000m' } }, { requests: { cpu: 1 }, limits: { cpu: '1000m' } }, []],
    [{ requests: { memory: '1G' } }, { requests: { memory: '1G' } }, []],
    [{ limits: { gpus: 1, memory: '1Gi' } }, { limits: { memory: '1Gi' } }, ['gpus is not supported; use cpu, memory, ephemeral-storage']],
    [{ limits: { memory: '-1Gi' } }, { limits: {} }, ['memory is not supported; use cpu, memory, ephemeral-storage']],
  ]
  for (const [resources, expected, warnings] of cases) {
    const result = inject(chartPod(), { ...plant, spec: { ...spec, agent: { resources } } })
    t.strictSame(result.agent.resources, expected)
    const found = result.warnings.filter((text) => !text.includes('Guaranteed'))
    t.strictSame(
      found,
      warnings.map((text) => `spec.agent.resources: ${text}`),
    )
  }
})
