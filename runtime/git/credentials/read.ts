/**
 * Reads the Secrets that a GatewaySync references for its git host: credentials, CA bundle, proxy.
 */
import type { FairCache } from '../../platform/async/fair-cache.ts'
import { Fault } from '../../platform/fault.ts'
import type { ArtifactAccess } from '../../api/schema/oci-spec.ts'
import type { RepositoryUrl } from '../../api/schema/repository-url.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import { printable } from '../../api/values.ts'
import { addressesOf, type Network } from '../remote/network.ts'
import { proxyFor } from '../remote/proxy.ts'
import { type ReadSecret, type Secret, secretText } from '../remote/secrets.ts'
import { readTrustedKeys } from '../verify/cosign.ts'
import type { ApiRoute } from './api-call.ts'
import type { AppKey, AppTokens } from './github-app.ts'
import { parseBody } from '../../http/body.ts'
import { type Access, anonymousAccess, type Credentials } from '../remote/remote.ts'

type Git = GatewaySyncSpec['git']
/** Recently read texts of Secrets: mirrors that use one Secret share its text. */
export type KeptTexts = FairCache<string>
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
  { readSecret, apps, kept }: { readSecret: ReadSecret; apps: Apps; kept: KeptTexts },
  signal: AbortSignal,
): Promise<Access> {
  const reader = secretReader(namespace, readSecret, kept, signal)
  const { texts } = reader
  const credentials = await readCredentials(git.auth ?? {}, url, reader)
  const caBundle = git.caBundle === undefined ? undefined : await reader.text(git.caBundle.secretRef, 'spec.git.caBundle')
  const proxy = git.proxy === undefined ? undefined : await reader.text({ ...git.proxy.secretRef, key: 'url' }, 'spec.git.proxy')
  const app = git.auth?.githubApp
  if (reader.used.length === 0 && app === undefined) return anonymousAccess
  if (app === undefined) return { identity: JSON.stringify([namespace, ...reader.used]), texts, credentials, caBundle, proxy }
  const { appId, installationId, apiBaseURL = publicApi, privateKeySecretRef } = app
  const privateKey = await reader.text(privateKeySecretRef, 'spec.git.auth.githubApp')
  const identity = JSON.stringify([namespace, ...reader.used, appId, installationId, apiBaseURL])
  const key: AppKey = { namespace, owner: identity, appId, installationId, apiBaseURL, privateKey }
  return { identity, texts, credentials: appCredentials(key, { caBundle, proxy }, apps), caBundle, proxy }
}

/** As `readAccess`, for an artifact. Throws CredentialsInvalid as well. */
export async function readArtifactAccess(
  namespace: string,
  { auth, caBundle, proxy, verify }: ArtifactAccess,
  { host, port }: RepositoryUrl,
  { readSecret, kept }: { readSecret: ReadSecret; kept: KeptTexts },
  signal: AbortSignal,
): Promise<Access> {
  const reader = secretReader(namespace, readSecret, kept, signal)
  const readAuth = async (): Promise<Credentials> => {
    if (auth?.dockerConfig !== undefined) {
      const field = 'spec.oci.auth.dockerConfig'
      const text = await reader.text({ name: auth.dockerConfig.secretRef.name, key: '.dockerconfigjson' }, field)
      return { kind: 'basic', ...dockerLogin(text, port === undefined ? host : `${host}:${port}`, field) }
    }
    return auth?.basic === undefined ? { kind: 'none' } : await readBasic(auth.basic, 'spec.oci.auth.basic', reader)
  }
  const access: Access = {
    identity: '',
    texts: reader.texts,
    credentials: await readAuth(),
    caBundle: caBundle === undefined ? undefined : await reader.text(caBundle.secretRef, 'spec.oci.caBundle'),
    proxy: proxy === undefined ? undefined : await reader.text({ ...proxy.secretRef, key: 'url' }, 'spec.oci.proxy'),
  }
  if (verify !== undefined)
    access.trustedKeys = readTrustedKeys(await reader.all(verify.secretRef.name, 'spec.oci.verify'), 'spec.oci.verify')
  return { ...access, identity: reader.used.length === 0 ? '' : JSON.stringify([namespace, ...reader.used]) }
}

async function readBasic({ secretRef: { name } }: { secretRef: { name: string } }, field: string, { text }: Reader): Promise<Credentials> {
  const username = await text({ name, key: 'username' }, field)
  return { kind: 'basic', username, password: await text({ name, key: 'password' }, field) }
}

function appCredentials(key: AppKey, { caBundle, proxy: own }: Pick<Access, 'caBundle' | 'proxy'>, apps: Apps): Credentials {
  const host = new URL(key.apiBaseURL).hostname.replace(/^\[|\]$/g, '')
  const way = async (signal: AbortSignal): Promise<ApiRoute> => {
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

async function readCredentials(auth: NonNullable<Git['auth']>, url: RepositoryUrl, reader: Reader): Promise<Credentials> {
  const { text } = reader
  const { token, basic, clientCertificate, sshKey } = auth
  if (token !== undefined) {
    return { kind: 'basic', username: tokenUser(url.host), password: await text(token.secretRef, 'spec.git.auth.token') }
  }
  if (basic !== undefined) {
    return await readBasic(basic, 'spec.git.auth.basic', reader)
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
  /** Every value of a Secret. */
  all(name: string, field: string): Promise<ReadonlyMap<string, Buffer>>
  /** Name, version and key of every value that was read. */
  used: readonly (readonly [name: string, version: string, key: string])[]
  texts: readonly string[]
}

/** Reads each Secret once, so that two keys of one Secret are of the same version. */
function secretReader(namespace: string, readSecret: ReadSecret, kept: KeptTexts, signal: AbortSignal): Reader {
  const secrets = new Map<string, Promise<Secret | undefined>>()
  const used: [string, string, string][] = []
  const texts: string[] = []
  const read = async (name: string): Promise<Secret | undefined> => {
    const reading = secrets.get(name) ?? readSecret(namespace, name, signal)
    secrets.set(name, reading)
    return await reading
  }
  return {
    used,
    texts,
    async all(name, field) {
      const secret = await read(name)
      if (secret === undefined) throw new Fault('SecretNotFound', `${field}: Secret "${printable(name)}" does not exist`)
      used.push([name, secret.version, ''])
      return secret.data
    },
    async text(ref, field) {
      const secret = await read(ref.name)
      const about: [string, string, string] = [ref.name, secret?.version ?? '', ref.key]
      const id = JSON.stringify([namespace, ...about])
      const text = kept.get(id) ?? secretText(secret, ref, field)
      kept.set(namespace, id, text, { size: text.length })
      used.push(about)
      texts.push(text)
      return text
    },
  }
}

/** Of logins for a hundred registries and more. */
const loginComplexity = { depth: 16, keys: 5_000, containers: 5_000, entries: 5_000 }

/** `registry`: host, and port if the URL names one. Throws CredentialsInvalid, without any of the text, which is secret. */
export function dockerLogin(text: string, registry: string, field: string): { username: string; password: string } {
  const parsed = parseBody(Buffer.from(text), loginComplexity)
  const { auths } = ((parsed.kind === 'json' ? parsed.value : undefined) ?? {}) as { auths?: unknown }
  if (typeof auths !== 'object' || auths === null) throw new Fault('CredentialsInvalid', `${field} does not contain JSON with auths`)
  const [, found] = Object.entries(auths).find(([name]) => hostIn(name) === registry) ?? []
  const { username, password, auth } = (found ?? {}) as Record<string, unknown>
  if (typeof username === 'string' && typeof password === 'string') return { username, password }
  // `docker login` writes both only as `auth`.
  const decoded = typeof auth === 'string' ? Buffer.from(auth, 'base64').toString('utf8') : ''
  const colon = decoded.indexOf(':')
  if (colon > 0) return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) }
  throw new Fault('CredentialsInvalid', `${field} has no user name and password for "${registry}"`)
}

/** Entries may be URLs, as `https://registry.example/v1/`. */
function hostIn(name: string): string {
  const [host = ''] = name.replace(/^https?:\/\//, '').split('/', 1)
  return host.toLowerCase()
}

/** By a label in the host's name; the first match wins. Source: the pages of docs/how-to/git-hosts. */
const users: readonly (readonly [label: RegExp, user: string])[] = [
  [/(?:^|[.-])github(?:[.-]|$)/, 'x-access-token'],
  [/(?:^|[.-])gitlab(?:[.-]|$)/, 'oauth2'],
  [/(?:^|[.-])bitbucket(?:[.-]|$)/, 'x-token-auth'],
]

/** Gitea, Forgejo and Azure DevOps, and GitHub and GitLab on servers of any name, accept every user name with a token. */
const defaultUser = 'x-access-token'

/** The user name to send with a token to `host`. */
export function tokenUser(host: string): string {
  return users.find(([label]) => label.test(host))?.[1] ?? defaultUser
}
