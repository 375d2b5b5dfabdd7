/**
 * Classifies responses of git host APIs for retries. Pure.
 */
import { retryAfterToMs } from '../../http/retry-after.ts'
import type { ApiAnswer } from '../credentials/api-call.ts'

/** How long to wait before the next request; undefined if the response does not say so in seconds. */
export function retryAfterMs({ retryAfter }: ApiAnswer): number | undefined {
  return retryAfterToMs(retryAfter)
}

/** Whether the same request may succeed later. GitHub answers 403 with `Retry-After` to rate-limited clients. */
export function passesByItself(answer: ApiAnswer): boolean {
  const { status } = answer
  return [408, 409, 425, 429].includes(status) || status >= 500 || retryAfterMs(answer) !== undefined
}
