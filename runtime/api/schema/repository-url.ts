/**
 * Parses repository URLs: the schema rejects the same URLs, the address of the host in the result is checked, and git gets exactly the text
 * in the result. Pure.
 */

/** A repository at a git host, or on this machine. */
export type RepositoryUrl = {
  /** Exactly what git gets: the user's own text with the host in lower case; for a `file:` URL the path. */
  text: string
  /** `oci`: an artifact in a registry; `oci+http`: in one without TLS. */
  protocol: 'https' | 'http' | 'ssh' | 'file' | 'oci' | 'oci+http'
  /** Only for ssh. */
  user: string | undefined
  /** In lower case, an IPv6 address without its brackets; empty for a repository on this machine. */
  host: string
  /** Only when the URL names one. */
  port: number | undefined
}

/** Patterns without passwords and queries, and without anything that curl, ssh and URL parsers interpret differently. */
const userPattern = '[A-Za-z0-9_][A-Za-z0-9_.+-]*'
const hostPattern = '(?:[A-Za-z0-9_][A-Za-z0-9_.-]*|\\[[0-9A-Fa-f:.]+\\])'
const pathPattern = '[^\\s\\x00-\\x20\\x7f-\\x9f\\\\#?]+'

const httpPattern = `(https?)://(${hostPattern})(?::([1-9][0-9]{0,4}))?(/${pathPattern})`
const sshPattern = `ssh://(?:(${userPattern})@)?(${hostPattern})(?::([1-9][0-9]{0,4}))?(/${pathPattern})`
const scpPattern = `(${userPattern})@([A-Za-z0-9_][A-Za-z0-9_.-]*):(${pathPattern})`

/** A repository at a git host; also used in CEL by the API server, whose expressions (RE2) interpret it in the same way. */
export const repositoryUrlPattern = `^(?:${httpPattern}|${sshPattern}|${scpPattern})$`
/** Paths that a host or proxy may read as another path: segments `.` and `..`, and percent-encoded `.`, `/`, `\` and control characters. */
export const ambiguousPathPattern = '(?:^|[/:])[.]{1,2}(?:/|$)|%(?:2[eEfF]|5[cC]|[01][0-9A-Fa-f]|7[fF])|%(?:[^0-9A-Fa-f]|.[^0-9A-Fa-f]|.?$)'
/** Hosts that resolvers read as addresses, such as `127.1`, `0x7f000001` or `2130706433`. */
export const numericHostPattern = '^(?:(?:https?|ssh)://)?(?:[^/@]*@)?(?:[^/@:]*[.])?(?:0[xX][0-9A-Fa-f]*|[0-9]+)[.]?(?::|/|$)'
/** Hosts that are plain IPv4 addresses, the only numeric ones accepted. */
export const ipv4HostPattern =
  '^(?:(?:https?|ssh)://)?(?:[^/@]*@)?(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])[.]){3}(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?::|/|$)'

/** A repository of a registry, as a user writes it: the name has the form that registries accept (OCI Distribution Specification). */
export const artifactUrlPattern = `^oci://(${hostPattern})(?::([1-9][0-9]{0,4}))?((?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)+)$`

const artifact = new RegExp(artifactUrlPattern.replace('^oci:', '^(oci|oci\\+http):'))
const http = new RegExp(`^${httpPattern}$`)
const ssh = new RegExp(`^${sshPattern}$`)
const scp = new RegExp(`^${scpPattern}$`)
const ambiguousPath = new RegExp(ambiguousPathPattern)
const numericHost = new RegExp(numericHostPattern)
const ipv4Host = new RegExp(ipv4HostPattern)

/** Parses the URL of a git host; undefined unless git, ssh and this parser understand it in the same way. Never throws. */
export function parseRepositoryUrl(text: string): RepositoryUrl | undefined {
  if (hasAmbiguousPath(text)) return undefined
  return withPlainHost(httpUrl(text) ?? sshUrl(text) ?? scpUrl(text))
}

/** Parses `oci://registry/repository`, or the same with `oci+http`; undefined for anything else. Never throws. */
export function parseArtifactUrl(text: string): RepositoryUrl | undefined {
  const [found, protocol, host = '', port, path = ''] = artifact.exec(text) ?? []
  if (found === undefined) return undefined
  const place = `${host.toLowerCase()}${port === undefined ? '' : `:${port}`}`
  return withPlainHost(located(protocol === 'oci' ? 'oci' : 'oci+http', `${protocol}://${place}${path}`, undefined, host, port))
}

/** Whether a repository is an artifact in a registry. */
export function isArtifact({ protocol }: Pick<RepositoryUrl, 'protocol'>): boolean {
  return protocol === 'oci' || protocol === 'oci+http'
}

/** Returns the URL; undefined if its port does not exist, or resolvers read its host as another address. */
function withPlainHost(url: RepositoryUrl | undefined): RepositoryUrl | undefined {
  if (url === undefined || (url.port ?? 1) > 65_535) return undefined
  const place = `ssh://${url.host}/`
  if (url.host.includes(':') ? !URL.canParse(`http://[${url.host}]/`) : numericHost.test(place) && !ipv4Host.test(place)) return undefined
  return url
}

/** Whether a host or proxy might read the path as another one. */
export function hasAmbiguousPath(text: string): boolean {
  return ambiguousPath.test(text)
}

function httpUrl(text: string): RepositoryUrl | undefined {
  const [found, scheme, host = '', port, path = ''] = http.exec(text) ?? []
  if (found === undefined) return undefined
  const protocol = scheme === 'http' ? 'http' : 'https'
  return located(protocol, `${protocol}://${host.toLowerCase()}${port === undefined ? '' : `:${port}`}${path}`, undefined, host, port)
}

function sshUrl(text: string): RepositoryUrl | undefined {
  const [found, user, host = '', port, path = ''] = ssh.exec(text) ?? []
  if (found === undefined) return undefined
  const before = user === undefined ? '' : `${user}@`
  return located('ssh', `ssh://${before}${host.toLowerCase()}${port === undefined ? '' : `:${port}`}${path}`, user, host, port)
}

function scpUrl(text: string): RepositoryUrl | undefined {
  const [found, user = '', host = '', path = ''] = scp.exec(text) ?? []
  // `ext::command` and the like run programs.
  if (found === undefined || path.startsWith(':')) return undefined
  return located('ssh', `${user}@${host.toLowerCase()}:${path}`, user, host, undefined)
}

function located(
  protocol: RepositoryUrl['protocol'],
  text: string,
  user: string | undefined,
  host: string,
  port: string | undefined,
): RepositoryUrl {
  const plain = host.toLowerCase().replace(/^\[|\]$/g, '')
  return { text, protocol, user, host: plain, port: port === undefined ? undefined : Number(port) }
}
