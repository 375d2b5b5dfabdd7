/**
 * Defines the health check of a gateway in a rollout: `healthCheck` of a profile. Pure.
 */
import * as v from 'valibot'
import { rule } from './fields.ts'

const httpCheck = v.object({
  path: v.pipe(
    v.string(),
    v.maxLength(1024),
    v.regex(/^\/[!-~]*$/, 'must begin with / and not contain spaces'),
    v.description(
      'Path on the gateway. The port and TLS settings of spec.gateway apply. The API key is sent only to paths below /data/api/.',
    ),
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
      'may only contain the placeholders {{ gateway.name }}, {{ gateway.pod }}, {{ namespace }} and {{ commit }}',
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
      'must be an http or https URL with a host and an optional path, without a user or query',
    ),
    v.description(
      'URL of the Prometheus server, without /api/v1/query. Queries carry no credentials; the server is verified with the CA certificates of the system.',
    ),
  ),
})

/** The schema of `healthCheck`. */
export const checkSettings = v.pipe(
  v.object({
    http: v.optional(v.pipe(httpCheck, v.description('HTTP GET request that the agent sends. Redirects are not followed.'))),
    prometheus: v.optional(
      v.pipe(prometheusCheck, v.description('Prometheus query that the controller runs, which needs network access to the server.')),
    ),
  }),
  rule(
    'a health check needs http or prometheus',
    'has(self.http) || has(self.prometheus)',
    ({ http, prometheus }) => http !== undefined || prometheus !== undefined,
  ),
)
