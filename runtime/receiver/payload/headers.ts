/**
 * The headers of a call, and the ids by which hosts number their calls. Pure.
 */

/** Headers by lower-case name. */
export type Headers = Readonly<Record<string, string | undefined>>

/** X-Gitlab-Event-UUID is not among them: it does not number calls, for events caused by one event share it. */
const callIdHeaders = [
  'x-github-delivery',
  'x-gitea-delivery',
  'x-forgejo-delivery',
  'x-gogs-delivery',
  'idempotency-key',
  'x-request-uuid',
  'webhook-id',
]
const maxIdLength = 128

/** The id that the host gave this call and its repeats, cut to 128 characters; undefined: none. */
export function callId(headers: Headers): string | undefined {
  return callIdHeaders
    .map((name) => headers[name])
    .find((value) => value !== undefined && value !== '')
    ?.slice(0, maxIdLength)
}
