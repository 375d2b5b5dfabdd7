/**
 * Values without effect, or with less effect than expected, cause a warning with their key.
 */
import t from 'tap'
import { checkValues } from '../../../infra/values/check.ts'

const host = { host: 'push.example.com', paths: [{ path: '/', pathType: 'Prefix' }] }
const oneReplica = 'webhook.failurePolicy: with one replica, pods that request an agent are refused while the controller restarts'
const inline = (name: string): string =>
  `webhookReceiver.${name}.secret: is written into the manifests in plain text; use secretRef if they are committed to git`
const namespaces = (count: number): string[] => Array.from({ length: count }, (_, index) => `plant-${index}`)
const ref = { secretRef: { name: 'push' } }

const images = { image: { repository: 'registry.example.com/controller' }, agentImage: { repository: 'registry.example.com/agent' } }

/** Two replicas and images of a registry cause no warning. */
const warned: Record<string, readonly [values: object, warnings: readonly string[]]> = {
  'one replica that admission waits for': [{}, [oneReplica]],
  'two replicas': [{ replicaCount: 2 }, []],
  'settings of a monitor that is off': [
    { replicaCount: 2, serviceMonitor: { labels: { a: 'b' } }, podMonitor: { scrapeTimeout: '5s' } },
    [
      'serviceMonitor.labels: no effect while serviceMonitor.enabled is false',
      'podMonitor.scrapeTimeout: no effect while podMonitor.enabled is false',
    ],
  ],
  'an interval and labels of alerts that are off': [
    { replicaCount: 2, serviceMonitor: { interval: '30s' }, prometheusRule: { labels: { a: 'b' }, notReadyFor: '1h' } },
    [
      'serviceMonitor.interval: no effect while serviceMonitor.enabled is false',
      'prometheusRule.labels: no effect while prometheusRule.enabled is false',
      'prometheusRule.notReadyFor: no effect while prometheusRule.enabled is false',
    ],
  ],
  'alerts on figures that nobody collects': [
    { replicaCount: 2, prometheusRule: { enabled: true } },
    ['prometheusRule.enabled: the alerts need the metrics that serviceMonitor.enabled collects'],
  ],
  'the metrics Service that is off': [
    { replicaCount: 2, metrics: { enabled: false, service: { type: 'NodePort', port: 8444 } } },
    ['metrics.service.type: no effect while metrics.enabled is false', 'metrics.service.port: no effect while metrics.enabled is false'],
  ],
  'egress of a policy that is off': [
    { replicaCount: 2, networkPolicy: { egress: { enabled: true, ports: [443] } } },
    [
      'networkPolicy.egress.enabled: no effect while networkPolicy.enabled is false',
      'networkPolicy.egress.ports: no effect while networkPolicy.enabled is false',
    ],
  ],
  'ports of egress that is open': [
    { replicaCount: 2, networkPolicy: { enabled: true, egress: { ports: [443] } } },
    ['networkPolicy.egress.ports: no effect while networkPolicy.egress.enabled is false'],
  ],
  'admission that is off, but for its certificate': [
    { replicaCount: 2, webhook: { enabled: false, port: 9000, failurePolicy: 'Ignore', existingSecret: 'own-tls' } },
    [
      'agentImage.repository: no effect while webhook.enabled is false',
      'webhook.port: no effect while webhook.enabled is false',
      'webhook.failurePolicy: no effect while webhook.enabled is false',
    ],
  ],
  'keys of a receiver that is off': [
    { replicaCount: 2, webhookReceiver: { port: 9000, hmac: { secret: 'a' }, token: ref } },
    [
      'webhookReceiver.port: no effect while webhookReceiver.enabled is false',
      'webhookReceiver.hmac.secret: no effect while webhookReceiver.enabled is false',
      'webhookReceiver.token.secretRef.name: no effect while webhookReceiver.enabled is false',
    ],
  ],
  'a certificate for a host that the Ingress does not have': [
    {
      replicaCount: 2,
      webhookReceiver: {
        enabled: true,
        hmac: ref,
        ingress: { enabled: true, hosts: [host], tls: [{ secretName: 'tls', hosts: ['push.example.com', 'other.example.com'] }] },
      },
    },
    ['webhookReceiver.ingress.tls.0.hosts: other.example.com is not in webhookReceiver.ingress.hosts'],
  ],
  'a spread over no pods': [
    { replicaCount: 2, topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }] },
    ['topologySpreadConstraints.0: no effect without a labelSelector'],
  ],
  "what the host's network sets aside": [
    { replicaCount: 2, hostNetwork: true, dnsPolicy: 'ClusterFirst', networkPolicy: { enabled: true } },
    [
      'networkPolicy.enabled: no effect with hostNetwork',
      'dnsPolicy: with hostNetwork, ClusterFirst does not resolve Services; leave it empty',
    ],
  ],
  'labels of ours, annotations of an account that is not made, a level that everything is above': [
    {
      replicaCount: 2,
      commonLabels: { 'app.kubernetes.io/version': '9' },
      serviceAccount: { create: false, name: 'a', annotations: { b: 'c' } },
      controller: { logDevMode: 'true', logLevel: 'warn' },
    },
    [
      'commonLabels: app.kubernetes.io/version is ignored, because the operator sets it',
      'serviceAccount.annotations: no effect while serviceAccount.create is false',
      'controller.logLevel: no effect while controller.logDevMode is "true", which logs every level',
    ],
  ],
  'a budget for one replica': [
    { podDisruptionBudget: { minAvailable: 2 } },
    ['podDisruptionBudget.minAvailable: no effect with one replica; no budget is created', oneReplica],
  ],
  'a budget that is off': [
    { replicaCount: 2, podDisruptionBudget: { enabled: false, minAvailable: 2 } },
    ['podDisruptionBudget.minAvailable: no effect while podDisruptionBudget.enabled is false'],
  ],
  'settings that are as they would be anyway': [
    { replicaCount: 2, podMonitor: { enabled: false, interval: '', labels: {} }, metrics: { enabled: false, service: { port: 8443 } } },
    [],
  ],
  'labels and annotations of a dashboard that is off': [
    { replicaCount: 2, grafanaDashboard: { labels: { a: 'b' }, annotations: { a: 'b' } } },
    [
      'grafanaDashboard.labels: no effect while grafanaDashboard.enabled is false',
      'grafanaDashboard.annotations: no effect while grafanaDashboard.enabled is false',
    ],
  ],
  'hosts of an ingress that is off': [
    { replicaCount: 2, webhookReceiver: { enabled: true, token: ref, ingress: { hosts: [host] } } },
    ['webhookReceiver.ingress.hosts: no effect while webhookReceiver.ingress.enabled is false'],
  ],
  'inline secrets': [
    { replicaCount: 2, webhookReceiver: { enabled: true, hmac: { secret: 'a' }, token: { secret: 'b' } } },
    [inline('hmac'), inline('token')],
  ],
  'a secret beside a reference': [
    { replicaCount: 2, webhookReceiver: { enabled: true, hmac: { secret: 'a', ...ref } } },
    ['webhookReceiver.hmac.secret: ignored because secretRef is set'],
  ],
  'a key of a Secret that is not named': [
    { replicaCount: 2, webhookReceiver: { enabled: true, hmac: { secret: 'a' }, token: { secretRef: { key: 'push' } } } },
    [inline('hmac'), 'webhookReceiver.token.secretRef.key: no effect while webhookReceiver.token.secretRef.name is empty'],
  ],
  'settings of agents that nothing injects': [
    {
      replicaCount: 2,
      webhook: { enabled: false },
      agentImage: { ...images.agentImage, tag: '1.0' },
      agent: { resources: { limits: { memory: '1Gi' } }, allowImageOverride: true },
    },
    [
      'agentImage.repository: no effect while webhook.enabled is false',
      'agentImage.tag: no effect while webhook.enabled is false',
      'agent.resources.limits: no effect while webhook.enabled is false',
      'agent.allowImageOverride: no effect while webhook.enabled is false',
    ],
  ],
  'a status page that anyone may read': [
    { replicaCount: 2, statusPage: { enabled: true } },
    ['statusPage: no login is configured; anyone who can reach the page sees every GatewaySync and gateway'],
  ],
  'a receiver that anyone may use': [
    { replicaCount: 2, webhookReceiver: { enabled: true } },
    ['webhookReceiver: neither hmac nor token is configured; anyone who can reach the receiver can trigger syncs'],
  ],
  'a timeout without an interval': [
    { replicaCount: 2, serviceMonitor: { enabled: true, scrapeTimeout: '20s' } },
    ["serviceMonitor.scrapeTimeout: set serviceMonitor.interval too; a timeout above the monitoring system's default interval is refused"],
  ],
  'a Prometheus that the network policy may block': [
    { replicaCount: 2, serviceMonitor: { enabled: true }, networkPolicy: { enabled: true } },
    [
      'networkPolicy.metrics.from: a Prometheus in another namespace is blocked unless its pod or namespace has the label clustersync.io/metrics-reader=true',
    ],
  ],
  'a Prometheus that the network policy names': [
    { replicaCount: 2, serviceMonitor: { enabled: true }, networkPolicy: { enabled: true, metrics: { from: [{ podSelector: {} }] } } },
    [],
  ],
  'no replicas': [{ replicaCount: 0 }, ['replicaCount: with 0 replicas nothing is synced, and pods that request an agent are refused']],
  'thirty-two namespaces': [{ replicaCount: 2, watchNamespaces: namespaces(32) }, []],
  'more than thirty-two namespaces': [
    { replicaCount: 2, watchNamespaces: namespaces(33) },
    [
      'watchNamespaces: 33 namespaces need two or three watches each; leave the list empty to watch all namespaces, or raise resources.limits.memory by 512Ki per namespace',
    ],
  ],
  'a label that selects the pods': [
    { replicaCount: 2, podLabels: { 'app.kubernetes.io/name': 'other' } },
    ['podLabels: app.kubernetes.io/name is ignored, because the Deployment uses it to select its pods'],
  ],
}

for (const [name, [values, warnings]] of Object.entries(warned)) {
  void t.test(`told: ${name}`, async (t) => {
    t.strictSame(checkValues({ ...images, ...values }).warnings.toSorted(), [...warnings].toSorted())
  })
}

void t.test('images with default names cause a warning, that of agents only with injection', async (t) => {
  const keys = (values: object): (string | undefined)[] =>
    checkValues({ replicaCount: 2, ...values }).warnings.map((warning) => warning.split(': ')[0])
  t.strictSame(keys({}), ['image.repository', 'agentImage.repository'])
  t.strictSame(keys({ webhook: { enabled: false } }), ['image.repository'])
  t.strictSame(keys(images), [])
})

void t.test('a warning never contains an inline secret', async (t) => {
  const { warnings } = checkValues({ webhookReceiver: { enabled: true, hmac: { secret: 'hidden' } } })
  t.notMatch(warnings.join('\n'), /hidden/)
})
