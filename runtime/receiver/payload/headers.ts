/**
 * What the headers of a call say: of any event, and how hosts number their deliveries. Pure.
 */

/** Headers by lower-case name. */
export type Headers = Readonly<Record<string, string | undefined>>

/** GitLab's X-Gitlab-Event-UUID is no number of a delivery: events that one event causes share it. */
const deliveryHeaders = [
  'x-github-delivery',
  'x-gitea-delivery',
  'x-forgejo-delivery',
  'x-gogs-delivery',
  'idempotency-key',
  'x-request-uuid',
  'webhook-id',
]
const maxIdLength = 128

/** The number that the host gave this delivery; undefined: none. */
export function deliveryId(headers: Headers): string | undefined {
  return deliveryHeaders
    .map((name) => headers[name])
    .find((value) => value !== undefined && value !== '')
    ?.slice(0, maxIdLength)
}
