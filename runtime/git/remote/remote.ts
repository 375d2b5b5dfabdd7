/**
 * Describes a repository and how to reach its host. Parses repository URLs of users. Pure.
 */
import { createHash, type KeyObject } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { Fault } from '../../platform/fault.ts'
import { parseArtifactUrl, parseRepositoryUrl, type RepositoryUrl } from '../../api/schema/repository-url.ts'
import { printable } from '../../api/values.ts'
import { redactUrls } from '../../platform/log/redact.ts'
/** A repository with the credentials to read it. */
export type Remote = { url: RepositoryUrl; access: Access }

/** A repository that needs no credentials. Throws RepositoryNotAllowed. */
export function anonymousRemote(repo: string, options: { allowLocal: boolean }): Remote {
  return { url: requireRepository(repo, options), access: anonymousAccess }
}

/** Parses what a user wrote as a repository; undefined when it is not one. `allowLocal` also accepts a path or a `file:` URL. */
export function readRepository(repo: string, { allowLocal }: { allowLocal: boolean }): RepositoryUrl | undefined {
  return parseRepositoryUrl(repo) ?? parseArtifactUrl(repo) ?? (allowLocal ? localRepository(repo) : undefined)
}

/** As `readRepository`, but throws RepositoryNotAllowed. */
export function requireRepository(repo: string, { allowLocal }: { allowLocal: boolean }): RepositoryUrl {
  const url = readRepository(repo, { allowLocal })
  if (url !== undefined) return url
  const kinds = allowLocal ? 'https, http, ssh, git@host:path, a path or file:' : 'https, http, ssh or git@host:path'
  throw new Fault('RepositoryNotAllowed', `"${redactUrls(printable(repo))}" is not a repository URL of a permitted kind: ${kinds}`)
}

/** A path or a `file:` URL, but nothing that git could interpret as an option, a host or a program. */
function localRepository(repo: string): RepositoryUrl | undefined {
  if (repo.startsWith('file://')) {
    const path = pathOf(repo)
    return path === undefined ? undefined : local(path)
  }
  if (repo === '' || repo.startsWith('-') || repo.includes('://') || repo.includes('::') || /^[^/]*@[^/]*:/.test(repo)) return undefined
  return local(repo)
}

function local(text: string): RepositoryUrl {
  return { text, protocol: 'file', user: undefined, host: '', port: undefined }
}

function pathOf(url: string): string | undefined {
  try {
    return fileURLToPath(url)
  } catch {
    return undefined
  }
}

/**
 * The name of a mirror's folder: equal only for the same text of the URL and the same credentials, so that no tenant's spelling leads to
 * another tenant's content. Its first half identifies only the repository.
 */
export function mirrorKey({ url, access }: Remote): string {
  return `${repositoryKey(url)}-${digest(access.identity)}`
}

/** Names a repository by the exact text of its URL, and with it all of its mirrors; 32 hex digits. */
export function repositoryKey({ text }: RepositoryUrl): string {
  return digest(text)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

/** A public key of `spec.oci.verify`, by the name of its entry in the Secret. `fingerprint`: `SHA256:` and base64, of the key's DER form. */
export type TrustedKey = { name: string; key: KeyObject; fingerprint: string }

/** By the kind of `spec.git.auth`; texts are those of the Secrets. */
export type Credentials =
  | { kind: 'none' }
  /** User and password for https; a token is sent as the password of the user name that its host expects. */
  | { kind: 'basic'; username: string; password: string }
  /** PEM; the certificate may be followed by the intermediate ones. */
  | { kind: 'clientCertificate'; certificate: string; key: string }
  /** `knownHosts` in ssh's format; undefined: any host key is accepted, because the user configured that. */
  | { kind: 'ssh'; privateKey: string; passphrase: string | undefined; knownHosts: string | undefined }
  /** An installation token of a GitHub App, requested when it is needed; `refused` drops it, so that the next call requests another. */
  | { kind: 'githubApp'; token(signal: AbortSignal): Promise<string>; refused(): void }

/** The access data of one GatewaySync's git host from Secrets. */
export type Access = {
  /**
   * Empty when no Secret is involved: only such mirrors are shared between namespaces. Otherwise the namespace, and name, version and key
   * of each Secret; contains no secret itself.
   */
  identity: string
  /** Everything that was read from Secrets: a mirror keeps it in memory. */
  texts: readonly string[]
  credentials: Credentials
  /** Certificate authorities of the git host, PEM, instead of those of the system. */
  caBundle: string | undefined
  /** `http://[user:password@]host:port` or https. */
  proxy: string | undefined
  /** An artifact must be signed with one of these keys; undefined: it need not be signed. */
  trustedKeys?: readonly TrustedKey[]
}

/** Access without any Secret. */
export const anonymousAccess: Access = { identity: '', texts: [], credentials: { kind: 'none' }, caBundle: undefined, proxy: undefined }
