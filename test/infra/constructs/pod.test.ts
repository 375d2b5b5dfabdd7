/**
 * The pod of the controller: its scheduling, users, mounts and ports.
 */
import t from 'tap'
import * as v from 'valibot'
import type { ValuesInput } from '../../../infra/values.ts'
import { controllerSettings } from '../../../runtime/settings/controller.ts'
import { version } from '../../../runtime/platform/version.ts'
import { deploymentOf, everything, fullname, objectsOf, one, settingsOf } from '../installed.ts'
import { lacksText, matchObject } from '../../support/assertions.ts'

void t.test('pod labels never override those of the selectors', async (t) => {
  const { selector, template } = deploymentOf(objectsOf(everything)).spec
  t.strictSame(selector.matchLabels, { 'app.kubernetes.io/name': 'cluster-sync-operator', 'app.kubernetes.io/instance': 'plant' })
  matchObject(t, template.metadata.labels, { ...selector.matchLabels, team: 'plant' })
})

void t.test('images use the given tag and pull secrets, by default the tag of this package', async (t) => {
  const image = (values: ValuesInput): [string, string | undefined] => {
    const objects = objectsOf(values)
    return [deploymentOf(objects).spec.template.spec.containers[0].image, settingsOf(objects).agent.image]
  }
  t.strictSame(image({}), [`clustersync/controller:${version}`, `clustersync/agent:${version}`])
  t.strictSame(image({ image: { repository: 'a/b', tag: '1' }, agentImage: { repository: 'c/d', tag: '2' } }), ['a/b:1', 'c/d:2'])
  t.strictSame(settingsOf(objectsOf(everything)).agent.imagePullSecrets, [{ name: 'registry' }])
})

void t.test('resources and replicas are as given: null removes a default, other resources are added, and 0 replicas run', async (t) => {
  const resources = { requests: { cpu: null }, limits: { cpu: null, 'ephemeral-storage': '2Gi' } }
  const { replicas, template } = deploymentOf(objectsOf({ replicaCount: 0, resources })).spec
  t.equal(replicas, 0)
  t.strictSame(template.spec.containers[0].resources, {
    requests: { memory: '64Mi' },
    limits: { 'ephemeral-storage': '2Gi', memory: '128Mi' },
  })
})

void t.test('scheduling settings are as given', async (t) => {
  matchObject(t, deploymentOf(objectsOf(everything)).spec.template, {
    metadata: { annotations: { note: 'a' } },
    spec: {
      hostNetwork: true,
      dnsPolicy: 'ClusterFirstWithHostNet',
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      tolerations: [{ key: 'plant', operator: 'Exists' }],
      affinity: { podAntiAffinity: {} },
      priorityClassName: 'system-cluster-critical',
      imagePullSecrets: [{ name: 'registry' }],
    },
  })
})

void t.test('a restricted namespace admits the pod', async (t) => {
  matchObject(t, deploymentOf(objectsOf({})).spec.template.spec, {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [{ securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } } }],
  })
})

void t.test('security contexts in the values replace the defaults completely', async (t) => {
  const contexts = (values: ValuesInput): unknown[] => {
    const { securityContext, containers } = deploymentOf(objectsOf(values)).spec.template.spec
    return [securityContext, containers[0].securityContext]
  }
  const openShift = { runAsNonRoot: true, fsGroupChangePolicy: 'OnRootMismatch', seccompProfile: { type: 'RuntimeDefault' } }
  const container = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
  t.strictSame(contexts({ podSecurityContext: openShift, securityContext: container }), [openShift, container])
  matchObject(t, contexts({ podSecurityContext: openShift })[1], { readOnlyRootFilesystem: true })
  t.strictSame(settingsOf(objectsOf({ agent: { securityContext: container } })).agent.securityContext, container, 'so does that of agents')
})

void t.test('a pod in the host network replaces its predecessor instead of running beside it', async (t) => {
  const { strategy, template } = deploymentOf(objectsOf({ hostNetwork: true })).spec
  t.strictSame(strategy, { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } })
  matchObject(t, template.spec, { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' })
  const usual = deploymentOf(objectsOf({})).spec.template.spec
  matchObject(t, usual, { hostNetwork: undefined, dnsPolicy: 'ClusterFirst' })
  matchObject(t, deploymentOf(objectsOf({ dnsPolicy: 'Default' })).spec.template.spec, { dnsPolicy: 'Default' })
})

void t.test('additional volumes come last; probes, grace period and history limit are as given', async (t) => {
  const { spec } = deploymentOf(objectsOf(everything))
  const { volumes, containers, terminationGracePeriodSeconds } = spec.template.spec
  const [{ volumeMounts, livenessProbe, readinessProbe }] = containers
  t.strictSame(volumes.at(-1), { name: 'authorities', configMap: { name: 'authorities' } })
  t.strictSame(volumeMounts.at(-1), { name: 'authorities', mountPath: '/etc/authorities', readOnly: true })
  matchObject(t, livenessProbe, {
    httpGet: { path: '/healthz' },
    initialDelaySeconds: 15,
    periodSeconds: 30,
    timeoutSeconds: 5,
    failureThreshold: 3,
  })
  matchObject(t, readinessProbe, { httpGet: { path: '/readyz' }, periodSeconds: 5, failureThreshold: 2 })
  t.strictSame([terminationGracePeriodSeconds, spec.revisionHistoryLimit], [45, 2])
})

void t.test('by default a controller serves for ten seconds after SIGTERM and is killed after thirty', async (t) => {
  const objects = objectsOf({})
  const { shutdownDelaySeconds } = v.parse(controllerSettings, settingsOf(objects))
  t.strictSame([shutdownDelaySeconds, deploymentOf(objects).spec.template.spec.terminationGracePeriodSeconds], [10, 30])
})

void t.test('a port below 1024 can be opened without root', async (t) => {
  const sysctls = (values: ValuesInput): unknown => deploymentOf(objectsOf(values)).spec.template.spec.securityContext.sysctls
  t.equal(sysctls({ webhookReceiver: { port: 1024 } }), undefined)
  t.equal(sysctls({ webhookReceiver: { port: 80 } }), undefined, 'the receiver is off')
  t.equal(sysctls({ hostNetwork: true, webhookReceiver: { port: 80 } }), undefined, 'which the network of the host does not permit')
  const receiver = { webhookReceiver: { enabled: true, port: 80, token: { secret: 't' } } }
  for (const values of [{ metrics: { service: { port: 443 } } }, receiver, { delivery: { port: 1023 } }])
    t.strictSame(sysctls(values), [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }])
})

void t.test('extra variables come last; topology constraints and account annotations are as given', async (t) => {
  const objects = objectsOf(everything)
  const { containers, ...pod } = deploymentOf(objects).spec.template.spec
  t.strictSame(
    containers[0].env.map(({ name }) => name),
    [
      'POD_NAME',
      'POD_IP',
      'NODE_OPTIONS',
      'CLUSTER_SYNC_SETTINGS',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'OTEL_TRACES_SAMPLER_ARG',
      'HTTPS_PROXY',
    ],
  )
  matchObject(t, pod, { topologySpreadConstraints: everything.topologySpreadConstraints })
  matchObject(t, one(objects, 'ServiceAccount').metadata, { annotations: { role: 'operator' } })
})

void t.test('an inline key becomes a Secret and never an environment value; a reference overrides it', async (t) => {
  const objects = objectsOf(everything)
  t.strictSame(one(objects, 'Secret')['data'], { hmac: Buffer.from('inline').toString('base64') })
  const template = deploymentOf(objects).spec.template
  lacksText(t, JSON.stringify(template), 'inline')
  matchObject(
    t,
    template.spec.volumes.filter(({ name }) => name.startsWith('receiver-')),
    [
      { name: 'receiver-hmac', secret: { secretName: `${fullname}-receiver`, items: [{ key: 'hmac' }] } },
      { name: 'receiver-token', secret: { secretName: 'push', items: [{ key: 'bearer' }] } },
    ],
  )
})

void t.test("the size of the mirror volume is the controller's size limit", async (t) => {
  const source = (values: ValuesInput): unknown => {
    const { template, strategy } = deploymentOf(objectsOf(values)).spec
    const { name: _name, ...volume } = template.spec.volumes.find(({ name }) => name === 'source') ?? { name: '' }
    return [volume, strategy.type, settingsOf(objectsOf(values)).source.sizeLimit]
  }
  t.strictSame(source({}), [{ emptyDir: { sizeLimit: '2Gi' } }, 'RollingUpdate', '2Gi'])
  t.strictSame(source({ source: { storage: { sizeLimit: '128e6' } } }), [{ emptyDir: { sizeLimit: '128e6' } }, 'RollingUpdate', '128e6'])
  const claimed: ValuesInput = { source: { storage: { existingClaim: 'mirrors' } } }
  t.strictSame(source(claimed), [{ persistentVolumeClaim: { claimName: 'mirrors', readOnly: false } }, 'Recreate', '2Gi'])
})
