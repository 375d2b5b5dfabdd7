/**
 * The pod of the controller: where and as whom it runs, what it mounts, at which ports it listens.
 */
import t from 'tap'
import * as v from 'valibot'
import type { ValuesInput } from '../../../infra/values.ts'
import { controllerSettings } from '../../../runtime/settings.ts'
import { version } from '../../../runtime/version.ts'
import { deploymentOf, everything, fullname, objectsOf, one, settingsOf } from '../installed.ts'

void t.test('labels of the pod never override those that the Deployment and the Services select by', async (t) => {
  const { selector, template } = deploymentOf(objectsOf(everything)).spec
  t.same(selector.matchLabels, { 'app.kubernetes.io/name': 'cluster-sync-operator', 'app.kubernetes.io/instance': 'plant' })
  t.match(template.metadata.labels, { ...selector.matchLabels, team: 'plant' })
})

void t.test('images: tag and pull secrets as given, the version of this package where no tag is', async (t) => {
  const image = (values: ValuesInput): [string, string | undefined] => {
    const objects = objectsOf(values)
    return [deploymentOf(objects).spec.template.spec.containers[0].image, settingsOf(objects).agent.image]
  }
  t.same(image({}), [`clustersync/controller:${version}`, `clustersync/agent:${version}`])
  t.same(image({ image: { repository: 'a/b', tag: '1' }, agentImage: { repository: 'c/d', tag: '2' } }), ['a/b:1', 'c/d:2'])
  t.same(settingsOf(objectsOf(everything)).agent.imagePullSecrets, [{ name: 'registry' }])
})

void t.test('where the pod runs is as given', async (t) => {
  t.match(deploymentOf(objectsOf(everything)).spec.template, {
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

void t.test('the pod is one that a restricted namespace admits', async (t) => {
  t.match(deploymentOf(objectsOf({})).spec.template.spec, {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [{ securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } } }],
  })
})

void t.test('security contexts of the values take the place of ours as a whole, so that a cluster may choose the user', async (t) => {
  const contexts = (values: ValuesInput): unknown[] => {
    const { securityContext, containers } = deploymentOf(objectsOf(values)).spec.template.spec
    return [securityContext, containers[0].securityContext]
  }
  const openShift = { runAsNonRoot: true, fsGroupChangePolicy: 'OnRootMismatch', seccompProfile: { type: 'RuntimeDefault' } }
  const container = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
  t.same(contexts({ podSecurityContext: openShift, securityContext: container }), [openShift, container])
  t.match(contexts({ podSecurityContext: openShift })[1], { readOnlyRootFilesystem: true })
  t.same(settingsOf(objectsOf({ agent: { securityContext: container } })).agent.securityContext, container, 'so does that of agents')
})

void t.test('a pod in the network of its node replaces its predecessor instead of standing beside it', async (t) => {
  const { strategy, template } = deploymentOf(objectsOf({ hostNetwork: true })).spec
  t.same(strategy, { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } })
  t.match(template.spec, { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' })
  const usual = deploymentOf(objectsOf({})).spec.template.spec
  t.notOk('hostNetwork' in usual || 'dnsPolicy' in usual)
  t.match(deploymentOf(objectsOf({ dnsPolicy: 'Default' })).spec.template.spec, { dnsPolicy: 'Default' })
})

void t.test('further volumes come after ours; probes, grace and history are as given', async (t) => {
  const { spec } = deploymentOf(objectsOf(everything))
  const { volumes, containers, terminationGracePeriodSeconds } = spec.template.spec
  const [{ volumeMounts, livenessProbe, readinessProbe }] = containers
  t.same(volumes.at(-1), { name: 'authorities', configMap: { name: 'authorities' } })
  t.same(volumeMounts.at(-1), { name: 'authorities', mountPath: '/etc/authorities', readOnly: true })
  t.match(livenessProbe, {
    httpGet: { path: '/healthz' },
    initialDelaySeconds: 15,
    periodSeconds: 30,
    timeoutSeconds: 5,
    failureThreshold: 3,
  })
  t.match(readinessProbe, { httpGet: { path: '/readyz' }, periodSeconds: 5, failureThreshold: 2 })
  t.same([terminationGracePeriodSeconds, spec.revisionHistoryLimit], [45, 2])
})

void t.test('by default a controller answers for ten seconds after it was told to end, and has thirty until it is killed', async (t) => {
  const objects = objectsOf({})
  const { shutdownDelaySeconds } = v.parse(controllerSettings, settingsOf(objects))
  t.same([shutdownDelaySeconds, deploymentOf(objects).spec.template.spec.terminationGracePeriodSeconds], [10, 30])
})

void t.test('a port below 1024 can be listened at without being root', async (t) => {
  const sysctls = (values: ValuesInput): unknown => deploymentOf(objectsOf(values)).spec.template.spec.securityContext.sysctls
  t.equal(sysctls({ webhookReceiver: { port: 1024 } }), undefined)
  t.equal(sysctls({ webhookReceiver: { port: 80 } }), undefined, 'the receiver is off')
  t.equal(sysctls({ hostNetwork: true, webhookReceiver: { port: 80 } }), undefined, 'which the network of the host does not permit')
  const receiver = { webhookReceiver: { enabled: true, port: 80, token: { secret: 't' } } }
  for (const values of [{ metrics: { service: { port: 443 } } }, receiver, { delivery: { port: 1023 } }])
    t.same(sysctls(values), [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }])
})

void t.test('extra variables come after our own; constraints of topology and annotations of the account are as given', async (t) => {
  const objects = objectsOf(everything)
  const { containers, ...pod } = deploymentOf(objects).spec.template.spec
  t.same(
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
  t.match(pod, { topologySpreadConstraints: everything.topologySpreadConstraints })
  t.match(one(objects, 'ServiceAccount').metadata, { annotations: { role: 'operator' } })
})

void t.test('an inline key becomes a Secret, never an environment value; a reference wins over it', async (t) => {
  const objects = objectsOf(everything)
  t.same(one(objects, 'Secret')['data'], { hmac: Buffer.from('inline').toString('base64') })
  const template = deploymentOf(objects).spec.template
  t.notMatch(JSON.stringify(template), 'inline')
  t.match(
    template.spec.volumes.filter(({ name }) => name.startsWith('receiver-')),
    [
      { name: 'receiver-hmac', secret: { secretName: `${fullname}-receiver`, items: [{ key: 'hmac' }] } },
      { name: 'receiver-token', secret: { secretName: 'push', items: [{ key: 'bearer' }] } },
    ],
  )
})

void t.test('mirrors: the size of the volume is what the controller keeps within', async (t) => {
  const source = (values: ValuesInput): unknown => {
    const { template, strategy } = deploymentOf(objectsOf(values)).spec
    const { name: _name, ...volume } = template.spec.volumes.find(({ name }) => name === 'source') ?? { name: '' }
    return [volume, strategy.type, settingsOf(objectsOf(values)).source.sizeLimit]
  }
  t.same(source({}), [{ emptyDir: { sizeLimit: '2Gi' } }, 'RollingUpdate', '2Gi'])
  t.same(source({ source: { storage: { sizeLimit: '128e6' } } }), [{ emptyDir: { sizeLimit: '128e6' } }, 'RollingUpdate', '128e6'])
  const claimed: ValuesInput = { source: { storage: { existingClaim: 'mirrors' } } }
  t.same(source(claimed), [{ persistentVolumeClaim: { claimName: 'mirrors' } }, 'Recreate', '2Gi'])
})
