/**
 * The push receiver's Service, Ingress and, for inline secrets, its Secret. Pure.
 */
import { and, base64, isSet, not, text } from './helm/combinators.ts'
import type { Live, Value } from './helm/expression.ts'
import { each, field, members, optional } from './helm/nodes.ts'
import { namespaced } from './metadata.ts'
import type { Names } from './names.ts'
import type { LiveManifest } from './manifest.ts'
import { serviceOf } from './services.ts'
import type { Values } from './values.ts'

/** The Secret that holds the keys which the values name inline. */
export function inlineSecretName({ fullname }: Names): Value<string> {
  return text`${fullname}-receiver`
}

/** Whether a key is in the values themselves and no reference takes its place. */
export function isInline({ secret, secretRef }: Live<Values>['webhookReceiver']['hmac']): Value<boolean> {
  return and(isSet(secret), not(isSet(secretRef.name)))
}

/** The keys that the values name inline, as far as no reference takes their place. */
export function inlineSecret(names: Names, { webhookReceiver: { hmac, token } }: Live<Values>): LiveManifest {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: namespaced(names, inlineSecretName(names)),
    type: 'Opaque',
    // Not `stringData`: what is gone from that stays in the cluster.
    data: { ...members(isInline(hmac), { hmac: base64(hmac.secret) }), ...members(isInline(token), { token: base64(token.secret) }) },
  }
}

/** In plain HTTP: TLS is the Ingress's, or that of the load balancer. */
export function receiverService(names: Names, { webhookReceiver: { port, service } }: Live<Values>): LiveManifest {
  return serviceOf(names, names.receiverService, service, { name: 'http', port, targetPort: 'receiver' })
}

export function receiverIngress(names: Names, { webhookReceiver: { ingress } }: Live<Values>): LiveManifest {
  const name = names.receiverService
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: namespaced(names, name, { annotations: ingress.annotations }),
    spec: {
      ...optional('ingressClassName', ingress.ingressClassName),
      ...optional('tls', ingress.tls),
      rules: each('host', ingress.hosts, (host) => ({
        host: field(host, 'host'),
        http: {
          paths: each('path', field(host, 'paths'), (path) => ({
            path: field(path, 'path'),
            pathType: field(path, 'pathType'),
            backend: { service: { name, port: { name: 'http' } } },
          })),
        },
      })),
    },
  }
}
