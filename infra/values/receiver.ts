/**
 * The values of the webhook receiver. Pure.
 */
import * as v from 'valibot'
import { networks } from './address-fields.ts'
import { bearerToken, dataKey, flag, optionalObjectName, port, text } from './fields.ts'
import { ingressValues } from './ingress.ts'
import { serviceValues } from './workload.ts'

const secretRef = (key: string, what: string) =>
  v.optional(
    v.strictObject({
      name: optionalObjectName(`Name of an existing Secret that contains the ${what}.`),
      key: dataKey('Key inside that Secret.', key),
    }),
    {},
  )

export const receiverValues = v.optional(
  v.strictObject({
    enabled: flag('Starts the webhook receiver and creates its Service.', false),
    port: port('Port of the receiver.', 9444),
    service: v.optional(v.strictObject(serviceValues('receiver')), {}),
    hmac: v.optional(
      v.strictObject({
        secret: text('HMAC key in plain text. Ignored if hmac.secretRef is set.', ''),
        secretRef: secretRef('webhook-secret', 'HMAC key'),
      }),
      {},
    ),
    token: v.optional(
      v.strictObject({
        secret: bearerToken('Bearer token in plain text. Ignored if token.secretRef is set.'),
        secretRef: secretRef('webhook-token', 'token'),
      }),
      {},
    ),
    trustedProxies: networks('Addresses or networks of proxies whose X-Forwarded-For header is trusted, such as those of the Ingress.'),
    ingress: ingressValues('receiver'),
  }),
  {},
)
