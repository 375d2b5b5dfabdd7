/**
 * What one call of git needs to reach its host: settings, an environment and files for this process alone, given back when it has ended.
 */
import { isIP } from 'node:net'
import type { ResolveHost } from './addresses.ts'
import { prepareHttp } from './credentials/http.ts'
import { prepareSsh } from './credentials/ssh.ts'
import type { GitRun } from './git.ts'
import { type Proxies, type Proxy, proxyFor } from './proxy.ts'
import type { Remote } from './remote.ts'

/** How this process reaches git hosts. */
export type Network = {
  /** Looks up and checks addresses, which git then connects to; undefined: git looks them up itself and all are permitted. */
  resolve: ResolveHost | undefined
  /** For whoever names no proxy of his own. */
  proxy: Proxies | undefined
}

export const openNetwork: Network = { resolve: undefined, proxy: undefined }

export type Connection = AsyncDisposable & { forGit: Pick<GitRun, 'settings' | 'environment' | 'files' | 'about'> }

/** Prepares one call. Throws RepositoryNotAllowed, GitHostUnknown, CredentialsInvalid and the faults of a GitHub App. */
export async function connect({ url, access }: Remote, network: Network, signal: AbortSignal): Promise<Connection> {
  signal.throwIfAborted()
  if (url.protocol === 'file') return { forGit: { about: { url, access, proxy: undefined } }, [Symbol.asyncDispose]: async () => undefined }
  const proxy = url.protocol === 'ssh' ? undefined : proxyFor(url, access.proxy, network.proxy)
  const about = { url, access, proxy }
  const addresses = await addressesOf(url.host, proxy, network, signal)
  const prepared =
    url.protocol === 'ssh'
      ? await prepareSsh(url, access.credentials, addresses?.[0], signal)
      : await prepareHttp({ url, access, proxy, addresses }, signal)
  return { forGit: { ...prepared.forGit, about }, [Symbol.asyncDispose]: prepared.release }
}

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
