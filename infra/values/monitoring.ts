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

const monitor = (what: string) => ({
  enabled: flag(`Creates ${what}.`, false),
  labels: labels('Extra labels.'),
  interval: duration("Scrape interval; empty: the monitoring system's default."),
  scrapeTimeout: duration("Scrape timeout; empty: the monitoring system's default."),
  relabelings: items('Rules that change the labels of a target before it is scraped.'),
  metricRelabelings: items('Rules that change or drop what was scraped.'),
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
      tokenSecret: v.optional(
        v.strictObject({
          name: optionalObjectName(
            "A Secret with the token that Prometheus shows; empty: the token of Prometheus' own pod, where its operator lets monitors name files.",
          ),
          key: dataKey('Key inside that Secret.', 'token'),
        }),
        {},
      ),
    }),
    {},
  ),
  podMonitor: v.optional(v.strictObject(monitor('a PodMonitor for agents')), {}),
  prometheusRule: v.optional(
    v.strictObject({
      enabled: flag('Creates a PrometheusRule with alerts on the figures of the controller.', false),
      labels: labels('Extra labels.'),
      notReadyFor: requiredDuration('How long a GatewaySync may be not ready before that is an alert.', '15m'),
      pushToApplied: v.optional(
        v.strictObject({
          percent: count('How many percent of pushes should reach every gateway in time.', 99, 50, 99),
          seconds: v.optional(
            v.pipe(
              v.picklist([1, 5, 10, 30, 60, 120]),
              v.description('What in time means, in seconds from the receipt of a push until every gateway runs its commit.'),
            ),
            30,
          ),
        }),
        {},
      ),
      runbookUrl: pageAddress(
        "Where your people read docs/runbook.md, such as its address in your copy of the repository; an alert's runbook_url names its section there.",
        'docs/runbook.md',
      ),
    }),
    {},
  ),
  tracing: v.optional(
    v.strictObject({
      endpoint: v.optional(
        v.pipe(
          v.string(),
          v.regex(/^(?:https?:\/\/[^\s?#@]+)?$/, 'must be empty or an http or https URL, without user, query and fragment'),
          v.description(
            'Base URL of a receiver of OTLP over HTTP, such as http://collector.monitoring:4318, that controller and agents reach; empty: nothing is traced.',
          ),
        ),
        '',
      ),
      samplingRatio: v.optional(
        v.pipe(v.number(), v.minValue(0), v.maxValue(1), v.description('The share of pushes that are traced, from 0 to 1.')),
        1,
      ),
    }),
    {},
  ),
  grafanaDashboard: v.optional(
    v.strictObject({
      enabled: flag('Creates a ConfigMap with dashboards.', false),
      namespace: optionalNamespace("Its namespace; empty: the release's."),
      labels: labels('Merged over grafana_dashboard: "1"; that key set to "" removes it.'),
      annotations: annotations('Annotations of the ConfigMap.'),
    }),
    {},
  ),
} as const
