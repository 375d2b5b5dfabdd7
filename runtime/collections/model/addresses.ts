/**
 * Which hosts a text names, and which of them are the same on every machine. Pure.
 */

const hostKey = /(?:^|[a-z_])(?:host|host_?name|ip_?addr|ip_?address|server_?address)$/i

/** The hosts that a whole value names: a URL, a JDBC URL, an IP address, or a name under a key for hosts. */
export function hostsIn(text: string, key: string): string[] {
  const value = text.trim()
  const jdbc = /^jdbc:[a-z0-9]+(?::[a-z0-9]+)*:(?:@?\/\/|@)(.*)$/is.exec(value)?.[1]
  if (jdbc !== undefined) return authorities(jdbc.split(/[/;?]/)[0] ?? '')
  const url = /^(?!file:)[a-z][a-z0-9+.-]*:\/\/([^/?#\s]*)/i.exec(value)?.[1]
  if (url !== undefined) return authorities(url)
  if (/^\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5}|\/\d{1,2})?$/.test(value) && !/version/i.test(key)) return authorities(value)
  if (hostKey.test(key) && /^[\p{L}\p{N}[][\p{L}\p{N}.:\]_-]*$/u.test(value)) return authorities(value)
  return []
}

function authorities(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.replace(/^.*@/s, ''))
    .map((part) => hostOf(part).toLowerCase())
    .filter((host) => host !== '')
}

/** The host of `host:port`, `[v6]:port` or a bare IPv6 address. */
function hostOf(text: string): string {
  const bracketed = /^\[([^\]]*)\]/.exec(text)?.[1]
  if (bracketed !== undefined) return bracketed
  return /^[0-9a-f.]*:[0-9a-f.]*:[0-9a-f:.]*$/i.test(text) ? text : (text.split(':')[0] ?? '')
}

/** Loopback, every address, and multicast mean the same on each machine. */
export function isEverywhere(host: string): boolean {
  const first = Number(/^(\d{1,3})\.\d/.exec(host)?.[1] ?? Number.NaN)
  return (
    host === 'localhost' || host === '::1' || host === '::' || host.startsWith('0.0.0.0') || first === 127 || (first >= 224 && first <= 239)
  )
}
