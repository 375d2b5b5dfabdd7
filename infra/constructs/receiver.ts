/**
 * The webhook receiver's Service and Ingress, and a Secret for the keys that the values contain.
 */
import { k8s } from 'cdk8s-plus-28'
import type * as kplus from 'cdk8s-plus-28'
import { Construct } from 'constructs'
import type { SharedProps } from './shared-props.ts'
import { metadata } from '../names.ts'
import { isInline } from '../values/receiver-keys.ts'
import { createIngress } from './ingress.ts'
import { createService } from './service.ts'

/** The endpoint for git hosts. Creates nothing if `webhookReceiver.enabled` is false. */
export class Receiver extends Construct {
  /** Holds the HMAC key and bearer token that are given inline in the values. */
  readonly secret: k8s.KubeSecret | undefined
  /** Plain HTTP: TLS is terminated at the Ingress or load balancer in front of it. */
  readonly service: kplus.Service | undefined
  readonly ingress: kplus.Ingress | undefined

  constructor(scope: Construct, id: string, { names, values: { webhookReceiver } }: SharedProps) {
    super(scope, id)
    const { enabled, hmac, token, port, service, ingress } = webhookReceiver
    if (!enabled) return
    if (isInline(hmac) || isInline(token)) {
      // Not kplus.Secret, which writes stringData: keys that are removed from stringData stay in the Secret.
      this.secret = new k8s.KubeSecret(this, 'Secret', {
        metadata: metadata(names, names.receiverSecret),
        type: 'Opaque',
        data: { ...(isInline(hmac) && { hmac: base64(hmac.secret) }), ...(isInline(token) && { token: base64(token.secret) }) },
      })
    }
    this.service = createService(this, names, {
      name: names.receiverService,
      port: { name: 'http', port, targetPort: 'receiver' },
      values: service,
    })
    if (ingress.enabled) this.ingress = createIngress(this, names, this.service, ingress)
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
