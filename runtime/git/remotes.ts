/**
 * Builds the remote of a GatewaySync: its URL, and the credentials, CA bundle and proxy of its spec, read from the current Secrets.
 */
import { FairCache } from '../platform/async/fair-cache.ts'
import type { Clock } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import type { RepositoryUrl } from '../api/schema/repository-url.ts'
import type { GatewaySyncSpec } from '../api/schema/spec.ts'
import type { Network } from './remote/network.ts'
import { createAppTokens } from './credentials/github-app.ts'
import { type Apps, type KeptTexts, readAccess, readArtifactAccess } from './credentials/read.ts'
import { type Remote, requireRepository } from './remote/remote.ts'
import type { ReadSecret } from './remote/secrets.ts'

/** Throws RepositoryNotAllowed, SecretNotFound, and what reading a Secret throws. */
export type RemoteOf = (namespace: string, git: GatewaySyncSpec['git'], signal: AbortSignal) => Promise<Remote>

/** The permissions of an installation and the reader of Secrets; the entry points provide them. */
export type RemoteOptions = {
  /** Accept a path or a `file:` URL: only in the standalone runner and in tests. */
  allowLocal: boolean
  /** The only hosts that repositories may be on; empty: any. */
  allowedHosts: readonly string[]
  readSecret: ReadSecret
  /** The network for the API of GitHub Apps: the same as for git hosts. */
  network: Network
  clock: Clock
  /** Ends the requests for tokens. */
  signal: AbortSignal
}

const maxKeptBytes = 4 * 1024 * 1024

/** Reads the Secrets at each call; only tokens of GitHub Apps are cached. */
export function createRemotes({ allowLocal, allowedHosts, readSecret, network, clock, signal: stop }: RemoteOptions): RemoteOf {
  const tokens = createAppTokens(clock, stop)
  const kept: KeptTexts = new FairCache({ max: maxKeptBytes })
  const apps: Apps = { tokens, network, requireAllowed: (host) => requireAllowedApi(host, allowedHosts) }
  return async (namespace, git, signal) => {
    const url = requireRepository(git.repo, { allowLocal })
    requireAllowedHost(url, allowedHosts)
    const access =
      git.oci === undefined
        ? readAccess(namespace, git, url, { readSecret, apps, kept }, signal)
        : readArtifactAccess(namespace, git.oci, url, { readSecret, kept }, signal)
    return { url, access: await access }
  }
}

function requireAllowedHost({ protocol, host }: RepositoryUrl, allowedHosts: readonly string[]): void {
  if (allowedHosts.length === 0 || (protocol !== 'file' && allowedHosts.includes(listed(host)))) return
  const named = protocol === 'file' ? 'this machine' : host
  throw new Fault('RepositoryNotAllowed', `the installation permits repositories of ${allowedHosts.join(', ')}, not of ${named}`)
}

/** APIs with a separate host: permitting the git host also permits the API. */
const apisOf = new Map([
  ['api.github.com', 'github.com'],
  ['api.bitbucket.org', 'bitbucket.org'],
  ['dev.azure.com', 'ssh.dev.azure.com'],
])

/** Throws RepositoryNotAllowed unless the installation permits the API at a host. */
export function requireAllowedApi(host: string, allowedHosts: readonly string[]): void {
  const listedAs = [listed(host), apisOf.get(host)].filter((name) => name !== undefined)
  if (allowedHosts.length === 0 || listedAs.some((name) => allowedHosts.includes(name))) return
  throw new Fault('RepositoryNotAllowed', `the installation permits hosts ${allowedHosts.join(', ')}, not the API at ${host}`)
}

/** A host in the notation of the installation's values: an IPv6 address in brackets. */
function listed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
