/**
 * Lists every fault reason in one table. Conditions, events, log fields, metric labels, SyncReports and HTTP bodies share these reasons;
 * docs/how-to/runbook.md has an entry for each. Pure.
 */
import { redactUrls } from './log/redact.ts'

/** How a reason is retried: `on-change` waits until the object, the Secret or the commit changes; `backoff` retries automatically. */
type Retry = 'on-change' | 'backoff'

/** Each with its retry mode and its meaning for readers. */
export const reasons = {
  // source
  RefNotFound: { retry: 'on-change', help: 'the git host has no such branch, tag or commit' },
  PushNotVisible: { retry: 'backoff', help: 'a webhook announced a push that the git host does not show yet' },
  AmbiguousRef: { retry: 'on-change', help: 'a short name is both a branch and a tag on the git host; use a full name' },
  CommitNotServed: {
    retry: 'on-change',
    help: 'the git host does not serve commits by hash, and the commit was not found in the history of its branches and tags',
  },
  RefNotAllowed: { retry: 'on-change', help: 'spec.git.allowedRefs does not permit this ref' },
  InvalidRef: { retry: 'on-change', help: 'git does not accept this name for a branch, a tag or a commit' },
  RepositoryMoved: { retry: 'backoff', help: 'the git host redirects to another address, which is not followed' },
  RepositoryRefused: {
    retry: 'on-change',
    help: 'an object of the repository is malformed, and git refuses it; or an OCI artifact is not one archive of files',
  },
  RepositoryNotOwned: {
    retry: 'backoff',
    help: 'the repository belongs to a different user than the one that reads it, on this machine or on the SSH host',
  },
  RepositoryNotFound: { retry: 'backoff', help: 'the git host has no such repository, or hides it from these credentials' },
  RepositoryNotAllowed: { retry: 'on-change', help: 'the kind or the host of the repository URL is not permitted' },
  RepositoryTooLarge: { retry: 'on-change', help: 'a commit exceeds a limit of size, number or depth that the message names' },
  SourceVolumeFull: {
    retry: 'backoff',
    help: 'the volume for mirrors (source.storage) has no space for a fetch, or the namespace has used too many repositories',
  },
  GitUnauthorized: { retry: 'backoff', help: 'the credentials for the git host are missing or rejected' },
  GitForbidden: { retry: 'backoff', help: 'the credentials are valid, but may not read the repository' },
  GitKeyRefused: { retry: 'backoff', help: 'the git host rejected the SSH key' },
  GitHostKeyUnknown: { retry: 'backoff', help: 'knownHosts has no host key of the git host' },
  GitHostKeyChanged: { retry: 'backoff', help: 'the host key of the git host differs from the one in knownHosts' },
  GitTlsUntrusted: { retry: 'backoff', help: 'the certificate of the git host is not trusted' },
  GitHostUnknown: { retry: 'backoff', help: 'the name of the git host does not resolve' },
  GitConnectionRefused: { retry: 'backoff', help: 'the git host refused the connection' },
  GitProxyRefused: { retry: 'backoff', help: 'the proxy does not connect to the git host' },
  GitObjectMissing: { retry: 'backoff', help: 'the git host has lost an object of the commit' },
  GitOutOfMemory: { retry: 'on-change', help: 'a file or pack of the repository needs more memory than git may use' },
  GithubAppRefused: { retry: 'backoff', help: 'GitHub issued no installation token for the App' },
  CommitStatusRefused: { retry: 'on-change', help: 'the git host refused a commit status (spec.git.commitStatus)' },
  CommitStatusFailed: { retry: 'backoff', help: 'a commit status could not be sent to the git host' },
  NotificationRefused: { retry: 'on-change', help: 'a notification receiver rejected a message' },
  NotificationFailed: { retry: 'backoff', help: 'a notification receiver could not be reached' },
  CredentialsInvalid: { retry: 'on-change', help: 'a key, certificate, passphrase or proxy in a Secret cannot be used' },
  PushRefused: {
    retry: 'on-change',
    help: 'the git host refused to update a branch: it already exists, it has commits by others, or a rule forbids it',
  },
  PullRequestRefused: { retry: 'on-change', help: 'the git host refused a pull request of captured changes (spec.capture.pullRequest)' },
  PullRequestFailed: { retry: 'backoff', help: 'the pull request could not be requested from the git host' },
  GitUnreachable: { retry: 'backoff', help: 'the git host could not be reached' },
  GitTimeout: { retry: 'backoff', help: 'the git host did not answer in time' },
  GitFailed: { retry: 'backoff', help: 'git failed with an unknown error' },
  GitKilled: {
    retry: 'backoff',
    help: 'git or a helper program was killed or could not be started, often because the node is short of memory',
  },
  ToolMissing: { retry: 'backoff', help: 'a required program is not installed on this machine, or is too old' },
  SecretNotFound: { retry: 'on-change', help: 'a referenced Secret or its key is missing or empty' },
  NotVerified: {
    retry: 'on-change',
    help: 'the commit, tag or artifact has no valid signature by a key that spec.git.verify or spec.oci.verify trusts',
  },
  CollectionsInvalid: { retry: 'on-change', help: 'a gateway would not start with this commit, or would lose resources' },
  ValidationFailed: {
    retry: 'on-change',
    help: 'validation of this commit needed too much memory or time, or failed unexpectedly; the finding names the cause',
  },
  // rollout
  RolloutFailed: { retry: 'on-change', help: 'gateways of a stage failed with this commit; the others keep their commit' },
  RolloutAborted: { retry: 'on-change', help: 'the rollout of this commit was aborted by a user' },
  WaitsForStage: { retry: 'on-change', help: 'the gateway keeps its commit until its stage of the rollout begins' },
  // delivery
  CommitGone: { retry: 'backoff', help: 'neither the mirror nor the git host has this commit anymore' },
  CommitNotPublished: { retry: 'on-change', help: 'this commit was never published for this GatewaySync' },
  UnknownBase: { retry: 'backoff', help: 'the base commit is not in the mirror; the agent requests all files' },
  DeliveryUnreachable: { retry: 'backoff', help: 'the controller could not be reached' },
  DeliveryUnauthorized: { retry: 'backoff', help: 'the token is missing or expired, or its pod may not read this GatewaySync' },
  DeliveryFailed: { retry: 'backoff', help: 'the response of the controller ended early or was damaged' },
  // sync engine
  ModeUnknown: { retry: 'backoff', help: 'the deployment mode is currently unknown; the files of the last known mode stay' },
  UnknownProfile: { retry: 'on-change', help: 'the GatewaySync has no profile of that name' },
  AgentOutdated: {
    retry: 'on-change',
    help: 'the agent of this pod is too old for a field of the GatewaySync; recreate the pod',
  },
  TooLarge: {
    retry: 'on-change',
    help: 'the spec of the GatewaySync, or all specs of its namespace together, exceed the size that a controller reads',
  },
  InvalidSpec: { retry: 'on-change', help: 'the GatewaySync has an invalid value' },
  SourcePathMissing: { retry: 'on-change', help: 'a required mapping or collections.root names a path that does not exist in the commit' },
  DestinationNotAllowed: { retry: 'on-change', help: 'the destination belongs to the gateway itself or is outside its data directory' },
  MappingConflict: { retry: 'on-change', help: 'two mappings or two paths conflict' },
  MassDeletion: { retry: 'on-change', help: 'more files than maxDeletions would be deleted; confirm by annotation' },
  LocalChanges: {
    retry: 'on-change',
    help: 'drift is Hold, and the commit would overwrite local changes; capture them, or confirm the overwrite',
  },
  ModeRemoved: {
    retry: 'on-change',
    help: 'the gateway would lose its deployment mode, a project, or a singleton of core; confirm by annotation',
  },
  PathTooLong: { retry: 'on-change', help: 'a path exceeds the limits of a file system: 255 bytes for a name, 4,095 bytes in total' },
  TemplateFailed: { retry: 'on-change', help: 'a template or patch could not be rendered' },
  SymbolicLink: { retry: 'on-change', help: 'the path contains a symbolic link; links are never followed' },
  FolderLocked: { retry: 'backoff', help: 'another agent writes to this data directory' },
  DiskFull: { retry: 'backoff', help: 'a volume or a quota is full; the message names the file' },
  NotWritable: { retry: 'backoff', help: 'this user may not read or write a file or folder that a sync needs' },
  DataDirectoryMissing: { retry: 'backoff', help: 'the data directory does not exist' },
  PublishFailed: {
    retry: 'backoff',
    help: 'a file could not be written; the previous commit was restored, or the next attempt finishes the sync',
  },
  StateUnreadable: { retry: 'on-change', help: 'a state file of the operator is damaged; it was not changed' },
  // gateway
  GatewayUnreachable: { retry: 'backoff', help: 'the gateway does not answer' },
  GatewayNotReady: {
    retry: 'backoff',
    help: 'the gateway is starting, stopping or being commissioned, is locked by another session, or returned an invalid response',
  },
  GatewayUnauthorized: { retry: 'backoff', help: 'the gateway rejected the API key (401)' },
  GatewayForbidden: { retry: 'backoff', help: 'the API key lacks a required security level (403): the scan needs Write' },
  ScanFailed: { retry: 'backoff', help: 'the gateway did not finish the scan' },
  NewProblems: {
    retry: 'on-change',
    help: 'the gateway reports new problems since it applied the commit',
  },
  HealthCheckFailed: { retry: 'on-change', help: 'the health check of the profile has failed since the gateway applied the commit' },
  HealthCheckUnanswered: { retry: 'backoff', help: 'the health check of a profile got no response within the deadline of the rollout' },
  GatewayRestarted: { retry: 'on-change', help: 'the container of the gateway restarted after it applied the commit' },
  DesignerOpen: { retry: 'backoff', help: 'a Designer session is open and designerSessionPolicy does not allow writes' },
  // receiver
  NotAuthenticated: { retry: 'on-change', help: 'no configured method authenticates this call' },
  AuthNotReady: { retry: 'backoff', help: 'the Secret that contains the key is missing, empty or unreadable' },
  PayloadMalformed: { retry: 'on-change', help: 'the body is not valid JSON in UTF-8' },
  PayloadTooLarge: { retry: 'on-change', help: 'the body is larger than the limit' },
  PayloadUnrecognized: { retry: 'on-change', help: 'the body matches no known payload format' },
  UnsupportedMediaType: { retry: 'on-change', help: 'the content type is not application/json' },
  MethodNotAllowed: { retry: 'on-change', help: 'the route requires another method' },
  NotFound: { retry: 'on-change', help: 'the route or object does not exist' },
  TooManyRequests: { retry: 'backoff', help: 'a rate limit was reached' },
  // cluster
  ApiUnavailable: { retry: 'backoff', help: 'the Kubernetes API server does not answer, or temporarily refuses calls' },
  Conflict: { retry: 'backoff', help: 'another client changed the object at the same time' },
  Forbidden: { retry: 'backoff', help: 'RBAC or an admission policy denies the call' },
  Rejected: { retry: 'on-change', help: 'the API server rejects the object as invalid' },
  UnsupportedKubernetes: { retry: 'on-change', help: 'the cluster is older than Kubernetes 1.30' },
  // anywhere
  Timeout: { retry: 'backoff', help: 'a deadline passed' },
  InvalidConfiguration: { retry: 'on-change', help: 'an option, environment variable or settings file has an invalid value' },
  Unexpected: { retry: 'backoff', help: 'a bug: the log has the stack' },
} as const satisfies Record<string, { retry: Retry; help: string }>

/** A reason of the table. */
export type Reason = keyof typeof reasons

/** Characters. Messages may quote untrusted text. */
const maxMessage = 4096

/**
 * A failure with a reason from the table. The message names object and cause and never holds a secret; URL credentials are redacted here,
 * so that users of the message need not.
 */
export class Fault extends Error {
  override readonly name = 'Fault'
  readonly reason: Reason
  /** The wait before the next call that a refusing server requests. */
  readonly retryAfterMs: number | undefined

  constructor(reason: Reason, message: string, options?: { cause?: unknown; retryAfterMs?: number }) {
    super(redactUrls(message, maxMessage), options)
    this.reason = reason
    this.retryAfterMs = options?.retryAfterMs
  }

  get retry(): Retry {
    return reasons[this.reason].retry
  }
}

/**
 * Converts any thrown value to a Fault. The abort reason of a deadline is `Timeout`; anything else that is not a Fault is a bug and becomes
 * `Unexpected` with the original as its cause.
 */
export function asFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  if (thrown instanceof Error && thrown.name === 'TimeoutError') return new Fault('Timeout', message, { cause: thrown })
  return new Fault('Unexpected', message, { cause: thrown })
}

/** Whether a thrown value is an abort by the given signal, rather than a failure. */
export function isAbort(thrown: unknown, signal: AbortSignal): boolean {
  return signal.aborted && (thrown === signal.reason || (thrown instanceof Error && thrown.name === 'AbortError'))
}

/** The error codes of a system that lacks a resource: which one, and what to do. */
export const shortages = {
  EMFILE: 'this process has too many files open; raise its limit (ulimit -n)',
  ENFILE: 'this machine has too many files open; raise fs.file-max',
  ENOMEM: 'the system is out of memory; give the machine or the container more memory',
} as const
