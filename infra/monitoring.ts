/**
 * What Prometheus and Grafana are told. Pure.
 */
import { agentPortName } from '../runtime/agent-settings.ts'
import { agentPodLabel } from '../runtime/gatewaysync/names.ts'
import { dashboards } from './dashboards.ts'
import type { Names } from './names.ts'
import type { Manifest } from './policies.ts'
import type { Values } from './values.ts'

function timing({ interval, scrapeTimeout }: { interval: string; scrapeTimeout: string }): object {
  return { ...(interval === '' ? {} : { interval }), ...(scrapeTimeout === '' ? {} : { scrapeTimeout }) }
}

/** Prometheus proves itself by its own token, which needs the metrics reader's role. */
export function serviceMonitor(
  { fullname, namespace, labels, selector, metricsService, certificateSecret }: Names,
  { serviceMonitor: values }: Values,
): Manifest {
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: { name: fullname, namespace, labels: { ...labels, ...values.labels } },
    spec: {
      selector: { matchLabels: { ...selector, 'app.kubernetes.io/component': 'metrics' } },
      endpoints: [
        {
          port: 'https',
          path: '/metrics',
          scheme: 'https',
          // A GatewaySync's figures carry its own namespace, which the scraped pod's would otherwise displace.
          honorLabels: true,
          bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
          tlsConfig: {
            serverName: `${metricsService}.${namespace}.svc`,
            ca: { secret: { name: certificateSecret, key: 'ca.crt' } },
          },
          ...timing(values),
        },
      ],
    },
  }
}

export function podMonitor({ fullname, namespace, labels }: Names, { podMonitor: values, watchNamespaces }: Values): Manifest {
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PodMonitor',
    metadata: { name: `${fullname}-agents`, namespace, labels: { ...labels, ...values.labels } },
    spec: {
      namespaceSelector: watchNamespaces.length === 0 ? { any: true } : { matchNames: watchNamespaces },
      selector: { matchLabels: { [agentPodLabel]: 'true' } },
      podMetricsEndpoints: [{ port: agentPortName, path: '/metrics', ...timing(values) }],
    },
  }
}

export function dashboardMap({ fullname, namespace, labels }: Names, { grafanaDashboard: values }: Values): Manifest {
  const found = { grafana_dashboard: '1', ...values.labels }
  const discovery = Object.fromEntries(Object.entries(found).filter(([, value]) => value !== ''))
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: `${fullname}-dashboards`,
      namespace: values.namespace === '' ? namespace : values.namespace,
      labels: { ...labels, ...discovery },
      ...(Object.keys(values.annotations).length === 0 ? {} : { annotations: values.annotations }),
    },
    data: Object.fromEntries(Object.entries(dashboards()).map(([file, dashboard]) => [file, JSON.stringify(dashboard, undefined, 2)])),
  }
}
