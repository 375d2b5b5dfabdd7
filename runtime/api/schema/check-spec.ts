/**
 * Defines the health check of a gateway in a rollout: `check` of a profile. Pure.
 */
import * as v from 'valibot'
import { rule } from './rule.ts'

const httpCheck = v.object({
  path: v.pipe(
    v.string(),
    v.maxLength(1024),
    v.regex(/^\/[!-~]*$/, 'must begin with / and hold no blanks'),
    v.description('Path on the gateway, with the port and TLS settings of spec.gateway. The API key is sent below /data/api/ only.'),
  ),
  status: v.optional(v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599), v.description('Expected status code.')), 200),
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
      'PromQL query, evaluated for each gateway. The gateway is healthy if there is a result and no sample is 0 or NaN. {{ gateway.name }}, {{ gateway.pod }}, {{ namespace }} and {{ commit }} are replaced.',
    ),
  ),
  url: v.pipe(
    v.string(),
    v.maxLength(1024),
    v.regex(
      /^https?:\/\/([A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\])(:[1-9][0-9]{0,4})?(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*\/?$/,
      'must be http:// or https:// with a host, and a path at most: no user, no query',
    ),
    v.description(
      'URL of the Prometheus server, without /api/v1/query. It is queried without credentials; TLS is verified with the CA certificates of the system.',
    ),
  ),
})

/** The schema of `check`. */
export const checkSettings = v.pipe(
  v.object({
    http: v.optional(v.pipe(httpCheck, v.description('HTTP GET request by the agent. Redirects are not followed.'))),
    prometheus: v.optional(
      v.pipe(prometheusCheck, v.description('Prometheus query by the controller, which needs network access to the server.')),
    ),
  }),
  rule(
    'a check needs http or prometheus',
    'has(self.http) || has(self.prometheus)',
    ({ http, prometheus }) => http !== undefined || prometheus !== undefined,
  ),
)
