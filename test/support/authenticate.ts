/**
 * Authenticates a call whose whole body has arrived.
 */
import type { Headers } from '../../runtime/receiver/payload/headers.ts'
import { beginProving, type Keys, type Proof } from '../../runtime/receiver/prove/authenticate.ts'
import type { Temporal } from '../../runtime/platform/temporal.ts'

export function authenticate(headers: Headers, body: Uint8Array, keys: Keys, now: Temporal.Instant): Proof {
  const proving = beginProving(headers, keys)
  proving.update(body)
  return proving.end(now)
}
