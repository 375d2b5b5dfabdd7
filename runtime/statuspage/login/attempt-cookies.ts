/**
 * The cookies of logins that were begun: one for each, so that two windows of a browser can log in at once. Pure.
 */
import { createHash } from 'node:crypto'

/** The name makes browsers take it over HTTPS and for this host alone (RFC 6265bis, 4.1.3.2). */
const prefix = '__Host-cluster-sync-login-'
const names = new RegExp(`^${prefix}[A-Za-z0-9_-]{16}$`)
const digestLength = 16

/** As many windows as somebody has who opened all that they had yesterday; each cookie goes with every request. */
const most = 4
/** With a session as large as a cookie may be, they fit into the 8 KiB that proxies give to the header (nginx: large_client_header_buffers). */
const mostCharacters = 3_600

/** The cookie of the attempt with this `state`, which the provider sends back. */
export function attemptCookie(state: string): string {
  return `${prefix}${createHash('sha256').update(state).digest('base64url').slice(0, digestLength)}`
}

/**
 * Which attempts of a browser make room for one more of `length` characters: the ones begun first, which a browser sends first (RFC 6265bis,
 * 5.8.3). `cookies`: by name, in the order in which they came.
 */
export function surplusAttempts(cookies: Readonly<Record<string, string>>, length: number): string[] {
  const begun = Object.entries(cookies).filter(([name]) => names.test(name))
  let characters = begun.reduce((sum, [name, value]) => sum + name.length + value.length, prefix.length + digestLength + length)
  let count = begun.length + 1
  return begun.flatMap(([name, value]) => {
    if (count <= most && characters <= mostCharacters) return []
    count -= 1
    characters -= name.length + value.length
    return [name]
  })
}
