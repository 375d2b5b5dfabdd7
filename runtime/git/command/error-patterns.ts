/**
 * Maps error output of git, curl and ssh for calls to a git host to a reason and message: a table of patterns. The first pattern that matches any
 * line wins, so specific patterns come before general ones. Pure.
 */
import type { Reason } from '../../platform/fault.ts'
import type { RepositoryUrl } from '../../api/schema/repository-url.ts'
import { printable } from '../../api/values.ts'
import { namesOfBundle } from '../remote/pem.ts'
import type { Proxy } from '../remote/proxy.ts'
import type { HttpAnswer } from './http-trace.ts'
import type { Access } from '../remote/remote.ts'

/** The target of a git call, for the message of its fault. */
export type GitTarget = { url: RepositoryUrl; access: Access; proxy: Proxy | undefined }

/** The meaning of an error line of git, curl or ssh. `found` is the match of the pattern in the line; `answer`: over HTTP, if it is known. */
export type ErrorPattern = {
  pattern: RegExp
  reason: Reason
  message(target: GitTarget, found: RegExpExecArray, answer: HttpAnswer | undefined): string
  /** The line comes from a program on the git host; git prefixes it with `remote:`. */
  byHost?: true
  /** The line concerns this machine: lines with the `remote:` prefix do not match, over ssh either. */
  byUs?: true
}

/** Host, and port if the URL has one. */
export const hostOf = ({ url: { host, port } }: Pick<GitTarget, 'url'>): string => (port === undefined ? host : `${host}:${port}`)

const credentialsOf = ({ access: { credentials } }: GitTarget): string =>
  ({
    none: 'no credentials; set spec.git.auth',
    basic: 'the user and password or token of spec.git.auth',
    clientCertificate: 'the client certificate of spec.git.auth',
    ssh: 'the key of spec.git.auth.sshKey',
    githubApp: 'the token of the GitHub App',
  })[credentials.kind]

/** Failures of a call to a git host, or of the proxy before it. */
export const remotePatterns: readonly ErrorPattern[] = [
  {
    pattern: /returned error: 30[12378]/,
    reason: 'RepositoryMoved',
    message: (target) =>
      `${hostOf(target)} redirects, and redirects are not followed: set spec.git.repo to the new address of the repository; if it redirects to a login page, the credentials of spec.git.auth are missing or expired`,
  },
  {
    pattern: /(?:CONNECT tunnel failed, response|Received HTTP code|HTTP code) ([0-9]{3})|Proxy CONNECT aborted|Could not resolve proxy/i,
    reason: 'GitProxyRefused',
    message: ({ proxy, url }, [, status]) =>
      `the proxy ${proxy?.host ?? ''}:${proxy?.port ?? ''} cannot connect to ${url.host}: ${proxyCause(status)}`,
  },
  {
    pattern: /^! \[rejected\].*\((?:stale info|fetch first|non-fast-forward|already exists)\)$/,
    reason: 'PushRefused',
    message: (target) => `${hostOf(target) || 'the repository'} already has a branch of this name, which was not changed`,
  },
  {
    pattern: /^! \[remote rejected\]|^! \[rejected\]/,
    reason: 'PushRefused',
    message: (target) =>
      `${hostOf(target) || 'the repository'} rejected the branch: a rule or hook refuses it, or the credentials may not write it`,
  },
  {
    pattern:
      /problem with the local (?:SSL|client) certificate|error reading X\.509|could not load|unable to set private key|CAfile: \S+ CRLfile.*error reading|error (?:setting certificate|reading ca cert|adding trust)/i,
    reason: 'CredentialsInvalid',
    message: () => 'spec.git.caBundle or the client certificate of spec.git.auth is not valid PEM, or certificate and key do not match',
  },
  {
    // GnuTLS prints only the host's alert: the first pattern with TLS 1.2, the second with 1.3, then what is wrong with a certificate.
    pattern:
      /alert.*(?:certificate required|bad certificate|handshake failure)|TLS fatal alert|SSL_read|certificate required|gnutls_handshake\(\) failed: (?:Handshake failed|Certificate is (?:required|bad|unknown)|CA is unknown|Certificate (?:was|has) (?:revoked|expired))/i,
    reason: 'GitUnauthorized',
    message: (target) => `${hostOf(target)} requires a client certificate but got ${credentialsOf(target)}`,
  },
  {
    pattern:
      /certificate verification failed|SSL certificate problem|certificate subject name|no alternative certificate|gnutls_handshake\(\) failed|certificate has expired/i,
    reason: 'GitTlsUntrusted',
    message: (target) =>
      `the certificate of ${hostOf(target)} is not trusted by ${authoritiesOf(target)}; add a private CA to spec.git.caBundle`,
  },
  {
    pattern: /could not read Username|could not read Password|Authentication failed|returned error: 401/,
    reason: 'GitUnauthorized',
    message: (target) => `${hostOf(target)} refused ${credentialsOf(target)} (401)`,
  },
  {
    pattern: /returned error: 403/,
    reason: 'GitForbidden',
    message: (target) => `${hostOf(target)} accepts ${credentialsOf(target)}, but denies access to this repository (403)`,
  },
  {
    // Besides those above and 404: an error with any of these statuses is not git's answer about a ref.
    pattern: /returned error: (?!404)([345][0-9]{2})/,
    reason: 'GitUnreachable',
    message: (target, [, status], answer) =>
      `${hostOf(target)} answers with status ${status}${answer !== undefined && isPage(answer) ? ` and ${bodyOf(answer)}` : ''}${adviceFor(status)}`,
  },
  {
    pattern: /REMOTE HOST IDENTIFICATION HAS CHANGED|host key for \S+ has changed|Offending .* key in/,
    reason: 'GitHostKeyChanged',
    message: (target) =>
      `the host key of ${hostOf(target)} differs from the one in spec.git.auth.sshKey.knownHosts; another server may pose as the host`,
  },
  {
    pattern: /host key is known for|Host key verification failed/,
    reason: 'GitHostKeyUnknown',
    message: (target) => `spec.git.auth.sshKey.knownHosts has no host key of ${hostOf(target)} (ssh-keyscan prints them)`,
  },
  {
    pattern: /Permission denied \(|Too many authentication failures|no mutual signature algorithm/,
    reason: 'GitKeyRefused',
    message: (target) => `${hostOf(target)} refused the key of spec.git.auth.sshKey for user ${target.url.user ?? 'cluster-sync'}`,
  },
  {
    pattern: /dubious ownership|unsafe repository|owned by someone else/,
    reason: 'RepositoryNotOwned',
    message: (target) =>
      target.url.protocol === 'ssh'
        ? `at ${hostOf(target)} the repository belongs to another user than ${target.url.user ?? 'cluster-sync'}; give it to that user there, or name it in safe.directory of that user's git`
        : 'the repository on this machine belongs to another user; run as its owner, or make it a bare repository of this user',
  },
  {
    pattern:
      /repository corruption|(?:missing|unable to read|unable to find|bad object|could not read|cannot read) (?:blob |tree |commit |tag |object )?[0-9a-f]{40}|did not (?:receive expected object|send all necessary)/i,
    reason: 'GitObjectMissing',
    message: () => 'the git host has lost an object of this commit; git fsck in the repository names it',
    byHost: true,
  },
  {
    pattern: /^error: object ([0-9a-f]{40,64}): ([A-Za-z]{1,40}):|fsck error/,
    reason: 'RepositoryRefused',
    message: (_target, [, object, what]) =>
      object === undefined || what === undefined
        ? 'an object of this repository is malformed; git fsck in the repository names it'
        : `object ${object} of this repository is malformed (${what}); git fsck in the repository shows details`,
  },
  {
    pattern:
      /Repository not found|not found in upstream|returned error: 404|repository '[^']{0,300}' not found|does not appear to be a git repository|(?:repository|project) (?:does not exist|.* could not be found)|does not exist/i,
    reason: 'RepositoryNotFound',
    message: (target) =>
      `there is no such repository${target.url.host === '' ? '' : ` at ${hostOf(target)}`}, or it is not visible ${target.access.credentials.kind === 'none' ? 'without credentials; set spec.git.auth' : `with ${credentialsOf(target)}`}`,
  },
  {
    pattern: /transport '[^']{0,100}' not allowed|protocol '[^']{0,100}' is not supported/,
    reason: 'RepositoryNotAllowed',
    message: () => 'this kind of repository URL is not permitted',
  },
  {
    pattern: /Could not resolve host|Name or service not known|Temporary failure in name resolution|No address associated/,
    reason: 'GitHostUnknown',
    message: (target) => `the host name ${target.proxy?.host ?? target.url.host} cannot be resolved`,
  },
  {
    pattern: /Connection refused|Couldn't connect to server|Failed to connect/,
    reason: 'GitConnectionRefused',
    message: (target) =>
      target.proxy === undefined
        ? `nothing answers at ${hostOf(target)}`
        : `nothing answers at the proxy ${target.proxy.host}:${target.proxy.port}`,
  },
  {
    // A timeout within the call; a host that never answered at all is GitUnreachable below.
    pattern: /RPC failed; curl 28/,
    reason: 'GitTimeout',
    message: (target) => `${hostOf(target)} sent too little data; the next attempt waits longer`,
  },
  {
    pattern: /timed out|too slow/i,
    reason: 'GitUnreachable',
    message: (target) => `${hostOf(target)} did not answer in time`,
  },
  {
    pattern: /No route to host|Network is unreachable/,
    reason: 'GitUnreachable',
    message: (target) => `no route to ${hostOf(target)}`,
  },
  {
    pattern:
      /early EOF|unexpected disconnect|RPC failed|hung up|Connection reset|Connection closed|transfer closed|body are still expected|invalid index-pack output|bad pack header|index-pack died|fetch-pack: |unable to access|Could not read from remote|kex_exchange/i,
    reason: 'GitUnreachable',
    message: (target) => `the connection to ${hostOf(target)} was lost`,
  },
]

/** A description of an answer's body, by its content type. */
export function bodyOf(answer: HttpAnswer): string {
  if (answer.contentType === undefined) return 'no content type'
  return isPage(answer) ? `a web page (${answer.contentType})` : answer.contentType
}

function isPage({ contentType }: HttpAnswer): boolean {
  return contentType === 'text/html' || contentType === 'application/xhtml+xml'
}

function adviceFor(status: string | undefined): string {
  if (status === '429') return ', too many requests'
  if (status === '410' || status === '451') return ': the repository is no longer available; see its page at the host'
  return status?.startsWith('4') === true
    ? ', which is not a response of a git repository: check whether spec.git.repo is the clone URL'
    : ''
}

function proxyCause(status: string | undefined): string {
  if (status === '407') return 'it requires authentication (407)'
  return status === undefined ? 'it cannot be reached' : `it answers with status ${status}`
}

/** The subject names of the CA certificates that were used. */
function authoritiesOf({ access: { caBundle } }: GitTarget): string {
  if (caBundle === undefined) return "the system's authorities"
  const names = namesOfBundle(caBundle)
  return `spec.git.caBundle${names.length === 0 ? '' : ` (${printable(names.join('; '))})`}`
}
