/**
 * Calls the API of the git host of a GatewaySync: with the same address rules, CA bundle and proxy as git, and with the credentials of the
 * source or a separate token.
 */
import { Fault } from '../../platform/fault.ts'
import type { RepositoryUrl } from '../../api/schema/repository-url.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import { type ApiAnswer, type ApiCall, callForJson } from '../credentials/api-call.ts'
import { addressesOf, type Network } from '../remote/network.ts'
import { proxyFor } from '../remote/proxy.ts'
import { type ReadSecret, secretText } from '../remote/secrets.ts'
import { type RemoteOf, requireAllowedApi } from '../remotes.ts'
import type { StatusProvider } from '../../api/schema/commit-status.ts'
import { retryAfterToMs } from '../../http/headers.ts'

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

/** How long to wait before the next request; undefined if the response does not say so in seconds. */
export function retryAfterMs({ retryAfter }: ApiAnswer): number | undefined {
  return retryAfterToMs(retryAfter)
}

/** Whether the same request may succeed later. GitHub answers 403 with `Retry-After` to rate-limited clients. */
export function isTemporary(answer: ApiAnswer): boolean {
  const { status } = answer
  return [408, 409, 425, 429].includes(status) || status >= 500 || retryAfterMs(answer) !== undefined
}

/** The `authorization` header of a request. */
export function apiAuthorization(provider: StatusProvider, credentials: ApiCredentials): string {
  if (provider === 'gitea') return credentials.kind === 'basic' ? basic(credentials) : `token ${credentials.token}`
  if (provider === 'azuredevops') return basic(credentials.kind === 'basic' ? credentials : { username: '', password: credentials.token })
  // GitHub and GitLab accept only a token; if there is also a user name, the token is the password.
  if (provider === 'github' || provider === 'gitlab') return bearer(credentials)
  return credentials.kind === 'basic' ? basic(credentials) : bearer(credentials)
}

/** Encodes a name as one path segment. */
export function namePart(name: string): string {
  return encodeURIComponent(name)
}

function bearer(credentials: ApiCredentials): string {
  return `Bearer ${credentials.kind === 'basic' ? credentials.password : credentials.token}`
}

function basic({ username, password }: { username: string; password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
