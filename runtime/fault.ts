/**
 * What can go wrong, in one table. A reason is the one word that conditions, events, log fields, metric labels, SyncReports and HTTP
 * bodies share; docs/operations.md prints the table. Pure.
 */
import { redactUrls } from './redact.ts'

/**
 * What to do about a reason: `on-change` waits until the object, the Secret or the commit changes; `backoff` tries again by itself.
 */
type Retry = 'on-change' | 'backoff'

/** Each with whether it is tried again (`backoff`), or only when something has changed (`on-change`), and what it means for a reader. */
export const reasons = {
  // source
  RefNotFound: { retry: 'on-change', help: 'the git host has no such branch, tag or commit' },
  RefNotAllowed: { retry: 'on-change', help: 'spec.git.allowedRefs does not permit this ref' },
  InvalidRef: { retry: 'on-change', help: 'not a name that git accepts for a branch, a tag or a commit' },
  RepositoryMoved: { retry: 'backoff', help: 'the git host redirects to another address, which is not followed' },
  RepositoryRefused: { retry: 'on-change', help: 'an object of the repository is malformed, so that git refuses it' },
  RepositoryNotOwned: {
    retry: 'backoff',
    help: 'the repository belongs to another user than the one that reads it, here or at the ssh host',
  },
  RepositoryNotFound: { retry: 'backoff', help: 'the git host has no such repository, or hides it from these credentials' },
  RepositoryNotAllowed: { retry: 'on-change', help: 'the repository URL is of a kind or host that is not permitted' },
  RepositoryTooLarge: { retry: 'on-change', help: 'a commit exceeds a limit of size, number or depth that the message names' },
  SourceVolumeFull: { retry: 'backoff', help: 'the volume for mirrors (source.storage) has no room for a fetch' },
  GitUnauthorised: { retry: 'backoff', help: 'the git host refused the credentials, or wants some' },
  GitForbidden: { retry: 'backoff', help: 'the git host knows the credentials, which may not read the repository' },
  GitKeyRefused: { retry: 'backoff', help: 'the git host refused the ssh key' },
  GitHostKeyUnknown: { retry: 'backoff', help: 'knownHosts has no host key of the git host' },
  GitHostKeyChanged: { retry: 'backoff', help: 'the host key of the git host is another than knownHosts has' },
  GitTlsUntrusted: { retry: 'backoff', help: 'the certificate of the git host is not trusted' },
  GitHostUnknown: { retry: 'backoff', help: 'no address is known for the git host' },
  GitConnectionRefused: { retry: 'backoff', help: 'nothing answers at the address of the git host' },
  GitProxyRefused: { retry: 'backoff', help: 'the proxy does not lead to the git host' },
  GitObjectMissing: { retry: 'backoff', help: 'the git host has lost an object of the commit' },
  GitOutOfMemory: { retry: 'on-change', help: 'a file or pack of the repository needs more memory than git may have' },
  GithubAppRefused: { retry: 'backoff', help: 'GitHub gave no installation token for the App' },
  CommitStatusRefused: { retry: 'on-change', help: 'the git host refused a commit status (spec.git.commitStatus)' },
  CommitStatusFailed: { retry: 'backoff', help: 'the git host could not be told a commit status' },
  NotificationRefused: { retry: 'on-change', help: 'a receiver of notifications refused a message' },
  NotificationFailed: { retry: 'backoff', help: 'a receiver of notifications could not be reached' },
  CredentialsInvalid: { retry: 'on-change', help: 'a key, certificate, passphrase or proxy in a Secret cannot be used' },
  PushRefused: {
    retry: 'on-change',
    help: 'the git host does not take a branch: it is there already, holds commits of others, or a rule there refuses it',
  },
  PullRequestRefused: { retry: 'on-change', help: 'the git host refused a pull request of captured changes (spec.capture.pullRequest)' },
  PullRequestFailed: { retry: 'backoff', help: 'the git host could not be asked for a pull request' },
  GitUnreachable: { retry: 'backoff', help: 'the git host could not be reached' },
  GitTimeout: { retry: 'backoff', help: 'the git host did not answer in time' },
  GitFailed: { retry: 'backoff', help: 'git ended with an error that has no reason of its own' },
  GitKilled: {
    retry: 'backoff',
    help: 'git or a tool beside it was ended from outside or could not be started, as on a node that is short of memory',
  },
  ToolMissing: { retry: 'backoff', help: 'a program that the work needs is not installed on this machine, or is too old' },
  SecretNotFound: { retry: 'on-change', help: 'a referenced Secret or its key is missing or empty' },
  NotVerified: { retry: 'on-change', help: 'spec.git.verify asks for a signature that the commit does not have' },
  CollectionsInvalid: { retry: 'on-change', help: 'a gateway would not start with these resource collections' },
  CheckFailed: {
    retry: 'on-change',
    help: 'the checks of this commit needed too much memory or time, or met a bug; the finding says which',
  },
  // rollout
  RolloutFailed: { retry: 'on-change', help: 'gateways of a stage failed with this commit, so that the others keep what they have' },
  RolloutAborted: { retry: 'on-change', help: 'somebody ended the rollout of this commit' },
  WaitsForStage: { retry: 'on-change', help: 'the gateway keeps what it has until its stage of the rollout begins' },
  // delivery
  CommitGone: { retry: 'backoff', help: 'neither the mirror nor the git host has this commit any more' },
  CommitNotPublished: { retry: 'on-change', help: 'this commit is not and was not published for this GatewaySync' },
  UnknownBase: { retry: 'backoff', help: 'the base commit is not in the mirror; ask for everything' },
  DeliveryUnreachable: { retry: 'backoff', help: 'the controller could not be reached' },
  DeliveryUnauthorised: { retry: 'backoff', help: 'the token is missing, expired, or not of a pod that may read this GatewaySync' },
  DeliveryFailed: { retry: 'backoff', help: 'the answer of the controller ended early or was damaged' },
  // sync engine
  ModeUnknown: { retry: 'backoff', help: 'the deployment mode was known and is not known now; the files of the last known mode stay' },
  UnknownProfile: { retry: 'on-change', help: 'the GatewaySync has no profile of that name' },
  AgentOutdated: {
    retry: 'on-change',
    help: 'the GatewaySync asks for something that the agent of this pod is too old for; recreate the pod',
  },
  InvalidSpec: { retry: 'on-change', help: 'the GatewaySync holds a value that is not accepted' },
  SourcePathMissing: { retry: 'on-change', help: 'a required mapping or collections.root names a path that the commit does not hold' },
  DestinationNotAllowed: { retry: 'on-change', help: 'the destination belongs to the gateway itself or lies outside its data directory' },
  MappingConflict: { retry: 'on-change', help: 'two mappings or two paths cannot both be written' },
  MassDeletion: { retry: 'on-change', help: 'more files than maxDeletions would be deleted; confirm by annotation' },
  LocalChanges: {
    retry: 'on-change',
    help: 'drift is hold, and the commit would undo what was changed on the gateway; capture or confirm it',
  },
  ModeRemoved: {
    retry: 'on-change',
    help: 'the gateway would lose its deployment mode, a project, or a resource of core that it has one of; confirm by annotation',
  },
  PathTooLong: { retry: 'on-change', help: 'a path is longer than a file system takes: 255 bytes a name, 4,095 bytes in all' },
  TemplateFailed: { retry: 'on-change', help: 'a template or patch could not be rendered' },
  SymbolicLink: { retry: 'on-change', help: 'a symbolic link stands in the path; links are never followed' },
  FolderLocked: { retry: 'backoff', help: 'another agent writes to this data directory' },
  DiskFull: { retry: 'backoff', help: 'no space is left on the data volume' },
  NotWritable: { retry: 'backoff', help: 'this user may not read or write a file or folder that a sync needs' },
  DataDirectoryMissing: { retry: 'backoff', help: 'the data directory does not exist' },
  PublishFailed: { retry: 'backoff', help: 'a file could not be put in place; the previous commit was restored' },
  StateUnreadable: { retry: 'on-change', help: 'a state file of ours is damaged and was left as it is' },
  // gateway
  GatewayUnreachable: { retry: 'backoff', help: 'the gateway does not answer' },
  GatewayNotReady: {
    retry: 'backoff',
    help: 'the gateway is starting, stopping or being commissioned, locked by somebody else, or gives an answer that cannot be used',
  },
  GatewayUnauthorised: { retry: 'backoff', help: 'the gateway refused the API key (401)' },
  GatewayForbidden: { retry: 'backoff', help: 'the API key lacks a security level that the call needs (403): scan needs Write' },
  ScanFailed: { retry: 'backoff', help: 'the gateway did not finish the scan' },
  NewProblems: {
    retry: 'on-change',
    help: 'the gateway complains of something since it took the commit that it did not complain of before',
  },
  HealthCheckFailed: { retry: 'on-change', help: 'the gateway answers the check of its profile wrongly since it took the commit' },
  HealthCheckUnanswered: { retry: 'backoff', help: 'nobody has answered the check of a profile within the deadline of the rollout' },
  GatewayRestarted: { retry: 'on-change', help: 'the container of the gateway ended after it took the commit' },
  DesignerOpen: { retry: 'backoff', help: 'a Designer session is open and designerSessionPolicy forbids writing now' },
  // receiver
  NotAuthenticated: { retry: 'on-change', help: 'no configured method validates this call' },
  AuthNotReady: { retry: 'backoff', help: 'the Secret that holds the key is missing, empty or unreadable' },
  PayloadMalformed: { retry: 'on-change', help: 'the body is not valid JSON in UTF-8' },
  PayloadTooLarge: { retry: 'on-change', help: 'the body is larger than the limit' },
  PayloadUnrecognised: { retry: 'on-change', help: 'no known payload format matches the body' },
  UnsupportedMediaType: { retry: 'on-change', help: 'the content type is not application/json' },
  MethodNotAllowed: { retry: 'on-change', help: 'the route takes another method' },
  NotFound: { retry: 'on-change', help: 'there is no such route or object' },
  TooManyRequests: { retry: 'backoff', help: 'the limit on calls is reached' },
  // cluster
  ApiUnavailable: { retry: 'backoff', help: 'the Kubernetes API server does not answer or refuses the call for now' },
  Conflict: { retry: 'backoff', help: 'the object was changed by someone else meanwhile' },
  Forbidden: { retry: 'backoff', help: 'RBAC or an admission policy refuses the call' },
  Rejected: { retry: 'on-change', help: 'the API server refuses the object as invalid' },
  UnsupportedKubernetes: { retry: 'on-change', help: 'the cluster is older than Kubernetes 1.30' },
  // anywhere
  Timeout: { retry: 'backoff', help: 'a deadline passed' },
  InvalidConfiguration: { retry: 'on-change', help: 'an option, environment variable or settings file holds a value that is not accepted' },
  Unexpected: { retry: 'backoff', help: 'a bug: the log holds the stack' },
} as const satisfies Record<string, { retry: Retry; help: string }>

/** A word of the table. */
export type Reason = keyof typeof reasons

/** Messages may quote what strangers wrote; longer ones help nobody. In characters. */
const maxMessage = 4096

/**
 * A failure with a reason from the table. The message names object and cause and never holds a secret; the user part of a URL is redacted
 * here, so that no place where the message is told has to.
 */
export class Fault extends Error {
  override readonly name = 'Fault'
  readonly reason: Reason

  constructor(reason: Reason, message: string, options?: { cause?: unknown }) {
    super(redactUrls(message, maxMessage), options)
    this.reason = reason
  }

  get retry(): Retry {
    return reasons[this.reason].retry
  }
}

/**
 * Any thrown value as a Fault. The reason of a deadline's signal is `Timeout`; whatever else is not one already is a bug and becomes
 * `Unexpected` with the original as its cause.
 */
export function asFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  if (thrown instanceof Error && thrown.name === 'TimeoutError') return new Fault('Timeout', message, { cause: thrown })
  return new Fault('Unexpected', message, { cause: thrown })
}

/** Whether a thrown value is the end of work that its own signal asked for, rather than a failure. */
export function isAbort(thrown: unknown, signal: AbortSignal): boolean {
  return signal.aborted && (thrown === signal.reason || (thrown instanceof Error && thrown.name === 'AbortError'))
}
