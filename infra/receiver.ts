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

/** The keys that the values name inline, as far as no reference takes their place. */
export function inlineSecret(names: Names, { webhookReceiver: { hmac, token } }: Values): Manifest {
  const inline = Object.entries({ hmac, token }).filter(([, { secret, secretRef }]) => secret !== '' && secretRef.name === '')
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: inlineSecretName(names), namespace: names.namespace, labels: names.labels },
    type: 'Opaque',
    stringData: Object.fromEntries(inline.map(([name, { secret }]) => [name, secret])),
  }
}

export function receiverService(
  { namespace, labels, selector, receiverService: name }: Names,
  { webhookReceiver: { port } }: Values,
): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels },
    spec: { type: 'ClusterIP', selector, ports: [{ name: 'http', port, targetPort: 'receiver', protocol: 'TCP' }] },
  }
}

export function receiverIngress({ namespace, labels, receiverService: name }: Names, { webhookReceiver: { ingress } }: Values): Manifest {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      name,
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
          paths: paths.map(({ path, pathType }) => ({ path, pathType, backend: { service: { name, port: { name: 'http' } } } })),
        },
      })),
    },
  }
}
