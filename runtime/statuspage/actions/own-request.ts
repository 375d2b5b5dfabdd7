/**
 * Whether a form comes from a page of ours, as the browser says: by Sec-Fetch-Site (W3C Fetch Metadata), which no script can set; from a
 * browser without it by Origin (RFC 6454). Pure.
 */
/** `host`: as the caller named us, with the port. A proxy in front may have written another one, which Sec-Fetch-Site does not mind. */
export function isOwnRequest({ site, origin, host }: Readonly<Record<'site' | 'origin' | 'host', string | undefined>>): boolean {
  if (site !== undefined) return site === 'same-origin'
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false
  return new URL(origin).host === host.toLowerCase()
}
