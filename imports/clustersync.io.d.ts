import { ApiObject, ApiObjectMetadata, GroupVersionKind } from 'cdk8s';
import { Construct } from 'constructs';
/**
 * Selects the commit of a repository that gateways in the same namespace run.
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
 * Selects the commit of a repository that gateways in the same namespace run.
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
     * The git repository that contains the configuration. Set either git or oci.
     *
     * @schema GatewaySyncSpec#git
     */
    readonly git?: GatewaySyncSpecGit;
    /**
     * The OCI artifact that contains the configuration, such as one pushed with flux push artifact. See docs/how-to/registries.md.
     *
     * @schema GatewaySyncSpec#oci
     */
    readonly oci?: GatewaySyncSpecOci;
    /**
     * Polling of the git host.
     *
     * @schema GatewaySyncSpec#polling
     */
    readonly polling?: GatewaySyncSpecPolling;
    /**
     * Keys that authenticate the webhooks of this GatewaySync, instead of those of the installation. Set hmac, token, or both.
     *
     * @schema GatewaySyncSpec#webhook
     */
    readonly webhook?: GatewaySyncSpecWebhook;
    /**
     * The HTTP API of the gateways.
     *
     * @schema GatewaySyncSpec#gateway
     */
    readonly gateway?: GatewaySyncSpecGateway;
    /**
     * What is written to the gateways.
     *
     * @schema GatewaySyncSpec#sync
     */
    readonly sync: GatewaySyncSpecSync;
    /**
     * Validation of resource collections before a commit is published.
     *
     * @schema GatewaySyncSpec#validation
     */
    readonly validation?: GatewaySyncSpecValidation;
    /**
     * Rolls out commits and configurations in stages; by default all gateways update at once. See docs/how-to/rollout.md.
     *
     * @schema GatewaySyncSpec#rollout
     */
    readonly rollout?: GatewaySyncSpecRollout;
    /**
     * Captures local changes of gateways as commits, on request or automatically. By default nothing is captured. See docs/how-to/capture.md.
     *
     * @schema GatewaySyncSpec#capture
     */
    readonly capture?: GatewaySyncSpecCapture;
    /**
     * The injected agent container.
     *
     * @schema GatewaySyncSpec#agent
     */
    readonly agent?: GatewaySyncSpecAgent;
    /**
     * Stops writes to gateways. Fetching, validation and request handling continue.
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
 * The git repository that contains the configuration. Set either git or oci.
 *
 * @schema GatewaySyncSpecGit
 */
export interface GatewaySyncSpecGit {
    /**
     * URL of the repository: https://…, ssh://…, git@host:path, or http://… without credentials. Redirects are not followed.
     *
     * @schema GatewaySyncSpecGit#repo
     */
    readonly repo: string;
    /**
     * Branch, tag, refs/… name, full commit hash, or HEAD for the default branch of the repository. Defaults to HEAD.
     *
     * @default HEAD.
     * @schema GatewaySyncSpecGit#ref
     */
    readonly ref?: string;
    /**
     * SemVer range, such as >=1.2 <2, with at most 8 alternatives (||). The tag with the highest version in the range is followed.
     *
     * @schema GatewaySyncSpecGit#semver
     */
    readonly semver?: string;
    /**
     * Glob pattern, such as plant-*. The matching tag with the highest name is followed; plant-10 is higher than plant-9.
     *
     * @schema GatewaySyncSpecGit#tagPattern
     */
    readonly tagPattern?: string;
    /**
     * Credentials for a private repository. Set exactly one of its fields.
     *
     * @schema GatewaySyncSpecGit#auth
     */
    readonly auth?: GatewaySyncSpecGitAuth;
    /**
     * PEM-encoded CA certificates for verifying the git host, instead of the CA certificates of the system.
     *
     * @schema GatewaySyncSpecGit#caBundle
     */
    readonly caBundle?: GatewaySyncSpecGitCaBundle;
    /**
     * Secret whose key url contains the URL of the proxy for the git host, http://[user:password@]host:port. Defaults to the value source.proxy.
     *
     * @default the value source.proxy.
     * @schema GatewaySyncSpecGit#proxy
     */
    readonly proxy?: GatewaySyncSpecGitProxy;
    /**
     * Glob patterns of the refs that webhooks and other requests may select. Defaults to all branches and tags; commit hashes and other refs are refused.
     *
     * @default all branches and tags; commit hashes and other refs are refused.
     * @schema GatewaySyncSpecGit#allowedRefs
     */
    readonly allowedRefs?: string[];
    /**
     * Publishes only commits that are signed with one of these PGP or SSH keys.
     *
     * @schema GatewaySyncSpecGit#verify
     */
    readonly verify?: GatewaySyncSpecGitVerify;
    /**
     * Reports a commit status to the git host: whether the commit was refused, and how many gateways run it.
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
 * The OCI artifact that contains the configuration, such as one pushed with flux push artifact. See docs/how-to/registries.md.
 *
 * @schema GatewaySyncSpecOci
 */
export interface GatewaySyncSpecOci {
    /**
     * URL of the repository in the registry: oci://<registry>/<repository>.
     *
     * @schema GatewaySyncSpecOci#url
     */
    readonly url: string;
    /**
     * Tag to follow. Defaults to latest.
     *
     * @default latest.
     * @schema GatewaySyncSpecOci#tag
     */
    readonly tag?: string;
    /**
     * SemVer range, such as >=1.2 <2. The tag with the highest version in the range is followed.
     *
     * @schema GatewaySyncSpecOci#semver
     */
    readonly semver?: string;
    /**
     * Digest of the manifest, sha256:…, which pins one artifact.
     *
     * @schema GatewaySyncSpecOci#digest
     */
    readonly digest?: string;
    /**
     * Uses http, for a registry without TLS. Credentials and proxies are not supported.
     *
     * @schema GatewaySyncSpecOci#insecure
     */
    readonly insecure?: boolean;
    /**
     * Credentials for a private repository. Set exactly one of its fields.
     *
     * @schema GatewaySyncSpecOci#auth
     */
    readonly auth?: GatewaySyncSpecOciAuth;
    /**
     * PEM-encoded CA certificates for verifying the registry, instead of the CA certificates of the system.
     *
     * @schema GatewaySyncSpecOci#caBundle
     */
    readonly caBundle?: GatewaySyncSpecOciCaBundle;
    /**
     * Secret whose key url contains the URL of the proxy for the registry, http://[user:password@]host:port. Defaults to the value source.proxy.
     *
     * @default the value source.proxy.
     * @schema GatewaySyncSpecOci#proxy
     */
    readonly proxy?: GatewaySyncSpecOciProxy;
    /**
     * Publishes only artifacts that are signed by cosign with one of these keys.
     *
     * @schema GatewaySyncSpecOci#verify
     */
    readonly verify?: GatewaySyncSpecOciVerify;
}
/**
 * Converts an object of type 'GatewaySyncSpecOci' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecOci(obj: GatewaySyncSpecOci | undefined): Record<string, any> | undefined;
/**
 * Polling of the git host.
 *
 * @schema GatewaySyncSpecPolling
 */
export interface GatewaySyncSpecPolling {
    /**
     * Whether to poll the git host. If false, only webhooks and other requests trigger syncs; each new leader also checks once.
     *
     * @schema GatewaySyncSpecPolling#enabled
     */
    readonly enabled?: boolean;
    /**
     * Interval between polls, such as 60s, 5m or 1h30m. At least 5s.
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
 * Keys that authenticate the webhooks of this GatewaySync, instead of those of the installation. Set hmac, token, or both.
 *
 * @schema GatewaySyncSpecWebhook
 */
export interface GatewaySyncSpecWebhook {
    /**
     * HMAC key with which the git host signs webhooks.
     *
     * @schema GatewaySyncSpecWebhook#hmac
     */
    readonly hmac?: GatewaySyncSpecWebhookHmac;
    /**
     * Bearer token for other senders.
     *
     * @schema GatewaySyncSpecWebhook#token
     */
    readonly token?: GatewaySyncSpecWebhookToken;
    /**
     * URL of the repository as it appears in webhooks, if it differs from spec.git.repo because of a mirror or an internal address.
     *
     * @schema GatewaySyncSpecWebhook#repo
     */
    readonly repo?: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecWebhook' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecWebhook(obj: GatewaySyncSpecWebhook | undefined): Record<string, any> | undefined;
/**
 * The HTTP API of the gateways.
 *
 * @schema GatewaySyncSpecGateway
 */
export interface GatewaySyncSpecGateway {
    /**
     * Port of the gateway. Defaults to 8088, or to 8043 if tls is true.
     *
     * @default 8088, or to 8043 if tls is true.
     * @schema GatewaySyncSpecGateway#port
     */
    readonly port?: number;
    /**
     * Whether the gateway serves its HTTP API over TLS.
     *
     * @schema GatewaySyncSpecGateway#tls
     */
    readonly tls?: boolean;
    /**
     * PEM-encoded CA certificates for verifying the gateway.
     *
     * @schema GatewaySyncSpecGateway#caBundle
     */
    readonly caBundle?: GatewaySyncSpecGatewayCaBundle;
    /**
     * API key of the gateway, <name>:<secret>, sent in the header X-Ignition-API-Token.
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
 * What is written to the gateways.
 *
 * @schema GatewaySyncSpecSync
 */
export interface GatewaySyncSpecSync {
    /**
     * Defaults for all profiles.
     *
     * @schema GatewaySyncSpecSync#defaults
     */
    readonly defaults?: GatewaySyncSpecSyncDefaults;
    /**
     * Profiles by name. A pod selects one with an annotation; the default is "default".
     *
     * @schema GatewaySyncSpecSync#profiles
     */
    readonly profiles: {
        [key: string]: GatewaySyncSpecSyncProfiles;
    };
    /**
     * Rolls back all gateways if one of them cannot apply the commit, fails its scan, or reports new problems. Ignored if spec.rollout is set.
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
 * Validation of resource collections before a commit is published.
 *
 * @schema GatewaySyncSpecValidation
 */
export interface GatewaySyncSpecValidation {
    /**
     * Enforce refuses a commit with errors, Warn publishes it and reports the findings, Off skips validation. Quote "Off" in YAML: kubectl reads a plain Off as false.
     *
     * @schema GatewaySyncSpecValidation#policy
     */
    readonly policy?: GatewaySyncSpecValidationPolicy;
    /**
     * Severity of each rule, by its name. Quote "off" in YAML: kubectl reads a plain off as false. The rules are listed in docs/reference/rules.md.
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
 * Rolls out commits and configurations in stages; by default all gateways update at once. See docs/how-to/rollout.md.
 *
 * @schema GatewaySyncSpecRollout
 */
export interface GatewaySyncSpecRollout {
    /**
     * Stages in order. A gateway belongs to the first stage that selects it.
     *
     * @schema GatewaySyncSpecRollout#stages
     */
    readonly stages: GatewaySyncSpecRolloutStages[];
    /**
     * Stop stops the rollout. Rollback also returns the updated gateways to the previous commit.
     *
     * @schema GatewaySyncSpecRollout#onFailure
     */
    readonly onFailure?: GatewaySyncSpecRolloutOnFailure;
    /**
     * Number or percentage of failed gateways in a stage at which the rollout fails.
     *
     * @schema GatewaySyncSpecRollout#failureThreshold
     */
    readonly failureThreshold?: GatewaySyncSpecRolloutFailureThreshold;
    /**
     * When gateways may start to update; at any time if not set. Updates in progress continue, and a rollback is always allowed.
     *
     * @schema GatewaySyncSpecRollout#windows
     */
    readonly windows?: GatewaySyncSpecRolloutWindows[];
    /**
     * Maximum time since the last progress of a stage. After that, a gateway that has not applied the commit counts as failed.
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
 * Captures local changes of gateways as commits, on request or automatically. By default nothing is captured. See docs/how-to/capture.md.
 *
 * @schema GatewaySyncSpecCapture
 */
export interface GatewaySyncSpecCapture {
    /**
     * Whether agents submit local changes.
     *
     * @schema GatewaySyncSpecCapture#enabled
     */
    readonly enabled?: boolean;
    /**
     * Branch for the changes of a gateway. The operator never force-pushes it, and refuses to push if others have committed to it.
     *
     * @schema GatewaySyncSpecCapture#branch
     */
    readonly branch?: string;
    /**
     * Credentials for pushing. They are used only for this, so spec.git.auth needs no write permission.
     *
     * @schema GatewaySyncSpecCapture#auth
     */
    readonly auth: GatewaySyncSpecCaptureAuth;
    /**
     * What triggers a capture. Request captures only on request; Drift also captures local changes once no further change has been made for the quietPeriod.
     *
     * @schema GatewaySyncSpecCapture#trigger
     */
    readonly trigger?: GatewaySyncSpecCaptureTrigger;
    /**
     * How long there must be no further local change before trigger Drift captures the changes. At least 1m; defaults to 10m.
     *
     * @schema GatewaySyncSpecCapture#quietPeriod
     */
    readonly quietPeriod?: string;
    /**
     * Opens one pull request from each branch to spec.git.ref, and keeps its description (files, findings and diff) up to date.
     *
     * @schema GatewaySyncSpecCapture#pullRequest
     */
    readonly pullRequest?: boolean;
    /**
     * API of the git host for pull requests.
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
 * The injected agent container.
 *
 * @schema GatewaySyncSpecAgent
 */
export interface GatewaySyncSpecAgent {
    /**
     * Image of the agent; used only if the value agent.allowImageOverride permits it.
     *
     * @schema GatewaySyncSpecAgent#image
     */
    readonly image?: GatewaySyncSpecAgentImage;
    /**
     * Resources of the agent container. They replace those of the installation.
     *
     * @schema GatewaySyncSpecAgent#resources
     */
    readonly resources?: GatewaySyncSpecAgentResources;
    /**
     * Secrets for pulling the image, in addition to those of the pod.
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
 * Credentials for a private repository. Set exactly one of its fields.
 *
 * @schema GatewaySyncSpecGitAuth
 */
export interface GatewaySyncSpecGitAuth {
    /**
     * Access token for HTTPS, for any git host.
     *
     * @schema GatewaySyncSpecGitAuth#token
     */
    readonly token?: GatewaySyncSpecGitAuthToken;
    /**
     * User name and password for HTTPS, from the keys username and password of a Secret.
     *
     * @schema GatewaySyncSpecGitAuth#basic
     */
    readonly basic?: GatewaySyncSpecGitAuthBasic;
    /**
     * Client certificate for HTTPS, from the keys tls.crt and tls.key of a Secret.
     *
     * @schema GatewaySyncSpecGitAuth#clientCertificate
     */
    readonly clientCertificate?: GatewaySyncSpecGitAuthClientCertificate;
    /**
     * Private key for SSH and the accepted host keys.
     *
     * @schema GatewaySyncSpecGitAuth#sshKey
     */
    readonly sshKey?: GatewaySyncSpecGitAuthSshKey;
    /**
     * GitHub App that is installed on the repository. The controller requests and renews its tokens.
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
 * PEM-encoded CA certificates for verifying the git host, instead of the CA certificates of the system.
 *
 * @schema GatewaySyncSpecGitCaBundle
 */
export interface GatewaySyncSpecGitCaBundle {
    /**
     * Key of a Secret in the same namespace.
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
 * Secret whose key url contains the URL of the proxy for the git host, http://[user:password@]host:port. Defaults to the value source.proxy.
 *
 * @default the value source.proxy.
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
 * Publishes only commits that are signed with one of these PGP or SSH keys.
 *
 * @schema GatewaySyncSpecGitVerify
 */
export interface GatewaySyncSpecGitVerify {
    /**
     * What must be signed: the commit, the annotated tag that the ref names, or both.
     *
     * @schema GatewaySyncSpecGitVerify#mode
     */
    readonly mode: GatewaySyncSpecGitVerifyMode;
    /**
     * Secret with the trusted public keys. Each data entry contains PGP or SSH keys.
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
 * Reports a commit status to the git host: whether the commit was refused, and how many gateways run it.
 *
 * @schema GatewaySyncSpecGitCommitStatus
 */
export interface GatewaySyncSpecGitCommitStatus {
    /**
     * API of the git host. Use gitea for Forgejo, bitbucket for bitbucket.org and bitbucketserver for Bitbucket Data Center.
     *
     * @schema GatewaySyncSpecGitCommitStatus#provider
     */
    readonly provider: GatewaySyncSpecGitCommitStatusProvider;
    /**
     * Key of a Secret in the same namespace that contains the access token of the API. Defaults to the credentials of spec.git.auth.
     *
     * @default the credentials of spec.git.auth.
     * @schema GatewaySyncSpecGitCommitStatus#secretRef
     */
    readonly secretRef?: GatewaySyncSpecGitCommitStatusSecretRef;
    /**
     * Base URL of the API, such as https://git.example.com:8443/api/v1. Defaults to the standard URL of the provider on the host of the repository.
     *
     * @default the standard URL of the provider on the host of the repository.
     * @schema GatewaySyncSpecGitCommitStatus#apiBaseURL
     */
    readonly apiBaseUrl?: string;
    /**
     * Name of the status on the git host. Defaults to cluster-sync/<namespace>/<name>. Use a different name for each cluster.
     *
     * @default cluster-sync/<namespace>/<name>. Use a different name for each cluster.
     * @schema GatewaySyncSpecGitCommitStatus#context
     */
    readonly context?: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitCommitStatus' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitCommitStatus(obj: GatewaySyncSpecGitCommitStatus | undefined): Record<string, any> | undefined;
/**
 * Credentials for a private repository. Set exactly one of its fields.
 *
 * @schema GatewaySyncSpecOciAuth
 */
export interface GatewaySyncSpecOciAuth {
    /**
     * A Secret of type kubernetes.io/dockerconfigjson with credentials for the registry.
     *
     * @schema GatewaySyncSpecOciAuth#dockerConfig
     */
    readonly dockerConfig?: GatewaySyncSpecOciAuthDockerConfig;
    /**
     * User name and password, from the keys username and password of a Secret.
     *
     * @schema GatewaySyncSpecOciAuth#basic
     */
    readonly basic?: GatewaySyncSpecOciAuthBasic;
}
/**
 * Converts an object of type 'GatewaySyncSpecOciAuth' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecOciAuth(obj: GatewaySyncSpecOciAuth | undefined): Record<string, any> | undefined;
/**
 * PEM-encoded CA certificates for verifying the registry, instead of the CA certificates of the system.
 *
 * @schema GatewaySyncSpecOciCaBundle
 */
export interface GatewaySyncSpecOciCaBundle {
    /**
     * Key of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecOciCaBundle#secretRef
     */
    readonly secretRef: GatewaySyncSpecOciCaBundleSecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecOciCaBundle' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecOciCaBundle(obj: GatewaySyncSpecOciCaBundle | undefined): Record<string, any> | undefined;
/**
 * Secret whose key url contains the URL of the proxy for the registry, http://[user:password@]host:port. Defaults to the value source.proxy.
 *
 * @default the value source.proxy.
 * @schema GatewaySyncSpecOciProxy
 */
export interface GatewaySyncSpecOciProxy {
    /**
     * A Secret in the same namespace.
     *
     * @schema GatewaySyncSpecOciProxy#secretRef
     */
    readonly secretRef: GatewaySyncSpecOciProxySecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecOciProxy' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecOciProxy(obj: GatewaySyncSpecOciProxy | undefined): Record<string, any> | undefined;
/**
 * Publishes only artifacts that are signed by cosign with one of these keys.
 *
 * @schema GatewaySyncSpecOciVerify
 */
export interface GatewaySyncSpecOciVerify {
    /**
     * Secret with the trusted public keys. Each data entry is a PEM-encoded public key, as written by cosign.
     *
     * @schema GatewaySyncSpecOciVerify#secretRef
     */
    readonly secretRef: GatewaySyncSpecOciVerifySecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecOciVerify' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecOciVerify(obj: GatewaySyncSpecOciVerify | undefined): Record<string, any> | undefined;
/**
 * HMAC key with which the git host signs webhooks.
 *
 * @schema GatewaySyncSpecWebhookHmac
 */
export interface GatewaySyncSpecWebhookHmac {
    /**
     * Key of a Secret in the same namespace.
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
 * Bearer token for other senders.
 *
 * @schema GatewaySyncSpecWebhookToken
 */
export interface GatewaySyncSpecWebhookToken {
    /**
     * Key of a Secret in the same namespace.
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
 * PEM-encoded CA certificates for verifying the gateway.
 *
 * @schema GatewaySyncSpecGatewayCaBundle
 */
export interface GatewaySyncSpecGatewayCaBundle {
    /**
     * Key of a Secret in the same namespace.
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
 * API key of the gateway, <name>:<secret>, sent in the header X-Ignition-API-Token.
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
     * Key in the Secret.
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
 * Defaults for all profiles.
 *
 * @schema GatewaySyncSpecSyncDefaults
 */
export interface GatewaySyncSpecSyncDefaults {
    /**
     * Glob patterns of files to exclude, in addition to those of the enclosing levels.
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
     * Interval between checks for drift, from 5s to 1h.
     *
     * @schema GatewaySyncSpecSyncDefaults#syncPeriod
     */
    readonly syncPeriod?: string;
    /**
     * How to sync while a Designer session is open: Proceed writes, Wait waits until it is closed, Fail fails the sync.
     *
     * @schema GatewaySyncSpecSyncDefaults#designerSessionPolicy
     */
    readonly designerSessionPolicy?: GatewaySyncSpecSyncDefaultsDesignerSessionPolicy;
    /**
     * Reports what a sync would change without writing anything.
     *
     * @schema GatewaySyncSpecSyncDefaults#dryRun
     */
    readonly dryRun?: boolean;
    /**
     * Stops writes to the gateway. Validation and reports continue.
     *
     * @schema GatewaySyncSpecSyncDefaults#paused
     */
    readonly paused?: boolean;
    /**
     * How local changes to managed files are handled: Report reports them, Restore reverts them, Hold holds back commits that would overwrite them.
     *
     * @schema GatewaySyncSpecSyncDefaults#drift
     */
    readonly drift?: GatewaySyncSpecSyncDefaultsDrift;
    /**
     * Which files may be deleted: Owned, those that the operator wrote; All, every file in the folder; None, no files.
     *
     * @schema GatewaySyncSpecSyncDefaults#prune
     */
    readonly prune?: GatewaySyncSpecSyncDefaultsPrune;
    /**
     * A commit that deletes more files than this number or percentage waits for confirmation (MassDeletion). Up to 10 deletions are always allowed.
     *
     * @schema GatewaySyncSpecSyncDefaults#maxDeletions
     */
    readonly maxDeletions?: GatewaySyncSpecSyncDefaultsMaxDeletions;
    /**
     * Block delays the start of a gateway until its volume has a complete commit; Start does not.
     *
     * @schema GatewaySyncSpecSyncDefaults#startPolicy
     */
    readonly startPolicy?: GatewaySyncSpecSyncDefaultsStartPolicy;
    /**
     * Maximum time that startPolicy Block delays a gateway, which then starts without a commit. At most 25m.
     *
     * @schema GatewaySyncSpecSyncDefaults#startDeadline
     */
    readonly startDeadline?: string;
    /**
     * Maximum time that a gateway with a complete commit on its volume waits for the published commit. It applies instead of startDeadline.
     *
     * @schema GatewaySyncSpecSyncDefaults#startGrace
     */
    readonly startGrace?: string;
    /**
     * Health check that a gateway must pass in a rollout. It is repeated until the rollout ends.
     *
     * @schema GatewaySyncSpecSyncDefaults#healthCheck
     */
    readonly healthCheck?: GatewaySyncSpecSyncDefaultsHealthCheck;
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
     * Folders and files to write. If several mappings contain a path, the last one is used.
     *
     * @schema GatewaySyncSpecSyncProfiles#mappings
     */
    readonly mappings?: GatewaySyncSpecSyncProfilesMappings[];
    /**
     * Glob patterns of files to exclude, in addition to those of the enclosing levels.
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
     * Interval between checks for drift, from 5s to 1h.
     *
     * @schema GatewaySyncSpecSyncProfiles#syncPeriod
     */
    readonly syncPeriod?: string;
    /**
     * How to sync while a Designer session is open: Proceed writes, Wait waits until it is closed, Fail fails the sync.
     *
     * @schema GatewaySyncSpecSyncProfiles#designerSessionPolicy
     */
    readonly designerSessionPolicy?: GatewaySyncSpecSyncProfilesDesignerSessionPolicy;
    /**
     * Reports what a sync would change without writing anything.
     *
     * @schema GatewaySyncSpecSyncProfiles#dryRun
     */
    readonly dryRun?: boolean;
    /**
     * Stops writes to the gateway. Validation and reports continue.
     *
     * @schema GatewaySyncSpecSyncProfiles#paused
     */
    readonly paused?: boolean;
    /**
     * How local changes to managed files are handled: Report reports them, Restore reverts them, Hold holds back commits that would overwrite them.
     *
     * @schema GatewaySyncSpecSyncProfiles#drift
     */
    readonly drift?: GatewaySyncSpecSyncProfilesDrift;
    /**
     * Which files may be deleted: Owned, those that the operator wrote; All, every file in the folder; None, no files.
     *
     * @schema GatewaySyncSpecSyncProfiles#prune
     */
    readonly prune?: GatewaySyncSpecSyncProfilesPrune;
    /**
     * A commit that deletes more files than this number or percentage waits for confirmation (MassDeletion). Up to 10 deletions are always allowed.
     *
     * @schema GatewaySyncSpecSyncProfiles#maxDeletions
     */
    readonly maxDeletions?: GatewaySyncSpecSyncProfilesMaxDeletions;
    /**
     * Block delays the start of a gateway until its volume has a complete commit; Start does not.
     *
     * @schema GatewaySyncSpecSyncProfiles#startPolicy
     */
    readonly startPolicy?: GatewaySyncSpecSyncProfilesStartPolicy;
    /**
     * Maximum time that startPolicy Block delays a gateway, which then starts without a commit. At most 25m.
     *
     * @schema GatewaySyncSpecSyncProfiles#startDeadline
     */
    readonly startDeadline?: string;
    /**
     * Maximum time that a gateway with a complete commit on its volume waits for the published commit. It applies instead of startDeadline.
     *
     * @schema GatewaySyncSpecSyncProfiles#startGrace
     */
    readonly startGrace?: string;
    /**
     * Health check that a gateway must pass in a rollout. It is repeated until the rollout ends.
     *
     * @schema GatewaySyncSpecSyncProfiles#healthCheck
     */
    readonly healthCheck?: GatewaySyncSpecSyncProfilesHealthCheck;
}
/**
 * Converts an object of type 'GatewaySyncSpecSyncProfiles' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecSyncProfiles(obj: GatewaySyncSpecSyncProfiles | undefined): Record<string, any> | undefined;
/**
 * Enforce refuses a commit with errors, Warn publishes it and reports the findings, Off skips validation. Quote "Off" in YAML: kubectl reads a plain Off as false.
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
     * Name of the stage, used in the status and in approvals.
     *
     * @schema GatewaySyncSpecRolloutStages#name
     */
    readonly name: string;
    /**
     * Selects gateways that belong to no earlier stage; names and matchLabels must both match. The last stage takes all remaining gateways.
     *
     * @schema GatewaySyncSpecRolloutStages#selector
     */
    readonly selector?: GatewaySyncSpecRolloutStagesSelector;
    /**
     * Maximum number of gateways of the stage that update at the same time: a number, or a percentage such as 25%.
     *
     * @schema GatewaySyncSpecRolloutStages#maxConcurrent
     */
    readonly maxConcurrent?: GatewaySyncSpecRolloutStagesMaxConcurrent;
    /**
     * How long all gateways of the stage must be healthy before the next stage starts.
     *
     * @schema GatewaySyncSpecRolloutStages#soak
     */
    readonly soak?: string;
    /**
     * Automatic starts the stage after the previous one; Manual waits for approval.
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
 * Stop stops the rollout. Rollback also returns the updated gateways to the previous commit.
 *
 * @schema GatewaySyncSpecRolloutOnFailure
 */
export declare enum GatewaySyncSpecRolloutOnFailure {
    /** Stop */
    STOP = "Stop",
    /** Rollback */
    ROLLBACK = "Rollback"
}
/**
 * Number or percentage of failed gateways in a stage at which the rollout fails.
 *
 * @schema GatewaySyncSpecRolloutFailureThreshold
 */
export declare class GatewaySyncSpecRolloutFailureThreshold {
    readonly value: number | string;
    static fromNumber(value: number): GatewaySyncSpecRolloutFailureThreshold;
    static fromString(value: string): GatewaySyncSpecRolloutFailureThreshold;
    private constructor();
}
/**
 * @schema GatewaySyncSpecRolloutWindows
 */
export interface GatewaySyncSpecRolloutWindows {
    /**
     * Days when the window opens.
     *
     * @schema GatewaySyncSpecRolloutWindows#days
     */
    readonly days: GatewaySyncSpecRolloutWindowsDays[];
    /**
     * Time of day when the window opens.
     *
     * @schema GatewaySyncSpecRolloutWindows#from
     */
    readonly from: string;
    /**
     * Time of day when the window closes; on the next day if it is not later than from.
     *
     * @schema GatewaySyncSpecRolloutWindows#to
     */
    readonly to: string;
    /**
     * IANA time zone of the window, such as Europe/Vienna.
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
 * Credentials for pushing. They are used only for this, so spec.git.auth needs no write permission.
 *
 * @schema GatewaySyncSpecCaptureAuth
 */
export interface GatewaySyncSpecCaptureAuth {
    /**
     * Access token for HTTPS, for any git host.
     *
     * @schema GatewaySyncSpecCaptureAuth#token
     */
    readonly token?: GatewaySyncSpecCaptureAuthToken;
    /**
     * User name and password for HTTPS, from the keys username and password of a Secret.
     *
     * @schema GatewaySyncSpecCaptureAuth#basic
     */
    readonly basic?: GatewaySyncSpecCaptureAuthBasic;
    /**
     * Client certificate for HTTPS, from the keys tls.crt and tls.key of a Secret.
     *
     * @schema GatewaySyncSpecCaptureAuth#clientCertificate
     */
    readonly clientCertificate?: GatewaySyncSpecCaptureAuthClientCertificate;
    /**
     * Private key for SSH and the accepted host keys.
     *
     * @schema GatewaySyncSpecCaptureAuth#sshKey
     */
    readonly sshKey?: GatewaySyncSpecCaptureAuthSshKey;
    /**
     * GitHub App that is installed on the repository. The controller requests and renews its tokens.
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
 * What triggers a capture. Request captures only on request; Drift also captures local changes once no further change has been made for the quietPeriod.
 *
 * @schema GatewaySyncSpecCaptureTrigger
 */
export declare enum GatewaySyncSpecCaptureTrigger {
    /** Request */
    REQUEST = "Request",
    /** Drift */
    DRIFT = "Drift"
}
/**
 * API of the git host for pull requests.
 *
 * @schema GatewaySyncSpecCaptureApi
 */
export interface GatewaySyncSpecCaptureApi {
    /**
     * API of the git host. Use gitea for Forgejo, bitbucket for bitbucket.org and bitbucketserver for Bitbucket Data Center.
     *
     * @schema GatewaySyncSpecCaptureApi#provider
     */
    readonly provider: GatewaySyncSpecCaptureApiProvider;
    /**
     * Key of a Secret in the same namespace that contains the access token of the API. Defaults to the credentials of spec.capture.auth.
     *
     * @default the credentials of spec.capture.auth.
     * @schema GatewaySyncSpecCaptureApi#secretRef
     */
    readonly secretRef?: GatewaySyncSpecCaptureApiSecretRef;
    /**
     * Base URL of the API, such as https://git.example.com:8443/api/v1. Defaults to the standard URL of the provider on the host of the repository.
     *
     * @default the standard URL of the provider on the host of the repository.
     * @schema GatewaySyncSpecCaptureApi#apiBaseURL
     */
    readonly apiBaseUrl?: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecCaptureApi' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCaptureApi(obj: GatewaySyncSpecCaptureApi | undefined): Record<string, any> | undefined;
/**
 * Image of the agent; used only if the value agent.allowImageOverride permits it.
 *
 * @schema GatewaySyncSpecAgentImage
 */
export interface GatewaySyncSpecAgentImage {
    /**
     * Registry and repository of the image.
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
     * Image pull policy.
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
 * Resources of the agent container. They replace those of the installation.
 *
 * @schema GatewaySyncSpecAgentResources
 */
export interface GatewaySyncSpecAgentResources {
    /**
     * Resource requests.
     *
     * @schema GatewaySyncSpecAgentResources#requests
     */
    readonly requests?: {
        [key: string]: GatewaySyncSpecAgentResourcesRequests;
    };
    /**
     * Resource limits.
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
 * Access token for HTTPS, for any git host.
 *
 * @schema GatewaySyncSpecGitAuthToken
 */
export interface GatewaySyncSpecGitAuthToken {
    /**
     * Key of a Secret in the same namespace.
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
 * User name and password for HTTPS, from the keys username and password of a Secret.
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
 * Client certificate for HTTPS, from the keys tls.crt and tls.key of a Secret.
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
 * Private key for SSH and the accepted host keys.
 *
 * @schema GatewaySyncSpecGitAuthSshKey
 */
export interface GatewaySyncSpecGitAuthSshKey {
    /**
     * Key of a Secret in the same namespace that contains the private key.
     *
     * @schema GatewaySyncSpecGitAuthSshKey#secretRef
     */
    readonly secretRef: GatewaySyncSpecGitAuthSshKeySecretRef;
    /**
     * Passphrase of an encrypted private key.
     *
     * @schema GatewaySyncSpecGitAuthSshKey#passphrase
     */
    readonly passphrase?: GatewaySyncSpecGitAuthSshKeyPassphrase;
    /**
     * Host keys of the git host, in the format of ssh-keyscan.
     *
     * @schema GatewaySyncSpecGitAuthSshKey#knownHosts
     */
    readonly knownHosts?: GatewaySyncSpecGitAuthSshKeyKnownHosts;
    /**
     * Accepts any host key. An attacker on the network can then impersonate the git host; use it for trials only.
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
 * GitHub App that is installed on the repository. The controller requests and renews its tokens.
 *
 * @schema GatewaySyncSpecGitAuthGithubApp
 */
export interface GatewaySyncSpecGitAuthGithubApp {
    /**
     * ID of the GitHub App, as shown on its settings page.
     *
     * @schema GatewaySyncSpecGitAuthGithubApp#appId
     */
    readonly appId: number;
    /**
     * ID of the installation: the number at the end of the URL of its settings page.
     *
     * @schema GatewaySyncSpecGitAuthGithubApp#installationId
     */
    readonly installationId: number;
    /**
     * Private key of the GitHub App in PEM.
     *
     * @schema GatewaySyncSpecGitAuthGithubApp#privateKeySecretRef
     */
    readonly privateKeySecretRef: GatewaySyncSpecGitAuthGithubAppPrivateKeySecretRef;
    /**
     * API URL of GitHub Enterprise Server, https://<host>/api/v3. Defaults to the API of github.com.
     *
     * @default the API of github.com.
     * @schema GatewaySyncSpecGitAuthGithubApp#apiBaseURL
     */
    readonly apiBaseUrl?: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecGitAuthGithubApp' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecGitAuthGithubApp(obj: GatewaySyncSpecGitAuthGithubApp | undefined): Record<string, any> | undefined;
/**
 * Key of a Secret in the same namespace.
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
     * Key in the Secret.
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
 * What must be signed: the commit, the annotated tag that the ref names, or both.
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
 * Secret with the trusted public keys. Each data entry contains PGP or SSH keys.
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
 * API of the git host. Use gitea for Forgejo, bitbucket for bitbucket.org and bitbucketserver for Bitbucket Data Center.
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
 * Key of a Secret in the same namespace that contains the access token of the API. Defaults to the credentials of spec.git.auth.
 *
 * @default the credentials of spec.git.auth.
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
     * Key in the Secret.
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
 * A Secret of type kubernetes.io/dockerconfigjson with credentials for the registry.
 *
 * @schema GatewaySyncSpecOciAuthDockerConfig
 */
export interface GatewaySyncSpecOciAuthDockerConfig {
    /**
     * A Secret in the same namespace.
     *
     * @schema GatewaySyncSpecOciAuthDockerConfig#secretRef
     */
    readonly secretRef: GatewaySyncSpecOciAuthDockerConfigSecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecOciAuthDockerConfig' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecOciAuthDockerConfig(obj: GatewaySyncSpecOciAuthDockerConfig | undefined): Record<string, any> | undefined;
/**
 * User name and password, from the keys username and password of a Secret.
 *
 * @schema GatewaySyncSpecOciAuthBasic
 */
export interface GatewaySyncSpecOciAuthBasic {
    /**
     * A Secret in the same namespace.
     *
     * @schema GatewaySyncSpecOciAuthBasic#secretRef
     */
    readonly secretRef: GatewaySyncSpecOciAuthBasicSecretRef;
}
/**
 * Converts an object of type 'GatewaySyncSpecOciAuthBasic' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecOciAuthBasic(obj: GatewaySyncSpecOciAuthBasic | undefined): Record<string, any> | undefined;
/**
 * Key of a Secret in the same namespace.
 *
 * @schema GatewaySyncSpecOciCaBundleSecretRef
 */
export interface GatewaySyncSpecOciCaBundleSecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecOciCaBundleSecretRef#name
     */
    readonly name: string;
    /**
     * Key in the Secret.
     *
     * @schema GatewaySyncSpecOciCaBundleSecretRef#key
     */
    readonly key: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecOciCaBundleSecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecOciCaBundleSecretRef(obj: GatewaySyncSpecOciCaBundleSecretRef | undefined): Record<string, any> | undefined;
/**
 * A Secret in the same namespace.
 *
 * @schema GatewaySyncSpecOciProxySecretRef
 */
export interface GatewaySyncSpecOciProxySecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecOciProxySecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecOciProxySecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecOciProxySecretRef(obj: GatewaySyncSpecOciProxySecretRef | undefined): Record<string, any> | undefined;
/**
 * Secret with the trusted public keys. Each data entry is a PEM-encoded public key, as written by cosign.
 *
 * @schema GatewaySyncSpecOciVerifySecretRef
 */
export interface GatewaySyncSpecOciVerifySecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecOciVerifySecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecOciVerifySecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecOciVerifySecretRef(obj: GatewaySyncSpecOciVerifySecretRef | undefined): Record<string, any> | undefined;
/**
 * Key of a Secret in the same namespace.
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
     * Key in the Secret.
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
 * Key of a Secret in the same namespace.
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
     * Key in the Secret.
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
 * Key of a Secret in the same namespace.
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
     * Key in the Secret.
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
 * How to sync while a Designer session is open: Proceed writes, Wait waits until it is closed, Fail fails the sync.
 *
 * @schema GatewaySyncSpecSyncDefaultsDesignerSessionPolicy
 */
export declare enum GatewaySyncSpecSyncDefaultsDesignerSessionPolicy {
    /** Proceed */
    PROCEED = "Proceed",
    /** Wait */
    WAIT = "Wait",
    /** Fail */
    FAIL = "Fail"
}
/**
 * How local changes to managed files are handled: Report reports them, Restore reverts them, Hold holds back commits that would overwrite them.
 *
 * @schema GatewaySyncSpecSyncDefaultsDrift
 */
export declare enum GatewaySyncSpecSyncDefaultsDrift {
    /** Report */
    REPORT = "Report",
    /** Restore */
    RESTORE = "Restore",
    /** Hold */
    HOLD = "Hold"
}
/**
 * Which files may be deleted: Owned, those that the operator wrote; All, every file in the folder; None, no files.
 *
 * @schema GatewaySyncSpecSyncDefaultsPrune
 */
export declare enum GatewaySyncSpecSyncDefaultsPrune {
    /** Owned */
    OWNED = "Owned",
    /** All */
    ALL = "All",
    /** None */
    NONE = "None"
}
/**
 * A commit that deletes more files than this number or percentage waits for confirmation (MassDeletion). Up to 10 deletions are always allowed.
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
 * Block delays the start of a gateway until its volume has a complete commit; Start does not.
 *
 * @schema GatewaySyncSpecSyncDefaultsStartPolicy
 */
export declare enum GatewaySyncSpecSyncDefaultsStartPolicy {
    /** Block */
    BLOCK = "Block",
    /** Start */
    START = "Start"
}
/**
 * Health check that a gateway must pass in a rollout. It is repeated until the rollout ends.
 *
 * @schema GatewaySyncSpecSyncDefaultsHealthCheck
 */
export interface GatewaySyncSpecSyncDefaultsHealthCheck {
    /**
     * HTTP GET request that the agent sends. Redirects are not followed.
     *
     * @schema GatewaySyncSpecSyncDefaultsHealthCheck#http
     */
    readonly http?: GatewaySyncSpecSyncDefaultsHealthCheckHttp;
    /**
     * Prometheus query that the controller runs, which needs network access to the server.
     *
     * @schema GatewaySyncSpecSyncDefaultsHealthCheck#prometheus
     */
    readonly prometheus?: GatewaySyncSpecSyncDefaultsHealthCheckPrometheus;
}
/**
 * Converts an object of type 'GatewaySyncSpecSyncDefaultsHealthCheck' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecSyncDefaultsHealthCheck(obj: GatewaySyncSpecSyncDefaultsHealthCheck | undefined): Record<string, any> | undefined;
/**
 * Resource collections of the gateway, by deployment mode.
 *
 * @schema GatewaySyncSpecSyncProfilesCollections
 */
export interface GatewaySyncSpecSyncProfilesCollections {
    /**
     * Folder in the repository that contains one folder per collection.
     *
     * @schema GatewaySyncSpecSyncProfilesCollections#root
     */
    readonly root: string;
    /**
     * Deployment mode, or auto to use the mode of the gateway.
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
     * When false, the destination is left unchanged if the source does not exist.
     *
     * @schema GatewaySyncSpecSyncProfilesMappings#required
     */
    readonly required?: boolean;
    /**
     * Renders every file of this mapping with LiquidJS.
     *
     * @schema GatewaySyncSpecSyncProfilesMappings#template
     */
    readonly template?: boolean;
    /**
     * Which files may be deleted: Owned, those that the operator wrote; All, every file in the folder; None, no files.
     *
     * @schema GatewaySyncSpecSyncProfilesMappings#prune
     */
    readonly prune?: GatewaySyncSpecSyncProfilesMappingsPrune;
    /**
     * Glob patterns of files to exclude, in addition to those of the enclosing levels.
     *
     * @schema GatewaySyncSpecSyncProfilesMappings#excludePatterns
     */
    readonly excludePatterns?: string[];
    /**
     * Values to set in JSON files before they are written to the gateway.
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
 * How to sync while a Designer session is open: Proceed writes, Wait waits until it is closed, Fail fails the sync.
 *
 * @schema GatewaySyncSpecSyncProfilesDesignerSessionPolicy
 */
export declare enum GatewaySyncSpecSyncProfilesDesignerSessionPolicy {
    /** Proceed */
    PROCEED = "Proceed",
    /** Wait */
    WAIT = "Wait",
    /** Fail */
    FAIL = "Fail"
}
/**
 * How local changes to managed files are handled: Report reports them, Restore reverts them, Hold holds back commits that would overwrite them.
 *
 * @schema GatewaySyncSpecSyncProfilesDrift
 */
export declare enum GatewaySyncSpecSyncProfilesDrift {
    /** Report */
    REPORT = "Report",
    /** Restore */
    RESTORE = "Restore",
    /** Hold */
    HOLD = "Hold"
}
/**
 * Which files may be deleted: Owned, those that the operator wrote; All, every file in the folder; None, no files.
 *
 * @schema GatewaySyncSpecSyncProfilesPrune
 */
export declare enum GatewaySyncSpecSyncProfilesPrune {
    /** Owned */
    OWNED = "Owned",
    /** All */
    ALL = "All",
    /** None */
    NONE = "None"
}
/**
 * A commit that deletes more files than this number or percentage waits for confirmation (MassDeletion). Up to 10 deletions are always allowed.
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
 * Block delays the start of a gateway until its volume has a complete commit; Start does not.
 *
 * @schema GatewaySyncSpecSyncProfilesStartPolicy
 */
export declare enum GatewaySyncSpecSyncProfilesStartPolicy {
    /** Block */
    BLOCK = "Block",
    /** Start */
    START = "Start"
}
/**
 * Health check that a gateway must pass in a rollout. It is repeated until the rollout ends.
 *
 * @schema GatewaySyncSpecSyncProfilesHealthCheck
 */
export interface GatewaySyncSpecSyncProfilesHealthCheck {
    /**
     * HTTP GET request that the agent sends. Redirects are not followed.
     *
     * @schema GatewaySyncSpecSyncProfilesHealthCheck#http
     */
    readonly http?: GatewaySyncSpecSyncProfilesHealthCheckHttp;
    /**
     * Prometheus query that the controller runs, which needs network access to the server.
     *
     * @schema GatewaySyncSpecSyncProfilesHealthCheck#prometheus
     */
    readonly prometheus?: GatewaySyncSpecSyncProfilesHealthCheckPrometheus;
}
/**
 * Converts an object of type 'GatewaySyncSpecSyncProfilesHealthCheck' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecSyncProfilesHealthCheck(obj: GatewaySyncSpecSyncProfilesHealthCheck | undefined): Record<string, any> | undefined;
/**
 * Selects gateways that belong to no earlier stage; names and matchLabels must both match. The last stage takes all remaining gateways.
 *
 * @schema GatewaySyncSpecRolloutStagesSelector
 */
export interface GatewaySyncSpecRolloutStagesSelector {
    /**
     * Glob patterns of gateway names. The name is the annotation clustersync.io/gateway-name, or the name of the pod.
     *
     * @schema GatewaySyncSpecRolloutStagesSelector#names
     */
    readonly names?: string[];
    /**
     * Labels that the pod must have.
     *
     * @schema GatewaySyncSpecRolloutStagesSelector#matchLabels
     */
    readonly matchLabels?: {
        [key: string]: string;
    };
}
/**
 * Converts an object of type 'GatewaySyncSpecRolloutStagesSelector' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecRolloutStagesSelector(obj: GatewaySyncSpecRolloutStagesSelector | undefined): Record<string, any> | undefined;
/**
 * Maximum number of gateways of the stage that update at the same time: a number, or a percentage such as 25%.
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
 * Automatic starts the stage after the previous one; Manual waits for approval.
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
 * Access token for HTTPS, for any git host.
 *
 * @schema GatewaySyncSpecCaptureAuthToken
 */
export interface GatewaySyncSpecCaptureAuthToken {
    /**
     * Key of a Secret in the same namespace.
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
 * User name and password for HTTPS, from the keys username and password of a Secret.
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
 * Client certificate for HTTPS, from the keys tls.crt and tls.key of a Secret.
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
 * Private key for SSH and the accepted host keys.
 *
 * @schema GatewaySyncSpecCaptureAuthSshKey
 */
export interface GatewaySyncSpecCaptureAuthSshKey {
    /**
     * Key of a Secret in the same namespace that contains the private key.
     *
     * @schema GatewaySyncSpecCaptureAuthSshKey#secretRef
     */
    readonly secretRef: GatewaySyncSpecCaptureAuthSshKeySecretRef;
    /**
     * Passphrase of an encrypted private key.
     *
     * @schema GatewaySyncSpecCaptureAuthSshKey#passphrase
     */
    readonly passphrase?: GatewaySyncSpecCaptureAuthSshKeyPassphrase;
    /**
     * Host keys of the git host, in the format of ssh-keyscan.
     *
     * @schema GatewaySyncSpecCaptureAuthSshKey#knownHosts
     */
    readonly knownHosts?: GatewaySyncSpecCaptureAuthSshKeyKnownHosts;
    /**
     * Accepts any host key. An attacker on the network can then impersonate the git host; use it for trials only.
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
 * GitHub App that is installed on the repository. The controller requests and renews its tokens.
 *
 * @schema GatewaySyncSpecCaptureAuthGithubApp
 */
export interface GatewaySyncSpecCaptureAuthGithubApp {
    /**
     * ID of the GitHub App, as shown on its settings page.
     *
     * @schema GatewaySyncSpecCaptureAuthGithubApp#appId
     */
    readonly appId: number;
    /**
     * ID of the installation: the number at the end of the URL of its settings page.
     *
     * @schema GatewaySyncSpecCaptureAuthGithubApp#installationId
     */
    readonly installationId: number;
    /**
     * Private key of the GitHub App in PEM.
     *
     * @schema GatewaySyncSpecCaptureAuthGithubApp#privateKeySecretRef
     */
    readonly privateKeySecretRef: GatewaySyncSpecCaptureAuthGithubAppPrivateKeySecretRef;
    /**
     * API URL of GitHub Enterprise Server, https://<host>/api/v3. Defaults to the API of github.com.
     *
     * @default the API of github.com.
     * @schema GatewaySyncSpecCaptureAuthGithubApp#apiBaseURL
     */
    readonly apiBaseUrl?: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecCaptureAuthGithubApp' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecCaptureAuthGithubApp(obj: GatewaySyncSpecCaptureAuthGithubApp | undefined): Record<string, any> | undefined;
/**
 * API of the git host. Use gitea for Forgejo, bitbucket for bitbucket.org and bitbucketserver for Bitbucket Data Center.
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
 * Key of a Secret in the same namespace that contains the access token of the API. Defaults to the credentials of spec.capture.auth.
 *
 * @default the credentials of spec.capture.auth.
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
     * Key in the Secret.
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
 * Image pull policy.
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
 * Key of a Secret in the same namespace.
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
     * Key in the Secret.
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
 * Key of a Secret in the same namespace that contains the private key.
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
     * Key in the Secret.
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
 * Passphrase of an encrypted private key.
 *
 * @schema GatewaySyncSpecGitAuthSshKeyPassphrase
 */
export interface GatewaySyncSpecGitAuthSshKeyPassphrase {
    /**
     * Key of a Secret in the same namespace.
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
 * Host keys of the git host, in the format of ssh-keyscan.
 *
 * @schema GatewaySyncSpecGitAuthSshKeyKnownHosts
 */
export interface GatewaySyncSpecGitAuthSshKeyKnownHosts {
    /**
     * Key of a Secret in the same namespace.
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
 * Private key of the GitHub App in PEM.
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
     * Key in the Secret.
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
 * A Secret in the same namespace.
 *
 * @schema GatewaySyncSpecOciAuthDockerConfigSecretRef
 */
export interface GatewaySyncSpecOciAuthDockerConfigSecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecOciAuthDockerConfigSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecOciAuthDockerConfigSecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecOciAuthDockerConfigSecretRef(obj: GatewaySyncSpecOciAuthDockerConfigSecretRef | undefined): Record<string, any> | undefined;
/**
 * A Secret in the same namespace.
 *
 * @schema GatewaySyncSpecOciAuthBasicSecretRef
 */
export interface GatewaySyncSpecOciAuthBasicSecretRef {
    /**
     * Name of a Secret in the same namespace.
     *
     * @schema GatewaySyncSpecOciAuthBasicSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecOciAuthBasicSecretRef' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecOciAuthBasicSecretRef(obj: GatewaySyncSpecOciAuthBasicSecretRef | undefined): Record<string, any> | undefined;
/**
 * HTTP GET request that the agent sends. Redirects are not followed.
 *
 * @schema GatewaySyncSpecSyncDefaultsHealthCheckHttp
 */
export interface GatewaySyncSpecSyncDefaultsHealthCheckHttp {
    /**
     * Path on the gateway. The port and TLS settings of spec.gateway apply. The API key is sent only to paths below /data/api/.
     *
     * @schema GatewaySyncSpecSyncDefaultsHealthCheckHttp#path
     */
    readonly path: string;
    /**
     * Expected status code.
     *
     * @schema GatewaySyncSpecSyncDefaultsHealthCheckHttp#status
     */
    readonly status?: number;
}
/**
 * Converts an object of type 'GatewaySyncSpecSyncDefaultsHealthCheckHttp' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecSyncDefaultsHealthCheckHttp(obj: GatewaySyncSpecSyncDefaultsHealthCheckHttp | undefined): Record<string, any> | undefined;
/**
 * Prometheus query that the controller runs, which needs network access to the server.
 *
 * @schema GatewaySyncSpecSyncDefaultsHealthCheckPrometheus
 */
export interface GatewaySyncSpecSyncDefaultsHealthCheckPrometheus {
    /**
     * PromQL query, evaluated for each gateway. The gateway is healthy if there is a result and no sample is 0 or NaN. {{ gateway.name }}, {{ gateway.pod }}, {{ namespace }} and {{ commit }} are replaced.
     *
     * @schema GatewaySyncSpecSyncDefaultsHealthCheckPrometheus#query
     */
    readonly query: string;
    /**
     * URL of the Prometheus server, without /api/v1/query. Queries carry no credentials; the server is verified with the CA certificates of the system.
     *
     * @schema GatewaySyncSpecSyncDefaultsHealthCheckPrometheus#url
     */
    readonly url: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecSyncDefaultsHealthCheckPrometheus' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecSyncDefaultsHealthCheckPrometheus(obj: GatewaySyncSpecSyncDefaultsHealthCheckPrometheus | undefined): Record<string, any> | undefined;
/**
 * Whether the source is a folder or one file.
 *
 * @schema GatewaySyncSpecSyncProfilesMappingsType
 */
export declare enum GatewaySyncSpecSyncProfilesMappingsType {
    /** Directory */
    DIRECTORY = "Directory",
    /** File */
    FILE = "File"
}
/**
 * Which files may be deleted: Owned, those that the operator wrote; All, every file in the folder; None, no files.
 *
 * @schema GatewaySyncSpecSyncProfilesMappingsPrune
 */
export declare enum GatewaySyncSpecSyncProfilesMappingsPrune {
    /** Owned */
    OWNED = "Owned",
    /** All */
    ALL = "All",
    /** None */
    NONE = "None"
}
/**
 * @schema GatewaySyncSpecSyncProfilesMappingsPatches
 */
export interface GatewaySyncSpecSyncProfilesMappingsPatches {
    /**
     * Glob of the files to patch, relative to the destination of the mapping.
     *
     * @schema GatewaySyncSpecSyncProfilesMappingsPatches#file
     */
    readonly file: string;
    /**
     * New values by JSONPath (RFC 9535); a plain name is short for $.name. Values may be templates and keep the type of the value they replace. At most 8 values; a file may have several patches.
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
 * HTTP GET request that the agent sends. Redirects are not followed.
 *
 * @schema GatewaySyncSpecSyncProfilesHealthCheckHttp
 */
export interface GatewaySyncSpecSyncProfilesHealthCheckHttp {
    /**
     * Path on the gateway. The port and TLS settings of spec.gateway apply. The API key is sent only to paths below /data/api/.
     *
     * @schema GatewaySyncSpecSyncProfilesHealthCheckHttp#path
     */
    readonly path: string;
    /**
     * Expected status code.
     *
     * @schema GatewaySyncSpecSyncProfilesHealthCheckHttp#status
     */
    readonly status?: number;
}
/**
 * Converts an object of type 'GatewaySyncSpecSyncProfilesHealthCheckHttp' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecSyncProfilesHealthCheckHttp(obj: GatewaySyncSpecSyncProfilesHealthCheckHttp | undefined): Record<string, any> | undefined;
/**
 * Prometheus query that the controller runs, which needs network access to the server.
 *
 * @schema GatewaySyncSpecSyncProfilesHealthCheckPrometheus
 */
export interface GatewaySyncSpecSyncProfilesHealthCheckPrometheus {
    /**
     * PromQL query, evaluated for each gateway. The gateway is healthy if there is a result and no sample is 0 or NaN. {{ gateway.name }}, {{ gateway.pod }}, {{ namespace }} and {{ commit }} are replaced.
     *
     * @schema GatewaySyncSpecSyncProfilesHealthCheckPrometheus#query
     */
    readonly query: string;
    /**
     * URL of the Prometheus server, without /api/v1/query. Queries carry no credentials; the server is verified with the CA certificates of the system.
     *
     * @schema GatewaySyncSpecSyncProfilesHealthCheckPrometheus#url
     */
    readonly url: string;
}
/**
 * Converts an object of type 'GatewaySyncSpecSyncProfilesHealthCheckPrometheus' to JSON representation.
 */
export declare function toJson_GatewaySyncSpecSyncProfilesHealthCheckPrometheus(obj: GatewaySyncSpecSyncProfilesHealthCheckPrometheus | undefined): Record<string, any> | undefined;
/**
 * Key of a Secret in the same namespace.
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
     * Key in the Secret.
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
 * Key of a Secret in the same namespace that contains the private key.
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
     * Key in the Secret.
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
 * Passphrase of an encrypted private key.
 *
 * @schema GatewaySyncSpecCaptureAuthSshKeyPassphrase
 */
export interface GatewaySyncSpecCaptureAuthSshKeyPassphrase {
    /**
     * Key of a Secret in the same namespace.
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
 * Host keys of the git host, in the format of ssh-keyscan.
 *
 * @schema GatewaySyncSpecCaptureAuthSshKeyKnownHosts
 */
export interface GatewaySyncSpecCaptureAuthSshKeyKnownHosts {
    /**
     * Key of a Secret in the same namespace.
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
 * Private key of the GitHub App in PEM.
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
     * Key in the Secret.
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
 * Key of a Secret in the same namespace.
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
     * Key in the Secret.
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
 * Key of a Secret in the same namespace.
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
     * Key in the Secret.
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
 * Key of a Secret in the same namespace.
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
     * Key in the Secret.
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
 * Key of a Secret in the same namespace.
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
     * Key in the Secret.
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
 * What one gateway runs, as reported by the agent in its pod.
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
 * What one gateway runs, as reported by the agent in its pod.
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
     * Name of the GatewaySync that the gateway follows.
     *
     * @schema SyncReportSpec#gatewaySync
     */
    readonly gatewaySync: string;
    /**
     * UID of the pod that writes this report.
     *
     * @schema SyncReportSpec#podUid
     */
    readonly podUid: string;
}
/**
 * Converts an object of type 'SyncReportSpec' to JSON representation.
 */
export declare function toJson_SyncReportSpec(obj: SyncReportSpec | undefined): Record<string, any> | undefined;
