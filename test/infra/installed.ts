/**
 * The objects that values install, by kind and name, for tests; and the extremes of the values.
 */
import { App } from 'cdk8s'
import { values as production } from '../../examples/production.ts'
import { OperatorChart } from '../../infra/operator-chart.ts'
import type { Manifest } from '../support/manifest.ts'
import type { ValuesInput } from '../../infra/values.ts'
import { type ControllerSettingsInput, controllerSettingsVariable } from '../../runtime/settings/controller.ts'

export const release = { name: 'plant', namespace: 'operators' }
export const fullname = 'plant-cluster-sync-operator'

export const everything: ValuesInput = {
  replicaCount: 2,
  image: { repository: 'registry.example.com/controller', tag: '1.2.3', pullPolicy: 'Always' },
  agentImage: { repository: 'registry.example.com/agent', tag: '1.2.4' },
  resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { cpu: '750m', memory: '192Mi' } },
  imagePullSecrets: [{ name: 'registry' }],
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'plant', operator: 'Exists' }],
  affinity: { podAntiAffinity: {} },
  podAnnotations: { note: 'a' },
  podLabels: { team: 'plant', 'app.kubernetes.io/name': 'other', 'app.kubernetes.io/instance': 'other' },
  priorityClassName: 'system-cluster-critical',
  commonLabels: { site: 'north', 'app.kubernetes.io/name': 'other' },
  commonAnnotations: { owner: 'platform', note: 'common' },
  deploymentAnnotations: { 'example.com/reload': 'true' },
  hostNetwork: true,
  extraVolumes: [{ name: 'authorities', configMap: { name: 'authorities' } }],
  extraVolumeMounts: [{ name: 'authorities', mountPath: '/etc/authorities', readOnly: true }],
  livenessProbe: { periodSeconds: 30 },
  readinessProbe: { failureThreshold: 2 },
  terminationGracePeriodSeconds: 45,
  revisionHistoryLimit: 2,
  controller: {
    logDevMode: 'true',
    logLevel: 'debug',
    watchLabelSelector: { matchLabels: { shard: 'north' }, matchExpressions: [{ key: 'trial', operator: 'DoesNotExist' }] },
  },
  metrics: { service: { type: 'NodePort', port: 18443, annotations: { 'example.com/scrape': 'true' } } },
  serviceMonitor: {
    enabled: true,
    labels: { release: 'prometheus' },
    interval: '30s',
    scrapeTimeout: '10s',
    token: { secretRef: { name: 'scraper' } },
    relabelings: [{ action: 'replace', replacement: 'north', targetLabel: 'site' }],
  },
  podMonitor: { enabled: true, labels: { release: 'agents' }, interval: '45s', scrapeTimeout: '15s' },
  grafanaDashboard: { enabled: true, namespace: 'grafana', labels: { grafana_dashboard: '', folder: 'plant' }, annotations: { a: 'b' } },
  prometheusRule: { enabled: true, labels: { release: 'prometheus' }, notReadyFor: '30m', runbookURL: 'https://docs.example.com/runbook' },
  tracing: { endpoint: 'http://collector.monitoring:4318', samplingRatio: 0.25 },
  notifications: [
    { name: 'chat', type: 'slack', secretRef: { name: 'chat' } },
    { name: 'duty', type: 'webhook', secretRef: { name: 'duty' }, events: ['Failed'], namespaces: ['plant'] },
  ],
  networkPolicy: { enabled: true, egress: { enabled: true, ports: [443, 7999] }, metrics: { from: [{ podSelector: {} }] } },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: {} }],
  serviceAccount: { name: 'syncer', annotations: { role: 'operator' } },
  extraEnv: [{ name: 'HTTPS_PROXY', value: 'http://proxy.example.com:3128' }],
  webhook: {
    port: 19443,
    service: { annotations: { 'example.com/admission': 'true' } },
    namespaceSelector: { requireLabel: true, matchExpressions: [{ key: 'tier', operator: 'In', values: ['plant'] }] },
  },
  webhookReceiver: {
    enabled: true,
    port: 19444,
    service: { type: 'LoadBalancer', annotations: { 'example.com/balancer': 'internal' } },
    hmac: { secret: 'inline' },
    token: { secret: 'ignored', secretRef: { name: 'push', key: 'bearer' } },
    ingress: {
      enabled: true,
      ingressClassName: 'outside',
      annotations: { 'example.com/timeout': '30s' },
      hosts: [{ host: 'push.example.com', paths: [{ path: '/', pathType: 'Prefix' }] }],
      tls: [{ secretName: 'push-tls', hosts: ['push.example.com'] }],
    },
  },
  statusPage: {
    enabled: true,
    port: 18444,
    service: { annotations: { 'example.com/page': 'true' } },
    ingress: { enabled: true, hosts: [{ host: 'gateways.example.com', paths: [{ path: '/', pathType: 'Prefix' }] }] },
    proxy: { enabled: true, secretRef: { name: 'page-proxy' }, groupsPrefix: 'plant:' },
    clusters: [
      { name: 'north', kubeconfig: { secretRef: { name: 'north' } } },
      { name: 'south', kubeconfig: { secretRef: { name: 'plants', key: 'south' } }, url: 'https://gateways.south.example.com' },
    ],
  },
  delivery: { port: 19445, service: { annotations: { 'example.com/delivery': 'true' } } },
  source: { storage: { sizeLimit: '128e6' }, persistence: { enabled: true, size: '1Gi', storageClassName: 'fast' } },
  agent: { resources: { limits: { memory: '1Gi' } }, allowImageOverride: true, logLevel: 'warn' },
}

export const everythingOff: ValuesInput = {
  certManager: { enabled: false },
  metrics: { enabled: false },
  webhook: { enabled: false },
  rbac: { autoBindAgent: { enabled: false }, secrets: { enabled: false } },
  agent: { guaranteed: { enabled: false } },
  source: { allowPrivateAddresses: false },
  leaderElection: { enabled: false },
  serviceAccount: { create: false, name: 'syncer' },
  podDisruptionBudget: { enabled: false },
  crds: { install: false },
}

export const profiles = { defaults: {}, everything, 'everything-off': everythingOff, production } satisfies Record<string, ValuesInput>

export function objectsOf(values: ValuesInput, of = release): Manifest[] {
  return new OperatorChart(new App(), 'operator', { release: of, values, onWarning: () => {} }).toJson() as Manifest[]
}

type Port = { name: string; port: number; containerPort: number; targetPort: string }
type Container = {
  image: string
  env: { name: string; value?: string }[]
  ports: Port[]
  resources: object
  securityContext: object
  volumeMounts: { name: string; mountPath: string }[]
  livenessProbe: object
  readinessProbe: object
}
type Pod = {
  metadata: { labels: Record<string, string>; annotations?: object }
  spec: {
    serviceAccountName: string
    terminationGracePeriodSeconds: number
    securityContext: { sysctls?: object[] }
    containers: [Container]
    volumes: { name: string; emptyDir?: object; persistentVolumeClaim?: object; secret?: object }[]
  }
}
type Selector = { matchLabels: Record<string, string> }
type Selected = {
  objectSelector: object
  namespaceSelector: { matchLabels?: object; matchExpressions: object[] }
  matchConditions: [{ expression: string }]
}
type Rule = { resources?: string[]; resourceNames?: string[]; verbs: string[] }

/** The objects that tests inspect, with the inspected fields. */
export type Kinds = {
  Deployment: Manifest & {
    spec: {
      replicas: number
      revisionHistoryLimit: number
      selector: Selector
      strategy: { type: string }
      volumeClaimTemplates?: { metadata: { name: string; labels: object }; spec: object }[]
      template: Pod
    }
  }
  Service: Manifest & { spec: { type: string; ports: [Port] } }
  NetworkPolicy: Manifest & { spec: { ingress: { ports: Port[] }[]; egress?: { ports: Port[] }[]; policyTypes: string[] } }
  MutatingWebhookConfiguration: Manifest & { webhooks: [Selected] }
  ClusterRole: Manifest & { rules: Rule[] }
  Role: Manifest & { rules: Rule[] }
  ServiceMonitor: Manifest & { spec: { selector: Selector; endpoints: object[] } }
  PodMonitor: Manifest & { spec: { podMetricsEndpoints: [object]; namespaceSelector: object } }
  ConfigMap: Manifest
  ServiceAccount: Manifest
  PodDisruptionBudget: Manifest & { spec: { minAvailable: number; selector: Selector } }
  PrometheusRule: Manifest & {
    spec: {
      groups: [{ rules: { alert: string; expr: string; for: string; labels: { severity: string }; annotations: Record<string, string> }[] }]
    }
  }
  Secret: Manifest
}

/** The one object of a kind and, if given, name. */
export function one<Kind extends keyof Kinds>(objects: readonly Manifest[], kind: Kind, name?: string): Kinds[Kind] {
  const found = objects.filter((object) => object.kind === kind && (name === undefined || object.metadata.name === name))
  if (found.length !== 1) throw new Error(`${found.length} objects are ${kind} ${name ?? ''}`)
  return found[0] as Kinds[Kind]
}

/** The Deployment or the StatefulSet in its place; only one of them has a strategy, the other has claims. */
export function deploymentOf(objects: readonly Manifest[]): Kinds['Deployment'] {
  const [found, ...others] = objects.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
  if (found === undefined || others.length > 0) throw new Error(`${others.length} objects too many run the controller, or none does`)
  return found as Kinds['Deployment']
}

/** The settings that the controller of these manifests reads at its start. */
export function settingsOf(objects: readonly Manifest[]): ControllerSettingsInput {
  const [container] = deploymentOf(objects).spec.template.spec.containers
  return JSON.parse(container.env.find(({ name }) => name === controllerSettingsVariable)?.value ?? '') as ControllerSettingsInput
}
