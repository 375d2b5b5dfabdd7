/**
 * What Prometheus and Grafana are told. Pure.
 */
import { agentPortName } from '../runtime/agent-settings.ts'
import { agentPodLabel } from '../runtime/gatewaysync/names.ts'
import { dashboards } from './dashboards.ts'
import { either, isSet, merged, not, text, withoutEmpty } from './helm/combinators.ts'
import type { Live } from './helm/expression.ts'
import { choose, members, optional } from './helm/nodes.ts'
import { namespaced } from './metadata.ts'
import type { Names } from './names.ts'
import type { LiveManifest } from './manifest.ts'
import type { Values } from './values.ts'

/** How each target is scraped. */
function scraping({ interval, scrapeTimeout, relabelings, metricRelabelings }: Live<Values>['podMonitor']): object {
  return {
    ...optional('interval', interval),
    ...optional('scrapeTimeout', scrapeTimeout),
    ...optional('relabelings', relabelings),
    ...optional('metricRelabelings', metricRelabelings),
  }
}

/** Prometheus proves itself by its own token, or by one that it is given; whose it is needs the metrics reader's role. */
export function serviceMonitor(names: Names, { serviceMonitor: values }: Live<Values>): LiveManifest {
  const { fullname, namespace, selector, metricsService, certificateSecret } = names
  const { name, key } = values.tokenSecret
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: namespaced(names, fullname, { labels: values.labels }),
    spec: {
      selector: { matchLabels: { ...selector, 'app.kubernetes.io/component': 'metrics' } },
      endpoints: [
        {
          port: 'https',
          path: '/metrics',
          scheme: 'https',
          // A GatewaySync's figures carry its own namespace, which the scraped pod's would otherwise displace.
          honorLabels: true,
          ...members(isSet(name), { authorization: { type: 'Bearer', credentials: { name, key } } }),
          ...members(not(isSet(name)), { bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token' }),
          tlsConfig: {
            serverName: text`${metricsService}.${namespace}.svc`,
            ca: { secret: { name: certificateSecret, key: 'ca.crt' } },
          },
          ...scraping(values),
        },
      ],
    },
  }
}

export function podMonitor(names: Names, { podMonitor: values, watchNamespaces, controller }: Live<Values>): LiveManifest {
  const { matchLabels, matchExpressions } = controller.watchLabelSelector
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PodMonitor',
    metadata: namespaced(names, text`${names.fullname}-agents`, { labels: values.labels }),
    spec: {
      namespaceSelector: choose<object>(isSet(watchNamespaces), { matchNames: watchNamespaces }, { any: true }),
      selector: { matchLabels: merged(matchLabels, { [agentPodLabel]: 'true' }), ...optional('matchExpressions', matchExpressions) },
      podMetricsEndpoints: [{ port: agentPortName, path: '/metrics', ...scraping(values) }],
    },
  }
}

export function dashboardMap(names: Names, { grafanaDashboard: values }: Live<Values>): LiveManifest {
  const discovery = withoutEmpty(merged({ grafana_dashboard: '1' }, values.labels))
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: namespaced(names, text`${names.fullname}-dashboards`, {
      namespace: either(isSet(values.namespace), values.namespace, names.namespace),
      labels: discovery,
      annotations: values.annotations,
    }),
    data: Object.fromEntries(Object.entries(dashboards()).map(([file, dashboard]) => [file, JSON.stringify(dashboard, undefined, 2)])),
  }
}
