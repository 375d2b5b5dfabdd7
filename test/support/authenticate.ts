import { beginAuthentication, type Keys, type Authentication } from '../../runtime/receiver/authenticate.ts'
import type { Temporal } from '../../runtime/platform/temporal.ts'
import type { Headers } from '../../runtime/receiver/payload/parts.ts'

export function authenticate(headers: Headers, body: Uint8Array, keys: Keys, now: Temporal.Instant): Authentication {
  const authenticator = beginAuthentication(headers, keys)
  authenticator.update(body)
  return authenticator.end(now)
}
