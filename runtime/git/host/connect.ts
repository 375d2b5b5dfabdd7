/**
 * Prepares the settings, environment and files with which one git call reaches its host, for that process only; they are removed when it
 * has ended.
 */
import { addressesOf, type Network } from '../remote/network.ts'
import { type Prepare, prepareHttp } from '../credentials/http.ts'
import { prepareSsh } from '../credentials/ssh.ts'
import type { GitRun } from '../command/git.ts'
import { proxyFor } from '../remote/proxy.ts'
import type { Remote } from '../remote/remote.ts'

/** `forGit` goes into the call's `GitRun`. To be released when git has ended. */
export type Connection = { forGit: Pick<GitRun, 'settings' | 'environment' | 'files' | 'about'>; release(): Promise<void> }

/**
 * Finds the addresses of the host, and a token where one has to be requested. The result opens the connection of one git call; that uses only
 * this machine. Throws RepositoryNotAllowed, GitHostUnknown, CredentialsInvalid, and the faults of a GitHub App; opening throws
 * CredentialsInvalid, ToolMissing, GitKilled and Timeout.
 */
export async function connect(
  { url, access }: Remote,
  network: Network,
  signal: AbortSignal,
): Promise<(signal: AbortSignal) => Promise<Connection>> {
  signal.throwIfAborted()
  if (url.protocol === 'file') return async () => ({ forGit: { about: { url, access, proxy: undefined } }, release: async () => undefined })
  const proxy = url.protocol === 'ssh' ? undefined : proxyFor(url, access.proxy, network.proxy)
  const about = { url, access, proxy }
  const addresses = await addressesOf(url.host, proxy, network, signal)
  const prepare: Prepare =
    url.protocol === 'ssh'
      ? async (own) => await prepareSsh(url, access.credentials, addresses?.[0], own)
      : await prepareHttp({ url, access, proxy, addresses }, signal)
  return async (own) => {
    const { forGit, release } = await prepare(own)
    return { forGit: { ...forGit, about }, release }
  }
}
