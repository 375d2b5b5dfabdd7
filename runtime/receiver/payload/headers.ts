/**
 * Reads call headers and the delivery ids of hosts. Pure.
 */

/** Headers by lower-case name. */
export type Headers = Readonly<Record<string, string | undefined>>

/** X-Gitlab-Event-UUID is not included: it does not identify calls, as events with one cause share it. */
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

/** Returns the host's id of this call and its repeats, cut to 128 characters, or undefined. */
export function callId(headers: Headers): string | undefined {
  const [id] = callIdHeaders.flatMap((name) => idIn(headers[name]) ?? [])
  return id ?? cloudEventId(headers)
}

/** CloudEvents ids are unique only together with `source` (CloudEvents 1.0, `id`). */
function cloudEventId(headers: Headers): string | undefined {
  const [source, id] = [idIn(headers['ce-source']), idIn(headers['ce-id'])]
  return source === undefined || id === undefined ? undefined : JSON.stringify([source, id])
}

function idIn(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value.slice(0, maxIdLength)
}
