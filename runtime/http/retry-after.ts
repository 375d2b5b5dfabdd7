/**
 * Reads the header Retry-After of a response (RFC 9110, 10.2.3). Pure.
 */

/** How long to wait before the next request; undefined if the header is missing or does not say so in seconds. */
export function retryAfterToMs(header: string | undefined): number | undefined {
  return header !== undefined && /^[0-9]{1,6}$/.test(header) ? Number(header) * 1000 : undefined
}
