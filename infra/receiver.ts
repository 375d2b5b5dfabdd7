/**
 * The push receiver's Service, Ingress and, for inline secrets, its Secret. Pure.
 */
import type { Names } from './names.ts'
import type { Manifest } from './policies.ts'
import type { Values } from './values.ts'

/** The Secret that holds the keys which the values name inline. */
export function inlineSecretName({ fullname }: Names): string {
  return `${fullname}-receiver`
}

export function receiver(names: Names, { webhookReceiver: values }: Values): Manifest[] {
  const { namespace, labels, selector, receiverService } = names
  if (!values.enabled) return []
  const { ingress, hmac, token, port } = values
  const inline = Object.fromEntries(
    Object.entries({ hmac, token })
      .filter(([, { secret, secretRef }]) => secret !== '' && secretRef.name === '')
      .map(([name, { secret }]) => [name, secret]),
  )
  return [
    ...(Object.keys(inline).length === 0
      ? []
      : [
          {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { name: inlineSecretName(names), namespace, labels },
            type: 'Opaque',
            stringData: inline,
          },
        ]),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: receiverService, namespace, labels },
      spec: { type: 'ClusterIP', selector, ports: [{ name: 'http', port, targetPort: 'receiver', protocol: 'TCP' }] },
    },
    ...(ingress.enabled
      ? [
          {
            apiVersion: 'networking.k8s.io/v1',
            kind: 'Ingress',
            metadata: {
              name: receiverService,
              namespace,
              labels,
              ...(Object.keys(ingress.annotations).length === 0 ? {} : { annotations: ingress.annotations }),
            },
            spec: {
              ...(ingress.ingressClassName === '' ? {} : { ingressClassName: ingress.ingressClassName }),
              ...(ingress.tls.length === 0 ? {} : { tls: ingress.tls }),
              rules: ingress.hosts.map(({ host, paths }) => ({
                host,
                http: {
                  paths: paths.map(({ path, pathType }) => ({
                    path,
                    pathType,
                    backend: { service: { name: receiverService, port: { name: 'http' } } },
                  })),
                },
              })),
            },
          },
        ]
      : []),
  ]
}
