/**
 * What an installation can be told of its figures and of who collects them: a part of the values. Pure.
 */
import * as v from 'valibot'
import { annotations, duration, flag, labels, optionalNamespace, port, requiredDuration } from './fields.ts'
import { serviceValues } from './workload-values.ts'

const monitor = (what: string) =>
  v.optional(
    v.strictObject({
      enabled: flag(`Creates ${what}.`, false),
      labels: labels('Extra labels.'),
      interval: duration("Scrape interval; empty: the monitoring system's default."),
      scrapeTimeout: duration("Scrape timeout; empty: the monitoring system's default."),
    }),
    {},
  )
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
  serviceMonitor: monitor('a ServiceMonitor for the controller'),
  podMonitor: monitor('a PodMonitor for agents'),
  prometheusRule: v.optional(
    v.strictObject({
      enabled: flag('Creates a PrometheusRule with alerts on the figures of the controller.', false),
      labels: labels('Extra labels.'),
      notReadyFor: requiredDuration('How long a GatewaySync may be not ready before that is an alert.', '15m'),
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
