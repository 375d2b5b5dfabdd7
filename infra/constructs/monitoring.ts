/**
 * The metrics Service, and the objects that Prometheus and Grafana discover.
 */
import * as kplus from 'cdk8s-plus-28'
import { Construct } from 'constructs'
import { PodMonitor, PrometheusRule, ServiceMonitor, ServiceMonitorSpecEndpointsScheme } from '../../imports/monitoring.coreos.com.js'
import { agentPortName } from '../../runtime/settings/agent.ts'
import { agentPodLabel } from '../../runtime/api/names.ts'
import type { SharedProps } from './shared-props.ts'
import { clusterMetadata, metadata } from '../names.ts'
import type { Values } from '../values.ts'
import { alertGroups } from './alerts.ts'
import { dashboards } from './dashboards.ts'
import { setFields } from './fields.ts'
import { createClusterRole } from './roles.ts'
import { createService } from './service.ts'

/** The role is always created, every other object only if the values enable it. */
export class Monitoring extends Construct {
  /** Bind it to the account that scrapes the metrics. */
  readonly metricsReaderRole: kplus.ClusterRole
  readonly metricsService: kplus.Service | undefined
  readonly serviceMonitor: ServiceMonitor | undefined
  readonly podMonitor: PodMonitor | undefined
  readonly dashboards: kplus.ConfigMap | undefined
  readonly alerts: PrometheusRule | undefined

  constructor(scope: Construct, id: string, props: SharedProps) {
    super(scope, id)
    const { names, values } = props
    const { metrics, serviceMonitor, podMonitor, grafanaDashboard, prometheusRule } = values
    this.metricsReaderRole = createClusterRole(this, 'MetricsReaderRole', clusterMetadata(names, names.metricsReaderRole), [
      { verbs: ['get'], endpoints: [kplus.NonApiResource.of('/metrics')] },
    ])
    if (metrics.enabled) {
      this.metricsService = createService(this, names, {
        name: names.metricsService,
        port: { name: 'https', port: metrics.service.port, targetPort: 'metrics' },
        component: 'metrics',
        values: metrics.service,
      })
    }
    if (serviceMonitor.enabled) this.serviceMonitor = createServiceMonitor(this, props)
    if (podMonitor.enabled) this.podMonitor = createPodMonitor(this, props)
    if (grafanaDashboard.enabled) this.dashboards = createDashboards(this, props)
    if (prometheusRule.enabled) {
      this.alerts = new PrometheusRule(this, 'Alerts', {
        metadata: metadata(names, names.fullname, { labels: prometheusRule.labels }),
        spec: { groups: alertGroups(names, prometheusRule) },
      })
    }
  }
}

/** Prometheus sends the token of its own pod, or one from a Secret. The account of the token needs the metrics reader role. */
function createServiceMonitor(scope: Construct, { names, values: { serviceMonitor } }: SharedProps): ServiceMonitor {
  const { name, key } = serviceMonitor.token.secretRef
  const monitor = new ServiceMonitor(scope, 'ServiceMonitor', {
    metadata: metadata(names, names.fullname, { labels: serviceMonitor.labels }),
    spec: {
      selector: { matchLabels: { ...names.selector, 'app.kubernetes.io/component': 'metrics' } },
      endpoints: [
        {
          port: 'https',
          path: '/metrics',
          scheme: ServiceMonitorSpecEndpointsScheme.HTTPS,
          // Otherwise the namespace of the scraped pod would replace the label `namespace`, which is the namespace of a GatewaySync.
          honorLabels: true,
          ...(name === ''
            ? { bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token' }
            : { authorization: { type: 'Bearer', credentials: { name, key } } }),
          tlsConfig: {
            serverName: `${names.metricsService}.${names.namespace}.svc`,
            ca: { secret: { name: names.certificateSecret, key: 'ca.crt' } },
          },
        },
      ],
    },
  })
  setScraping(monitor, '/spec/endpoints/0', serviceMonitor)
  return monitor
}

function createPodMonitor(scope: Construct, { names, values }: SharedProps): PodMonitor {
  const { podMonitor, watchNamespaces, controller } = values
  const { matchLabels, matchExpressions } = controller.watchLabelSelector
  const monitor = new PodMonitor(scope, 'PodMonitor', {
    metadata: metadata(names, `${names.fullname}-agents`, { labels: podMonitor.labels }),
    spec: {
      namespaceSelector: watchNamespaces.length > 0 ? { matchNames: watchNamespaces } : { any: true },
      selector: {
        matchLabels: { ...matchLabels, [agentPodLabel]: 'true' },
        ...(matchExpressions.length > 0 && { matchExpressions }),
      },
      podMetricsEndpoints: [{ port: agentPortName, path: '/metrics' }],
    },
  })
  setScraping(monitor, '/spec/podMetricsEndpoints/0', podMonitor)
  return monitor
}

function setScraping(monitor: Construct, endpoint: string, values: Values['podMonitor']): void {
  const { interval, scrapeTimeout, relabelings, metricRelabelings } = values
  setFields(monitor, {
    [`${endpoint}/interval`]: interval,
    [`${endpoint}/scrapeTimeout`]: scrapeTimeout,
    [`${endpoint}/relabelings`]: relabelings,
    [`${endpoint}/metricRelabelings`]: metricRelabelings,
  })
}

function createDashboards(scope: Construct, { names, values: { grafanaDashboard } }: SharedProps): kplus.ConfigMap {
  const { namespace, labels, annotations } = grafanaDashboard
  const discovery = Object.entries({ grafana_dashboard: '1', ...labels }).filter(([, value]) => value !== '')
  const own = { labels: Object.fromEntries(discovery), annotations }
  return new kplus.ConfigMap(scope, 'Dashboards', {
    metadata: { ...clusterMetadata(names, `${names.fullname}-dashboards`, own), namespace: namespace || names.namespace },
    data: Object.fromEntries(Object.entries(dashboards()).map(([file, dashboard]) => [file, JSON.stringify(dashboard, undefined, 2)])),
  })
}
