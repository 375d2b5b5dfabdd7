/**
 * Values without effect, or with less than one might think, are told by their keys.
 */
import t from 'tap'
import { checkValues } from '../../../infra/values/check.ts'

const host = { host: 'push.example.com', paths: [{ path: '/', pathType: 'Prefix' }] }
const oneReplica = 'webhook.failurePolicy: with one replica, gateway pods that ask for an agent wait while the controller restarts'
const inline = (name: string): string =>
  `webhookReceiver.${name}.secret: becomes a Secret in the manifests; do not commit them, or use secretRef`
const namespaces = (count: number): string[] => Array.from({ length: count }, (_, index) => `plant-${index}`)
const ref = { secretRef: { name: 'push' } }

/** Two replicas stand for silence. */
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
    ['prometheusRule.enabled: the alerts need figures that only serviceMonitor.enabled lets the monitoring system collect'],
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
    ['webhook.port: no effect while webhook.enabled is false', 'webhook.failurePolicy: no effect while webhook.enabled is false'],
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
    ['webhookReceiver.ingress.tls.0.hosts: other.example.com is none of webhookReceiver.ingress.hosts'],
  ],
  'a spread over no pods': [
    { replicaCount: 2, topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }] },
    ['topologySpreadConstraints.0: no effect without a labelSelector, because it counts no pod'],
  ],
  "what the host's network sets aside": [
    { replicaCount: 2, hostNetwork: true, dnsPolicy: 'ClusterFirst', networkPolicy: { enabled: true } },
    [
      'networkPolicy.enabled: no effect with hostNetwork, because policies hold for pods that have a network of their own',
      'dnsPolicy: ClusterFirst has no effect with hostNetwork; leave it empty to resolve the names of Services',
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
      'commonLabels: app.kubernetes.io/version is ignored, because every object has its own',
      'serviceAccount.annotations: no effect while serviceAccount.create is false',
      'controller.logLevel: no effect while controller.logDevMode is "true", which shows every level',
    ],
  ],
  'a budget for one replica': [
    { podDisruptionBudget: { minAvailable: 2 } },
    ['podDisruptionBudget.minAvailable: no effect with one replica, which gets no budget', oneReplica],
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
    ['webhookReceiver.hmac.secret: ignored, because secretRef is set'],
  ],
  'a key of a Secret that is not named': [
    { replicaCount: 2, webhookReceiver: { enabled: true, hmac: { secret: 'a' }, token: { secretRef: { key: 'push' } } } },
    [inline('hmac'), 'webhookReceiver.token.secretRef.key: no effect while webhookReceiver.token.secretRef.name is empty'],
  ],
  'settings of agents that nothing injects': [
    {
      replicaCount: 2,
      webhook: { enabled: false },
      agentImage: { tag: '1.0' },
      agent: { resources: { limits: { memory: '1Gi' } }, allowImageOverride: true },
    },
    [
      'agentImage.tag: no effect while webhook.enabled is false',
      'agent.resources.limits: no effect while webhook.enabled is false',
      'agent.allowImageOverride: no effect while webhook.enabled is false',
    ],
  ],
  'a status page that anyone may read': [
    { replicaCount: 2, statusPage: { enabled: true } },
    ['statusPage: it has no login; anyone who reaches it sees every GatewaySync and gateway that this installation works with'],
  ],
  'a receiver that anyone may use': [
    { replicaCount: 2, webhookReceiver: { enabled: true } },
    ['webhookReceiver: neither hmac nor token is configured; anyone who reaches the receiver may push'],
  ],
  'thirty-two namespaces': [{ replicaCount: 2, watchNamespaces: namespaces(32) }, []],
  'more than thirty-two namespaces': [
    { replicaCount: 2, watchNamespaces: namespaces(33) },
    [
      'watchNamespaces: 33 namespaces take two or three watches each, of 170 KiB in the controller; leave it empty to watch all with three, or let resources.limits.memory grow by 512Ki for each',
    ],
  ],
  'a label that selects the pods': [
    { replicaCount: 2, podLabels: { 'app.kubernetes.io/name': 'other' } },
    ['podLabels: app.kubernetes.io/name is ignored, because the Deployment selects its pods by it'],
  ],
}

for (const [name, [values, warnings]] of Object.entries(warned)) {
  void t.test(`told: ${name}`, async (t) => {
    t.same(checkValues(values).warnings, warnings)
  })
}

void t.test('a warning never tells an inline secret', async (t) => {
  const { warnings } = checkValues({ webhookReceiver: { enabled: true, hmac: { secret: 'hidden' } } })
  t.notMatch(warnings.join('\n'), /hidden/)
})
