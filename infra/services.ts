/**
 * How agents, the API server and Prometheus reach the controller. Pure.
 */
import type { Names } from './names.ts'
import type { Manifest } from './policies.ts'
import type { Values } from './values.ts'

export function services(names: Names, { delivery, webhook, metrics }: Values): Manifest[] {
  return [
    service(names, names.deliveryService, delivery.port, 'delivery'),
    ...(webhook.enabled ? [service(names, names.webhookService, 443, 'admission')] : []),
    ...(metrics.enabled ? [service(names, names.metricsService, metrics.service.port, 'metrics', metrics.service.type)] : []),
  ]
}

function service({ namespace, labels, selector }: Names, name: string, port: number, targetPort: string, type = 'ClusterIP'): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    // The label tells the Services of one release apart, for the ServiceMonitor.
    metadata: { name, namespace, labels: { ...labels, 'app.kubernetes.io/component': targetPort } },
    spec: { type, selector, ports: [{ name: 'https', port, targetPort, protocol: 'TCP' }] },
  }
}
