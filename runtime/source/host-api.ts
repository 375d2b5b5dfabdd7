/**
 * The API of the git host of a GatewaySync: reached as the host is, by the same rules for addresses, with the same authorities and proxy,
 * and with the credentials of the source or with a token of its own.
 */
import { Fault } from '../fault.ts'
import type { RepositoryUrl } from '../gatewaysync/schema/repository-url.ts'
import type { GatewaySyncSpec } from '../gatewaysync/schema/spec.ts'
import { type ApiAnswer, type ApiCall, callForJson } from './credentials/api-call.ts'
import { addressesOf, type Network } from './remote/network.ts'
import { proxyFor } from './remote/proxy.ts'
import { type ReadSecret, secretText } from './remote/secrets.ts'
import { type RemoteOf, requireAllowedApi } from './remotes.ts'

export type ApiCredentials = { kind: 'token'; token: string } | { kind: 'basic'; username: string; password: string }

/** `url` is that of the repository, from which whoever calls makes the addresses of its API. */
export type HostApi = {
  url: RepositoryUrl
  credentials: ApiCredentials
  /** Throws RepositoryNotAllowed, GitHostUnknown, CredentialsInvalid, and what the network throws. No redirect is followed. */
  call(call: ApiCall, signal: AbortSignal): Promise<ApiAnswer>
}

type Git = GatewaySyncSpec['git']

/** The token for the API, where there is one of its own, and the field that it stands in, for messages. */
export type ApiToken = { field: string; secretRef?: { name: string; key: string } | undefined }

/** Throws RepositoryNotAllowed, SecretNotFound, GithubAppRefused, and what reading a Secret throws. */
export type OpenHostApi = (namespace: string, git: Git, api: ApiToken, signal: AbortSignal) => Promise<HostApi>

type Options = { remoteOf: RemoteOf; readSecret: ReadSecret; network: Network; allowedHosts: readonly string[] }

/** Reads Secrets anew at each call. */
export function createHostApis({ remoteOf, readSecret, network, allowedHosts }: Options): OpenHostApi {
  return async (namespace, git, { field, secretRef }, signal) => {
    const { url, access } = await remoteOf(namespace, git, signal)
    const own = secretRef === undefined ? undefined : secretText(await readSecret(namespace, secretRef.name, signal), secretRef, field)
    return {
      url,
      credentials: own === undefined ? await sourceCredentials(git, field, access.credentials, signal) : { kind: 'token', token: own },
      async call(call, signal) {
        const host = new URL(call.url).hostname.replace(/^\[|\]$/g, '')
        requireAllowedApi(host, allowedHosts)
        const proxy = proxyFor({ protocol: 'https', host }, access.proxy, network.proxy)
        const addresses = await addressesOf(host, proxy, network, signal)
        return await callForJson(call, { caBundle: access.caBundle, proxy: proxy?.url, addresses }, signal)
      },
    }
  }
}

type SourceCredentials = Awaited<ReturnType<RemoteOf>>['access']['credentials']

async function sourceCredentials(
  { auth }: Git,
  field: string,
  credentials: SourceCredentials,
  signal: AbortSignal,
): Promise<ApiCredentials> {
  if (credentials.kind === 'githubApp') return { kind: 'token', token: await credentials.token(signal) }
  if (credentials.kind !== 'basic')
    throw new Fault('CredentialsInvalid', `${field} has no secretRef, and the credentials for git are nothing that an API takes`)
  const { username, password } = credentials
  // The user beside a token is there for git alone.
  return auth?.basic === undefined ? { kind: 'token', token: password } : { kind: 'basic', username, password }
}
