/**
 * The values of an Ingress. Pure.
 */
import * as v from 'valibot'
import { annotations, flag, ingressHost, objectName, optionalObjectName } from './fields.ts'

const ingressPath = v.pipe(v.string(), v.startsWith('/', 'must begin with /'))

export const ingressValues = (what: string) =>
  v.optional(
    v.strictObject({
      enabled: flag(`Creates an Ingress for the ${what}.`, false),
      ingressClassName: optionalObjectName('Ingress class. Defaults to the default class of the cluster.'),
      annotations: annotations('Annotations of the Ingress.'),
      hosts: v.optional(
        v.pipe(
          v.array(
            v.strictObject({
              host: v.optional(ingressHost, ''),
              paths: v.pipe(
                v.array(v.strictObject({ path: ingressPath, pathType: v.picklist(['Prefix', 'Exact', 'ImplementationSpecific']) })),
                v.minLength(1, 'a host needs at least one path, such as {path: /, pathType: Prefix}'),
              ),
            }),
          ),
          v.description('Entries {host, paths: [{path, pathType}]}. An entry without host matches all hosts.'),
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
  )
