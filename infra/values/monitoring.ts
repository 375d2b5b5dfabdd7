/**
 * The values of metrics, and of the monitors, alerts and dashboards that use them. Pure.
 */
import * as v from 'valibot'
import {
  annotations,
  count,
  dataKey,
  duration,
  flag,
  items,
  labels,
  optionalNamespace,
  optionalObjectName,
  pageAddress,
  port,
  requiredDuration,
} from './fields.ts'
import { serviceValues } from './workload.ts'
import { docsUrl } from '../../runtime/platform/version.ts'

const monitor = (what: string) => ({
  enabled: flag(`Creates ${what}.`, false),
  labels: labels('Extra labels.'),
  interval: duration('Scrape interval. Defaults to the global scrape interval of Prometheus.'),
  scrapeTimeout: duration('Scrape timeout. Defaults to the global scrape timeout of Prometheus.'),
  relabelings: items('Relabeling of targets before they are scraped.'),
  metricRelabelings: items('Relabeling of scraped metrics.'),
})

export const monitoringValues = {
  metrics: v.optional(
    v.strictObject({
      enabled: flag('Creates the metrics Service.', true),
      service: v.optional(
        v.strictObject({
          ...serviceValues('metrics'),
          port: port('Port of the metrics Service.', 8443),
        }),
        {},
      ),
    }),
    {},
  ),
  serviceMonitor: v.optional(
    v.strictObject({
      ...monitor('a ServiceMonitor for the controller'),
      token: v.optional(
        v.strictObject({
          secretRef: v.optional(
            v.strictObject({
              name: optionalObjectName(
                'Secret with the bearer token for Prometheus. Defaults to the token file of the Prometheus pod, which the Prometheus operator must allow.',
              ),
              key: dataKey('Key inside that Secret.', 'token'),
            }),
            {},
          ),
        }),
        {},
      ),
    }),
    {},
  ),
  podMonitor: v.optional(v.strictObject(monitor('a PodMonitor for agents')), {}),
  prometheusRule: v.optional(
    v.strictObject({
      enabled: flag('Creates a PrometheusRule with alerts on the metrics of the controller.', false),
      labels: labels('Extra labels.'),
      notReadyFor: requiredDuration('How long a GatewaySync must be unready before an alert fires.', '15m'),
      pushToApplied: v.optional(
        v.strictObject({
          // ClusterSyncPushesSlow compares with 14.4 * (100 - percent), which must be below 100.
          percent: count(
            'Objective: the percentage of pushes that must reach all gateways in time, from 94 to 99. With less, the alert ClusterSyncPushesSlow could never fire.',
            99,
            94,
            99,
          ),
          seconds: v.optional(
            v.pipe(
              v.picklist([1, 5, 10, 30, 60, 120]),
              v.description('Objective: the maximum time in seconds from the receipt of a push until all gateways run its commit.'),
            ),
            30,
          ),
        }),
        {},
      ),
      runbookURL: pageAddress(
        'URL of docs/how-to/runbook.md, for example in your copy of the repository. Each alert links to its section there, in the annotation runbook_url. If empty, the annotation is omitted.',
        docsUrl('docs/how-to/runbook.md') ?? '',
      ),
    }),
    {},
  ),
  tracing: v.optional(
    v.strictObject({
      endpoint: v.optional(
        v.pipe(
          v.string(),
          v.regex(/^(?:https?:\/\/[^\s?#@]+)?$/, 'must be empty or an http or https URL, without a user, query or fragment'),
          v.description(
            'Base URL of an OTLP receiver over HTTP, such as http://collector.monitoring:4318, for controller and agents. If empty, tracing is disabled.',
          ),
        ),
        '',
      ),
      samplingRatio: v.optional(
        v.pipe(v.number(), v.minValue(0), v.maxValue(1), v.description('Fraction of pushes to trace, from 0 to 1.')),
        1,
      ),
    }),
    {},
  ),
  grafanaDashboard: v.optional(
    v.strictObject({
      enabled: flag('Creates a ConfigMap with dashboards.', false),
      namespace: optionalNamespace('Namespace of the ConfigMap. Defaults to the namespace of the release.'),
      labels: labels('Labels of the ConfigMap, added to grafana_dashboard: "1". Set that key to "" to remove it.'),
      annotations: annotations('Annotations of the ConfigMap.'),
    }),
    {},
  ),
} as const
