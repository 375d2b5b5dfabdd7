/**
 * The Services through which agents, the API server, Prometheus, git hosts and users reach the controller.
 */
import { ApiObject, JsonPatch } from 'cdk8s'
import * as kplus from 'cdk8s-plus-28'
import type { Construct } from 'constructs'
import { metadata, type Names } from '../names.ts'
import type { Values } from '../values.ts'
import { setFields } from './fields.ts'

export type ServiceOptions = {
  name: string
  /** `targetPort` is the name of the container's port. */
  port: { name: string; port: number; targetPort: string }
  /** Distinguishes the Services of one release, for the ServiceMonitor. */
  component?: string
  values: Values['delivery']['service']
}

/** A Service of the controller's pods. */
export function createService(scope: Construct, names: Names, { name, port, component, values }: ServiceOptions): kplus.Service {
  const labels = component === undefined ? {} : { 'app.kubernetes.io/component': component }
  const service = new kplus.Service(scope, 'Service', {
    metadata: metadata(names, name, { labels, annotations: values.annotations }),
    type: values.type as kplus.ServiceType,
    ports: [{ name: port.name, port: port.port, protocol: kplus.Protocol.TCP }],
  })
  for (const [key, value] of Object.entries(names.selector)) service.selectLabel(key, value)
  // cdk8s-plus writes an empty list.
  ApiObject.of(service).addJsonPatch(JsonPatch.remove('/spec/externalIPs'))
  // cdk8s-plus accepts numbers only. With a name, each pod is reached at its own port during a rollout that changes the port.
  setFields(service, { '/spec/ports/0/targetPort': port.targetPort })
  return service
}
