/**
 * What the headers of a call say: of any event, and how hosts number their calls. Pure.
 */

/** Headers by lower-case name. */
export type Headers = Readonly<Record<string, string | undefined>>

/** GitLab's X-Gitlab-Event-UUID does not number calls: events that one event causes share it. */
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

/** The id that the host gave this call, which its repeats share; undefined: none. */
export function callId(headers: Headers): string | undefined {
  return callIdHeaders
    .map((name) => headers[name])
    .find((value) => value !== undefined && value !== '')
    ?.slice(0, maxIdLength)
}
