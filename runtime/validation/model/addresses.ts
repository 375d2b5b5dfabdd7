/**
 * Finds the hosts in a text, and which of them are the same on every machine. Pure.
 */

/** Keys whose value is a host, or a list of them. */
const hostKey =
  /(?:^|[a-z_])(?:hosts?|host_?names?|ip_?addr|ip_?address(?:es)?|server_?address|server_?name|(?:smtp|mail|sql|db|ldap|ftp|mqtt|ntp|proxy)_?server|domain_?controller|bootstrap_?servers?)$|^(?:server|broker|brokers|servers)$/i

/** Longer texts are notes and certificates, not addresses. */
const maxAddress = 2_048

/** Whether the value of a key is an address. */
export function isHostKey(key: string): boolean {
  return hostKey.test(key)
}

/** The hosts that a whole value names: a URL, a JDBC URL, a connection string, an IP address, `host:port`, a domain name, or a name under a key for hosts. */
export function hostsIn(text: string, key: string): string[] {
  const value = text.trim()
  if (value.length > maxAddress) return []
  const jdbc = /^jdbc:[a-z0-9]+(?::[a-z0-9]+)*:(?:@?\/\/|@)(.*)$/is.exec(value)?.[1]
  if (jdbc !== undefined) return authorities(jdbc.split(/[/;?]/)[0] ?? '')
  const url = /^(?!file:)[a-z][a-z0-9+.-]*:\/\/([^/?#\s]*)/i.exec(value)?.[1]
  if (url !== undefined) return authorities(url)
  if (/^\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5}|\/\d{1,2})?$/.test(value) && !/version/i.test(key)) return authorities(value)
  if (isIPv6(value) || /^\[[0-9a-f:.]+\](?::\d{1,5})?$/i.test(value)) return authorities(value)
  const servers = connectionPairs(value).flatMap(({ name, text: server }) => (serverName.test(name) ? [hostOfServer(server)] : []))
  if (servers.length > 0) return servers.filter((host) => host !== '')
  if (hostKey.test(key) && /^[\p{L}\p{N}[][\p{L}\p{N}.:\]_-]*(?:,[\p{L}\p{N}[][\p{L}\p{N}.:\]_-]*)*$/u.test(value))
    return authorities(value)
  return isHostAndPort(value) || isDomainName(value) ? authorities(value) : []
}

const serverName = /^(?:server|data source|datasource|address|addr|network address|host|hostname|servername)$/i

/** `key=value;` pairs, as in ODBC and ADO connection strings; an ordinary text has none. */
export function connectionPairs(text: string): { name: string; text: string }[] {
  if (text.length > maxAddress || !text.includes('=') || !/^[a-z][a-z _]{0,40}=/i.test(text)) return []
  return text.split(';').flatMap((pair) => {
    const at = pair.indexOf('=')
    return at <= 0 ? [] : [{ name: pair.slice(0, at).trim(), text: pair.slice(at + 1).trim() }]
  })
}

/** `tcp:sql01.example.com\INSTANCE,1433`. A lone dot and `(local)` are the machine itself. */
function hostOfServer(server: string): string {
  const [host = ''] = server.replace(/^[a-z]+:(?!\d)/i, '').split(/[,\\]/)
  const trimmed = host.trim()
  return trimmed === '.' || /^\(local(?:db)?\)$/i.test(trimmed) ? 'localhost' : hostOf(trimmed).toLowerCase()
}

/** `plc01:502`. Without a dot, a digit or a hyphen it may be anything else. */
function isHostAndPort(value: string): boolean {
  const [, host = '', port = ''] = /^([a-z][a-z0-9.-]{2,252}):(\d{2,5})$/i.exec(value) ?? []
  return host !== '' && Number(port) <= 65_535 && /[\d.-]/.test(host) && !/^(?:hr|ir|cr|dr|db|di|do|ai|ao)[su]?\d*$/i.test(host)
}

const topLevel =
  'com net org edu gov io cloud local lan internal intranet corp home localdomain example test invalid eu de uk us ca fr nl it es ch at be se no dk fi pl cz jp cn au br mx kr info biz'.split(
    ' ',
  )
const topLevels: ReadonlySet<string> = new Set(topLevel)
/** Endings that are neither file extensions nor class names, so two labels are enough. */
const plainEndings: ReadonlySet<string> = new Set(['com', 'net', 'org', 'local', 'lan', 'corp', 'internal', 'localdomain', 'example'])

/** A fully qualified domain name. `com.example.module` is the ID of a module, and `index.css` a file. */
function isDomainName(value: string): boolean {
  if (value.length > 253 || !/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,15}$/i.test(value)) return false
  const labels = value.toLowerCase().split('.')
  const last = labels.at(-1) ?? ''
  if (!topLevels.has(last) || topLevels.has(labels[0] ?? '') || /^(?:javax?|sun|jdk)$/.test(labels[0] ?? '')) return false
  return labels.length > 2 || plainEndings.has(last)
}

function isIPv6(text: string): boolean {
  return /^[0-9a-f.]*:[0-9a-f.]*:[0-9a-f:.]*$/i.test(text) && text.length <= 45 && URL.canParse(`http://[${text}]/`)
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
  return isIPv6(text) ? text : (text.split(':')[0] ?? '')
}

/** Loopback, every address, and multicast mean the same on each machine. */
export function isEverywhere(host: string): boolean {
  const first = Number(/^(\d{1,3})\.\d/.exec(host)?.[1] ?? Number.NaN)
  return (
    host === 'localhost' || host === '::1' || host === '::' || host.startsWith('0.0.0.0') || first === 127 || (first >= 224 && first <= 239)
  )
}
