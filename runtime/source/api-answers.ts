/**
 * What the answers of others mean for the next try. Pure.
 */
import type { ApiAnswer } from './credentials/api-call.ts'

/** How long the other side wants to be left alone; undefined where it does not say so in seconds. */
export function retryAfterMs({ retryAfter }: ApiAnswer): number | undefined {
  return retryAfter !== undefined && /^[0-9]{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1000 : undefined
}

/** Whether the same call may be taken later. GitHub answers 403 with `Retry-After` to whoever asks too often. */
export function passesByItself(answer: ApiAnswer): boolean {
  const { status } = answer
  return [408, 409, 425, 429].includes(status) || status >= 500 || retryAfterMs(answer) !== undefined
}
