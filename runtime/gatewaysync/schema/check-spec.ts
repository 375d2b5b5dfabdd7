/**
 * What is asked about a gateway beyond its own state before it counts as healthy in a rollout: `check` of a profile. Pure.
 */
import * as v from 'valibot'
import { rule } from './rule.ts'

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

const prometheusCheck = v.object({
  query: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(1024),
    v.regex(
      /^([^{]|\{[^{]|\{\{ ?(gateway\.name|gateway\.pod|namespace|commit) ?\}\})*\{?$/,
      'knows {{ gateway.name }}, {{ gateway.pod }}, {{ namespace }} and {{ commit }} only',
    ),
    v.description(
      'PromQL, asked for each gateway: it is healthy while there is a result and no sample is 0. {{ gateway.name }}, {{ gateway.pod }}, {{ namespace }} and {{ commit }} stand for its own.',
    ),
  ),
  url: v.pipe(
    v.string(),
    v.maxLength(1024),
    v.regex(
      /^https?:\/\/([A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\])(:[1-9][0-9]{0,4})?(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*\/?$/,
      'must be http:// or https:// with a host, and a path at most: no user, no query',
    ),
    v.description("The server, without /api/v1/query: asked without credentials, with the system's authorities."),
  ),
})

/** The schema of `check`. */
export const checkSettings = v.pipe(
  v.object({
    http: v.optional(v.pipe(httpCheck, v.description('Asked by the agent, with GET; redirects are not followed.'))),
    prometheus: v.optional(
      v.pipe(prometheusCheck, v.description('Asked by the controller, which must be permitted to reach the address.')),
    ),
  }),
  rule(
    'a check needs http or prometheus',
    'has(self.http) || has(self.prometheus)',
    ({ http, prometheus }) => http !== undefined || prometheus !== undefined,
  ),
)
