/**
 * Parses and selects the proxy for a git host. Pure.
 */
import { BlockList, isIP } from 'node:net'
import { Fault } from '../../platform/fault.ts'

/** A parsed proxy. `host` without brackets. */
export type Proxy = {
  /** In the format of git, with user and password if present: a secret. */
  url: string
  host: string
  port: number
}

/** Throws CredentialsInvalid for anything but the URL of a proxy; the text may hold a password, so no message repeats it. */
export function parseProxy(text: string, field: string): Proxy {
  const url = URL.parse(text)
  if (
    url === null ||
    (url.protocol !== 'http:' && url.protocol !== 'https:') ||
    url.hostname === '' ||
    (url.pathname !== '/' && url.pathname !== '')
  ) {
    throw new Fault(
      'CredentialsInvalid',
      `${field} does not contain the URL of a proxy: http://host:port or https://host:port, optionally with user and password before the host`,
    )
  }
  const defaultPort = url.protocol === 'https:' ? 443 : 80
  return {
    url: url.href.replace(/\/$/, ''),
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port === '' ? defaultPort : url.port),
  }
}

/** The proxies of an installation or of this machine, by the protocol of the destination; `noProxy` as in NO_PROXY. */
export type Proxies = { https: string | undefined; http: string | undefined; noProxy: string }

/** The proxy for a host: the GatewaySync's own, else the installation's; undefined: none. Throws CredentialsInvalid. */
export function proxyFor(
  { protocol, host }: { protocol: string; host: string },
  own: string | undefined,
  installed: Proxies | undefined,
  field = 'spec.git.proxy',
): Proxy | undefined {
  if (own !== undefined) return parseProxy(own, field)
  const url = protocol === 'http' ? installed?.http : installed?.https
  if (installed === undefined || url === undefined || isWithoutProxy(host, installed.noProxy)) return undefined
  return parseProxy(url, 'the proxy of this installation')
}

/** Whether a NO_PROXY list names a host: `*`, a host with everything below it, an address or a network in CIDR form. */
export function isWithoutProxy(host: string, noProxy: string): boolean {
  return noProxy
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => entry === '*' || names(entry.toLowerCase().replace(/^\*?\./, ''), host))
}

function names(entry: string, host: string): boolean {
  if (entry === host || host.endsWith(`.${entry}`)) return true
  const [network = '', prefix = ''] = entry.split('/')
  const family = isIP(network)
  if (family === 0 || family !== isIP(host) || !/^[0-9]{1,3}$/.test(prefix) || Number(prefix) > (family === 6 ? 128 : 32)) return false
  const list = new BlockList()
  list.addSubnet(network, Number(prefix), family === 6 ? 'ipv6' : 'ipv4')
  return list.check(host, family === 6 ? 'ipv6' : 'ipv4')
}
