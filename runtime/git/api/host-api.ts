/**
 * Calls the API of the git host of a GatewaySync: with the same address rules, CA bundle and proxy as git, and with the credentials of the source or
 * a separate token.
 */
import { Fault } from '../../platform/fault.ts'
import type { RepositoryUrl } from '../../api/schema/repository-url.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import { type ApiAnswer, type ApiCall, callForJson } from '../credentials/api-call.ts'
import { addressesOf, type Network } from '../remote/network.ts'
import { proxyFor } from '../remote/proxy.ts'
import { type ReadSecret, secretText } from '../remote/secrets.ts'
import { type RemoteOf, requireAllowedApi } from '../remotes.ts'

export type ApiCredentials = { kind: 'token'; token: string } | { kind: 'basic'; username: string; password: string }

/** `url` is the URL of the repository, from which the caller derives the URLs of the API. */
export type HostApi = {
  url: RepositoryUrl
  credentials: ApiCredentials
  /** Throws RepositoryNotAllowed, GitHostUnknown, CredentialsInvalid, and what the network throws. No redirect is followed. */
  call(call: ApiCall, signal: AbortSignal): Promise<ApiAnswer>
}

type Git = GatewaySyncSpec['git']

/** The separate token for the API, if any, and its field, for messages. */
export type ApiToken = { field: string; secretRef?: { name: string; key: string } | undefined }

/** Throws RepositoryNotAllowed, SecretNotFound, GithubAppRefused, and what reading a Secret throws. */
export type OpenHostApi = (namespace: string, git: Git, api: ApiToken, signal: AbortSignal) => Promise<HostApi>

type Options = { remoteOf: RemoteOf; readSecret: ReadSecret; network: Network; allowedHosts: readonly string[] }

/** Reads Secrets again at each call. */
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
    throw new Fault('CredentialsInvalid', `${field} has no secretRef, and the credentials for git cannot be used for the API`)
  const { username, password } = credentials
  // The user name next to a token is only for git.
  return auth?.basic === undefined ? { kind: 'token', token: password } : { kind: 'basic', username, password }
}
