/**
 * Reads the Secrets that a GatewaySync references for its git host: credentials, CA bundle, proxy.
 */
import type { RepositoryUrl } from '../../api/schema/repository-url.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import { type Access, anonymousAccess, type Credentials } from '../remote/access.ts'
import { addressesOf, type Network } from '../remote/network.ts'
import { proxyFor } from '../remote/proxy.ts'
import { type ReadSecret, type Secret, secretText } from '../remote/secrets.ts'
import type { ApiWay } from './api-call.ts'
import type { AppKey, AppTokens } from './github-app.ts'
import { tokenUser } from './token-users.ts'

type Git = GatewaySyncSpec['git']
type KeyRef = { name: string; key: string }

/** What requesting a token of a GitHub App needs. */
export type Apps = {
  tokens: AppTokens
  network: Network
  /** Throws RepositoryNotAllowed. */
  requireAllowed(host: string): void
}

const publicApi = 'https://api.github.com'

/** Throws SecretNotFound naming Secret and key, and what reading throws. */
export async function readAccess(
  namespace: string,
  git: Git,
  url: RepositoryUrl,
  { readSecret, apps }: { readSecret: ReadSecret; apps: Apps },
  signal: AbortSignal,
): Promise<Access> {
  const reader = secretReader(namespace, readSecret, signal)
  const credentials = await readCredentials(git.auth ?? {}, url, reader)
  const caBundle = git.caBundle === undefined ? undefined : await reader.text(git.caBundle.secretRef, 'spec.git.caBundle')
  const proxy = git.proxy === undefined ? undefined : await reader.text({ ...git.proxy.secretRef, key: 'url' }, 'spec.git.proxy')
  const app = git.auth?.githubApp
  if (reader.used.length === 0 && app === undefined) return anonymousAccess
  if (app === undefined) return { identity: JSON.stringify([namespace, ...reader.used]), credentials, caBundle, proxy }
  const { appId, installationId, apiBaseURL = publicApi, privateKeySecretRef } = app
  const privateKey = await reader.text(privateKeySecretRef, 'spec.git.auth.githubApp')
  const identity = JSON.stringify([namespace, ...reader.used, appId, installationId, apiBaseURL])
  const key: AppKey = { namespace, owner: identity, appId, installationId, apiBaseURL, privateKey }
  return { identity, credentials: appCredentials(key, { caBundle, proxy }, apps), caBundle, proxy }
}

function appCredentials(key: AppKey, { caBundle, proxy: own }: Pick<Access, 'caBundle' | 'proxy'>, apps: Apps): Credentials {
  const host = new URL(key.apiBaseURL).hostname.replace(/^\[|\]$/g, '')
  const way = async (signal: AbortSignal): Promise<ApiWay> => {
    apps.requireAllowed(host)
    const proxy = proxyFor({ protocol: 'https', host }, own, apps.network.proxy)
    return { caBundle, proxy: proxy?.url, addresses: await addressesOf(host, proxy, apps.network, signal) }
  }
  return {
    kind: 'githubApp',
    token: (signal) => apps.tokens.token(key, way, signal),
    refused: () => apps.tokens.refused(key),
  }
}

async function readCredentials(auth: NonNullable<Git['auth']>, url: RepositoryUrl, { text }: Reader): Promise<Credentials> {
  const { token, basic, clientCertificate, sshKey } = auth
  if (token !== undefined) {
    return { kind: 'basic', username: tokenUser(url.host), password: await text(token.secretRef, 'spec.git.auth.token') }
  }
  if (basic !== undefined) {
    const { name } = basic.secretRef
    const username = await text({ name, key: 'username' }, 'spec.git.auth.basic')
    return { kind: 'basic', username, password: await text({ name, key: 'password' }, 'spec.git.auth.basic') }
  }
  if (clientCertificate !== undefined) {
    const { name } = clientCertificate.secretRef
    const certificate = await text({ name, key: 'tls.crt' }, 'spec.git.auth.clientCertificate')
    return { kind: 'clientCertificate', certificate, key: await text({ name, key: 'tls.key' }, 'spec.git.auth.clientCertificate') }
  }
  if (sshKey !== undefined) return await readSshKey(sshKey, text)
  return { kind: 'none' }
}

async function readSshKey(sshKey: NonNullable<NonNullable<Git['auth']>['sshKey']>, text: Reader['text']): Promise<Credentials> {
  const { secretRef, passphrase, knownHosts, insecureIgnoreHostKey } = sshKey
  return {
    kind: 'ssh',
    privateKey: await text(secretRef, 'spec.git.auth.sshKey'),
    passphrase: passphrase === undefined ? undefined : await text(passphrase.secretRef, 'spec.git.auth.sshKey.passphrase'),
    knownHosts:
      knownHosts === undefined || insecureIgnoreHostKey ? undefined : await text(knownHosts.secretRef, 'spec.git.auth.sshKey.knownHosts'),
  }
}

type Reader = {
  text(ref: KeyRef, field: string): Promise<string>
  /** Name, version and key of every value that was read. */
  used: readonly (readonly [name: string, version: string, key: string])[]
}

/** Reads each Secret once, so that two keys of one Secret are of the same version. */
function secretReader(namespace: string, readSecret: ReadSecret, signal: AbortSignal): Reader {
  const secrets = new Map<string, Promise<Secret | undefined>>()
  const used: [string, string, string][] = []
  return {
    used,
    async text(ref, field) {
      const reading = secrets.get(ref.name) ?? readSecret(namespace, ref.name, signal)
      secrets.set(ref.name, reading)
      const secret = await reading
      const text = secretText(secret, ref, field)
      used.push([ref.name, secret?.version ?? '', ref.key])
      return text
    },
  }
}
