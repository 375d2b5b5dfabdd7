/**
 * What leads from outside of the cluster to a Service of ours. Pure.
 */
import type { k8s } from 'cdk8s-plus-28'
import type { Live, Value } from '../helm/expression.ts'
import { each, field, unlessEmpty } from '../helm/nodes.ts'
import type { Names } from '../names.ts'
import type { Values } from '../values.ts'
import type { ManifestOf } from './api-object.ts'
import { namespaced } from './metadata.ts'
import type { Written } from './written.ts'

/** `service`: the name of the Service, and of the Ingress; `port`: the name of its port. */
export function ingressOf(
  names: Names,
  service: Value<string>,
  ingress: Live<Values>['webhookReceiver']['ingress'],
  port: string,
): ManifestOf<typeof k8s.KubeIngress> {
  return {
    metadata: namespaced(names, service, { annotations: ingress.annotations }),
    spec: {
      ingressClassName: unlessEmpty(ingress.ingressClassName),
      tls: unlessEmpty(ingress.tls),
      rules: each('host', ingress.hosts, (host): Written<k8s.IngressRule> => ({
        host: field(host, 'host'),
        http: {
          paths: each('path', field(host, 'paths'), (path): Written<k8s.HttpIngressPath> => ({
            path: field(path, 'path'),
            pathType: field(path, 'pathType'),
            backend: { service: { name: service, port: { name: port } } },
          })),
        },
      })),
    },
  }
}
