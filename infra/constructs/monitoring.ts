/**
 * What Prometheus and Grafana are told, and who may read the figures.
 */
import type { ApiObject } from 'cdk8s'
import { k8s } from 'cdk8s-plus-28'
import { Construct } from 'constructs'
import { PodMonitor, PrometheusRule, ServiceMonitor } from '../../imports/monitoring.coreos.com.js'
import { agentPortName } from '../../runtime/agent-settings.ts'
import { agentPodLabel } from '../../runtime/gatewaysync/names.ts'
import { either, isSet, merged, not, text, withoutEmpty } from '../helm/combinators.ts'
import type { Live } from '../helm/expression.ts'
import { choose, given, unlessEmpty } from '../helm/nodes.ts'
import type { Names } from '../names.ts'
import type { Values } from '../values.ts'
import { alerts } from './alerts.ts'
import { apiObject, apiObjectWhen, type ManifestOf } from './api-object.ts'
import { dashboards } from './dashboards.ts'
import type { Installation } from './installation.ts'
import { clusterWide, namespaced } from './metadata.ts'
import { serviceOf } from './service.ts'
import { asGiven } from './written.ts'

/** What Prometheus and Grafana find; the objects of the monitoring operator only where the values ask for them. */
export class Monitoring extends Construct {
  readonly metricsService: ApiObject | undefined
  /** The role that an account needs to read the metrics. */
  readonly metricsReaderRole: ApiObject
  readonly serviceMonitor: ApiObject | undefined
  readonly podMonitor: ApiObject | undefined
  readonly dashboards: ApiObject | undefined
  readonly alerts: ApiObject | undefined

  constructor(scope: Construct, id: string, { names, values }: Installation) {
    super(scope, id)
    const { enabled, service } = values.metrics
    const https = serviceOf(names, names.metricsService, service, { name: 'https', port: service.port, targetPort: 'metrics' }, 'metrics')
    const { serviceMonitor: collected, podMonitor: agentsCollected, grafanaDashboard, prometheusRule } = values
    this.metricsReaderRole = apiObject(this, 'metrics-reader-role', k8s.KubeClusterRole, {
      metadata: clusterWide(names, names.metricsReaderRole),
      rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
    })
    this.metricsService = apiObjectWhen(enabled, this, 'metrics-service', k8s.KubeService, https)
    this.serviceMonitor = apiObjectWhen(collected.enabled, this, 'service-monitor', ServiceMonitor, serviceMonitor(names, values))
    this.podMonitor = apiObjectWhen(agentsCollected.enabled, this, 'pod-monitor', PodMonitor, podMonitor(names, values))
    this.dashboards = apiObjectWhen(grafanaDashboard.enabled, this, 'dashboards', k8s.KubeConfigMap, dashboardMap(names, values))
    this.alerts = apiObjectWhen(prometheusRule.enabled, this, 'alerts', PrometheusRule, alerts(names, values))
  }
}

/** How each target is scraped. */
function scraping({ interval, scrapeTimeout, relabelings, metricRelabelings }: Live<Values>['podMonitor']) {
  return {
    interval: unlessEmpty(interval),
    scrapeTimeout: unlessEmpty(scrapeTimeout),
    relabelings: asGiven(unlessEmpty(relabelings)),
    metricRelabelings: asGiven(unlessEmpty(metricRelabelings)),
  }
}

/** Prometheus shows the token of its own pod, or one from a Secret; the token's account needs the metrics reader's role. */
function serviceMonitor(names: Names, { serviceMonitor: values }: Live<Values>): ManifestOf<typeof ServiceMonitor> {
  const { fullname, namespace, selector, metricsService, certificateSecret } = names
  const { name, key } = values.tokenSecret
  return {
    metadata: namespaced(names, fullname, { labels: values.labels }),
    spec: {
      selector: { matchLabels: { ...selector, 'app.kubernetes.io/component': 'metrics' } },
      endpoints: [
        {
          port: 'https',
          path: '/metrics',
          scheme: 'https',
          // Metrics of a GatewaySync have its namespace as a label, which the namespace of the scraped pod would otherwise replace.
          honorLabels: true,
          authorization: given(isSet(name), { type: 'Bearer', credentials: { name, key } }),
          bearerTokenFile: given(not(isSet(name)), '/var/run/secrets/kubernetes.io/serviceaccount/token'),
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

function podMonitor(names: Names, { podMonitor: values, watchNamespaces, controller }: Live<Values>): ManifestOf<typeof PodMonitor> {
  const { matchLabels, matchExpressions } = controller.watchLabelSelector
  return {
    metadata: namespaced(names, text`${names.fullname}-agents`, { labels: values.labels }),
    spec: {
      namespaceSelector: choose(isSet(watchNamespaces), { matchNames: watchNamespaces }, { any: true }),
      selector: { matchLabels: merged(matchLabels, { [agentPodLabel]: 'true' }), matchExpressions: unlessEmpty(matchExpressions) },
      podMetricsEndpoints: [{ port: agentPortName, path: '/metrics', ...scraping(values) }],
    },
  }
}

function dashboardMap(names: Names, { grafanaDashboard: values }: Live<Values>): ManifestOf<typeof k8s.KubeConfigMap> {
  const discovery = withoutEmpty(merged({ grafana_dashboard: '1' }, values.labels))
  return {
    metadata: namespaced(names, text`${names.fullname}-dashboards`, {
      namespace: either(isSet(values.namespace), values.namespace, names.namespace),
      labels: discovery,
      annotations: values.annotations,
    }),
    data: Object.fromEntries(Object.entries(dashboards()).map(([file, dashboard]) => [file, JSON.stringify(dashboard, undefined, 2)])),
  }
}
