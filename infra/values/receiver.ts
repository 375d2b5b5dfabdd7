/**
 * The values of the push receiver. Pure.
 */
import * as v from 'valibot'
import { networks } from './address-fields.ts'
import { annotations, dataKey, flag, ingressHost, objectName, optionalObjectName, port, text } from './fields.ts'
import { serviceValues } from './workload.ts'

const ingressPath = v.pipe(v.string(), v.startsWith('/', 'must begin with /'))
const secretRef = (key: string, what: string) =>
  v.optional(
    v.strictObject({
      name: optionalObjectName(`Name of an existing Secret that holds the ${what}.`),
      key: dataKey('Key inside that Secret.', key),
    }),
    {},
  )

export const receiverValues = v.optional(
  v.strictObject({
    enabled: flag('Starts the push receiver and creates its Service.', false),
    port: port('Port of the receiver.', 9444),
    service: v.optional(v.strictObject(serviceValues('receiver')), {}),
    hmac: v.optional(v.strictObject({ secret: text('Inline HMAC secret.', ''), secretRef: secretRef('webhook-secret', 'HMAC key') }), {}),
    token: v.optional(v.strictObject({ secret: text('Inline bearer token.', ''), secretRef: secretRef('webhook-token', 'token') }), {}),
    trustedProxies: networks('Addresses or networks whose X-Forwarded-For tells who calls, such as those of the Ingress.'),
    ingress: v.optional(
      v.strictObject({
        enabled: flag('Creates an Ingress for the receiver.', false),
        ingressClassName: optionalObjectName("Empty: the cluster's default."),
        annotations: annotations('Annotations of the Ingress.'),
        hosts: v.optional(
          v.pipe(
            v.array(
              v.strictObject({
                host: ingressHost,
                paths: v.pipe(
                  v.array(v.strictObject({ path: ingressPath, pathType: v.picklist(['Prefix', 'Exact', 'ImplementationSpecific']) })),
                  v.minLength(1, 'a host needs at least one path, such as {path: /, pathType: Prefix}'),
                ),
              }),
            ),
            v.description('Entries {host, paths: [{path, pathType}]}.'),
          ),
          [],
        ),
        tls: v.optional(
          v.pipe(
            v.array(v.strictObject({ secretName: objectName, hosts: v.array(ingressHost) })),
            v.description('Entries {secretName, hosts}.'),
          ),
          [],
        ),
      }),
      {},
    ),
  }),
  {},
)
