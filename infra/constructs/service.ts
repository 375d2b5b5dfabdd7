/**
 * The Services by which agents, the API server, Prometheus and git hosts reach the controller. Pure.
 */
import type { k8s } from 'cdk8s-plus-28'
import type { Live, Value } from '../helm/expression.ts'
import type { Names } from '../names.ts'
import type { Values } from '../values.ts'
import type { ManifestOf } from './api-object.ts'
import { namespaced } from './metadata.ts'

type Port = { name: string; port: Value<number>; targetPort: string }

/** `component` tells the Services of one release apart, for the ServiceMonitor. */
export function serviceOf(
  names: Names,
  name: Value<string>,
  { type, annotations }: Pick<Live<Values>['delivery']['service'], 'type' | 'annotations'>,
  port: Port,
  component?: string,
): ManifestOf<typeof k8s.KubeService> {
  const labels = component === undefined ? {} : { 'app.kubernetes.io/component': component }
  return {
    metadata: namespaced(names, name, { labels, annotations }),
    spec: { type, selector: names.selector, ports: [{ ...port, protocol: 'TCP' }] },
  }
}
