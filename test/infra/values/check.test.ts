/**
 * Values that cannot be installed are refused with the key and the fix.
 */
import t from 'tap'
import { checkRelease, checkValues } from '../../../infra/values/check.ts'
import { host, ingress, objectName, refusal, refuses } from '../../support/refused-values.ts'

const quantity = 'must be a quantity such as 100m or 128Mi'
const duration = 'must be empty or a Prometheus duration such as 30s, 1m30s or 1d'
const requiredDuration = 'must be a Prometheus duration such as 30s, 1m30s or 1d'
const namePart = 'must be a DNS label: lower-case letters, digits and "-", at most 63 characters, beginning with a letter'
const labelWords = 'lower-case letters, digits and "-", at most 63 characters, beginning and ending with a letter or digit'
const namespaceName = `must be the name of a namespace: ${labelWords}`
const labelKey = 'must be a label key: at most 63 letters, digits, "-", "_" and ".", optionally prefixed with a DNS name and "/"'
const annotationKey = labelKey.replace('a label', 'an annotation')
const repository = 'must be an image without a tag or digest, such as registry.example.com/team/name'
const tag = 'must be empty or a tag such as 1.2.3, optionally with a digest (@sha256:…)'
const gitHost = 'must be a host name in lower case, without a scheme, port or wildcard'
const resourceName = 'must be cpu, memory, ephemeral-storage, hugepages-… or a name with a domain such as example.com/device'

refuses({
  'a list instead of values': [[], 'values: must be an object, not a list'],
  'a list instead of a section': [{ metrics: { service: [] } }, 'metrics.service: must be an object, not a list'],
  'a list and a wrong number, both at once': [
    { metrics: { service: [] }, replicaCuont: 2 },
    'metrics.service: must be an object, not a list\nreplicaCuont: unknown key; did you mean replicaCount?',
  ],
  'a list instead of labels': [{ podLabels: ['a'] }, 'podLabels: must be an object, not a list'],
  'text instead of values': ['replicaCount', 'values: must be an object, not "replicaCount"'],
  'a misspelled key': [{ replicaCuont: 2 }, 'replicaCuont: unknown key; did you mean replicaCount?'],
  'a shortened key': [{ replicas: 2 }, 'replicas: unknown key; did you mean replicaCount?'],
  'a misspelled key inside': [
    { metrics: { service: { prot: 1 } } },
    'metrics.service.prot: unknown key; did you mean metrics.service.port?',
  ],
  'a misspelled key in a list': [
    ingress({ hosts: [{ ...host, path: [] }] }),
    'webhookReceiver.ingress.hosts.0.path: unknown key; did you mean webhookReceiver.ingress.hosts.0.paths?',
  ],
  'a key of another section': [
    { ingress: {}, agentImage: { pullPolicy: 'Always' } },
    'agentImage.pullPolicy: unknown key; did you mean image.pullPolicy?\ningress: unknown key; did you mean webhookReceiver.ingress or statusPage.ingress?',
  ],
  'a key of several sections': [
    { groupsPrefix: 'x' },
    'groupsPrefix: unknown key; did you mean statusPage.proxy.groupsPrefix or statusPage.oidc.groupsPrefix?',
  ],
  'a key like no other': [{ leaderElection: { xyz: 1 } }, 'leaderElection.xyz: unknown key; known keys: enabled'],
  'a key with dots': [
    { 'metrics.service.port': 1 },
    'metrics.service.port: unknown key; write metrics: {service: {port: …}}, because keys are nested',
  ],
  'two wrong keys': [
    { replicaCount: -1, delivery: { port: 0 } },
    'replicaCount: must be at least 0, not -1\ndelivery.port: must be from 1 to 65535',
  ],
  'a flag as text': [{ metrics: { enabled: 'true' } }, 'metrics.enabled: must be true or false, not "true"'],
  'half a replica': [{ replicaCount: 1.5 }, 'replicaCount: must be a whole number, not 1.5'],
  'a ratio above its maximum': [{ tracing: { samplingRatio: 2 } }, 'tracing.samplingRatio: must be at most 1, not 2'],
  'a string that is too long': [
    { source: { noProxy: 'a'.repeat(4097) } },
    'source.noProxy: must be at most 4096 characters long, not 4097',
  ],
  'an unknown failure policy': [{ webhook: { failurePolicy: 'Retry' } }, 'webhook.failurePolicy: must be Fail or Ignore, not "Retry"'],
  'an agent for the controller': [
    { podAnnotations: { 'clustersync.io/inject': 'true' }, commonAnnotations: { 'clustersync.io/inject': 'false' } },
    ['podAnnotations', 'commonAnnotations']
      .map((key) => `${key}: clustersync.io/inject is for gateway pods; the controller does not run an agent`)
      .join('\n'),
  ],
  'development logs as a flag': [{ controller: { logDevMode: true } }, 'controller.logDevMode: must be the string "true" or "false"'],
  'a resource that no container may request': [{ resources: { limits: { cpus: 1 } } }, `resources.limits.cpus: ${resourceName}`],
  'a name that is no label': [{ fullnameOverride: 'Cluster_Sync' }, `fullnameOverride: ${namePart}`],
  'a namespace of Secrets twice': [{ rbac: { secrets: { namespaces: ['a', 'a'] } } }, 'rbac.secrets.namespaces.1: a is listed twice'],
  'a namespace twice': [{ watchNamespaces: ['a', 'b', 'a'] }, 'watchNamespaces.2: a is listed twice'],
  'no namespace name': [{ watchNamespaces: ['plant', 'Plant.1'] }, `watchNamespaces.1: ${namespaceName}`],
  'no names of volumes': [
    { extraVolumes: [{ name: 'Cache' }], extraVolumeMounts: [{ name: 'a.b', mountPath: '/a' }] },
    `extraVolumes.0.name: must be the name of a volume: ${labelWords}\nextraVolumeMounts.0.name: must be the name of a volume: ${labelWords}`,
  ],
  'no name of a notification receiver': [
    { notifications: [{ name: 'Team A', type: 'slack', secretRef: { name: 'team-a' } }] },
    `notifications.0.name: must be the name of a notification receiver: ${labelWords}`,
  ],
  'a claim that cannot be': [{ source: { storage: { existingClaim: 'a/b' } } }, `source.storage.existingClaim: ${objectName}`],
  'a quantity with a space': [{ resources: { limits: { memory: '128 Mi' } } }, `resources.limits.memory: ${quantity}`],
  'a request above its limit': [
    { resources: { requests: { memory: '1Gi' } } },
    'resources.requests.memory: 1Gi is above resources.limits.memory (128Mi)',
  ],
  "a limit below the default's request": [
    { resources: { limits: { cpu: '5m' } } },
    'resources.requests.cpu: 10m is above resources.limits.cpu (5m)',
  ],
  'an agent request above its limit': [
    { agent: { resources: { requests: { cpu: 1 }, limits: { cpu: '900m' } } } },
    'agent.resources.requests.cpu: 1 is above agent.resources.limits.cpu (900m)',
  ],
  'a Guaranteed agent of nothing': [
    { agent: { guaranteed: { cpu: 0 } } },
    'agent.guaranteed.cpu: must be greater than 0; set agent.guaranteed.enabled: false to turn it off',
  ],
  'storage for no plant': [{ source: { storage: { sizeLimit: '63Mi' } } }, 'source.storage.sizeLimit: must be at least 64Mi'],
  'a duration without unit': [{ serviceMonitor: { interval: '30' } }, `serviceMonitor.interval: ${duration}`],
  'a timeout above its interval': [
    { podMonitor: { interval: '30s', scrapeTimeout: '1m' } },
    'podMonitor.scrapeTimeout: 1m is longer than podMonitor.interval (30s)',
  ],
  'a ServiceMonitor without metrics': [
    { serviceMonitor: { enabled: true }, metrics: { enabled: false } },
    'metrics.enabled: must be true when serviceMonitor.enabled is true',
  ],
  'replicas without leader election': [
    { replicaCount: 2, leaderElection: { enabled: false } },
    'leaderElection.enabled: must be true with 2 replicas; otherwise each of them would act as leader. Alternatively, set replicaCount: 1',
  ],
  'replicas on one claim': [
    { replicaCount: 2, source: { storage: { existingClaim: 'mirrors' } } },
    'source.storage.existingClaim: 2 replicas cannot share one claim; set replicaCount: 1, or source.persistence.enabled: true instead',
  ],
  'a selector without the values that it compares with, and one with values that it does not': [
    {
      controller: {
        watchLabelSelector: {
          matchExpressions: [
            { key: 'site', operator: 'In', values: [] },
            { key: 'site', operator: 'Exists', values: ['a'] },
          ],
        },
      },
    },
    'controller.watchLabelSelector.matchExpressions.0.values: must name at least one value\ncontroller.watchLabelSelector.matchExpressions.1.values: unknown key; known keys: ',
  ],
  'claims of a StatefulSet beside one that is there': [
    { source: { storage: { existingClaim: 'mirrors' }, persistence: { enabled: true } } },
    'source.storage.existingClaim: cannot be combined with source.persistence.enabled, which creates its own claims',
  ],
  'claims that are smaller than mirrors may become': [
    { source: { storage: { sizeLimit: '4Gi' }, persistence: { enabled: true } } },
    'source.persistence.size: 3Gi is below source.storage.sizeLimit (4Gi)',
  ],
  'a budget that keeps every replica': [
    { replicaCount: 2, podDisruptionBudget: { minAvailable: 2 } },
    'podDisruptionBudget.minAvailable: 2 of 2 replicas would block every node drain; use at most 1',
  ],
  "a variable that is the manifests' own": [
    { extraEnv: [{ name: 'CLUSTER_SYNC_SETTINGS', value: '{}' }] },
    'extraEnv.0.name: CLUSTER_SYNC_SETTINGS is set by the operator itself',
  ],
  'a variable twice': [{ extraEnv: [{ name: 'A', value: '1' }, { name: 'A' }] }, 'extraEnv.1.name: A is listed twice'],
  'a variable from two places': [
    { extraEnv: [{ name: 'A', value: '1', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }] },
    'extraEnv.0.valueFrom: A has both value and valueFrom; remove one of them',
  ],
  'a variable that is a number': [
    { extraEnv: [{ name: 'A', value: 1 }] },
    'extraEnv.0.value: must be a string; quote numbers and booleans',
  ],
  'a variable that no shell could hold': [
    { extraEnv: [{ name: 'a.b', value: '' }] },
    'extraEnv.0.name: must be the name of an environment variable: letters, digits and "_", not beginning with a digit',
  ],
  'an alert after no time': [{ prometheusRule: { notReadyFor: '' } }, `prometheusRule.notReadyFor: ${requiredDuration}`],
  'a runbook with a section': [
    { prometheusRule: { runbookURL: 'https://docs.example.com/runbook#alerts' } },
    'prometheusRule.runbookURL: must be empty or an http or https URL, without white space or "#"',
  ],
  'egress to no port': [{ networkPolicy: { egress: { ports: [] } } }, 'networkPolicy.egress.ports: must name at least one port'],
  'egress to a port above the highest': [
    { networkPolicy: { egress: { ports: [443, 65_536] } } },
    'networkPolicy.egress.ports.1: must be from 1 to 65535',
  ],
  'a port above the highest': [{ webhook: { port: 65_536 } }, 'webhook.port: must be from 1 to 65535'],
  'one port twice': [{ delivery: { port: 9443 } }, 'webhook.port: port 9443 is already used by delivery.port'],
  'the port of the probes': [{ metrics: { service: { port: 8081 } } }, 'metrics.service.port: port 8081 is already used by the probes'],
  'keys of labels and annotations that cannot be': [
    { podLabels: { 'my team': 'a' }, nodeSelector: { '/os': 'linux' }, podAnnotations: { 'a/b/c': '' } },
    `nodeSelector./os: ${labelKey}\npodAnnotations.a/b/c: ${annotationKey}\npodLabels.my team: ${labelKey}`,
  ],
  'an image with its tag in one': [{ image: { repository: 'localhost:5000/controller:1.0' } }, `image.repository: ${repository}`],
  'a digest that is no tag': [{ image: { tag: `sha256:${'0'.repeat(64)}` } }, `image.tag: ${tag}`],
  'a git host with a scheme': [{ source: { allowedHosts: ['https://git.example.com'] } }, `source.allowedHosts.0: ${gitHost}`],
  'a resource that no container has': [
    { agent: { resources: { requests: { cpus: 1 } } } },
    `agent.resources.requests.cpus: ${resourceName}`,
  ],
  'a notification receiver twice': [
    {
      notifications: [
        { name: 'chat', type: 'slack', secretRef: { name: 'a' } },
        { name: 'chat', type: 'msteams', secretRef: { name: 'b' } },
      ],
    },
    'notifications.1.name: chat is listed twice',
  ],
  'an objective for which no alert on slow pushes could fire': [
    { prometheusRule: { pushToApplied: { percent: 93 } } },
    'prometheusRule.pushToApplied.percent: must be at least 94, not 93',
  ],
  'a pull secret twice': [{ imagePullSecrets: [{ name: 'a' }, { name: 'a' }] }, 'imagePullSecrets.1.name: a is listed twice'],
  'an account that is neither made nor named': [
    { serviceAccount: { create: false } },
    'serviceAccount.name: required when serviceAccount.create is false',
  ],
  "a port that a pod of the host's network may not listen at": [
    { hostNetwork: true, metrics: { service: { port: 443 } } },
    'metrics.service.port: port 443 is below 1024; with hostNetwork, such ports require root',
  ],
  'a member that no security context has': [
    { securityContext: { runAsUsr: 1 } },
    'securityContext.runAsUsr: must be one of runAsNonRoot, runAsUser, runAsGroup, seLinuxOptions, seccompProfile, appArmorProfile, allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities, privileged, procMount',
  ],
  'a further volume by the name of one of ours, and one twice': [
    { extraVolumes: [{ name: 'tmp' }, { name: 'a' }, { name: 'a' }] },
    'extraVolumes.2.name: a is listed twice\nextraVolumes.0.name: tmp is used by the operator itself',
  ],
  'mounts of no volume, in a folder of ours, and in one folder twice': [
    {
      extraVolumes: [{ name: 'a' }],
      extraVolumeMounts: [
        { name: 'b', mountPath: '/b' },
        { name: 'a', mountPath: '/tmp' },
        { name: 'a', mountPath: '/b' },
      ],
    },
    'extraVolumeMounts.2.mountPath: /b is listed twice\nextraVolumeMounts.0.name: b is not in extraVolumes\nextraVolumeMounts.1.mountPath: /tmp is used by the operator itself',
  ],
  'less grace than a controller may take to end': [
    { terminationGracePeriodSeconds: 21 },
    'terminationGracePeriodSeconds: must be at least 22, not 21',
  ],
  'a probe without end': [{ readinessProbe: { timeoutSeconds: 0 } }, 'readinessProbe.timeoutSeconds: must be at least 1, not 0'],
  'a label value that cannot be': [
    { podLabels: { team: 'plant one' } },
    'podLabels.team: must be a label value: at most 63 letters, digits, "-", "_" and ".", beginning and ending with a letter or digit',
  ],
})

const accepted: Record<string, unknown> = {
  nothing: {},
  'a duration of a day': { serviceMonitor: { enabled: true, interval: '1d', scrapeTimeout: '30s' } },
  'a quantity with an exponent': { resources: { limits: { memory: '128e6' } } },
  'a quantity that YAML reads as a number': { resources: { requests: { cpu: 0.01 }, limits: { cpu: 1, memory: 128e6 } } },
  'a request that equals its limit in another unit': { resources: { requests: { cpu: '0.5' }, limits: { cpu: '500m' } } },
  'a request without a limit': { agent: { resources: { requests: { cpu: '2' }, limits: { memory: '1Gi' } } } },
  'one port twice, one of them closed': { webhook: { enabled: false }, delivery: { port: 9443 } },
  'a wildcard host': ingress({ hosts: [{ ...host, host: '*.example.com' }] }),
  'keys with a domain': {
    podLabels: { 'example.com/team': 'a' },
    podAnnotations: { 'Example.com/Note_1': '' },
    nodeSelector: { Zone: 'a' },
  },
  'images by port, digest and path': {
    image: { repository: 'localhost:5000/plant/controller', tag: `0.1.0@sha256:${'0'.repeat(64)}` },
    agentImage: { repository: 'agent', tag: 'v1_2.x' },
  },
  'proxies of both families': {
    webhookReceiver: { trustedProxies: ['10.0.0.0/8', '192.0.2.1', '2001:DB8::/32', '::1', '::ffff:192.0.2.1'] },
  },
  'git hosts by name and address': { source: { allowedHosts: ['github.com', 'git', '10.0.0.1', '[::1]'] } },
  'resources of devices': {
    agent: { resources: { limits: { 'ephemeral-storage': '1Gi', 'example.com/device': 1, 'hugepages-2Mi': '4Mi' } } },
  },
  'no replicas': { replicaCount: 0 },
  'a limit that is removed, and one of another resource': { resources: { limits: { cpu: null, 'ephemeral-storage': '2Gi' } } },
  'an ingress for every host': ingress({ hosts: [{ paths: host.paths }] }),
  'a path as the ingress class takes it': ingress({ hosts: [{ ...host, paths: [{ path: '//x', pathType: 'ImplementationSpecific' }] }] }),
  'a path that ends with a slash': ingress({ hosts: [{ ...host, paths: [{ path: '/push/.well-known/', pathType: 'Prefix' }] }] }),
  'the smallest storage': { source: { storage: { sizeLimit: '64Mi' } } },
}

for (const [name, values] of Object.entries(accepted)) {
  void t.test(`accepted: ${name}`, async (t) => {
    t.equal(
      refusal(() => checkValues(values)),
      'accepted',
    )
  })
}

void t.test('a release name or namespace that is invalid in names and labels is refused', async (t) => {
  const name = (text: string): string =>
    `release.name: ${JSON.stringify(text)} must be lower-case letters, digits and "-", at most 63 characters, beginning with a letter and ending with a letter or digit`
  for (const wrong of ['', 'Plant', '1plant', 'plant-', 'a.b', 'p'.repeat(64)]) {
    t.equal(
      refusal(() => checkRelease({ name: wrong, namespace: 'plant' })),
      name(wrong),
    )
  }
  t.equal(
    refusal(() => checkRelease({ name: 'plant', namespace: 'a.b' })),
    'release.namespace: "a.b" must be the name of a namespace',
  )
  t.equal(
    refusal(() => checkRelease({ name: 'p'.repeat(63), namespace: '1' })),
    'accepted',
  )
})
