/**
 * The repository of a GatewaySync, with the credentials, the authorities and the proxy that its spec names, read from Secrets as they
 * are now.
 */
import type { Clock } from '../clock.ts'
import { Fault } from '../fault.ts'
import type { RepositoryUrl } from '../gatewaysync/schema/repository-url.ts'
import type { GatewaySyncSpec } from '../gatewaysync/schema/spec.ts'
import type { Network } from './remote/network.ts'
import { createAppTokens } from './credentials/github-app.ts'
import { type Apps, readAccess } from './credentials/read.ts'
import { type Remote, requireRepository } from './remote/remote.ts'
import type { ReadSecret } from './remote/secrets.ts'

/** Throws RepositoryNotAllowed, SecretNotFound, and what reading a Secret throws. */
export type RemoteOf = (namespace: string, git: GatewaySyncSpec['git'], signal: AbortSignal) => Promise<Remote>

export type RemoteOptions = {
  /** Accept a path or a `file:` URL: only in the standalone runner and in tests. */
  allowLocal: boolean
  /** Hosts that repositories may be of; empty: any. */
  allowedHosts: readonly string[]
  readSecret: ReadSecret
  /** How the API of a GitHub App is reached; as git hosts are. */
  network: Network
  clock: Clock
  /** Ends the timers of tokens. */
  signal: AbortSignal
}

/** Reads the Secrets anew at each call; only the tokens of GitHub Apps are kept, and renewed until `signal`. */
export function createRemotes({ allowLocal, allowedHosts, readSecret, network, clock, signal: stop }: RemoteOptions): RemoteOf {
  const tokens = createAppTokens(clock, stop)
  const apps: Apps = { tokens, network, requireAllowed: (host) => requireAllowedApi(host, allowedHosts) }
  return async (namespace, git, signal) => {
    const url = requireRepository(git.repo, { allowLocal })
    requireAllowedHost(url, allowedHosts)
    return { url, access: await readAccess(namespace, git, url, { readSecret, apps }, signal) }
  }
}

function requireAllowedHost({ protocol, host }: RepositoryUrl, allowedHosts: readonly string[]): void {
  if (allowedHosts.length === 0 || (protocol !== 'file' && allowedHosts.includes(listed(host)))) return
  const named = protocol === 'file' ? 'this machine' : host
  throw new Fault('RepositoryNotAllowed', `the installation permits repositories of ${allowedHosts.join(', ')}, not of ${named}`)
}

/** The API of github.com belongs to it, whatever its host is called. */
function requireAllowedApi(host: string, allowedHosts: readonly string[]): void {
  const listedAs = host === 'api.github.com' ? ['github.com', host] : [listed(host)]
  if (allowedHosts.length === 0 || listedAs.some((name) => allowedHosts.includes(name))) return
  throw new Fault('RepositoryNotAllowed', `the installation permits hosts ${allowedHosts.join(', ')}, not the API at ${host}`)
}

/** As the values of an installation write it: an IPv6 address in brackets. */
function listed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
