/**
 * The values of the status page. Pure.
 */
import * as v from 'valibot'
import { flag, port } from './fields.ts'
import { ingressValues } from './ingress.ts'
import { serviceValues } from './workload.ts'

export const statusPageValues = v.optional(
  v.strictObject({
    enabled: flag('Serves a page with what runs on each gateway. It has no login: whoever reaches it sees all of it.', false),
    port: port('Port of the status page, which serves HTTPS.', 8444),
    service: v.optional(v.strictObject(serviceValues('status page')), {}),
    ingress: ingressValues('status page'),
  }),
  {},
)
