/**
 * How agents, the API server and Prometheus reach the controller. Pure.
 */
import type { Names } from './names.ts'
import type { Manifest } from './policies.ts'
import type { Values } from './values.ts'

export function deliveryService(names: Names, { delivery }: Values): Manifest {
  return service(names, names.deliveryService, delivery.port, 'delivery')
}

/** The API server calls webhooks at 443 unless told otherwise. */
export function admissionService(names: Names): Manifest {
  return service(names, names.webhookService, 443, 'admission')
}

export function metricsService(names: Names, { metrics }: Values): Manifest {
  return service(names, names.metricsService, metrics.service.port, 'metrics', metrics.service.type)
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
