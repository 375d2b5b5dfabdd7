/**
 * Determines how this process reaches git hosts: the addresses that it may connect to, and the proxy.
 */
import { isIP } from 'node:net'
import type { ResolveHost } from './addresses.ts'
import type { Proxies, Proxy } from './proxy.ts'

/** The same for all GatewaySyncs of a process. */
export type Network = {
  /** Resolves and checks the addresses that git then connects to; undefined: git resolves names itself and all are permitted. */
  resolve: ResolveHost | undefined
  /** For repositories whose GatewaySync names no proxy. */
  proxy: Proxies | undefined
}

/** No restriction and no proxy: for the terminal and for tests. */
export const openNetwork: Network = { resolve: undefined, proxy: undefined }

/**
 * The addresses to connect to: those of the proxy if there is one, which then resolves `host` itself. Undefined: not restricted. Throws
 * GitHostUnknown, and RepositoryNotAllowed, also when `host` is a forbidden address behind the proxy.
 */
export async function addressesOf(
  host: string,
  proxy: Pick<Proxy, 'host'> | undefined,
  { resolve }: Network,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  if (proxy !== undefined && isIP(host) !== 0) await resolve?.(host, signal)
  return await resolve?.(proxy?.host ?? host, signal)
}
