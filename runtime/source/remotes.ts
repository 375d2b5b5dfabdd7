/**
 * The repository of a GatewaySync, with the credentials, the authorities and the proxy that its spec names, read from Secrets as they
 * are now.
 */
import { Fault } from '../fault.ts'
import type { RepositoryUrl } from '../gatewaysync/repository-url.ts'
import type { GatewaySyncSpec } from '../gatewaysync/spec.ts'
import { readAccess } from './credentials/read.ts'
import { type Remote, requireRepository } from './remote.ts'
import type { ReadSecret } from './secrets.ts'

/** Throws RepositoryNotAllowed, SecretNotFound, and what reading a Secret throws. */
export type RemoteOf = (namespace: string, git: GatewaySyncSpec['git'], signal: AbortSignal) => Promise<Remote>

export type RemoteOptions = {
  /** Accept a path or a `file:` URL: only in the standalone runner and in tests. */
  allowLocal: boolean
  /** Hosts that repositories may be of; empty: any. */
  allowedHosts: readonly string[]
  readSecret: ReadSecret
}

export function createRemotes({ allowLocal, allowedHosts, readSecret }: RemoteOptions): RemoteOf {
  return async (namespace, git, signal) => {
    const url = requireRepository(git.repo, { allowLocal })
    requireAllowedHost(url, allowedHosts)
    return { url, access: await readAccess(namespace, git, url, readSecret, signal) }
  }
}

function requireAllowedHost({ protocol, host }: RepositoryUrl, allowedHosts: readonly string[]): void {
  if (allowedHosts.length === 0 || (protocol !== 'file' && allowedHosts.includes(host))) return
  const named = protocol === 'file' ? 'this machine' : host
  throw new Fault('RepositoryNotAllowed', `the installation permits repositories of ${allowedHosts.join(', ')}, not of ${named}`)
}
