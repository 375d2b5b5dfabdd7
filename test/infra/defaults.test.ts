/**
 * Names and defaults of the values are a contract: people keep files of them. An addition stands here beside its default.
 */
import t from 'tap'
import { checkValues } from '../../infra/check-values.ts'

const specified: Readonly<Record<string, unknown>> = {
  replicaCount: 1,
  'image.repository': 'clustersync/controller',
  'image.tag': '',
  'image.pullPolicy': 'IfNotPresent',
  imagePullSecrets: [],
  nameOverride: '',
  fullnameOverride: '',
  'agentImage.repository': 'clustersync/agent',
  'agentImage.tag': '',
  'leaderElection.enabled': true,
  'resources.requests.cpu': '10m',
  'resources.requests.memory': '64Mi',
  'resources.limits.cpu': '500m',
  'resources.limits.memory': '128Mi',
  nodeSelector: {},
  tolerations: [],
  podAnnotations: {},
  podLabels: {},
  affinity: {},
  'controller.logDevMode': 'false',
  'certManager.enabled': true,
  'metrics.enabled': true,
  'metrics.service.type': 'ClusterIP',
  'metrics.service.port': 8443,
  'serviceMonitor.enabled': false,
  'serviceMonitor.labels': {},
  'serviceMonitor.interval': '',
  'serviceMonitor.scrapeTimeout': '',
  'podMonitor.enabled': false,
  'podMonitor.labels': {},
  'podMonitor.interval': '',
  'podMonitor.scrapeTimeout': '',
  'grafanaDashboard.enabled': false,
  'grafanaDashboard.namespace': '',
  'grafanaDashboard.labels': {},
  'grafanaDashboard.annotations': {},
  'networkPolicy.enabled': false,
  'webhook.enabled': true,
  'webhook.port': 9443,
  'webhook.namespaceSelector.requireLabel': false,
  'rbac.autoBindAgent.enabled': true,
  'webhookReceiver.enabled': false,
  'webhookReceiver.port': 9444,
  'webhookReceiver.hmac.secret': '',
  'webhookReceiver.hmac.secretRef.name': '',
  'webhookReceiver.hmac.secretRef.key': 'webhook-secret',
  'webhookReceiver.token.secret': '',
  'webhookReceiver.token.secretRef.name': '',
  'webhookReceiver.token.secretRef.key': 'webhook-token',
  'webhookReceiver.ingress.enabled': false,
  'webhookReceiver.ingress.ingressClassName': '',
  'webhookReceiver.ingress.annotations': {},
  'webhookReceiver.ingress.hosts': [],
  'webhookReceiver.ingress.tls': [],
}

/** Ours: off, or as safe as without them. */
const added: Readonly<Record<string, unknown>> = {
  'prometheusRule.enabled': false,
  'prometheusRule.labels': {},
  'prometheusRule.notReadyFor': '15m',
  'networkPolicy.metrics.from': [],
  'networkPolicy.delivery.from': [],
  'networkPolicy.receiver.from': [],
  'networkPolicy.egress.enabled': false,
  'networkPolicy.egress.dnsPort': 53,
  'networkPolicy.egress.ports': [443, 6443, 22],
  'rbac.secrets.enabled': true,
  'rbac.secrets.namespaces': [],
  'webhook.failurePolicy': 'Fail',
  'webhook.timeoutSeconds': 5,
  'webhook.existingSecret': '',
  'webhookReceiver.trustedProxies': [],
  'delivery.port': 9445,
  'source.storage.sizeLimit': '2Gi',
  'source.storage.existingClaim': '',
  'source.allowedHosts': [],
  'source.allowPrivateAddresses': true,
  'source.allowedAddresses': [],
  'source.proxy': '',
  'source.noProxy': '',
  watchNamespaces: [],
  'agent.resources.requests': {},
  'agent.resources.limits': {},
  'agent.allowImageOverride': false,
  'serviceAccount.annotations': {},
  priorityClassName: '',
  topologySpreadConstraints: [],
  'podDisruptionBudget.enabled': true,
  'podDisruptionBudget.minAvailable': 1,
  extraEnv: [],
  'crds.install': true,
}

function leaves(section: object, path: readonly string[] = []): [key: string, value: unknown][] {
  return Object.entries(section).flatMap(([name, value]: [string, unknown]) => {
    const inner = typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
    return inner ? leaves(value, [...path, name]) : [[[...path, name].join('.'), value] as [string, unknown]]
  })
}

void t.test('keys and defaults are those that are promised, and no others', async (t) => {
  t.same(Object.fromEntries(leaves(checkValues({}).values)), { ...specified, ...added })
})
