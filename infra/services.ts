/**
 * How agents, the API server and Prometheus reach the controller. Pure.
 */
import type { Live, Value } from './helm/expression.ts'
import type { Names } from './names.ts'
import type { LiveManifest } from './policies.ts'
import type { Values } from './values.ts'

export function deliveryService(names: Names, { delivery }: Live<Values>): LiveManifest {
  return service(names, names.deliveryService, delivery.port, 'delivery')
}

/** The API server calls webhooks at 443 unless told otherwise. */
export function admissionService(names: Names): LiveManifest {
  return service(names, names.webhookService, 443, 'admission')
}

export function metricsService(names: Names, { metrics }: Live<Values>): LiveManifest {
  return service(names, names.metricsService, metrics.service.port, 'metrics', metrics.service.type)
}

function service(
  { namespace, labels, selector }: Names,
  name: Value<string>,
  port: Value<number>,
  targetPort: string,
  type: Value<string> = 'ClusterIP',
): LiveManifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    // The label tells the Services of one release apart, for the ServiceMonitor.
    metadata: { name, namespace, labels: { ...labels, 'app.kubernetes.io/component': targetPort } },
    spec: { type, selector, ports: [{ name: 'https', port, targetPort, protocol: 'TCP' }] },
  }
}
