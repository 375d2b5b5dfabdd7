/**
 * An answer before it is made: what it will be, and how.
 */
import type { Html } from './page.ts'

/** `type` is the content type. `text` is called only where the reader does not have the answer already. */
export type Made = { type: string; status: 200 | 404; text(): Promise<string> }

/** A page of HTML, made only if somebody does not have it already. */
export function htmlOf(make: () => Html | Promise<Html>, status: Made['status'] = 200): Made {
  return { type: 'text/html; charset=utf-8', status, text: async () => String(await make()) }
}
