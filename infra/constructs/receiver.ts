/**
 * The push receiver's Service, Ingress and, for inline secrets, its Secret.
 */
import type { ApiObject } from 'cdk8s'
import { k8s } from 'cdk8s-plus-28'
import { Construct } from 'constructs'
import { and, base64, isSet, not, or, text } from '../helm/combinators.ts'
import type { Live, Value } from '../helm/expression.ts'
import { given } from '../helm/nodes.ts'
import type { Names } from '../names.ts'
import type { Values } from '../values.ts'
import { apiObjectWhen, type ManifestOf } from './api-object.ts'
import { ingressOf } from './ingress.ts'
import type { Installation } from './installation.ts'
import { namespaced } from './metadata.ts'
import { serviceOf } from './service.ts'

/** What git hosts call; no object while `webhookReceiver.enabled` is false. */
export class Receiver extends Construct {
  /** Holds the keys that stand in the values themselves. */
  readonly secret: ApiObject | undefined
  /** Serves plain HTTP; the Ingress or the load balancer in front of it does TLS. */
  readonly service: ApiObject | undefined
  readonly ingress: ApiObject | undefined

  constructor(scope: Construct, id: string, { names, values }: Installation) {
    super(scope, id)
    const { enabled, hmac, token, port, service, ingress } = values.webhookReceiver
    const inline = or(isInline(hmac), isInline(token))
    const http = serviceOf(names, names.receiverService, service, { name: 'http', port, targetPort: 'receiver' })
    this.secret = apiObjectWhen(and(enabled, inline), this, 'secret', k8s.KubeSecret, inlineSecret(names, values))
    this.service = apiObjectWhen(enabled, this, 'service', k8s.KubeService, http)
    this.ingress = apiObjectWhen(
      and(enabled, ingress.enabled),
      this,
      'ingress',
      k8s.KubeIngress,
      ingressOf(names, names.receiverService, ingress, 'http'),
    )
  }
}

/** The Secret that holds the keys which the values name inline. */
export function inlineSecretName({ fullname }: Names): Value<string> {
  return text`${fullname}-receiver`
}

/** Whether a key is in the values themselves and no reference takes its place. */
export function isInline({ secret, secretRef }: Live<Values>['webhookReceiver']['hmac']): Value<boolean> {
  return and(isSet(secret), not(isSet(secretRef.name)))
}

/** The keys that the values name inline, as far as no reference takes their place. */
function inlineSecret(names: Names, { webhookReceiver: { hmac, token } }: Live<Values>): ManifestOf<typeof k8s.KubeSecret> {
  return {
    metadata: namespaced(names, inlineSecretName(names)),
    type: 'Opaque',
    // Not `stringData`, because a key that is removed from it stays in the cluster.
    data: { hmac: given(isInline(hmac), base64(hmac.secret)), token: given(isInline(token), base64(token.secret)) },
  }
}
