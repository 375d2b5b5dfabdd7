/**
 * Describes how to reach a git host: credentials, CA bundle and proxy. Read from Secrets for each use, and never written anywhere. Pure: types.
 */

import type { KeyObject } from 'node:crypto'

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
  credentials: Credentials
  /** Certificate authorities of the git host, PEM, instead of those of the system. */
  caBundle: string | undefined
  /** `http://[user:password@]host:port` or https. */
  proxy: string | undefined
  /** An artifact must be signed with one of these keys; undefined: it need not be signed. */
  trustedKeys?: readonly TrustedKey[]
}

/** Access without any Secret. */
export const anonymousAccess: Access = { identity: '', credentials: { kind: 'none' }, caBundle: undefined, proxy: undefined }
