/**
 * The API of the git host of a GatewaySync: reached as the host is, by the same rules for addresses, with the same authorities and proxy,
 * and with the credentials of the source or with a token of its own.
 */
import { Fault } from '../fault.ts'
import type { RepositoryUrl } from '../gatewaysync/schema/repository-url.ts'
import type { GatewaySyncSpec } from '../gatewaysync/schema/spec.ts'
import { type ApiAnswer, type ApiCall, postForJson } from './credentials/api-call.ts'
import { addressesOf, type Network } from './remote/network.ts'
import { proxyFor } from './remote/proxy.ts'
import { type ReadSecret, secretText } from './remote/secrets.ts'
import { type RemoteOf, requireAllowedApi } from './remotes.ts'

export type ApiCredentials = { kind: 'token'; token: string } | { kind: 'basic'; username: string; password: string }

export type HostApi = {
  url: RepositoryUrl
  credentials: ApiCredentials
  /** Throws RepositoryNotAllowed, GitHostUnknown, CredentialsInvalid, and what the network throws. No redirect is followed. */
  post(call: ApiCall, signal: AbortSignal): Promise<ApiAnswer>
}

type Git = GatewaySyncSpec['git']

/** Throws RepositoryNotAllowed, SecretNotFound, GithubAppRefused, and what reading a Secret throws. */
export type OpenHostApi = (
  namespace: string,
  git: Git,
  token: { name: string; key: string } | undefined,
  signal: AbortSignal,
) => Promise<HostApi>

type Options = { remoteOf: RemoteOf; readSecret: ReadSecret; network: Network; allowedHosts: readonly string[] }

/** Reads Secrets anew at each call. `token`: of `spec.git.commitStatus.secretRef`. */
export function createHostApis({ remoteOf, readSecret, network, allowedHosts }: Options): OpenHostApi {
  return async (namespace, git, token, signal) => {
    const { url, access } = await remoteOf(namespace, git, signal)
    const own =
      token === undefined ? undefined : secretText(await readSecret(namespace, token.name, signal), token, 'spec.git.commitStatus')
    return {
      url,
      credentials: own === undefined ? await sourceCredentials(git, access.credentials, signal) : { kind: 'token', token: own },
      async post(call, signal) {
        const host = new URL(call.url).hostname.replace(/^\[|\]$/g, '')
        requireAllowedApi(host, allowedHosts)
        const proxy = proxyFor({ protocol: 'https', host }, access.proxy, network.proxy)
        const addresses = await addressesOf(host, proxy, network, signal)
        return await postForJson(call, { caBundle: access.caBundle, proxy: proxy?.url, addresses }, signal)
      },
    }
  }
}

type SourceCredentials = Awaited<ReturnType<RemoteOf>>['access']['credentials']

async function sourceCredentials({ auth }: Git, credentials: SourceCredentials, signal: AbortSignal): Promise<ApiCredentials> {
  if (credentials.kind === 'githubApp') return { kind: 'token', token: await credentials.token(signal) }
  if (credentials.kind !== 'basic')
    throw new Fault('CredentialsInvalid', 'spec.git.commitStatus has no secretRef, and spec.git.auth nothing that an API takes')
  const { username, password } = credentials
  // The user beside a token is there for git alone.
  return auth?.basic === undefined ? { kind: 'token', token: password } : { kind: 'basic', username, password }
}
