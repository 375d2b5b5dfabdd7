/**
 * The next step for each reason in `runtime/platform/fault.ts`. Pure.
 */
import { type Reason, reasons } from '../../platform/fault.ts'
import { docsPage } from '../../platform/version.ts'

const inFile = ' (without a cluster: in metadata.annotations of the file)'

const steps: Readonly<Record<Reason, string>> = {
  // source
  RefNotFound: 'Compare the name with `git ls-remote <repository>`, and correct spec.git.ref or push the branch or tag.',
  PushNotVisible: 'Wait: the operator retries for two minutes. If the problem persists, check whether spec.git.repo is a mirror that lags.',
  AmbiguousRef: 'Use the full name in spec.git.ref or the request: refs/heads/<name> for the branch, refs/tags/<name> for the tag.',
  CommitNotServed: 'Point a branch or tag at the commit, or let the git host serve commits by hash (uploadpack.allowReachableSHA1InWant).',
  RefNotAllowed: 'Add the ref to spec.git.allowedRefs if it may be followed.',
  InvalidRef: 'Write the ref as git names it: main, v1.2, refs/heads/main, or a full commit hash.',
  RepositoryMoved: 'Set spec.git.repo to the new address.',
  RepositoryRefused: 'Run `git fsck` in a clone, and repair or remove the object that it names.',
  RepositoryNotOwned: 'Change the owner of the repository to the user that serves it (chown -R), or serve it as its current owner.',
  RepositoryNotFound: 'Check spec.git.repo; if the repository is private, check that the credentials in spec.git.auth may read it.',
  RepositoryNotAllowed: 'Use an https or ssh address of a host that the installation permits (value source.allowedHosts).',
  RepositoryTooLarge: 'Remove large files from the repository; the message names the limit that is exceeded.',
  SourceVolumeFull: 'Free space on the volume of the state folder (df -h), or raise the value source.storage.sizeLimit.',
  GitUnauthorized: 'Set spec.git.auth, or renew the token or password in its Secret: it may be missing, wrong or expired.',
  GitForbidden: 'Give the account of the credentials permission to read the repository.',
  GitKeyRefused: 'Add the public half of the SSH key to the git host as a deploy key with read access.',
  GitHostKeyUnknown: 'Run `ssh-keyscan <host>`, verify the fingerprint, and add the printed line to knownHosts.',
  GitHostKeyChanged: 'Ask the administrators of the git host whether its key changed; only then replace the line in knownHosts.',
  GitTlsUntrusted: 'Add the CA certificate of the git host to the Secret that spec.git.caBundle names.',
  GitHostUnknown: 'Check the host name in spec.git.repo and the DNS of this machine: `getent hosts <host>`.',
  GitConnectionRefused: 'Check the address and port in spec.git.repo, and whether a firewall or proxy blocks the connection.',
  GitProxyRefused: 'Check the proxy (spec.git.proxy, HTTPS_PROXY) and whether it permits the git host.',
  GitObjectMissing: 'Run `git fsck` on the git host, and push the missing object again from a clone that has it.',
  GitOutOfMemory: 'Remove the largest files from the repository.',
  GithubAppRefused: 'Check appId, installationId and the private key, and that the App is installed for this repository.',
  CredentialsInvalid:
    'Correct the Secret that the message names: it must contain the entire key or certificate in PEM format, and the passphrase of the key.',
  GitUnreachable: 'Check the network between this machine and the git host: `git ls-remote <repository>`. The sync retries automatically.',
  GitTimeout: 'Check the network to the git host. The sync retries automatically.',
  GitFailed: "Read git's message. `git fetch` in a clone on the same machine should fail in the same way.",
  GitKilled: 'Raise the limit that the message names: memory, processes or open files. The sync retries automatically.',
  CommitStatusRefused: 'Give the token of spec.git.commitStatus permission to write commit statuses.',
  CommitStatusFailed: 'Check the network to the git host. The status is sent again automatically.',
  NotificationRefused: 'Check the address and the credentials of the notification receiver.',
  NotificationFailed: 'Check the network to the notification receiver. The message is sent again automatically.',
  PushRefused:
    'If the branch exists, it may already contain these changes: merge or delete it, or choose another one with --branch. Otherwise, ask the administrators of the git host for permission to create branches.',
  PullRequestRefused:
    'Give the token of spec.capture permission to open pull requests, then run the command again. The branch is already pushed.',
  PullRequestFailed: 'Check the network to the API of the git host, then run the command again. The branch is already pushed.',
  ToolMissing: `Install the program that the message names, or a newer version of it; ${docsPage('docs/how-to/standalone.md')} lists the requirements.`,
  SecretNotFound: 'Create the Secret or key that the message names (on one machine: the file <secrets>/<name>/<key>).',
  NotVerified:
    'Sign the commit or tag with a key that spec.git.verify trusts, and push it; sign an artifact with a key of spec.oci.verify.',
  CollectionsInvalid: 'Run `cluster-sync lint` in the repository, fix what it reports, and push.',
  ValidationFailed:
    'Remove very large files from the collections, or raise the memory limit of the controller; the finding names the cause.',
  // rollout
  RolloutFailed: 'Correct the problems that the failed gateways report, and push a new commit; or resume the rollout of this one.',
  RolloutAborted: 'Push another commit, or resume the rollout of this one.',
  WaitsForStage: 'Wait until the stage of this gateway begins; if it is waiting for approval, run `cluster-sync approve <name>`.',
  // delivery
  CommitGone: 'Push the commit again, or request another ref.',
  CommitNotPublished: 'Wait until the commit is published, or request a published one.',
  UnknownBase: 'No action needed: the agent requests all files again.',
  DeliveryUnreachable:
    'Check that the controller is running and that NetworkPolicies permit its delivery port. The agent retries automatically.',
  DeliveryUnauthorized: 'If this persists, recreate the pod: its token belongs to another pod or has expired.',
  DeliveryFailed: 'No action needed: the agent retries automatically. If it persists, check the network between controller and gateway.',
  // sync engine
  ModeUnknown: 'Start the gateway, or set its mode: mode=<name> in --target, or --mode.',
  UnknownProfile: 'Correct the name of the profile, or add it to spec.sync.profiles.',
  AgentOutdated: 'Recreate the pod, so that it gets the current agent.',
  TooLarge: 'Shorten the spec, or use fewer or smaller GatewaySyncs in this namespace.',
  InvalidSpec: 'Correct the field that the message names.',
  SourcePathMissing:
    'Correct the path that the message names: `collections.root` of the profile, or `source` of the mapping; or set `required: false` for an optional mapping.',
  DestinationNotAllowed: 'Choose another `destination`: this one belongs to the gateway itself.',
  MappingConflict: 'Change one of the two mappings or paths, so that each file has one source.',
  MassDeletion: `To delete these files, set the annotation clustersync.io/confirm-deletions to the commit${inFile}. Otherwise, revert the commit.`,
  LocalChanges: `Capture the changes with \`cluster-sync capture\` and merge them. To discard them, or if a merged file differs from the one on the gateway, set the annotation clustersync.io/confirm-overwrites to the commit${inFile}.`,
  ModeRemoved: `To remove it from the gateway, set the annotation clustersync.io/confirm-deletions to the commit${inFile}. Otherwise, revert the commit.`,
  PathTooLong: 'Give the file or folder a shorter name.',
  TemplateFailed: 'Correct the template or patch at the place that the message names; `cluster-sync plan` shows the result beforehand.',
  SymbolicLink: 'Replace the symbolic link with the folder or file that it points to.',
  FolderLocked: 'Stop the other process, or wait until it ends: only one run may use a data directory.',
  DiskFull: 'Free space on the volume that the message names (df -h), or raise the quota. The sync retries automatically.',
  NotWritable:
    'If the volume is mounted read-only, mount it read-write. Otherwise, run as the user that owns the folder, or permit this user to read and write it.',
  DataDirectoryMissing: 'Check the path of the data directory, and that its volume is mounted.',
  PublishFailed: 'Read the cause in the message; the previous commit is in place, and the sync retries automatically.',
  StateUnreadable: 'Remove the file that the message names; open requests are lost.',
  // gateway
  GatewayUnreachable: 'Start the gateway, or correct its address. The gateway reads the files as soon as it answers.',
  GatewayNotReady: 'Wait until the gateway has started or is commissioned. It reads the files then.',
  GatewayUnauthorized: `Provide an API key of the gateway: --api-key-file, or spec.gateway.api. ${docsPage('docs/how-to/api-key.md')} shows how to create one.`,
  GatewayForbidden: 'In the gateway, grant the API key the security level that the call needs: Write for a scan.',
  ScanFailed: 'Check the log of the gateway for files that it could not read. The sync retries automatically.',
  NewProblems: 'Correct the problems in the report of the gateway, and push; or accept them with `cluster-sync resume <name>`.',
  HealthCheckFailed:
    'Compare `healthCheck` of the profile with the response that the rollout or the report of the gateway shows. Correct the commit, or continue with `cluster-sync resume <name>`.',
  HealthCheckUnanswered:
    'Find the cause in the rollout or in the report of the gateway, correct `healthCheck`, the gateway or Prometheus, and run `cluster-sync resume <name>`.',
  GatewayRestarted:
    "Check the end of the previous log of the gateway's container; correct the commit, or continue with `cluster-sync resume <name>`.",
  DesignerOpen: 'Close the Designer, or set designerSessionPolicy to Proceed.',
  // receiver
  NotAuthenticated: `Configure the same secret or token on both sides, and a signature format that ${docsPage('docs/how-to/webhooks/README.md')} lists.`,
  AuthNotReady: 'Create the Secret with the key of the webhook, or correct its name.',
  PayloadMalformed: 'Send the body as JSON in UTF-8.',
  PayloadTooLarge: 'Send a smaller body; a generic call contains only {"ref": "main"}.',
  PayloadUnrecognized: `Send {"ref": "main"}, or choose an event that ${docsPage('docs/how-to/webhooks/README.md')} lists.`,
  UnsupportedMediaType: 'Choose application/json as the content type of the webhook.',
  MethodNotAllowed: 'Use the method POST.',
  NotFound: 'Check the URL: POST /webhook/<namespace>/<name>.',
  TooManyRequests:
    'If a gateway reports it, no action is needed: the agent waits for a free connection and retries automatically. If a caller gets it, call less often; the Retry-After header shows the number of seconds.',
  // cluster
  ApiUnavailable: 'Check the API server and the network to it: `kubectl get --raw /readyz`. The operator retries automatically.',
  Conflict: 'No action needed: the operator retries automatically. If a command failed with this reason, run it again.',
  Forbidden: 'Ask for the permission that the message names; `kubectl auth can-i` shows whether you have it.',
  Rejected: 'Correct the field that the API server names.',
  UnsupportedKubernetes: 'Upgrade the cluster to Kubernetes 1.30 or newer.',
  // anywhere
  Timeout: 'Try again with a longer --timeout. If the problem persists, check the system that the message names.',
  InvalidConfiguration: 'Correct the option or setting that the message names; `cluster-sync <command> --help` shows the options.',
  Unexpected: 'This is a bug in cluster-sync: please report it with the output of `--log-level debug`.',
}

/** The next step for states that are not faults. */
const stateSteps: Readonly<Record<string, string>> = {
  Drifted: 'Capture the local change into git, or revert it; with `drift: Restore` the next sync reverts it.',
  Paused: 'Set `paused: false` in the GatewaySync to resume writing.',
  DryRun: 'Check the plan, then set `dryRun: false` to apply it.',
  OldConfiguration: 'Wait: the gateway has not applied the current GatewaySync yet.',
}

/** Returns the next step for a reason; undefined if it has none. */
export function nextStep(reason: string | undefined): string | undefined {
  if (reason === undefined) return undefined
  return Object.hasOwn(reasons, reason) ? steps[reason as Reason] : Object.hasOwn(stateSteps, reason) ? stateSteps[reason] : undefined
}
