/**
 * The Prometheus configuration that the monitoring operator generates from the monitors, with the relabeling of release 0.93
 * (pkg/prometheus/promcfg.go and its golden files). The operator itself is written in Go and needs a cluster.
 */
import type { Discovered } from './kubernetes-discovery.ts'
import type { Manifest } from './manifest.ts'

export type ScrapeConfig = Readonly<Record<string, unknown>>

/** `discovered`: targets of the cluster. Files are those that the operator writes from Secrets. */
export type ScrapeOptions = {
  jobName: string
  discovered: readonly Discovered[]
  caFile?: string
  credentialsFile?: string
  interval: string
}

type Relabeling = Readonly<Record<string, unknown>>
type Expression = { key: string; operator: string; values?: string[] }
type Selector = { matchLabels?: Record<string, string>; matchExpressions?: Expression[] }
type Endpoint = {
  port: string
  path: string
  scheme?: string
  honorLabels?: boolean
  tlsConfig?: { serverName: string }
  relabelings?: Record<string, unknown>[]
}

export function serviceScrapeConfig(monitor: Manifest, options: ScrapeOptions): ScrapeConfig {
  const { selector, endpoints } = monitor['spec'] as { selector: Selector; endpoints: Endpoint[] }
  const [endpoint] = endpoints
  if (endpoint === undefined) throw new Error('the ServiceMonitor has no endpoint')
  const { jobName, caFile, credentialsFile } = options
  return {
    ...common(endpoint, options),
    job_name: jobName,
    scheme: endpoint.scheme,
    tls_config: { ca_file: caFile, server_name: endpoint.tlsConfig?.serverName, insecure_skip_verify: false },
    authorization: { type: 'Bearer', credentials_file: credentialsFile },
    static_configs: within([String(monitor.metadata['namespace'])], options.discovered),
    relabel_configs: [
      { source_labels: ['job'], target_label: '__tmp_prometheus_job_name' },
      ...selected('service', selector),
      { action: 'keep', source_labels: ['__meta_kubernetes_endpoint_port_name'], regex: endpoint.port },
      ...['Node', 'Pod'].map((kind) => ({
        source_labels: ['__meta_kubernetes_endpoint_address_target_kind', '__meta_kubernetes_endpoint_address_target_name'],
        separator: ';',
        regex: `${kind};(.*)`,
        replacement: '${1}',
        target_label: kind.toLowerCase(),
      })),
      { source_labels: ['__meta_kubernetes_namespace'], target_label: 'namespace' },
      { source_labels: ['__meta_kubernetes_service_name'], target_label: 'service' },
      { source_labels: ['__meta_kubernetes_pod_name'], target_label: 'pod' },
      { source_labels: ['__meta_kubernetes_pod_container_name'], target_label: 'container' },
      endedPods,
      { source_labels: ['__meta_kubernetes_service_name'], target_label: 'job', replacement: '${1}' },
      { target_label: 'endpoint', replacement: endpoint.port },
      ...ending(endpoint),
    ],
  }
}

export function podScrapeConfig(monitor: Manifest, options: ScrapeOptions): ScrapeConfig {
  const { selector, podMetricsEndpoints, namespaceSelector } = monitor['spec'] as {
    selector: Selector
    podMetricsEndpoints: Endpoint[]
    namespaceSelector: { any?: boolean; matchNames?: string[] }
  }
  const [endpoint] = podMetricsEndpoints
  if (endpoint === undefined) throw new Error('the PodMonitor has no endpoint')
  return {
    ...common(endpoint, options),
    job_name: options.jobName,
    static_configs: within(namespaceSelector.any === true ? undefined : namespaceSelector.matchNames, options.discovered),
    relabel_configs: [
      { source_labels: ['job'], target_label: '__tmp_prometheus_job_name' },
      endedPods,
      ...selected('pod', selector),
      { action: 'keep', source_labels: ['__meta_kubernetes_pod_container_port_name'], regex: endpoint.port },
      { source_labels: ['__meta_kubernetes_namespace'], target_label: 'namespace' },
      { source_labels: ['__meta_kubernetes_pod_container_name'], target_label: 'container' },
      { source_labels: ['__meta_kubernetes_pod_name'], target_label: 'pod' },
      { target_label: 'job', replacement: `${String(monitor.metadata['namespace'])}/${monitor.metadata.name}` },
      { target_label: 'endpoint', replacement: endpoint.port },
      ...ending(endpoint),
    ],
  }
}

const endedPods: Relabeling = { action: 'drop', source_labels: ['__meta_kubernetes_pod_phase'], regex: '(Failed|Succeeded)' }

function common({ path, honorLabels = false }: Endpoint, { interval }: ScrapeOptions): ScrapeConfig {
  return { honor_labels: honorLabels, metrics_path: path, scrape_interval: interval, scrape_timeout: interval }
}

function selected(role: 'service' | 'pod', { matchLabels = {}, matchExpressions = [] }: Selector): Relabeling[] {
  const labels = (key: string) => {
    const name = key.replaceAll(/[^a-zA-Z0-9_]/g, '_')
    return [`__meta_kubernetes_${role}_label_${name}`, `__meta_kubernetes_${role}_labelpresent_${name}`]
  }
  const one = (key: string, action: 'keep' | 'drop', value: string): Relabeling => ({
    action,
    source_labels: labels(key),
    regex: `(${value});true`,
  })
  return [
    ...Object.entries(matchLabels).map(([key, value]) => one(key, 'keep', value)),
    ...matchExpressions.map(({ key, operator, values = [] }) => {
      if (operator === 'In') return one(key, 'keep', values.join('|'))
      if (operator === 'NotIn') return one(key, 'drop', values.join('|'))
      const [, present = ''] = labels(key)
      return { action: operator === 'Exists' ? 'keep' : 'drop', source_labels: [present], regex: 'true' }
    }),
  ]
}

/** The user's relabeling, then the shard. */
function ending({ relabelings = [] }: Endpoint): Relabeling[] {
  const own = relabelings.map((rule) =>
    Object.fromEntries(
      Object.entries(rule).map(([key, value]) => [key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
    ),
  )
  return [
    ...own,
    { source_labels: ['__address__'], target_label: '__tmp_hash', modulus: 1, action: 'hashmod' },
    { source_labels: ['__tmp_hash'], regex: '0', action: 'keep' },
  ]
}

/** Targets in these namespaces, or in all. */
function within(namespaces: readonly string[] | undefined, discovered: readonly Discovered[]): Discovered[] {
  return discovered.filter(({ labels }) => namespaces?.includes(labels['__meta_kubernetes_namespace'] ?? '') ?? true)
}
