/**
 * What a gateway is asked beyond its own state before it counts as healthy in a rollout: `check` of a profile. Pure.
 */
import * as v from 'valibot'

const httpCheck = v.object({
  path: v.pipe(
    v.string(),
    v.maxLength(1024),
    v.regex(/^\/[!-~]*$/, 'must begin with / and hold no blanks'),
    v.description('Path on the gateway itself, at the port and with the TLS of spec.gateway. The API key is sent below /data/api/ only.'),
  ),
  status: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599), v.description('Status that a healthy gateway answers with.')),
    200,
  ),
})

/** The schema of `check`. */
export const checkSettings = v.object({
  http: v.pipe(httpCheck, v.description('Asked by the agent, with GET; redirects are not followed.')),
})
