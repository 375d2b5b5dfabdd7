/**
 * The Ingress in front of a Service of the controller.
 */
import * as kplus from 'cdk8s-plus-28'
import type { Construct } from 'constructs'
import { metadata, type Names } from '../names.ts'
import type { Values } from '../values.ts'

type IngressValues = Values['webhookReceiver']['ingress']

/** An Ingress with the name of its backend Service. */
export function createIngress(scope: Construct, names: Names, service: kplus.Service, values: IngressValues): kplus.Ingress {
  const { ingressClassName, annotations, hosts, tls } = values
  const backend = kplus.IngressBackend.fromService(service)
  return new kplus.Ingress(scope, 'Ingress', {
    metadata: metadata(names, service.name, { annotations }),
    ...(ingressClassName !== '' && { className: ingressClassName }),
    rules: hosts.flatMap(({ host, paths }) =>
      paths.map(({ path, pathType }) => ({ host, path, pathType: pathType as kplus.HttpIngressPathType, backend })),
    ),
    tls: tls.map(({ secretName, hosts }, index) => ({
      secret: kplus.Secret.fromSecretName(scope, `TlsSecret${index}`, secretName),
      hosts,
    })),
  })
}
