/**
 * What the values ask for: everything that an installation consists of but its definitions and its namespace. No other file decides
 * whether an object is there. Pure.
 */
import { alerts } from './alerts.ts'
import { certificateBy, certificates } from './certificates.ts'
import { controller, disruptionBudget } from './controller.ts'
import { and, greater, or } from './helm/combinators.ts'
import type { Live, Value } from './helm/expression.ts'
import { when } from './helm/nodes.ts'
import { injection } from './injection.ts'
import { dashboardMap, podMonitor, serviceMonitor } from './monitoring.ts'
import { type LiveRelease, namesOf } from './names.ts'
import { network } from './network.ts'
import type { LiveManifest } from './manifest.ts'
import { policies } from './policies.ts'
import { rbac, secretRights, watchedRights } from './rbac.ts'
import { inlineSecret, isInline, receiverIngress, receiverService } from './receiver.ts'
import { admissionService, deliveryService, metricsService } from './services.ts'
import type { Values } from './values.ts'

/**
 * The objects by concern, in the order in which they are written. With known values they are the manifests themselves, with Helm's they
 * are what the chart's templates are made of, one file a concern.
 */
export function objects(release: LiveRelease, values: Live<Values>, version: Value<string>): Record<string, LiveManifest[]> {
  const names = namesOf(release, values, version)
  const { metrics, webhook, webhookReceiver: receiver, podDisruptionBudget, replicaCount } = values
  const { serviceMonitor: collected, podMonitor: agentsCollected, grafanaDashboard, prometheusRule, networkPolicy } = values
  const inline = or(isInline(receiver.hmac), isInline(receiver.token))
  return {
    rbac: [...rbac(names, values), ...watchedRights(names, values), ...secretRights(names, values)],
    policies: policies(names, values),
    certificates: when(certificateBy(values).certManager, certificates(names)),
    controller: [
      controller(names, values, version),
      ...when(and(podDisruptionBudget.enabled, greater(replicaCount, 1)), [disruptionBudget(names, values)]),
    ],
    services: [
      deliveryService(names, values),
      ...when(webhook.enabled, [admissionService(names, values)]),
      ...when(metrics.enabled, [metricsService(names, values)]),
    ],
    receiver: [
      ...when(and(receiver.enabled, inline), [inlineSecret(names, values)]),
      ...when(receiver.enabled, [receiverService(names, values)]),
      ...when(and(receiver.enabled, receiver.ingress.enabled), [receiverIngress(names, values)]),
    ],
    injection: when(webhook.enabled, [injection(names, values)]),
    network: when(networkPolicy.enabled, [network(names, values)]),
    monitoring: [
      ...when(collected.enabled, [serviceMonitor(names, values)]),
      ...when(agentsCollected.enabled, [podMonitor(names, values)]),
      ...when(grafanaDashboard.enabled, [dashboardMap(names, values)]),
      ...when(prometheusRule.enabled, [alerts(names, values)]),
    ],
  }
}
