/**
 * How agents, the API server, Prometheus and git hosts reach the controller. Pure.
 */
import type { Live, Value } from './helm/expression.ts'
import { namespaced } from './metadata.ts'
import type { Names } from './names.ts'
import type { LiveManifest } from './manifest.ts'
import type { Values } from './values.ts'

export function deliveryService(names: Names, { delivery: { port, service } }: Live<Values>): LiveManifest {
  return serviceOf(names, names.deliveryService, service, { name: 'https', port, targetPort: 'delivery' }, 'delivery')
}

/** The API server calls webhooks at 443 unless told otherwise. */
export function admissionService(names: Names, { webhook: { service } }: Live<Values>): LiveManifest {
  return serviceOf(names, names.webhookService, service, { name: 'https', port: 443, targetPort: 'admission' }, 'admission')
}

export function metricsService(names: Names, { metrics: { service } }: Live<Values>): LiveManifest {
  return serviceOf(names, names.metricsService, service, { name: 'https', port: service.port, targetPort: 'metrics' }, 'metrics')
}

type ServicePort = { name: string; port: Value<number>; targetPort: string }

/** `component` tells the Services of one release apart, for the ServiceMonitor. */
export function serviceOf(
  names: Names,
  name: Value<string>,
  { type, annotations }: Pick<Live<Values>['delivery']['service'], 'type' | 'annotations'>,
  port: ServicePort,
  component?: string,
): LiveManifest {
  const labels = component === undefined ? {} : { 'app.kubernetes.io/component': component }
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: namespaced(names, name, { labels, annotations }),
    spec: { type, selector: names.selector, ports: [{ ...port, protocol: 'TCP' }] },
  }
}
