import { ApiObject, ApiObjectMetadata, GroupVersionKind } from 'cdk8s';
import { Construct } from 'constructs';
/**
 * Which commit of a repository the gateways of a namespace run, and whether they do.
 *
 * @schema GatewaySync
 */
export declare class GatewaySync extends ApiObject {
    /**
     * Returns the apiVersion and kind for "GatewaySync"
     */
    static readonly GVK: GroupVersionKind;
    /**
     * Renders a Kubernetes manifest for "GatewaySync".
     *
     * This can be used to inline resource manifests inside other objects (e.g. as templates).
     *
     * @param props initialization props
     */
    static manifest(props: GatewaySyncProps): any;
    /**
     * Defines a "GatewaySync" API object
     * @param scope the scope in which to define this object
     * @param id a scope-local name for the object
     * @param props initialization props
     */
    constructor(scope: Construct, id: string, props: GatewaySyncProps);
    /**
     * Renders the object to Kubernetes JSON.
     */
    toJson(): any;
}
/**
 * Which commit of a repository the gateways of a namespace run, and whether they do.
 *
 * @schema GatewaySync
 */
export interface GatewaySyncProps {
    /**
     * @schema GatewaySync#metadata
     */
    readonly metadata?: ApiObjectMetadata;
    /**
     * @schema GatewaySync#spec
     */
    readonly spec: GatewaySyncSpec;
}
/**
 * Converts an object of type 'GatewaySyncProps' to JSON representation.
 */
export declare function toJson_GatewaySyncProps(obj: GatewaySyncProps | undefined): Record<string, any> | undefined;
/**
 * @schema GatewaySyncSpec
 */
export interface GatewaySyncSpec {
    /**
     * Where the configuration comes from.
     *
     * @schema GatewaySyncSpec#git
     */
    readonly git: GatewaySyncSpecGit;
    /**
     * How often the git host is asked.
     *
     * @schema GatewaySyncSpec#polling
     */
    readonly polling?: GatewaySyncSpecPolling;
    /**
     * Replaces the operator's global pair for this resource; either suffices.
     *
     * @schema GatewaySyncSpec#webhook
     */
    readonly webhook?: GatewaySyncSpecWebhook;
    /**
     * The gateway's own HTTP API.
     *
     * @schema GatewaySyncSpec#gateway
     */
    readonly gateway?: GatewaySyncSpecGateway;
    /**
     * Which folders go where.
     *
     * @schema GatewaySyncSpec#sync
     */
    readonly sync: GatewaySyncSpecSync;
    /**
     * Checks of resource collections before a commit is published.
     *
     * @schema GatewaySyncSpec#validation
     */
    readonly validation?: GatewaySyncSpecValidation;
    /**
     * Gateways take a commit or a configuration in stages; absent: all at once. docs/rollout.md tells more.
     *
     * @schema GatewaySyncSpec#rollout
     */
    readonly rollout?: GatewaySyncSpecRollout;
    /**
     * What was changed on gateways becomes commits, on request or by itself; absent: agents hand on nothing. docs/capture.md tells more.
     *
     * @schema GatewaySyncSpec#capture
     */
    readonly capture?: GatewaySyncSpecCapture;
    /**
     * The injected container.
     *
     * @schema GatewaySyncSpec#agent
     */
    readonly agent?: GatewaySyncSpecAgent;
    /**
     * Stops gateway writes only; fetching, checking and acknowledging go on.
     *
     * @schema GatewaySyncSpec#paused
     */
    readonly paused?: boolean;
}
/**
 * Converts an object of type 'GatewaySyncSpec' to JSON representation.
 */
export declare function toJson_GatewaySyncSpec(obj: GatewaySyncSpec | undefined): Record<string, any> | undefined;
/**
 * Where the configuration comes from.
 *
 * @schema GatewaySyncSpecGit
 */
export interface GatewaySyncSpecGit {
    /**
     * URL of the repository: https://…, ssh://… or git@host:path, and http://… without credentials. No redirect is followed.
     *
     * @schema GatewaySyncSpecGit#repo
     */
    readonly repo: string;
    /**
     * Branch, tag, refs/… name or full commit hash.
     *
     * @schema GatewaySyncSpecGit#ref
     */
    readonly ref: string;
    /**
     * Credentials of a private repository, of one kind.
     *
     * @schema GatewaySyncSpecGit#auth
     */
    readonly auth?: GatewaySyncSpecGitAuth;
    /**
     * Certificates, PEM, of the authorities that may vouch for the git host. They take the place of those of the system.
     *
     * @schema GatewaySyncSpecGit#caBundle
     */
    readonly caBundle?: GatewaySyncSpecGitCaBundle;
    /**
     * Proxy on the way to the git host: the key url of a Secret, http://[user:password@]host:port. Default: the value source.proxy.
     *
     * @schema GatewaySyncSpecGit#proxy
     */
    readonly proxy?: GatewaySyncSpecGitProxy;
    /**
     * Glob patterns of the refs that a push or another request may ask for. Default: any branch or tag; no hashes, no other refs.
     *
     * @schema GatewaySyncSpecGit#allowedRefs
     */
    readonly allowedRefs?: string[];
    /**
     * Publish only commits that one of these PGP or SSH keys has signed.
     *
     * @schema GatewaySyncSpecGit#verify
     */
    readonly verify?: GatewaySyncSpecGitVerify;
    /**
     * Tells the git host of each wanted commit whether it was refused and how many gateways run it.
     *
     * @schema GatewaySyncSpecGit#commitStatus
     */
    readonly commitStatus?: GatewaySyncSpecGitCommitStatus;
}
/**
 * Converts an object of type 'GatewaySyncSpecGit' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGit(obj: GatewaySyncSpecGit | undefined): Record<string, any> | undefined;
/**
 * How often the git host is asked.
 *
 * @schema GatewaySyncSpecPolling
 */
export interface GatewaySyncSpecPolling {
    /**
     * When false, only webhooks and other requests for this GatewaySync cause syncs, and one look when a controller begins to lead.
     *
     * @schema GatewaySyncSpecPolling#enabled
     */
    readonly enabled?: boolean;
    /**
     * A duration such as 60s, 5m or 1h30m; at least 5s.
     *
     * @schema GatewaySyncSpecPolling#interval
     */
    readonly interval?: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecPolling' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecPolling(obj: GatewaySyncSpecPolling | undefined): Record<string, any> | undefined;
/**
 * Replaces the operator's global pair for this resource; either suffices.
 *
 * @schema GatewaySyncSpecWebhook
 */
export interface GatewaySyncSpecWebhook {
    /**
     * Secret that signs the deliveries of a git host.
     *
     * @schema GatewaySyncSpecWebhook#hmac
     */
    readonly hmac?: GatewaySyncSpecWebhookHmac;
    /**
     * Bearer token of other senders.
     *
     * @schema GatewaySyncSpecWebhook#token
     */
    readonly token?: GatewaySyncSpecWebhookToken;
}
/**
 * Converts an object of type 'GatewaySyncSpecWebhook' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecWebhook(obj: GatewaySyncSpecWebhook | undefined): Record<string, any> | undefined;
/**
 * The gateway's own HTTP API.
 *
 * @schema GatewaySyncSpecGateway
 */
export interface GatewaySyncSpecGateway {
    /**
     * Default 8088, or 8043 when tls is true.
     *
     * @schema GatewaySyncSpecGateway#port
     */
    readonly port?: number;
    /**
     * Whether the gateway's HTTP API is served over TLS.
     *
     * @schema GatewaySyncSpecGateway#tls
     */
    readonly tls?: boolean;
    /**
     * Certificate authority of the gateway, PEM.
     *
     * @schema GatewaySyncSpecGateway#caBundle
     */
    readonly caBundle?: GatewaySyncSpecGatewayCaBundle;
    /**
     * API key, name:secret, sent as X-Ignition-API-Token.
     *
     * @schema GatewaySyncSpecGateway#api
     */
    readonly api?: GatewaySyncSpecGatewayApi;
}
/**
 * Converts an object of type 'GatewaySyncSpecGateway' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGateway(obj: GatewaySyncSpecGateway | undefined): Record<string, any> | undefined;
/**
 * Which folders go where.
 *
 * @schema GatewaySyncSpecSync
 */
export interface GatewaySyncSpecSync {
    /**
     * Settings of every profile that does not set them itself.
     *
     * @schema GatewaySyncSpecSync#defaults
     */
    readonly defaults?: GatewaySyncSpecSyncDefaults;
    /**
     * What goes where; a pod chooses by annotation, default "default".
     *
     * @schema GatewaySyncSpecSync#profiles
     */
    readonly profiles: {
        [key: string]: GatewaySyncSpecSyncProfiles;
    };
    /**
     * A commit that a gateway cannot take, whose scan fails, or that it complains of goes back everywhere: a rollout with one stage of all gateways. spec.rollout takes its place.
     *
     * @schema GatewaySyncSpecSync#rollbackOnFailedScan
     */
    readonly rollbackOnFailedScan?: boolean;
}
/**
 * Converts an object of type 'GatewaySyncSpecSync' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecSync(obj: GatewaySyncSpecSync | undefined): Record<string, any> | undefined;
/**
 * Checks of resource collections before a commit is published.
 *
 * @schema GatewaySyncSpecValidation
 */
export interface GatewaySyncSpecValidation {
    /**
     * Enforce keeps the last good commit when a check finds an error.
     *
     * @schema GatewaySyncSpecValidation#policy
     */
    readonly policy?: GatewaySyncSpecValidationPolicy;
    /**
     * Severity per rule of docs/rules.md.
     *
     * @schema GatewaySyncSpecValidation#rules
     */
    readonly rules?: {
        [key: string]: GatewaySyncSpecValidationRules;
    };
}
/**
 * Converts an object of type 'GatewaySyncSpecValidation' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecValidation(obj: GatewaySyncSpecValidation | undefined): Record<string, any> | undefined;
/**
 * Gateways take a commit or a configuration in stages; absent: all at once. docs/rollout.md tells more.
 *
 * @schema GatewaySyncSpecRollout
 */
export interface GatewaySyncSpecRollout {
    /**
     * One after the other; a gateway belongs to the first that chooses it.
     *
     * @schema GatewaySyncSpecRollout#stages
     */
    readonly stages: GatewaySyncSpecRolloutStages[];
    /**
     * Hold: nothing moves any further. Rollback: gateways that took the commit go back to the one before.
     *
     * @schema GatewaySyncSpecRollout#onFailure
     */
    readonly onFailure?: GatewaySyncSpecRolloutOnFailure;
    /**
     * So many failed gateways of a stage, or such a part of it, are a failure of the rollout.
     *
     * @schema GatewaySyncSpecRollout#failAfter
     */
    readonly failAfter?: GatewaySyncSpecRolloutFailAfter;
    /**
     * When gateways may begin to take a commit; absent: always. What has begun ends; to go back is always allowed.
     *
     * @schema GatewaySyncSpecRollout#windows
     */
    readonly windows?: GatewaySyncSpecRolloutWindows[];
    /**
     * A gateway that has not taken the commit this long after the last progress of its stage has failed.
     *
     * @schema GatewaySyncSpecRollout#progressDeadline
     */
    readonly progressDeadline?: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecRollout' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecRollout(obj: GatewaySyncSpecRollout | undefined): Record<string, any> | undefined;
/**
 * What was changed on gateways becomes commits, on request or by itself; absent: agents hand on nothing. docs/capture.md tells more.
 *
 * @schema GatewaySyncSpecCapture
 */
export interface GatewaySyncSpecCapture {
    /**
     * When false, agents hand on nothing.
     *
     * @schema GatewaySyncSpecCapture#enabled
     */
    readonly enabled?: boolean;
    /**
     * Branch of a gateway. It belongs to the operator alone, and is never forced.
     *
     * @schema GatewaySyncSpecCapture#branch
     */
    readonly branch?: string;
    /**
     * Credentials to push with, which nothing else uses; spec.git.auth needs no right to write.
     *
     * @schema GatewaySyncSpecCapture#auth
     */
    readonly auth: GatewaySyncSpecCaptureAuth;
    /**
     * Request: only when somebody asks; Drift: also by itself, once changes were left alone for quiet. Quote it in YAML: "on".
     *
     * @schema GatewaySyncSpecCapture#on
     */
    readonly on?: GatewaySyncSpecCaptureOn;
    /**
     * With on: Drift, for how long the changes of a gateway must have stayed as they are; 10m unless it is said. At least 1m.
     *
     * @schema GatewaySyncSpecCapture#quiet
     */
    readonly quiet?: string;
    /**
     * Opens one pull request of each branch, to spec.git.ref, or brings its text up to date: files, findings and differences.
     *
     * @schema GatewaySyncSpecCapture#pullRequest
     */
    readonly pullRequest?: boolean;
    /**
     * The API of the git host, for pull requests.
     *
     * @schema GatewaySyncSpecCapture#api
     */
    readonly api?: GatewaySyncSpecCaptureApi;
}
/**
 * Converts an object of type 'GatewaySyncSpecCapture' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCapture(obj: GatewaySyncSpecCapture | undefined): Record<string, any> | undefined;
/**
 * The injected container.
 *
 * @schema GatewaySyncSpecAgent
 */
export interface GatewaySyncSpecAgent {
    /**
     * Taken only where the installation value agent.allowImageOverride permits it.
     *
     * @schema GatewaySyncSpecAgent#image
     */
    readonly image?: GatewaySyncSpecAgentImage;
    /**
     * Resources of the container, in place of those of the installation.
     *
     * @schema GatewaySyncSpecAgent#resources
     */
    readonly resources?: GatewaySyncSpecAgentResources;
    /**
     * Secrets that the image is pulled with, beside those of the pod.
     *
     * @schema GatewaySyncSpecAgent#imagePullSecrets
     */
    readonly imagePullSecrets?: GatewaySyncSpecAgentImagePullSecrets[];
}
/**
 * Converts an object of type 'GatewaySyncSpecAgent' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecAgent(obj: GatewaySyncSpecAgent | undefined): Record<string, any> | undefined;
/**
 * Credentials of a private repository, of one kind.
 *
 * @schema GatewaySyncSpecGitAuth
 */
export interface GatewaySyncSpecGitAuth {
    /**
     * Access token for https, of any git host.
     *
     * @schema GatewaySyncSpecGitAuth#token
     */
    readonly token?: GatewaySyncSpecGitAuthToken;
    /**
     * User and password for https: the keys username and password of a Secret.
     *
     * @schema GatewaySyncSpecGitAuth#basic
     */
    readonly basic?: GatewaySyncSpecGitAuthBasic;
    /**
     * Client certificate for https: the keys tls.crt and tls.key of a Secret.
     *
     * @schema GatewaySyncSpecGitAuth#clientCertificate
     */
    readonly clientCertificate?: GatewaySyncSpecGitAuthClientCertificate;
    /**
     * Private key for ssh, and the host keys that the git host may show.
     *
     * @schema GatewaySyncSpecGitAuth#sshKey
     */
    readonly sshKey?: GatewaySyncSpecGitAuthSshKey;
    /**
     * A GitHub App that is installed for the repository; its tokens are fetched and renewed by the controller.
     *
     * @schema GatewaySyncSpecGitAuth#githubApp
     */
    readonly githubApp?: GatewaySyncSpecGitAuthGithubApp;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitAuth' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitAuth(obj: GatewaySyncSpecGitAuth | undefined): Record<string, any> | undefined;
/**
 * Certificates, PEM, of the authorities that may vouch for the git host. They take the place of those of the system.
 *
 * @schema GatewaySyncSpecGitCaBundle
 */
export interface GatewaySyncSpecGitCaBundle {
    /**
     * A key of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGitCaBundle#secretRef
     */
    readonly secretRef: GatewaySyncSpecGitCaBundleSecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitCaBundle' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitCaBundle(obj: GatewaySyncSpecGitCaBundle | undefined): Record<string, any> | undefined;
/**
 * Proxy on the way to the git host: the key url of a Secret, http://[user:password@]host:port. Default: the value source.proxy.
 *
 * @schema GatewaySyncSpecGitProxy
 */
export interface GatewaySyncSpecGitProxy {
    /**
     * A Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGitProxy#secretRef
     */
    readonly secretRef: GatewaySyncSpecGitProxySecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitProxy' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitProxy(obj: GatewaySyncSpecGitProxy | undefined): Record<string, any> | undefined;
/**
 * Publish only commits that one of these PGP or SSH keys has signed.
 *
 * @schema GatewaySyncSpecGitVerify
 */
export interface GatewaySyncSpecGitVerify {
    /**
     * What must be signed: the commit, the annotated tag that ref names, or both.
     *
     * @schema GatewaySyncSpecGitVerify#mode
     */
    readonly mode: GatewaySyncSpecGitVerifyMode;
    /**
     * Secret with the public keys; each key of its data is a file of PGP or SSH keys.
     *
     * @schema GatewaySyncSpecGitVerify#secretRef
     */
    readonly secretRef: GatewaySyncSpecGitVerifySecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitVerify' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitVerify(obj: GatewaySyncSpecGitVerify | undefined): Record<string, any> | undefined;
/**
 * Tells the git host of each wanted commit whether it was refused and how many gateways run it.
 *
 * @schema GatewaySyncSpecGitCommitStatus
 */
export interface GatewaySyncSpecGitCommitStatus {
    /**
     * API of the git host: gitea for Forgejo too, bitbucket for bitbucket.org, bitbucketserver for Bitbucket Data Center.
     *
     * @schema GatewaySyncSpecGitCommitStatus#provider
     */
    readonly provider: GatewaySyncSpecGitCommitStatusProvider;
    /**
     * A key of a Secret in the same namespace with the access token for the API. Default: the credentials of spec.git.auth.
     *
     * @schema GatewaySyncSpecGitCommitStatus#secretRef
     */
    readonly secretRef?: GatewaySyncSpecGitCommitStatusSecretRef;
    /**
     * Base of the API where it is not the usual one of provider and host, such as https://git.example.com:8443/api/v1.
     *
     * @schema GatewaySyncSpecGitCommitStatus#apiURL
     */
    readonly apiUrl?: string;
    /**
     * Name of the status at the host. Default: cluster-sync/<namespace>/<name>. Two clusters need different ones.
     *
     * @schema GatewaySyncSpecGitCommitStatus#context
     */
    readonly context?: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitCommitStatus' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitCommitStatus(obj: GatewaySyncSpecGitCommitStatus | undefined): Record<string, any> | undefined;
/**
 * Secret that signs the deliveries of a git host.
 *
 * @schema GatewaySyncSpecWebhookHmac
 */
export interface GatewaySyncSpecWebhookHmac {
    /**
     * A key of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecWebhookHmac#secretRef
     */
    readonly secretRef: GatewaySyncSpecWebhookHmacSecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecWebhookHmac' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecWebhookHmac(obj: GatewaySyncSpecWebhookHmac | undefined): Record<string, any> | undefined;
/**
 * Bearer token of other senders.
 *
 * @schema GatewaySyncSpecWebhookToken
 */
export interface GatewaySyncSpecWebhookToken {
    /**
     * A key of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecWebhookToken#secretRef
     */
    readonly secretRef: GatewaySyncSpecWebhookTokenSecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecWebhookToken' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecWebhookToken(obj: GatewaySyncSpecWebhookToken | undefined): Record<string, any> | undefined;
/**
 * Certificate authority of the gateway, PEM.
 *
 * @schema GatewaySyncSpecGatewayCaBundle
 */
export interface GatewaySyncSpecGatewayCaBundle {
    /**
     * A key of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGatewayCaBundle#secretRef
     */
    readonly secretRef: GatewaySyncSpecGatewayCaBundleSecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecGatewayCaBundle' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGatewayCaBundle(obj: GatewaySyncSpecGatewayCaBundle | undefined): Record<string, any> | undefined;
/**
 * API key, name:secret, sent as X-Ignition-API-Token.
 *
 * @schema GatewaySyncSpecGatewayApi
 */
export interface GatewaySyncSpecGatewayApi {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGatewayApi#secretName
     */
    readonly secretName: string;
    /**
     * Key inside the Secret.
     *
     * @schema GatewaySyncSpecGatewayApi#secretKey
     */
    readonly secretKey?: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecGatewayApi' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGatewayApi(obj: GatewaySyncSpecGatewayApi | undefined): Record<string, any> | undefined;
/**
 * Settings of every profile that does not set them itself.
 *
 * @schema GatewaySyncSpecSyncDefaults
 */
export interface GatewaySyncSpecSyncDefaults {
    /**
     * Globs of what is left out; those of defaults, profile and mapping add up.
     *
     * @schema GatewaySyncSpecSyncDefaults#excludePatterns
     */
    readonly excludePatterns?: string[];
    /**
     * Variables for templates and patches, used as vars.<name>.
     *
     * @schema GatewaySyncSpecSyncDefaults#vars
     */
    readonly vars?: {
        [key: string]: string;
    };
    /**
     * Seconds between two looks for drift.
     *
     * @schema GatewaySyncSpecSyncDefaults#syncPeriod
     */
    readonly syncPeriod?: number;
    /**
     * What to do while a Designer session is open.
     *
     * @schema GatewaySyncSpecSyncDefaults#designerSessionPolicy
     */
    readonly designerSessionPolicy?: GatewaySyncSpecSyncDefaultsDesignerSessionPolicy;
    /**
     * Plan and report, write nothing.
     *
     * @schema GatewaySyncSpecSyncDefaults#dryRun
     */
    readonly dryRun?: boolean;
    /**
     * Write nothing; checking and acknowledging go on.
     *
     * @schema GatewaySyncSpecSyncDefaults#paused
     */
    readonly paused?: boolean;
    /**
     * What to do about local changes of owned files: tell of them, undo them, or keep a commit out that would undo them.
     *
     * @schema GatewaySyncSpecSyncDefaults#drift
     */
    readonly drift?: GatewaySyncSpecSyncDefaultsDrift;
    /**
     * What may be deleted: files that this operator wrote, every file of the folder, or nothing.
     *
     * @schema GatewaySyncSpecSyncDefaults#prune
     */
    readonly prune?: GatewaySyncSpecSyncDefaultsPrune;
    /**
     * More deletions than this stop with MassDeletion until confirmed; applied above 10 deletions.
     *
     * @schema GatewaySyncSpecSyncDefaults#maxDeletions
     */
    readonly maxDeletions?: GatewaySyncSpecSyncDefaultsMaxDeletions;
    /**
     * Whether a gateway whose volume holds no whole commit waits for one before it starts.
     *
     * @schema GatewaySyncSpecSyncDefaults#startPolicy
     */
    readonly startPolicy?: GatewaySyncSpecSyncDefaultsStartPolicy;
    /**
     * How long startPolicy block holds a gateway at most; then it starts without a commit. At most 25m.
     *
     * @schema GatewaySyncSpecSyncDefaults#startDeadline
     */
    readonly startDeadline?: string;
    /**
     * How long a gateway whose volume holds a whole commit waits for the published one at most, whatever startDeadline says.
     *
     * @schema GatewaySyncSpecSyncDefaults#startGrace
     */
    readonly startGrace?: string;
    /**
     * In a rollout a gateway counts as healthy only once it has passed this; asked until the rollout ends.
     *
     * @schema GatewaySyncSpecSyncDefaults#check
     */
    readonly check?: GatewaySyncSpecSyncDefaultsCheck;
}
/**
 * Converts an object of type 'GatewaySyncSpecSyncDefaults' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecSyncDefaults(obj: GatewaySyncSpecSyncDefaults | undefined): Record<string, any> | undefined;
/**
 * @schema GatewaySyncSpecSyncProfiles
 */
export interface GatewaySyncSpecSyncProfiles {
    /**
     * Resource collections of the gateway, by deployment mode.
     *
     * @schema GatewaySyncSpecSyncProfiles#collections
     */
    readonly collections?: GatewaySyncSpecSyncProfilesCollections;
    /**
     * Folders and files and where they go; a later one wins for a path.
     *
     * @schema GatewaySyncSpecSyncProfiles#mappings
     */
    readonly mappings?: GatewaySyncSpecSyncProfilesMappings[];
    /**
     * Globs of what is left out; those of defaults, profile and mapping add up.
     *
     * @schema GatewaySyncSpecSyncProfiles#excludePatterns
     */
    readonly excludePatterns?: string[];
    /**
     * Variables for templates and patches, used as vars.<name>.
     *
     * @schema GatewaySyncSpecSyncProfiles#vars
     */
    readonly vars?: {
        [key: string]: string;
    };
    /**
     * Seconds between two looks for drift.
     *
     * @schema GatewaySyncSpecSyncProfiles#syncPeriod
     */
    readonly syncPeriod?: number;
    /**
     * What to do while a Designer session is open.
     *
     * @schema GatewaySyncSpecSyncProfiles#designerSessionPolicy
     */
    readonly designerSessionPolicy?: GatewaySyncSpecSyncProfilesDesignerSessionPolicy;
    /**
     * Plan and report, write nothing.
     *
     * @schema GatewaySyncSpecSyncProfiles#dryRun
     */
    readonly dryRun?: boolean;
    /**
     * Write nothing; checking and acknowledging go on.
     *
     * @schema GatewaySyncSpecSyncProfiles#paused
     */
    readonly paused?: boolean;
    /**
     * What to do about local changes of owned files: tell of them, undo them, or keep a commit out that would undo them.
     *
     * @schema GatewaySyncSpecSyncProfiles#drift
     */
    readonly drift?: GatewaySyncSpecSyncProfilesDrift;
    /**
     * What may be deleted: files that this operator wrote, every file of the folder, or nothing.
     *
     * @schema GatewaySyncSpecSyncProfiles#prune
     */
    readonly prune?: GatewaySyncSpecSyncProfilesPrune;
    /**
     * More deletions than this stop with MassDeletion until confirmed; applied above 10 deletions.
     *
     * @schema GatewaySyncSpecSyncProfiles#maxDeletions
     */
    readonly maxDeletions?: GatewaySyncSpecSyncProfilesMaxDeletions;
    /**
     * Whether a gateway whose volume holds no whole commit waits for one before it starts.
     *
     * @schema GatewaySyncSpecSyncProfiles#startPolicy
     */
    readonly startPolicy?: GatewaySyncSpecSyncProfilesStartPolicy;
    /**
     * How long startPolicy block holds a gateway at most; then it starts without a commit. At most 25m.
     *
     * @schema GatewaySyncSpecSyncProfiles#startDeadline
     */
    readonly startDeadline?: string;
    /**
     * How long a gateway whose volume holds a whole commit waits for the published one at most, whatever startDeadline says.
     *
     * @schema GatewaySyncSpecSyncProfiles#startGrace
     */
    readonly startGrace?: string;
    /**
     * In a rollout a gateway counts as healthy only once it has passed this; asked until the rollout ends.
     *
     * @schema GatewaySyncSpecSyncProfiles#check
     */
    readonly check?: GatewaySyncSpecSyncProfilesCheck;
}
/**
 * Converts an object of type 'GatewaySyncSpecSyncProfiles' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecSyncProfiles(obj: GatewaySyncSpecSyncProfiles | undefined): Record<string, any> | undefined;
/**
 * Enforce keeps the last good commit when a check finds an error.
 *
 * @schema GatewaySyncSpecValidationPolicy
 */
export declare enum GatewaySyncSpecValidationPolicy {
    /** Enforce */
    ENFORCE = "Enforce",
    /** Warn */
    WARN = "Warn",
    /** Off */
    OFF = "Off"
}
/**
 * @schema GatewaySyncSpecValidationRules
 */
export declare enum GatewaySyncSpecValidationRules {
    /** error */
    ERROR = "error",
    /** warning */
    WARNING = "warning",
    /** off */
    OFF = "off"
}
/**
 * @schema GatewaySyncSpecRolloutStages
 */
export interface GatewaySyncSpecRolloutStages {
    /**
     * By which the stage is shown and approved.
     *
     * @schema GatewaySyncSpecRolloutStages#name
     */
    readonly name: string;
    /**
     * Which gateways, of those that no earlier stage has; both conditions must hold. The last stage takes all that are left.
     *
     * @schema GatewaySyncSpecRolloutStages#gateways
     */
    readonly gateways?: GatewaySyncSpecRolloutStagesGateways;
    /**
     * How many gateways of the stage may be under way at once: a number, or a part such as 25%.
     *
     * @schema GatewaySyncSpecRolloutStages#maxConcurrent
     */
    readonly maxConcurrent?: GatewaySyncSpecRolloutStagesMaxConcurrent;
    /**
     * How long every gateway of the stage must be healthy before the next stage begins.
     *
     * @schema GatewaySyncSpecRolloutStages#soak
     */
    readonly soak?: string;
    /**
     * Manual: the stage begins once somebody has approved it.
     *
     * @schema GatewaySyncSpecRolloutStages#approval
     */
    readonly approval?: GatewaySyncSpecRolloutStagesApproval;
}
/**
 * Converts an object of type 'GatewaySyncSpecRolloutStages' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecRolloutStages(obj: GatewaySyncSpecRolloutStages | undefined): Record<string, any> | undefined;
/**
 * Hold: nothing moves any further. Rollback: gateways that took the commit go back to the one before.
 *
 * @schema GatewaySyncSpecRolloutOnFailure
 */
export declare enum GatewaySyncSpecRolloutOnFailure {
    /** Hold */
    HOLD = "Hold",
    /** Rollback */
    ROLLBACK = "Rollback"
}
/**
 * So many failed gateways of a stage, or such a part of it, are a failure of the rollout.
 *
 * @schema GatewaySyncSpecRolloutFailAfter
 */
export declare class GatewaySyncSpecRolloutFailAfter {
    readonly value: number | string;
    static fromNumber(value: number): GatewaySyncSpecRolloutFailAfter;
    static fromString(value: string): GatewaySyncSpecRolloutFailAfter;
    private constructor();
}
/**
 * @schema GatewaySyncSpecRolloutWindows
 */
export interface GatewaySyncSpecRolloutWindows {
    /**
     * Days on which the window opens.
     *
     * @schema GatewaySyncSpecRolloutWindows#days
     */
    readonly days: GatewaySyncSpecRolloutWindowsDays[];
    /**
     * When it opens.
     *
     * @schema GatewaySyncSpecRolloutWindows#from
     */
    readonly from: string;
    /**
     * When it closes: on the next day where this is not later than from.
     *
     * @schema GatewaySyncSpecRolloutWindows#to
     */
    readonly to: string;
    /**
     * Whose clocks are meant, as the IANA database names it.
     *
     * @schema GatewaySyncSpecRolloutWindows#timeZone
     */
    readonly timeZone?: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecRolloutWindows' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecRolloutWindows(obj: GatewaySyncSpecRolloutWindows | undefined): Record<string, any> | undefined;
/**
 * Credentials to push with, which nothing else uses; spec.git.auth needs no right to write.
 *
 * @schema GatewaySyncSpecCaptureAuth
 */
export interface GatewaySyncSpecCaptureAuth {
    /**
     * Access token for https, of any git host.
     *
     * @schema GatewaySyncSpecCaptureAuth#token
     */
    readonly token?: GatewaySyncSpecCaptureAuthToken;
    /**
     * User and password for https: the keys username and password of a Secret.
     *
     * @schema GatewaySyncSpecCaptureAuth#basic
     */
    readonly basic?: GatewaySyncSpecCaptureAuthBasic;
    /**
     * Client certificate for https: the keys tls.crt and tls.key of a Secret.
     *
     * @schema GatewaySyncSpecCaptureAuth#clientCertificate
     */
    readonly clientCertificate?: GatewaySyncSpecCaptureAuthClientCertificate;
    /**
     * Private key for ssh, and the host keys that the git host may show.
     *
     * @schema GatewaySyncSpecCaptureAuth#sshKey
     */
    readonly sshKey?: GatewaySyncSpecCaptureAuthSshKey;
    /**
     * A GitHub App that is installed for the repository; its tokens are fetched and renewed by the controller.
     *
     * @schema GatewaySyncSpecCaptureAuth#githubApp
     */
    readonly githubApp?: GatewaySyncSpecCaptureAuthGithubApp;
}
/**
 * Converts an object of type 'GatewaySyncSpecCaptureAuth' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCaptureAuth(obj: GatewaySyncSpecCaptureAuth | undefined): Record<string, any> | undefined;
/**
 * Request: only when somebody asks; Drift: also by itself, once changes were left alone for quiet. Quote it in YAML: "on".
 *
 * @schema GatewaySyncSpecCaptureOn
 */
export declare enum GatewaySyncSpecCaptureOn {
    /** Request */
    REQUEST = "Request",
    /** Drift */
    DRIFT = "Drift"
}
/**
 * The API of the git host, for pull requests.
 *
 * @schema GatewaySyncSpecCaptureApi
 */
export interface GatewaySyncSpecCaptureApi {
    /**
     * API of the git host: gitea for Forgejo too, bitbucket for bitbucket.org, bitbucketserver for Bitbucket Data Center.
     *
     * @schema GatewaySyncSpecCaptureApi#provider
     */
    readonly provider: GatewaySyncSpecCaptureApiProvider;
    /**
     * A key of a Secret in the same namespace with the access token for the API. Default: the credentials of spec.capture.auth.
     *
     * @schema GatewaySyncSpecCaptureApi#secretRef
     */
    readonly secretRef?: GatewaySyncSpecCaptureApiSecretRef;
    /**
     * Base of the API where it is not the usual one of provider and host, such as https://git.example.com:8443/api/v1.
     *
     * @schema GatewaySyncSpecCaptureApi#apiURL
     */
    readonly apiUrl?: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecCaptureApi' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCaptureApi(obj: GatewaySyncSpecCaptureApi | undefined): Record<string, any> | undefined;
/**
 * Taken only where the installation value agent.allowImageOverride permits it.
 *
 * @schema GatewaySyncSpecAgentImage
 */
export interface GatewaySyncSpecAgentImage {
    /**
     * Registry and name of the image.
     *
     * @schema GatewaySyncSpecAgentImage#repository
     */
    readonly repository?: string;
    /**
     * Tag of the image.
     *
     * @schema GatewaySyncSpecAgentImage#tag
     */
    readonly tag?: string;
    /**
     * When the node pulls the image.
     *
     * @schema GatewaySyncSpecAgentImage#pullPolicy
     */
    readonly pullPolicy?: GatewaySyncSpecAgentImagePullPolicy;
}
/**
 * Converts an object of type 'GatewaySyncSpecAgentImage' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecAgentImage(obj: GatewaySyncSpecAgentImage | undefined): Record<string, any> | undefined;
/**
 * Resources of the container, in place of those of the installation.
 *
 * @schema GatewaySyncSpecAgentResources
 */
export interface GatewaySyncSpecAgentResources {
    /**
     * What the scheduler keeps free for it.
     *
     * @schema GatewaySyncSpecAgentResources#requests
     */
    readonly requests?: {
        [key: string]: GatewaySyncSpecAgentResourcesRequests;
    };
    /**
     * What it may use at most.
     *
     * @schema GatewaySyncSpecAgentResources#limits
     */
    readonly limits?: {
        [key: string]: GatewaySyncSpecAgentResourcesLimits;
    };
}
/**
 * Converts an object of type 'GatewaySyncSpecAgentResources' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecAgentResources(obj: GatewaySyncSpecAgentResources | undefined): Record<string, any> | undefined;
/**
 * @schema GatewaySyncSpecAgentImagePullSecrets
 */
export interface GatewaySyncSpecAgentImagePullSecrets {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecAgentImagePullSecrets#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecAgentImagePullSecrets' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecAgentImagePullSecrets(obj: GatewaySyncSpecAgentImagePullSecrets | undefined): Record<string, any> | undefined;
/**
 * Access token for https, of any git host.
 *
 * @schema GatewaySyncSpecGitAuthToken
 */
export interface GatewaySyncSpecGitAuthToken {
    /**
     * A key of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGitAuthToken#secretRef
     */
    readonly secretRef: GatewaySyncSpecGitAuthTokenSecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitAuthToken' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitAuthToken(obj: GatewaySyncSpecGitAuthToken | undefined): Record<string, any> | undefined;
/**
 * User and password for https: the keys username and password of a Secret.
 *
 * @schema GatewaySyncSpecGitAuthBasic
 */
export interface GatewaySyncSpecGitAuthBasic {
    /**
     * A Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGitAuthBasic#secretRef
     */
    readonly secretRef: GatewaySyncSpecGitAuthBasicSecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitAuthBasic' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitAuthBasic(obj: GatewaySyncSpecGitAuthBasic | undefined): Record<string, any> | undefined;
/**
 * Client certificate for https: the keys tls.crt and tls.key of a Secret.
 *
 * @schema GatewaySyncSpecGitAuthClientCertificate
 */
export interface GatewaySyncSpecGitAuthClientCertificate {
    /**
     * A Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGitAuthClientCertificate#secretRef
     */
    readonly secretRef: GatewaySyncSpecGitAuthClientCertificateSecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitAuthClientCertificate' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitAuthClientCertificate(obj: GatewaySyncSpecGitAuthClientCertificate | undefined): Record<string, any> | undefined;
/**
 * Private key for ssh, and the host keys that the git host may show.
 *
 * @schema GatewaySyncSpecGitAuthSshKey
 */
export interface GatewaySyncSpecGitAuthSshKey {
    /**
     * The private key: a key of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGitAuthSshKey#secretRef
     */
    readonly secretRef: GatewaySyncSpecGitAuthSshKeySecretRef;
    /**
     * Passphrase of the private key, if it has one.
     *
     * @schema GatewaySyncSpecGitAuthSshKey#passphrase
     */
    readonly passphrase?: GatewaySyncSpecGitAuthSshKeyPassphrase;
    /**
     * Host keys of the git host, as ssh-keyscan prints them.
     *
     * @schema GatewaySyncSpecGitAuthSshKey#knownHosts
     */
    readonly knownHosts?: GatewaySyncSpecGitAuthSshKeyKnownHosts;
    /**
     * Accepts any host key: somebody between the controller and the git host can then pose as the host. For trials.
     *
     * @schema GatewaySyncSpecGitAuthSshKey#insecureIgnoreHostKey
     */
    readonly insecureIgnoreHostKey?: boolean;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitAuthSshKey' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitAuthSshKey(obj: GatewaySyncSpecGitAuthSshKey | undefined): Record<string, any> | undefined;
/**
 * A GitHub App that is installed for the repository; its tokens are fetched and renewed by the controller.
 *
 * @schema GatewaySyncSpecGitAuthGithubApp
 */
export interface GatewaySyncSpecGitAuthGithubApp {
    /**
     * App ID, as the App's page at GitHub shows it.
     *
     * @schema GatewaySyncSpecGitAuthGithubApp#appId
     */
    readonly appId: number;
    /**
     * Number at the end of the address of the installation's page at GitHub.
     *
     * @schema GatewaySyncSpecGitAuthGithubApp#installationId
     */
    readonly installationId: number;
    /**
     * Private key of the App, PEM.
     *
     * @schema GatewaySyncSpecGitAuthGithubApp#privateKeySecretRef
     */
    readonly privateKeySecretRef: GatewaySyncSpecGitAuthGithubAppPrivateKeySecretRef;
    /**
     * API of GitHub Enterprise Server, https://<host>/api/v3. Default: the API of github.com.
     *
     * @schema GatewaySyncSpecGitAuthGithubApp#apiBaseURL
     */
    readonly apiBaseUrl?: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitAuthGithubApp' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitAuthGithubApp(obj: GatewaySyncSpecGitAuthGithubApp | undefined): Record<string, any> | undefined;
/**
 * A key of a Secret in the same namespace.
 *
 * @schema GatewaySyncSpecGitCaBundleSecretRef
 */
export interface GatewaySyncSpecGitCaBundleSecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGitCaBundleSecretRef#name
     */
    readonly name: string;
    /**
     * Key inside the Secret.
     *
     * @schema GatewaySyncSpecGitCaBundleSecretRef#key
     */
    readonly key: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitCaBundleSecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitCaBundleSecretRef(obj: GatewaySyncSpecGitCaBundleSecretRef | undefined): Record<string, any> | undefined;
/**
 * A Secret in the same namespace.
 *
 * @schema GatewaySyncSpecGitProxySecretRef
 */
export interface GatewaySyncSpecGitProxySecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGitProxySecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitProxySecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitProxySecretRef(obj: GatewaySyncSpecGitProxySecretRef | undefined): Record<string, any> | undefined;
/**
 * What must be signed: the commit, the annotated tag that ref names, or both.
 *
 * @schema GatewaySyncSpecGitVerifyMode
 */
export declare enum GatewaySyncSpecGitVerifyMode {
    /** Commit */
    COMMIT = "Commit",
    /** Tag */
    TAG = "Tag",
    /** TagAndCommit */
    TAG_AND_COMMIT = "TagAndCommit"
}
/**
 * Secret with the public keys; each key of its data is a file of PGP or SSH keys.
 *
 * @schema GatewaySyncSpecGitVerifySecretRef
 */
export interface GatewaySyncSpecGitVerifySecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGitVerifySecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitVerifySecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitVerifySecretRef(obj: GatewaySyncSpecGitVerifySecretRef | undefined): Record<string, any> | undefined;
/**
 * API of the git host: gitea for Forgejo too, bitbucket for bitbucket.org, bitbucketserver for Bitbucket Data Center.
 *
 * @schema GatewaySyncSpecGitCommitStatusProvider
 */
export declare enum GatewaySyncSpecGitCommitStatusProvider {
    /** github */
    GITHUB = "github",
    /** gitlab */
    GITLAB = "gitlab",
    /** gitea */
    GITEA = "gitea",
    /** bitbucket */
    BITBUCKET = "bitbucket",
    /** bitbucketserver */
    BITBUCKETSERVER = "bitbucketserver",
    /** azuredevops */
    AZUREDEVOPS = "azuredevops"
}
/**
 * A key of a Secret in the same namespace with the access token for the API. Default: the credentials of spec.git.auth.
 *
 * @schema GatewaySyncSpecGitCommitStatusSecretRef
 */
export interface GatewaySyncSpecGitCommitStatusSecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGitCommitStatusSecretRef#name
     */
    readonly name: string;
    /**
     * Key inside the Secret.
     *
     * @schema GatewaySyncSpecGitCommitStatusSecretRef#key
     */
    readonly key: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitCommitStatusSecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitCommitStatusSecretRef(obj: GatewaySyncSpecGitCommitStatusSecretRef | undefined): Record<string, any> | undefined;
/**
 * A key of a Secret in the same namespace.
 *
 * @schema GatewaySyncSpecWebhookHmacSecretRef
 */
export interface GatewaySyncSpecWebhookHmacSecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecWebhookHmacSecretRef#name
     */
    readonly name: string;
    /**
     * Key inside the Secret.
     *
     * @schema GatewaySyncSpecWebhookHmacSecretRef#key
     */
    readonly key: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecWebhookHmacSecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecWebhookHmacSecretRef(obj: GatewaySyncSpecWebhookHmacSecretRef | undefined): Record<string, any> | undefined;
/**
 * A key of a Secret in the same namespace.
 *
 * @schema GatewaySyncSpecWebhookTokenSecretRef
 */
export interface GatewaySyncSpecWebhookTokenSecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecWebhookTokenSecretRef#name
     */
    readonly name: string;
    /**
     * Key inside the Secret.
     *
     * @schema GatewaySyncSpecWebhookTokenSecretRef#key
     */
    readonly key: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecWebhookTokenSecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecWebhookTokenSecretRef(obj: GatewaySyncSpecWebhookTokenSecretRef | undefined): Record<string, any> | undefined;
/**
 * A key of a Secret in the same namespace.
 *
 * @schema GatewaySyncSpecGatewayCaBundleSecretRef
 */
export interface GatewaySyncSpecGatewayCaBundleSecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGatewayCaBundleSecretRef#name
     */
    readonly name: string;
    /**
     * Key inside the Secret.
     *
     * @schema GatewaySyncSpecGatewayCaBundleSecretRef#key
     */
    readonly key: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecGatewayCaBundleSecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGatewayCaBundleSecretRef(obj: GatewaySyncSpecGatewayCaBundleSecretRef | undefined): Record<string, any> | undefined;
/**
 * What to do while a Designer session is open.
 *
 * @schema GatewaySyncSpecSyncDefaultsDesignerSessionPolicy
 */
export declare enum GatewaySyncSpecSyncDefaultsDesignerSessionPolicy {
    /** proceed */
    PROCEED = "proceed",
    /** wait */
    WAIT = "wait",
    /** fail */
    FAIL = "fail"
}
/**
 * What to do about local changes of owned files: tell of them, undo them, or keep a commit out that would undo them.
 *
 * @schema GatewaySyncSpecSyncDefaultsDrift
 */
export declare enum GatewaySyncSpecSyncDefaultsDrift {
    /** report */
    REPORT = "report",
    /** restore */
    RESTORE = "restore",
    /** hold */
    HOLD = "hold"
}
/**
 * What may be deleted: files that this operator wrote, every file of the folder, or nothing.
 *
 * @schema GatewaySyncSpecSyncDefaultsPrune
 */
export declare enum GatewaySyncSpecSyncDefaultsPrune {
    /** owned */
    OWNED = "owned",
    /** all */
    ALL = "all",
    /** none */
    NONE = "none"
}
/**
 * More deletions than this stop with MassDeletion until confirmed; applied above 10 deletions.
 *
 * @schema GatewaySyncSpecSyncDefaultsMaxDeletions
 */
export declare class GatewaySyncSpecSyncDefaultsMaxDeletions {
    readonly value: number | string;
    static fromNumber(value: number): GatewaySyncSpecSyncDefaultsMaxDeletions;
    static fromString(value: string): GatewaySyncSpecSyncDefaultsMaxDeletions;
    private constructor();
}
/**
 * Whether a gateway whose volume holds no whole commit waits for one before it starts.
 *
 * @schema GatewaySyncSpecSyncDefaultsStartPolicy
 */
export declare enum GatewaySyncSpecSyncDefaultsStartPolicy {
    /** block */
    BLOCK = "block",
    /** start */
    START = "start"
}
/**
 * In a rollout a gateway counts as healthy only once it has passed this; asked until the rollout ends.
 *
 * @schema GatewaySyncSpecSyncDefaultsCheck
 */
export interface GatewaySyncSpecSyncDefaultsCheck {
    /**
     * Asked by the agent, with GET; redirects are not followed.
     *
     * @schema GatewaySyncSpecSyncDefaultsCheck#http
     */
    readonly http?: GatewaySyncSpecSyncDefaultsCheckHttp;
    /**
     * Asked by the controller, which must be permitted to reach the address.
     *
     * @schema GatewaySyncSpecSyncDefaultsCheck#prometheus
     */
    readonly prometheus?: GatewaySyncSpecSyncDefaultsCheckPrometheus;
}
/**
 * Converts an object of type 'GatewaySyncSpecSyncDefaultsCheck' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecSyncDefaultsCheck(obj: GatewaySyncSpecSyncDefaultsCheck | undefined): Record<string, any> | undefined;
/**
 * Resource collections of the gateway, by deployment mode.
 *
 * @schema GatewaySyncSpecSyncProfilesCollections
 */
export interface GatewaySyncSpecSyncProfilesCollections {
    /**
     * Folder in the repository that holds one folder per collection.
     *
     * @schema GatewaySyncSpecSyncProfilesCollections#root
     */
    readonly root: string;
    /**
     * Deployment mode, or auto: what the gateway itself is started with.
     *
     * @schema GatewaySyncSpecSyncProfilesCollections#mode
     */
    readonly mode?: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecSyncProfilesCollections' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecSyncProfilesCollections(obj: GatewaySyncSpecSyncProfilesCollections | undefined): Record<string, any> | undefined;
/**
 * @schema GatewaySyncSpecSyncProfilesMappings
 */
export interface GatewaySyncSpecSyncProfilesMappings {
    /**
     * Folder or file in the repository; may be a template.
     *
     * @schema GatewaySyncSpecSyncProfilesMappings#source
     */
    readonly source: string;
    /**
     * Path below the gateway's data directory; may be a template.
     *
     * @schema GatewaySyncSpecSyncProfilesMappings#destination
     */
    readonly destination: string;
    /**
     * Whether the source is a folder or one file.
     *
     * @schema GatewaySyncSpecSyncProfilesMappings#type
     */
    readonly type?: GatewaySyncSpecSyncProfilesMappingsType;
    /**
     * When false, an absent source leaves the destination alone.
     *
     * @schema GatewaySyncSpecSyncProfilesMappings#required
     */
    readonly required?: boolean;
    /**
     * Render every file of this mapping with LiquidJS.
     *
     * @schema GatewaySyncSpecSyncProfilesMappings#template
     */
    readonly template?: boolean;
    /**
     * What may be deleted: files that this operator wrote, every file of the folder, or nothing.
     *
     * @schema GatewaySyncSpecSyncProfilesMappings#prune
     */
    readonly prune?: GatewaySyncSpecSyncProfilesMappingsPrune;
    /**
     * Globs of what is left out; those of defaults, profile and mapping add up.
     *
     * @schema GatewaySyncSpecSyncProfilesMappings#excludePatterns
     */
    readonly excludePatterns?: string[];
    /**
     * Values to set in JSON files on their way to the gateway.
     *
     * @schema GatewaySyncSpecSyncProfilesMappings#patches
     */
    readonly patches?: GatewaySyncSpecSyncProfilesMappingsPatches[];
}
/**
 * Converts an object of type 'GatewaySyncSpecSyncProfilesMappings' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecSyncProfilesMappings(obj: GatewaySyncSpecSyncProfilesMappings | undefined): Record<string, any> | undefined;
/**
 * What to do while a Designer session is open.
 *
 * @schema GatewaySyncSpecSyncProfilesDesignerSessionPolicy
 */
export declare enum GatewaySyncSpecSyncProfilesDesignerSessionPolicy {
    /** proceed */
    PROCEED = "proceed",
    /** wait */
    WAIT = "wait",
    /** fail */
    FAIL = "fail"
}
/**
 * What to do about local changes of owned files: tell of them, undo them, or keep a commit out that would undo them.
 *
 * @schema GatewaySyncSpecSyncProfilesDrift
 */
export declare enum GatewaySyncSpecSyncProfilesDrift {
    /** report */
    REPORT = "report",
    /** restore */
    RESTORE = "restore",
    /** hold */
    HOLD = "hold"
}
/**
 * What may be deleted: files that this operator wrote, every file of the folder, or nothing.
 *
 * @schema GatewaySyncSpecSyncProfilesPrune
 */
export declare enum GatewaySyncSpecSyncProfilesPrune {
    /** owned */
    OWNED = "owned",
    /** all */
    ALL = "all",
    /** none */
    NONE = "none"
}
/**
 * More deletions than this stop with MassDeletion until confirmed; applied above 10 deletions.
 *
 * @schema GatewaySyncSpecSyncProfilesMaxDeletions
 */
export declare class GatewaySyncSpecSyncProfilesMaxDeletions {
    readonly value: number | string;
    static fromNumber(value: number): GatewaySyncSpecSyncProfilesMaxDeletions;
    static fromString(value: string): GatewaySyncSpecSyncProfilesMaxDeletions;
    private constructor();
}
/**
 * Whether a gateway whose volume holds no whole commit waits for one before it starts.
 *
 * @schema GatewaySyncSpecSyncProfilesStartPolicy
 */
export declare enum GatewaySyncSpecSyncProfilesStartPolicy {
    /** block */
    BLOCK = "block",
    /** start */
    START = "start"
}
/**
 * In a rollout a gateway counts as healthy only once it has passed this; asked until the rollout ends.
 *
 * @schema GatewaySyncSpecSyncProfilesCheck
 */
export interface GatewaySyncSpecSyncProfilesCheck {
    /**
     * Asked by the agent, with GET; redirects are not followed.
     *
     * @schema GatewaySyncSpecSyncProfilesCheck#http
     */
    readonly http?: GatewaySyncSpecSyncProfilesCheckHttp;
    /**
     * Asked by the controller, which must be permitted to reach the address.
     *
     * @schema GatewaySyncSpecSyncProfilesCheck#prometheus
     */
    readonly prometheus?: GatewaySyncSpecSyncProfilesCheckPrometheus;
}
/**
 * Converts an object of type 'GatewaySyncSpecSyncProfilesCheck' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecSyncProfilesCheck(obj: GatewaySyncSpecSyncProfilesCheck | undefined): Record<string, any> | undefined;
/**
 * Which gateways, of those that no earlier stage has; both conditions must hold. The last stage takes all that are left.
 *
 * @schema GatewaySyncSpecRolloutStagesGateways
 */
export interface GatewaySyncSpecRolloutStagesGateways {
    /**
     * Globs of gateway names: of the annotation clustersync.io/gateway-name, else of the pod.
     *
     * @schema GatewaySyncSpecRolloutStagesGateways#names
     */
    readonly names?: string[];
    /**
     * Labels of the pod.
     *
     * @schema GatewaySyncSpecRolloutStagesGateways#labels
     */
    readonly labels?: GatewaySyncSpecRolloutStagesGatewaysLabels;
}
/**
 * Converts an object of type 'GatewaySyncSpecRolloutStagesGateways' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecRolloutStagesGateways(obj: GatewaySyncSpecRolloutStagesGateways | undefined): Record<string, any> | undefined;
/**
 * How many gateways of the stage may be under way at once: a number, or a part such as 25%.
 *
 * @schema GatewaySyncSpecRolloutStagesMaxConcurrent
 */
export declare class GatewaySyncSpecRolloutStagesMaxConcurrent {
    readonly value: number | string;
    static fromNumber(value: number): GatewaySyncSpecRolloutStagesMaxConcurrent;
    static fromString(value: string): GatewaySyncSpecRolloutStagesMaxConcurrent;
    private constructor();
}
/**
 * Manual: the stage begins once somebody has approved it.
 *
 * @schema GatewaySyncSpecRolloutStagesApproval
 */
export declare enum GatewaySyncSpecRolloutStagesApproval {
    /** Automatic */
    AUTOMATIC = "Automatic",
    /** Manual */
    MANUAL = "Manual"
}
/**
 * @schema GatewaySyncSpecRolloutWindowsDays
 */
export declare enum GatewaySyncSpecRolloutWindowsDays {
    /** Mon */
    MON = "Mon",
    /** Tue */
    TUE = "Tue",
    /** Wed */
    WED = "Wed",
    /** Thu */
    THU = "Thu",
    /** Fri */
    FRI = "Fri",
    /** Sat */
    SAT = "Sat",
    /** Sun */
    SUN = "Sun"
}
/**
 * Access token for https, of any git host.
 *
 * @schema GatewaySyncSpecCaptureAuthToken
 */
export interface GatewaySyncSpecCaptureAuthToken {
    /**
     * A key of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecCaptureAuthToken#secretRef
     */
    readonly secretRef: GatewaySyncSpecCaptureAuthTokenSecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecCaptureAuthToken' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCaptureAuthToken(obj: GatewaySyncSpecCaptureAuthToken | undefined): Record<string, any> | undefined;
/**
 * User and password for https: the keys username and password of a Secret.
 *
 * @schema GatewaySyncSpecCaptureAuthBasic
 */
export interface GatewaySyncSpecCaptureAuthBasic {
    /**
     * A Secret in the same namespace.
     *
     * @schema GatewaySyncSpecCaptureAuthBasic#secretRef
     */
    readonly secretRef: GatewaySyncSpecCaptureAuthBasicSecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecCaptureAuthBasic' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCaptureAuthBasic(obj: GatewaySyncSpecCaptureAuthBasic | undefined): Record<string, any> | undefined;
/**
 * Client certificate for https: the keys tls.crt and tls.key of a Secret.
 *
 * @schema GatewaySyncSpecCaptureAuthClientCertificate
 */
export interface GatewaySyncSpecCaptureAuthClientCertificate {
    /**
     * A Secret in the same namespace.
     *
     * @schema GatewaySyncSpecCaptureAuthClientCertificate#secretRef
     */
    readonly secretRef: GatewaySyncSpecCaptureAuthClientCertificateSecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecCaptureAuthClientCertificate' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCaptureAuthClientCertificate(obj: GatewaySyncSpecCaptureAuthClientCertificate | undefined): Record<string, any> | undefined;
/**
 * Private key for ssh, and the host keys that the git host may show.
 *
 * @schema GatewaySyncSpecCaptureAuthSshKey
 */
export interface GatewaySyncSpecCaptureAuthSshKey {
    /**
     * The private key: a key of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecCaptureAuthSshKey#secretRef
     */
    readonly secretRef: GatewaySyncSpecCaptureAuthSshKeySecretRef;
    /**
     * Passphrase of the private key, if it has one.
     *
     * @schema GatewaySyncSpecCaptureAuthSshKey#passphrase
     */
    readonly passphrase?: GatewaySyncSpecCaptureAuthSshKeyPassphrase;
    /**
     * Host keys of the git host, as ssh-keyscan prints them.
     *
     * @schema GatewaySyncSpecCaptureAuthSshKey#knownHosts
     */
    readonly knownHosts?: GatewaySyncSpecCaptureAuthSshKeyKnownHosts;
    /**
     * Accepts any host key: somebody between the controller and the git host can then pose as the host. For trials.
     *
     * @schema GatewaySyncSpecCaptureAuthSshKey#insecureIgnoreHostKey
     */
    readonly insecureIgnoreHostKey?: boolean;
}
/**
 * Converts an object of type 'GatewaySyncSpecCaptureAuthSshKey' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCaptureAuthSshKey(obj: GatewaySyncSpecCaptureAuthSshKey | undefined): Record<string, any> | undefined;
/**
 * A GitHub App that is installed for the repository; its tokens are fetched and renewed by the controller.
 *
 * @schema GatewaySyncSpecCaptureAuthGithubApp
 */
export interface GatewaySyncSpecCaptureAuthGithubApp {
    /**
     * App ID, as the App's page at GitHub shows it.
     *
     * @schema GatewaySyncSpecCaptureAuthGithubApp#appId
     */
    readonly appId: number;
    /**
     * Number at the end of the address of the installation's page at GitHub.
     *
     * @schema GatewaySyncSpecCaptureAuthGithubApp#installationId
     */
    readonly installationId: number;
    /**
     * Private key of the App, PEM.
     *
     * @schema GatewaySyncSpecCaptureAuthGithubApp#privateKeySecretRef
     */
    readonly privateKeySecretRef: GatewaySyncSpecCaptureAuthGithubAppPrivateKeySecretRef;
    /**
     * API of GitHub Enterprise Server, https://<host>/api/v3. Default: the API of github.com.
     *
     * @schema GatewaySyncSpecCaptureAuthGithubApp#apiBaseURL
     */
    readonly apiBaseUrl?: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecCaptureAuthGithubApp' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCaptureAuthGithubApp(obj: GatewaySyncSpecCaptureAuthGithubApp | undefined): Record<string, any> | undefined;
/**
 * API of the git host: gitea for Forgejo too, bitbucket for bitbucket.org, bitbucketserver for Bitbucket Data Center.
 *
 * @schema GatewaySyncSpecCaptureApiProvider
 */
export declare enum GatewaySyncSpecCaptureApiProvider {
    /** github */
    GITHUB = "github",
    /** gitlab */
    GITLAB = "gitlab",
    /** gitea */
    GITEA = "gitea",
    /** bitbucket */
    BITBUCKET = "bitbucket",
    /** bitbucketserver */
    BITBUCKETSERVER = "bitbucketserver",
    /** azuredevops */
    AZUREDEVOPS = "azuredevops"
}
/**
 * A key of a Secret in the same namespace with the access token for the API. Default: the credentials of spec.capture.auth.
 *
 * @schema GatewaySyncSpecCaptureApiSecretRef
 */
export interface GatewaySyncSpecCaptureApiSecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecCaptureApiSecretRef#name
     */
    readonly name: string;
    /**
     * Key inside the Secret.
     *
     * @schema GatewaySyncSpecCaptureApiSecretRef#key
     */
    readonly key: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecCaptureApiSecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCaptureApiSecretRef(obj: GatewaySyncSpecCaptureApiSecretRef | undefined): Record<string, any> | undefined;
/**
 * When the node pulls the image.
 *
 * @schema GatewaySyncSpecAgentImagePullPolicy
 */
export declare enum GatewaySyncSpecAgentImagePullPolicy {
    /** Always */
    ALWAYS = "Always",
    /** IfNotPresent */
    IF_NOT_PRESENT = "IfNotPresent",
    /** Never */
    NEVER = "Never"
}
/**
 * @schema GatewaySyncSpecAgentResourcesRequests
 */
export declare class GatewaySyncSpecAgentResourcesRequests {
    readonly value: number | string;
    static fromNumber(value: number): GatewaySyncSpecAgentResourcesRequests;
    static fromString(value: string): GatewaySyncSpecAgentResourcesRequests;
    private constructor();
}
/**
 * @schema GatewaySyncSpecAgentResourcesLimits
 */
export declare class GatewaySyncSpecAgentResourcesLimits {
    readonly value: number | string;
    static fromNumber(value: number): GatewaySyncSpecAgentResourcesLimits;
    static fromString(value: string): GatewaySyncSpecAgentResourcesLimits;
    private constructor();
}
/**
 * A key of a Secret in the same namespace.
 *
 * @schema GatewaySyncSpecGitAuthTokenSecretRef
 */
export interface GatewaySyncSpecGitAuthTokenSecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGitAuthTokenSecretRef#name
     */
    readonly name: string;
    /**
     * Key inside the Secret.
     *
     * @schema GatewaySyncSpecGitAuthTokenSecretRef#key
     */
    readonly key: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitAuthTokenSecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitAuthTokenSecretRef(obj: GatewaySyncSpecGitAuthTokenSecretRef | undefined): Record<string, any> | undefined;
/**
 * A Secret in the same namespace.
 *
 * @schema GatewaySyncSpecGitAuthBasicSecretRef
 */
export interface GatewaySyncSpecGitAuthBasicSecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGitAuthBasicSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitAuthBasicSecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitAuthBasicSecretRef(obj: GatewaySyncSpecGitAuthBasicSecretRef | undefined): Record<string, any> | undefined;
/**
 * A Secret in the same namespace.
 *
 * @schema GatewaySyncSpecGitAuthClientCertificateSecretRef
 */
export interface GatewaySyncSpecGitAuthClientCertificateSecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGitAuthClientCertificateSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitAuthClientCertificateSecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitAuthClientCertificateSecretRef(obj: GatewaySyncSpecGitAuthClientCertificateSecretRef | undefined): Record<string, any> | undefined;
/**
 * The private key: a key of a Secret in the same namespace.
 *
 * @schema GatewaySyncSpecGitAuthSshKeySecretRef
 */
export interface GatewaySyncSpecGitAuthSshKeySecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGitAuthSshKeySecretRef#name
     */
    readonly name: string;
    /**
     * Key inside the Secret.
     *
     * @schema GatewaySyncSpecGitAuthSshKeySecretRef#key
     */
    readonly key: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitAuthSshKeySecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitAuthSshKeySecretRef(obj: GatewaySyncSpecGitAuthSshKeySecretRef | undefined): Record<string, any> | undefined;
/**
 * Passphrase of the private key, if it has one.
 *
 * @schema GatewaySyncSpecGitAuthSshKeyPassphrase
 */
export interface GatewaySyncSpecGitAuthSshKeyPassphrase {
    /**
     * A key of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGitAuthSshKeyPassphrase#secretRef
     */
    readonly secretRef: GatewaySyncSpecGitAuthSshKeyPassphraseSecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitAuthSshKeyPassphrase' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitAuthSshKeyPassphrase(obj: GatewaySyncSpecGitAuthSshKeyPassphrase | undefined): Record<string, any> | undefined;
/**
 * Host keys of the git host, as ssh-keyscan prints them.
 *
 * @schema GatewaySyncSpecGitAuthSshKeyKnownHosts
 */
export interface GatewaySyncSpecGitAuthSshKeyKnownHosts {
    /**
     * A key of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGitAuthSshKeyKnownHosts#secretRef
     */
    readonly secretRef: GatewaySyncSpecGitAuthSshKeyKnownHostsSecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitAuthSshKeyKnownHosts' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitAuthSshKeyKnownHosts(obj: GatewaySyncSpecGitAuthSshKeyKnownHosts | undefined): Record<string, any> | undefined;
/**
 * Private key of the App, PEM.
 *
 * @schema GatewaySyncSpecGitAuthGithubAppPrivateKeySecretRef
 */
export interface GatewaySyncSpecGitAuthGithubAppPrivateKeySecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGitAuthGithubAppPrivateKeySecretRef#name
     */
    readonly name: string;
    /**
     * Key inside the Secret.
     *
     * @schema GatewaySyncSpecGitAuthGithubAppPrivateKeySecretRef#key
     */
    readonly key: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitAuthGithubAppPrivateKeySecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitAuthGithubAppPrivateKeySecretRef(obj: GatewaySyncSpecGitAuthGithubAppPrivateKeySecretRef | undefined): Record<string, any> | undefined;
/**
 * Asked by the agent, with GET; redirects are not followed.
 *
 * @schema GatewaySyncSpecSyncDefaultsCheckHttp
 */
export interface GatewaySyncSpecSyncDefaultsCheckHttp {
    /**
     * Path on the gateway itself, at the port and with the TLS of spec.gateway. The API key is sent below /data/api/ only.
     *
     * @schema GatewaySyncSpecSyncDefaultsCheckHttp#path
     */
    readonly path: string;
    /**
     * Status that a healthy gateway answers with.
     *
     * @schema GatewaySyncSpecSyncDefaultsCheckHttp#status
     */
    readonly status?: number;
}
/**
 * Converts an object of type 'GatewaySyncSpecSyncDefaultsCheckHttp' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecSyncDefaultsCheckHttp(obj: GatewaySyncSpecSyncDefaultsCheckHttp | undefined): Record<string, any> | undefined;
/**
 * Asked by the controller, which must be permitted to reach the address.
 *
 * @schema GatewaySyncSpecSyncDefaultsCheckPrometheus
 */
export interface GatewaySyncSpecSyncDefaultsCheckPrometheus {
    /**
     * PromQL, asked for each gateway: it is healthy while there is a result and no sample is 0. {{ gateway.name }}, {{ gateway.pod }}, {{ namespace }} and {{ commit }} stand for its own.
     *
     * @schema GatewaySyncSpecSyncDefaultsCheckPrometheus#query
     */
    readonly query: string;
    /**
     * The server, without /api/v1/query: asked without credentials, with the system's authorities.
     *
     * @schema GatewaySyncSpecSyncDefaultsCheckPrometheus#url
     */
    readonly url: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecSyncDefaultsCheckPrometheus' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecSyncDefaultsCheckPrometheus(obj: GatewaySyncSpecSyncDefaultsCheckPrometheus | undefined): Record<string, any> | undefined;
/**
 * Whether the source is a folder or one file.
 *
 * @schema GatewaySyncSpecSyncProfilesMappingsType
 */
export declare enum GatewaySyncSpecSyncProfilesMappingsType {
    /** dir */
    DIR = "dir",
    /** file */
    FILE = "file"
}
/**
 * What may be deleted: files that this operator wrote, every file of the folder, or nothing.
 *
 * @schema GatewaySyncSpecSyncProfilesMappingsPrune
 */
export declare enum GatewaySyncSpecSyncProfilesMappingsPrune {
    /** owned */
    OWNED = "owned",
    /** all */
    ALL = "all",
    /** none */
    NONE = "none"
}
/**
 * @schema GatewaySyncSpecSyncProfilesMappingsPatches
 */
export interface GatewaySyncSpecSyncProfilesMappingsPatches {
    /**
     * Glob of the files to patch, relative to the mapping destination.
     *
     * @schema GatewaySyncSpecSyncProfilesMappingsPatches#file
     */
    readonly file: string;
    /**
     * JSONPath (RFC 9535; a bare name means $.name) to new value, which may be a template. The type of the replaced value stays.
     *
     * @schema GatewaySyncSpecSyncProfilesMappingsPatches#set
     */
    readonly set: {
        [key: string]: string;
    };
}
/**
 * Converts an object of type 'GatewaySyncSpecSyncProfilesMappingsPatches' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecSyncProfilesMappingsPatches(obj: GatewaySyncSpecSyncProfilesMappingsPatches | undefined): Record<string, any> | undefined;
/**
 * Asked by the agent, with GET; redirects are not followed.
 *
 * @schema GatewaySyncSpecSyncProfilesCheckHttp
 */
export interface GatewaySyncSpecSyncProfilesCheckHttp {
    /**
     * Path on the gateway itself, at the port and with the TLS of spec.gateway. The API key is sent below /data/api/ only.
     *
     * @schema GatewaySyncSpecSyncProfilesCheckHttp#path
     */
    readonly path: string;
    /**
     * Status that a healthy gateway answers with.
     *
     * @schema GatewaySyncSpecSyncProfilesCheckHttp#status
     */
    readonly status?: number;
}
/**
 * Converts an object of type 'GatewaySyncSpecSyncProfilesCheckHttp' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecSyncProfilesCheckHttp(obj: GatewaySyncSpecSyncProfilesCheckHttp | undefined): Record<string, any> | undefined;
/**
 * Asked by the controller, which must be permitted to reach the address.
 *
 * @schema GatewaySyncSpecSyncProfilesCheckPrometheus
 */
export interface GatewaySyncSpecSyncProfilesCheckPrometheus {
    /**
     * PromQL, asked for each gateway: it is healthy while there is a result and no sample is 0. {{ gateway.name }}, {{ gateway.pod }}, {{ namespace }} and {{ commit }} stand for its own.
     *
     * @schema GatewaySyncSpecSyncProfilesCheckPrometheus#query
     */
    readonly query: string;
    /**
     * The server, without /api/v1/query: asked without credentials, with the system's authorities.
     *
     * @schema GatewaySyncSpecSyncProfilesCheckPrometheus#url
     */
    readonly url: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecSyncProfilesCheckPrometheus' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecSyncProfilesCheckPrometheus(obj: GatewaySyncSpecSyncProfilesCheckPrometheus | undefined): Record<string, any> | undefined;
/**
 * Labels of the pod.
 *
 * @schema GatewaySyncSpecRolloutStagesGatewaysLabels
 */
export interface GatewaySyncSpecRolloutStagesGatewaysLabels {
    /**
     * Labels that the pod has, all of them.
     *
     * @schema GatewaySyncSpecRolloutStagesGatewaysLabels#matchLabels
     */
    readonly matchLabels: {
        [key: string]: string;
    };
}
/**
 * Converts an object of type 'GatewaySyncSpecRolloutStagesGatewaysLabels' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecRolloutStagesGatewaysLabels(obj: GatewaySyncSpecRolloutStagesGatewaysLabels | undefined): Record<string, any> | undefined;
/**
 * A key of a Secret in the same namespace.
 *
 * @schema GatewaySyncSpecCaptureAuthTokenSecretRef
 */
export interface GatewaySyncSpecCaptureAuthTokenSecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecCaptureAuthTokenSecretRef#name
     */
    readonly name: string;
    /**
     * Key inside the Secret.
     *
     * @schema GatewaySyncSpecCaptureAuthTokenSecretRef#key
     */
    readonly key: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecCaptureAuthTokenSecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCaptureAuthTokenSecretRef(obj: GatewaySyncSpecCaptureAuthTokenSecretRef | undefined): Record<string, any> | undefined;
/**
 * A Secret in the same namespace.
 *
 * @schema GatewaySyncSpecCaptureAuthBasicSecretRef
 */
export interface GatewaySyncSpecCaptureAuthBasicSecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecCaptureAuthBasicSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecCaptureAuthBasicSecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCaptureAuthBasicSecretRef(obj: GatewaySyncSpecCaptureAuthBasicSecretRef | undefined): Record<string, any> | undefined;
/**
 * A Secret in the same namespace.
 *
 * @schema GatewaySyncSpecCaptureAuthClientCertificateSecretRef
 */
export interface GatewaySyncSpecCaptureAuthClientCertificateSecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecCaptureAuthClientCertificateSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecCaptureAuthClientCertificateSecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCaptureAuthClientCertificateSecretRef(obj: GatewaySyncSpecCaptureAuthClientCertificateSecretRef | undefined): Record<string, any> | undefined;
/**
 * The private key: a key of a Secret in the same namespace.
 *
 * @schema GatewaySyncSpecCaptureAuthSshKeySecretRef
 */
export interface GatewaySyncSpecCaptureAuthSshKeySecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecCaptureAuthSshKeySecretRef#name
     */
    readonly name: string;
    /**
     * Key inside the Secret.
     *
     * @schema GatewaySyncSpecCaptureAuthSshKeySecretRef#key
     */
    readonly key: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecCaptureAuthSshKeySecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCaptureAuthSshKeySecretRef(obj: GatewaySyncSpecCaptureAuthSshKeySecretRef | undefined): Record<string, any> | undefined;
/**
 * Passphrase of the private key, if it has one.
 *
 * @schema GatewaySyncSpecCaptureAuthSshKeyPassphrase
 */
export interface GatewaySyncSpecCaptureAuthSshKeyPassphrase {
    /**
     * A key of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecCaptureAuthSshKeyPassphrase#secretRef
     */
    readonly secretRef: GatewaySyncSpecCaptureAuthSshKeyPassphraseSecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecCaptureAuthSshKeyPassphrase' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCaptureAuthSshKeyPassphrase(obj: GatewaySyncSpecCaptureAuthSshKeyPassphrase | undefined): Record<string, any> | undefined;
/**
 * Host keys of the git host, as ssh-keyscan prints them.
 *
 * @schema GatewaySyncSpecCaptureAuthSshKeyKnownHosts
 */
export interface GatewaySyncSpecCaptureAuthSshKeyKnownHosts {
    /**
     * A key of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecCaptureAuthSshKeyKnownHosts#secretRef
     */
    readonly secretRef: GatewaySyncSpecCaptureAuthSshKeyKnownHostsSecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecCaptureAuthSshKeyKnownHosts' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCaptureAuthSshKeyKnownHosts(obj: GatewaySyncSpecCaptureAuthSshKeyKnownHosts | undefined): Record<string, any> | undefined;
/**
 * Private key of the App, PEM.
 *
 * @schema GatewaySyncSpecCaptureAuthGithubAppPrivateKeySecretRef
 */
export interface GatewaySyncSpecCaptureAuthGithubAppPrivateKeySecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecCaptureAuthGithubAppPrivateKeySecretRef#name
     */
    readonly name: string;
    /**
     * Key inside the Secret.
     *
     * @schema GatewaySyncSpecCaptureAuthGithubAppPrivateKeySecretRef#key
     */
    readonly key: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecCaptureAuthGithubAppPrivateKeySecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCaptureAuthGithubAppPrivateKeySecretRef(obj: GatewaySyncSpecCaptureAuthGithubAppPrivateKeySecretRef | undefined): Record<string, any> | undefined;
/**
 * A key of a Secret in the same namespace.
 *
 * @schema GatewaySyncSpecGitAuthSshKeyPassphraseSecretRef
 */
export interface GatewaySyncSpecGitAuthSshKeyPassphraseSecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGitAuthSshKeyPassphraseSecretRef#name
     */
    readonly name: string;
    /**
     * Key inside the Secret.
     *
     * @schema GatewaySyncSpecGitAuthSshKeyPassphraseSecretRef#key
     */
    readonly key: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitAuthSshKeyPassphraseSecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitAuthSshKeyPassphraseSecretRef(obj: GatewaySyncSpecGitAuthSshKeyPassphraseSecretRef | undefined): Record<string, any> | undefined;
/**
 * A key of a Secret in the same namespace.
 *
 * @schema GatewaySyncSpecGitAuthSshKeyKnownHostsSecretRef
 */
export interface GatewaySyncSpecGitAuthSshKeyKnownHostsSecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecGitAuthSshKeyKnownHostsSecretRef#name
     */
    readonly name: string;
    /**
     * Key inside the Secret.
     *
     * @schema GatewaySyncSpecGitAuthSshKeyKnownHostsSecretRef#key
     */
    readonly key: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitAuthSshKeyKnownHostsSecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitAuthSshKeyKnownHostsSecretRef(obj: GatewaySyncSpecGitAuthSshKeyKnownHostsSecretRef | undefined): Record<string, any> | undefined;
/**
 * A key of a Secret in the same namespace.
 *
 * @schema GatewaySyncSpecCaptureAuthSshKeyPassphraseSecretRef
 */
export interface GatewaySyncSpecCaptureAuthSshKeyPassphraseSecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecCaptureAuthSshKeyPassphraseSecretRef#name
     */
    readonly name: string;
    /**
     * Key inside the Secret.
     *
     * @schema GatewaySyncSpecCaptureAuthSshKeyPassphraseSecretRef#key
     */
    readonly key: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecCaptureAuthSshKeyPassphraseSecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCaptureAuthSshKeyPassphraseSecretRef(obj: GatewaySyncSpecCaptureAuthSshKeyPassphraseSecretRef | undefined): Record<string, any> | undefined;
/**
 * A key of a Secret in the same namespace.
 *
 * @schema GatewaySyncSpecCaptureAuthSshKeyKnownHostsSecretRef
 */
export interface GatewaySyncSpecCaptureAuthSshKeyKnownHostsSecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecCaptureAuthSshKeyKnownHostsSecretRef#name
     */
    readonly name: string;
    /**
     * Key inside the Secret.
     *
     * @schema GatewaySyncSpecCaptureAuthSshKeyKnownHostsSecretRef#key
     */
    readonly key: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecCaptureAuthSshKeyKnownHostsSecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCaptureAuthSshKeyKnownHostsSecretRef(obj: GatewaySyncSpecCaptureAuthSshKeyKnownHostsSecretRef | undefined): Record<string, any> | undefined;
/**
 * What one gateway runs, written by its pod's agent.
 *
 * @schema SyncReport
 */
export declare class SyncReport extends ApiObject {
    /**
     * Returns the apiVersion and kind for "SyncReport"
     */
    static readonly GVK: GroupVersionKind;
    /**
     * Renders a Kubernetes manifest for "SyncReport".
     *
     * This can be used to inline resource manifests inside other objects (e.g. as templates).
     *
     * @param props initialization props
     */
    static manifest(props: SyncReportProps): any;
    /**
     * Defines a "SyncReport" API object
     * @param scope the scope in which to define this object
     * @param id a scope-local name for the object
     * @param props initialization props
     */
    constructor(scope: Construct, id: string, props: SyncReportProps);
    /**
     * Renders the object to Kubernetes JSON.
     */
    toJson(): any;
}
/**
 * What one gateway runs, written by its pod's agent.
 *
 * @schema SyncReport
 */
export interface SyncReportProps {
    /**
     * @schema SyncReport#metadata
     */
    readonly metadata?: ApiObjectMetadata;
    /**
     * @schema SyncReport#spec
     */
    readonly spec: SyncReportSpec;
}
/**
 * Converts an object of type 'SyncReportProps' to JSON representation.
 */
export declare function toJson_SyncReportProps(obj: SyncReportProps | undefined): Record<string, any> | undefined;
/**
 * @schema SyncReportSpec
 */
export interface SyncReportSpec {
    /**
     * Name of the GatewaySync that this gateway follows.
     *
     * @schema SyncReportSpec#gatewaySync
     */
    readonly gatewaySync: string;
    /**
     * The uid of the pod that writes this report.
     *
     * @schema SyncReportSpec#podUid
     */
    readonly podUid: string;
}
/**
 * Converts an object of type 'SyncReportSpec' to JSON representation.
 */
export declare function toJson_SyncReportSpec(obj: SyncReportSpec | undefined): Record<string, any> | undefined;
