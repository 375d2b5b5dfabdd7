/**
 * How a git host is reached: with which credentials, trusting whom, by which way. Resolved anew from Secrets whenever it is needed, and
 * never written anywhere. Pure: types.
 */

export type Credentials =
  | { kind: 'none' }
  /** A user and password of https; a token is the password of the user name that its host expects. */
  | { kind: 'basic'; username: string; password: string }
  /** PEM, the certificate with whatever leads to the authority of the git host. */
  | { kind: 'clientCertificate'; certificate: string; key: string }
  /** `knownHosts` in the form of ssh; undefined: any host key is taken, which the user has asked for. */
  | { kind: 'ssh'; privateKey: string; passphrase: string | undefined; knownHosts: string | undefined }
  /** An installation token of a GitHub App, asked for when it is needed; `refused` has the next one asked for anew. */
  | { kind: 'githubApp'; token(signal: AbortSignal): Promise<string>; refused(): void }

export type Access = {
  /**
   * Empty when no Secret takes part: only such mirrors are shared between namespaces. Otherwise the namespace, and uid, resourceVersion
   * and key of each Secret; holds nothing secret itself.
   */
  identity: string
  credentials: Credentials
  /** Certificate authorities of the git host, PEM, instead of those of the system. */
  caBundle: string | undefined
  /** `http://[user:password@]host:port` or https. */
  proxy: string | undefined
}

/** Whoever has no credentials. */
export const anonymousAccess: Access = { identity: '', credentials: { kind: 'none' }, caBundle: undefined, proxy: undefined }
