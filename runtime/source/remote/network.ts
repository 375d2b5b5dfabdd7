/**
 * How this process reaches git hosts: which addresses it may connect to, and by which proxy.
 */
import { isIP } from 'node:net'
import type { ResolveHost } from './addresses.ts'
import type { Proxies, Proxy } from './proxy.ts'

/** How this process reaches git hosts. */
export type Network = {
  /** Looks up and checks addresses, which git then connects to; undefined: git looks them up itself and all are permitted. */
  resolve: ResolveHost | undefined
  /** For repositories whose GatewaySync names no proxy. */
  proxy: Proxies | undefined
}

export const openNetwork: Network = { resolve: undefined, proxy: undefined }

/**
 * Of whatever is connected to: the proxy where there is one, which looks other names up itself. Throws RepositoryNotAllowed, also for an
 * address behind the proxy, and GitHostUnknown.
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
