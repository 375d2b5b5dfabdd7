import { ApiObject, ApiObjectMetadata, GroupVersionKind } from 'cdk8s';
import { Construct } from 'constructs';
/**
 *
 *
 * @schema PodMonitor
 */
export declare class PodMonitor extends ApiObject {
    /**
     * Returns the apiVersion and kind for "PodMonitor"
     */
    static readonly GVK: GroupVersionKind;
    /**
     * Renders a Kubernetes manifest for "PodMonitor".
     *
     * This can be used to inline resource manifests inside other objects (e.g. as templates).
     *
     * @param props initialization props
     */
    static manifest(props: PodMonitorProps): any;
    /**
     * Defines a "PodMonitor" API object
     * @param scope the scope in which to define this object
     * @param id a scope-local name for the object
     * @param props initialization props
     */
    constructor(scope: Construct, id: string, props: PodMonitorProps);
    /**
     * Renders the object to Kubernetes JSON.
     */
    toJson(): any;
}
/**
 * @schema PodMonitor
 */
export interface PodMonitorProps {
    /**
     * @schema PodMonitor#metadata
     */
    readonly metadata?: ApiObjectMetadata;
    /**
     * @schema PodMonitor#spec
     */
    readonly spec: PodMonitorSpec;
}
/**
 * Converts an object of type 'PodMonitorProps' to JSON representation.
 */
export declare function toJson_PodMonitorProps(obj: PodMonitorProps | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpec
 */
export interface PodMonitorSpec {
    /**
     * @schema PodMonitorSpec#attachMetadata
     */
    readonly attachMetadata?: PodMonitorSpecAttachMetadata;
    /**
     * @schema PodMonitorSpec#bodySizeLimit
     */
    readonly bodySizeLimit?: string;
    /**
     * @schema PodMonitorSpec#convertClassicHistogramsToNHCB
     */
    readonly convertClassicHistogramsToNhcb?: boolean;
    /**
     * @schema PodMonitorSpec#fallbackScrapeProtocol
     */
    readonly fallbackScrapeProtocol?: PodMonitorSpecFallbackScrapeProtocol;
    /**
     * @schema PodMonitorSpec#jobLabel
     */
    readonly jobLabel?: string;
    /**
     * @schema PodMonitorSpec#keepDroppedTargets
     */
    readonly keepDroppedTargets?: number;
    /**
     * @schema PodMonitorSpec#labelLimit
     */
    readonly labelLimit?: number;
    /**
     * @schema PodMonitorSpec#labelNameLengthLimit
     */
    readonly labelNameLengthLimit?: number;
    /**
     * @schema PodMonitorSpec#labelValueLengthLimit
     */
    readonly labelValueLengthLimit?: number;
    /**
     * @schema PodMonitorSpec#namespaceSelector
     */
    readonly namespaceSelector?: PodMonitorSpecNamespaceSelector;
    /**
     * @schema PodMonitorSpec#nativeHistogramBucketLimit
     */
    readonly nativeHistogramBucketLimit?: number;
    /**
     * @schema PodMonitorSpec#nativeHistogramMinBucketFactor
     */
    readonly nativeHistogramMinBucketFactor?: PodMonitorSpecNativeHistogramMinBucketFactor;
    /**
     * @schema PodMonitorSpec#podMetricsEndpoints
     */
    readonly podMetricsEndpoints?: PodMonitorSpecPodMetricsEndpoints[];
    /**
     * @schema PodMonitorSpec#podTargetLabels
     */
    readonly podTargetLabels?: string[];
    /**
     * @schema PodMonitorSpec#sampleLimit
     */
    readonly sampleLimit?: number;
    /**
     * @schema PodMonitorSpec#scrapeClass
     */
    readonly scrapeClass?: string;
    /**
     * @schema PodMonitorSpec#scrapeClassicHistograms
     */
    readonly scrapeClassicHistograms?: boolean;
    /**
     * @schema PodMonitorSpec#scrapeNativeHistograms
     */
    readonly scrapeNativeHistograms?: boolean;
    /**
     * @schema PodMonitorSpec#scrapeProtocols
     */
    readonly scrapeProtocols?: PodMonitorSpecScrapeProtocols[];
    /**
     * @schema PodMonitorSpec#selector
     */
    readonly selector: PodMonitorSpecSelector;
    /**
     * @schema PodMonitorSpec#selectorMechanism
     */
    readonly selectorMechanism?: PodMonitorSpecSelectorMechanism;
    /**
     * @schema PodMonitorSpec#targetLimit
     */
    readonly targetLimit?: number;
}
/**
 * Converts an object of type 'PodMonitorSpec' to JSON representation.
 */
export declare function toJson_PodMonitorSpec(obj: PodMonitorSpec | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecAttachMetadata
 */
export interface PodMonitorSpecAttachMetadata {
    /**
     * @schema PodMonitorSpecAttachMetadata#node
     */
    readonly node?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecAttachMetadata' to JSON representation.
 */
export declare function toJson_PodMonitorSpecAttachMetadata(obj: PodMonitorSpecAttachMetadata | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecFallbackScrapeProtocol
 */
export declare enum PodMonitorSpecFallbackScrapeProtocol {
    /** PrometheusProto */
    PROMETHEUS_PROTO = "PrometheusProto",
    /** OpenMetricsText0.0.1 */
    OPEN_METRICS_TEXT0_0_1 = "OpenMetricsText0.0.1",
    /** OpenMetricsText1.0.0 */
    OPEN_METRICS_TEXT1_0_0 = "OpenMetricsText1.0.0",
    /** PrometheusText0.0.4 */
    PROMETHEUS_TEXT0_0_4 = "PrometheusText0.0.4",
    /** PrometheusText1.0.0 */
    PROMETHEUS_TEXT1_0_0 = "PrometheusText1.0.0"
}
/**
 * @schema PodMonitorSpecNamespaceSelector
 */
export interface PodMonitorSpecNamespaceSelector {
    /**
     * @schema PodMonitorSpecNamespaceSelector#any
     */
    readonly any?: boolean;
    /**
     * @schema PodMonitorSpecNamespaceSelector#matchNames
     */
    readonly matchNames?: string[];
}
/**
 * Converts an object of type 'PodMonitorSpecNamespaceSelector' to JSON representation.
 */
export declare function toJson_PodMonitorSpecNamespaceSelector(obj: PodMonitorSpecNamespaceSelector | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecNativeHistogramMinBucketFactor
 */
export declare class PodMonitorSpecNativeHistogramMinBucketFactor {
    readonly value: number | string;
    static fromNumber(value: number): PodMonitorSpecNativeHistogramMinBucketFactor;
    static fromString(value: string): PodMonitorSpecNativeHistogramMinBucketFactor;
    private constructor();
}
/**
 * @schema PodMonitorSpecPodMetricsEndpoints
 */
export interface PodMonitorSpecPodMetricsEndpoints {
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#authorization
     */
    readonly authorization?: PodMonitorSpecPodMetricsEndpointsAuthorization;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#basicAuth
     */
    readonly basicAuth?: PodMonitorSpecPodMetricsEndpointsBasicAuth;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#bearerTokenSecret
     */
    readonly bearerTokenSecret?: PodMonitorSpecPodMetricsEndpointsBearerTokenSecret;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#enableHttp2
     */
    readonly enableHttp2?: boolean;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#filterRunning
     */
    readonly filterRunning?: boolean;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#followRedirects
     */
    readonly followRedirects?: boolean;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#honorLabels
     */
    readonly honorLabels?: boolean;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#honorTimestamps
     */
    readonly honorTimestamps?: boolean;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#interval
     */
    readonly interval?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#metricRelabelings
     */
    readonly metricRelabelings?: PodMonitorSpecPodMetricsEndpointsMetricRelabelings[];
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#noProxy
     */
    readonly noProxy?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#oauth2
     */
    readonly oauth2?: PodMonitorSpecPodMetricsEndpointsOauth2;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#params
     */
    readonly params?: {
        [key: string]: string[];
    };
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#path
     */
    readonly path?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#port
     */
    readonly port?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#portNumber
     */
    readonly portNumber?: number;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#proxyConnectHeader
     */
    readonly proxyConnectHeader?: {
        [key: string]: PodMonitorSpecPodMetricsEndpointsProxyConnectHeader[];
    };
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#proxyFromEnvironment
     */
    readonly proxyFromEnvironment?: boolean;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#proxyUrl
     */
    readonly proxyUrl?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#relabelings
     */
    readonly relabelings?: PodMonitorSpecPodMetricsEndpointsRelabelings[];
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#scheme
     */
    readonly scheme?: PodMonitorSpecPodMetricsEndpointsScheme;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#scrapeTimeout
     */
    readonly scrapeTimeout?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#targetPort
     */
    readonly targetPort?: PodMonitorSpecPodMetricsEndpointsTargetPort;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#tlsConfig
     */
    readonly tlsConfig?: PodMonitorSpecPodMetricsEndpointsTlsConfig;
    /**
     * @schema PodMonitorSpecPodMetricsEndpoints#trackTimestampsStaleness
     */
    readonly trackTimestampsStaleness?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpoints' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpoints(obj: PodMonitorSpecPodMetricsEndpoints | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecScrapeProtocols
 */
export declare enum PodMonitorSpecScrapeProtocols {
    /** PrometheusProto */
    PROMETHEUS_PROTO = "PrometheusProto",
    /** OpenMetricsText0.0.1 */
    OPEN_METRICS_TEXT0_0_1 = "OpenMetricsText0.0.1",
    /** OpenMetricsText1.0.0 */
    OPEN_METRICS_TEXT1_0_0 = "OpenMetricsText1.0.0",
    /** PrometheusText0.0.4 */
    PROMETHEUS_TEXT0_0_4 = "PrometheusText0.0.4",
    /** PrometheusText1.0.0 */
    PROMETHEUS_TEXT1_0_0 = "PrometheusText1.0.0"
}
/**
 * @schema PodMonitorSpecSelector
 */
export interface PodMonitorSpecSelector {
    /**
     * @schema PodMonitorSpecSelector#matchExpressions
     */
    readonly matchExpressions?: PodMonitorSpecSelectorMatchExpressions[];
    /**
     * @schema PodMonitorSpecSelector#matchLabels
     */
    readonly matchLabels?: {
        [key: string]: string;
    };
}
/**
 * Converts an object of type 'PodMonitorSpecSelector' to JSON representation.
 */
export declare function toJson_PodMonitorSpecSelector(obj: PodMonitorSpecSelector | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecSelectorMechanism
 */
export declare enum PodMonitorSpecSelectorMechanism {
    /** RelabelConfig */
    RELABEL_CONFIG = "RelabelConfig",
    /** RoleSelector */
    ROLE_SELECTOR = "RoleSelector"
}
/**
 * @schema PodMonitorSpecPodMetricsEndpointsAuthorization
 */
export interface PodMonitorSpecPodMetricsEndpointsAuthorization {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsAuthorization#credentials
     */
    readonly credentials?: PodMonitorSpecPodMetricsEndpointsAuthorizationCredentials;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsAuthorization#type
     */
    readonly type?: string;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsAuthorization' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsAuthorization(obj: PodMonitorSpecPodMetricsEndpointsAuthorization | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsBasicAuth
 */
export interface PodMonitorSpecPodMetricsEndpointsBasicAuth {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsBasicAuth#password
     */
    readonly password?: PodMonitorSpecPodMetricsEndpointsBasicAuthPassword;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsBasicAuth#username
     */
    readonly username?: PodMonitorSpecPodMetricsEndpointsBasicAuthUsername;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsBasicAuth' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsBasicAuth(obj: PodMonitorSpecPodMetricsEndpointsBasicAuth | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsBearerTokenSecret
 */
export interface PodMonitorSpecPodMetricsEndpointsBearerTokenSecret {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsBearerTokenSecret#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsBearerTokenSecret#name
     */
    readonly name?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsBearerTokenSecret#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsBearerTokenSecret' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsBearerTokenSecret(obj: PodMonitorSpecPodMetricsEndpointsBearerTokenSecret | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsMetricRelabelings
 */
export interface PodMonitorSpecPodMetricsEndpointsMetricRelabelings {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsMetricRelabelings#action
     */
    readonly action?: PodMonitorSpecPodMetricsEndpointsMetricRelabelingsAction;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsMetricRelabelings#modulus
     */
    readonly modulus?: number;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsMetricRelabelings#regex
     */
    readonly regex?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsMetricRelabelings#replacement
     */
    readonly replacement?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsMetricRelabelings#separator
     */
    readonly separator?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsMetricRelabelings#sourceLabels
     */
    readonly sourceLabels?: string[];
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsMetricRelabelings#targetLabel
     */
    readonly targetLabel?: string;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsMetricRelabelings' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsMetricRelabelings(obj: PodMonitorSpecPodMetricsEndpointsMetricRelabelings | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsOauth2
 */
export interface PodMonitorSpecPodMetricsEndpointsOauth2 {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2#clientId
     */
    readonly clientId: PodMonitorSpecPodMetricsEndpointsOauth2ClientId;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2#clientSecret
     */
    readonly clientSecret: PodMonitorSpecPodMetricsEndpointsOauth2ClientSecret;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2#endpointParams
     */
    readonly endpointParams?: {
        [key: string]: string;
    };
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2#noProxy
     */
    readonly noProxy?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2#proxyConnectHeader
     */
    readonly proxyConnectHeader?: {
        [key: string]: PodMonitorSpecPodMetricsEndpointsOauth2ProxyConnectHeader[];
    };
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2#proxyFromEnvironment
     */
    readonly proxyFromEnvironment?: boolean;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2#proxyUrl
     */
    readonly proxyUrl?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2#scopes
     */
    readonly scopes?: string[];
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2#tlsConfig
     */
    readonly tlsConfig?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfig;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2#tokenUrl
     */
    readonly tokenUrl: string;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsOauth2' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2(obj: PodMonitorSpecPodMetricsEndpointsOauth2 | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsProxyConnectHeader
 */
export interface PodMonitorSpecPodMetricsEndpointsProxyConnectHeader {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsProxyConnectHeader#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsProxyConnectHeader#name
     */
    readonly name?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsProxyConnectHeader#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsProxyConnectHeader' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsProxyConnectHeader(obj: PodMonitorSpecPodMetricsEndpointsProxyConnectHeader | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsRelabelings
 */
export interface PodMonitorSpecPodMetricsEndpointsRelabelings {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsRelabelings#action
     */
    readonly action?: PodMonitorSpecPodMetricsEndpointsRelabelingsAction;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsRelabelings#modulus
     */
    readonly modulus?: number;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsRelabelings#regex
     */
    readonly regex?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsRelabelings#replacement
     */
    readonly replacement?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsRelabelings#separator
     */
    readonly separator?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsRelabelings#sourceLabels
     */
    readonly sourceLabels?: string[];
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsRelabelings#targetLabel
     */
    readonly targetLabel?: string;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsRelabelings' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsRelabelings(obj: PodMonitorSpecPodMetricsEndpointsRelabelings | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsScheme
 */
export declare enum PodMonitorSpecPodMetricsEndpointsScheme {
    /** http */
    HTTP = "http",
    /** https */
    HTTPS = "https"
}
/**
 * @schema PodMonitorSpecPodMetricsEndpointsTargetPort
 */
export declare class PodMonitorSpecPodMetricsEndpointsTargetPort {
    readonly value: number | string;
    static fromNumber(value: number): PodMonitorSpecPodMetricsEndpointsTargetPort;
    static fromString(value: string): PodMonitorSpecPodMetricsEndpointsTargetPort;
    private constructor();
}
/**
 * @schema PodMonitorSpecPodMetricsEndpointsTlsConfig
 */
export interface PodMonitorSpecPodMetricsEndpointsTlsConfig {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfig#ca
     */
    readonly ca?: PodMonitorSpecPodMetricsEndpointsTlsConfigCa;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfig#cert
     */
    readonly cert?: PodMonitorSpecPodMetricsEndpointsTlsConfigCert;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfig#insecureSkipVerify
     */
    readonly insecureSkipVerify?: boolean;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfig#keySecret
     */
    readonly keySecret?: PodMonitorSpecPodMetricsEndpointsTlsConfigKeySecret;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfig#maxVersion
     */
    readonly maxVersion?: PodMonitorSpecPodMetricsEndpointsTlsConfigMaxVersion;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfig#minVersion
     */
    readonly minVersion?: PodMonitorSpecPodMetricsEndpointsTlsConfigMinVersion;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfig#serverName
     */
    readonly serverName?: string;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsTlsConfig' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsTlsConfig(obj: PodMonitorSpecPodMetricsEndpointsTlsConfig | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecSelectorMatchExpressions
 */
export interface PodMonitorSpecSelectorMatchExpressions {
    /**
     * @schema PodMonitorSpecSelectorMatchExpressions#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecSelectorMatchExpressions#operator
     */
    readonly operator: string;
    /**
     * @schema PodMonitorSpecSelectorMatchExpressions#values
     */
    readonly values?: string[];
}
/**
 * Converts an object of type 'PodMonitorSpecSelectorMatchExpressions' to JSON representation.
 */
export declare function toJson_PodMonitorSpecSelectorMatchExpressions(obj: PodMonitorSpecSelectorMatchExpressions | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsAuthorizationCredentials
 */
export interface PodMonitorSpecPodMetricsEndpointsAuthorizationCredentials {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsAuthorizationCredentials#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsAuthorizationCredentials#name
     */
    readonly name?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsAuthorizationCredentials#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsAuthorizationCredentials' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsAuthorizationCredentials(obj: PodMonitorSpecPodMetricsEndpointsAuthorizationCredentials | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsBasicAuthPassword
 */
export interface PodMonitorSpecPodMetricsEndpointsBasicAuthPassword {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsBasicAuthPassword#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsBasicAuthPassword#name
     */
    readonly name?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsBasicAuthPassword#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsBasicAuthPassword' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsBasicAuthPassword(obj: PodMonitorSpecPodMetricsEndpointsBasicAuthPassword | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsBasicAuthUsername
 */
export interface PodMonitorSpecPodMetricsEndpointsBasicAuthUsername {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsBasicAuthUsername#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsBasicAuthUsername#name
     */
    readonly name?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsBasicAuthUsername#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsBasicAuthUsername' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsBasicAuthUsername(obj: PodMonitorSpecPodMetricsEndpointsBasicAuthUsername | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsMetricRelabelingsAction
 */
export declare enum PodMonitorSpecPodMetricsEndpointsMetricRelabelingsAction {
    /** replace */
    REPLACE = "replace",
    /** keep */
    KEEP = "keep",
    /** drop */
    DROP = "drop",
    /** hashmod */
    HASHMOD = "hashmod",
    /** labelmap */
    LABELMAP = "labelmap",
    /** labeldrop */
    LABELDROP = "labeldrop",
    /** labelkeep */
    LABELKEEP = "labelkeep",
    /** lowercase */
    LOWERCASE = "lowercase",
    /** uppercase */
    UPPERCASE = "uppercase",
    /** keepequal */
    KEEPEQUAL = "keepequal",
    /** dropequal */
    DROPEQUAL = "dropequal"
}
/**
 * @schema PodMonitorSpecPodMetricsEndpointsOauth2ClientId
 */
export interface PodMonitorSpecPodMetricsEndpointsOauth2ClientId {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2ClientId#configMap
     */
    readonly configMap?: PodMonitorSpecPodMetricsEndpointsOauth2ClientIdConfigMap;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2ClientId#secret
     */
    readonly secret?: PodMonitorSpecPodMetricsEndpointsOauth2ClientIdSecret;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsOauth2ClientId' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2ClientId(obj: PodMonitorSpecPodMetricsEndpointsOauth2ClientId | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsOauth2ClientSecret
 */
export interface PodMonitorSpecPodMetricsEndpointsOauth2ClientSecret {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2ClientSecret#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2ClientSecret#name
     */
    readonly name?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2ClientSecret#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsOauth2ClientSecret' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2ClientSecret(obj: PodMonitorSpecPodMetricsEndpointsOauth2ClientSecret | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsOauth2ProxyConnectHeader
 */
export interface PodMonitorSpecPodMetricsEndpointsOauth2ProxyConnectHeader {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2ProxyConnectHeader#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2ProxyConnectHeader#name
     */
    readonly name?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2ProxyConnectHeader#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsOauth2ProxyConnectHeader' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2ProxyConnectHeader(obj: PodMonitorSpecPodMetricsEndpointsOauth2ProxyConnectHeader | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfig
 */
export interface PodMonitorSpecPodMetricsEndpointsOauth2TlsConfig {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfig#ca
     */
    readonly ca?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCa;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfig#cert
     */
    readonly cert?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCert;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfig#insecureSkipVerify
     */
    readonly insecureSkipVerify?: boolean;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfig#keySecret
     */
    readonly keySecret?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigKeySecret;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfig#maxVersion
     */
    readonly maxVersion?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigMaxVersion;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfig#minVersion
     */
    readonly minVersion?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigMinVersion;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfig#serverName
     */
    readonly serverName?: string;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsOauth2TlsConfig' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2TlsConfig(obj: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfig | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsRelabelingsAction
 */
export declare enum PodMonitorSpecPodMetricsEndpointsRelabelingsAction {
    /** replace */
    REPLACE = "replace",
    /** keep */
    KEEP = "keep",
    /** drop */
    DROP = "drop",
    /** hashmod */
    HASHMOD = "hashmod",
    /** labelmap */
    LABELMAP = "labelmap",
    /** labeldrop */
    LABELDROP = "labeldrop",
    /** labelkeep */
    LABELKEEP = "labelkeep",
    /** lowercase */
    LOWERCASE = "lowercase",
    /** uppercase */
    UPPERCASE = "uppercase",
    /** keepequal */
    KEEPEQUAL = "keepequal",
    /** dropequal */
    DROPEQUAL = "dropequal"
}
/**
 * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCa
 */
export interface PodMonitorSpecPodMetricsEndpointsTlsConfigCa {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCa#configMap
     */
    readonly configMap?: PodMonitorSpecPodMetricsEndpointsTlsConfigCaConfigMap;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCa#secret
     */
    readonly secret?: PodMonitorSpecPodMetricsEndpointsTlsConfigCaSecret;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsTlsConfigCa' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsTlsConfigCa(obj: PodMonitorSpecPodMetricsEndpointsTlsConfigCa | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCert
 */
export interface PodMonitorSpecPodMetricsEndpointsTlsConfigCert {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCert#configMap
     */
    readonly configMap?: PodMonitorSpecPodMetricsEndpointsTlsConfigCertConfigMap;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCert#secret
     */
    readonly secret?: PodMonitorSpecPodMetricsEndpointsTlsConfigCertSecret;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsTlsConfigCert' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsTlsConfigCert(obj: PodMonitorSpecPodMetricsEndpointsTlsConfigCert | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigKeySecret
 */
export interface PodMonitorSpecPodMetricsEndpointsTlsConfigKeySecret {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigKeySecret#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigKeySecret#name
     */
    readonly name?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigKeySecret#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsTlsConfigKeySecret' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsTlsConfigKeySecret(obj: PodMonitorSpecPodMetricsEndpointsTlsConfigKeySecret | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigMaxVersion
 */
export declare enum PodMonitorSpecPodMetricsEndpointsTlsConfigMaxVersion {
    /** TLS10 */
    TLS10 = "TLS10",
    /** TLS11 */
    TLS11 = "TLS11",
    /** TLS12 */
    TLS12 = "TLS12",
    /** TLS13 */
    TLS13 = "TLS13"
}
/**
 * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigMinVersion
 */
export declare enum PodMonitorSpecPodMetricsEndpointsTlsConfigMinVersion {
    /** TLS10 */
    TLS10 = "TLS10",
    /** TLS11 */
    TLS11 = "TLS11",
    /** TLS12 */
    TLS12 = "TLS12",
    /** TLS13 */
    TLS13 = "TLS13"
}
/**
 * @schema PodMonitorSpecPodMetricsEndpointsOauth2ClientIdConfigMap
 */
export interface PodMonitorSpecPodMetricsEndpointsOauth2ClientIdConfigMap {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2ClientIdConfigMap#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2ClientIdConfigMap#name
     */
    readonly name?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2ClientIdConfigMap#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsOauth2ClientIdConfigMap' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2ClientIdConfigMap(obj: PodMonitorSpecPodMetricsEndpointsOauth2ClientIdConfigMap | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsOauth2ClientIdSecret
 */
export interface PodMonitorSpecPodMetricsEndpointsOauth2ClientIdSecret {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2ClientIdSecret#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2ClientIdSecret#name
     */
    readonly name?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2ClientIdSecret#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsOauth2ClientIdSecret' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2ClientIdSecret(obj: PodMonitorSpecPodMetricsEndpointsOauth2ClientIdSecret | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCa
 */
export interface PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCa {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCa#configMap
     */
    readonly configMap?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaConfigMap;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCa#secret
     */
    readonly secret?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaSecret;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCa' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCa(obj: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCa | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCert
 */
export interface PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCert {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCert#configMap
     */
    readonly configMap?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertConfigMap;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCert#secret
     */
    readonly secret?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertSecret;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCert' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCert(obj: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCert | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigKeySecret
 */
export interface PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigKeySecret {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigKeySecret#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigKeySecret#name
     */
    readonly name?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigKeySecret#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigKeySecret' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigKeySecret(obj: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigKeySecret | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigMaxVersion
 */
export declare enum PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigMaxVersion {
    /** TLS10 */
    TLS10 = "TLS10",
    /** TLS11 */
    TLS11 = "TLS11",
    /** TLS12 */
    TLS12 = "TLS12",
    /** TLS13 */
    TLS13 = "TLS13"
}
/**
 * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigMinVersion
 */
export declare enum PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigMinVersion {
    /** TLS10 */
    TLS10 = "TLS10",
    /** TLS11 */
    TLS11 = "TLS11",
    /** TLS12 */
    TLS12 = "TLS12",
    /** TLS13 */
    TLS13 = "TLS13"
}
/**
 * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCaConfigMap
 */
export interface PodMonitorSpecPodMetricsEndpointsTlsConfigCaConfigMap {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCaConfigMap#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCaConfigMap#name
     */
    readonly name?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCaConfigMap#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsTlsConfigCaConfigMap' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsTlsConfigCaConfigMap(obj: PodMonitorSpecPodMetricsEndpointsTlsConfigCaConfigMap | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCaSecret
 */
export interface PodMonitorSpecPodMetricsEndpointsTlsConfigCaSecret {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCaSecret#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCaSecret#name
     */
    readonly name?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCaSecret#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsTlsConfigCaSecret' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsTlsConfigCaSecret(obj: PodMonitorSpecPodMetricsEndpointsTlsConfigCaSecret | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCertConfigMap
 */
export interface PodMonitorSpecPodMetricsEndpointsTlsConfigCertConfigMap {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCertConfigMap#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCertConfigMap#name
     */
    readonly name?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCertConfigMap#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsTlsConfigCertConfigMap' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsTlsConfigCertConfigMap(obj: PodMonitorSpecPodMetricsEndpointsTlsConfigCertConfigMap | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCertSecret
 */
export interface PodMonitorSpecPodMetricsEndpointsTlsConfigCertSecret {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCertSecret#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCertSecret#name
     */
    readonly name?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsTlsConfigCertSecret#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsTlsConfigCertSecret' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsTlsConfigCertSecret(obj: PodMonitorSpecPodMetricsEndpointsTlsConfigCertSecret | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaConfigMap
 */
export interface PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaConfigMap {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaConfigMap#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaConfigMap#name
     */
    readonly name?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaConfigMap#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaConfigMap' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaConfigMap(obj: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaConfigMap | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaSecret
 */
export interface PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaSecret {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaSecret#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaSecret#name
     */
    readonly name?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaSecret#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaSecret' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaSecret(obj: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaSecret | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertConfigMap
 */
export interface PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertConfigMap {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertConfigMap#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertConfigMap#name
     */
    readonly name?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertConfigMap#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertConfigMap' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertConfigMap(obj: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertConfigMap | undefined): Record<string, any> | undefined;
/**
 * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertSecret
 */
export interface PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertSecret {
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertSecret#key
     */
    readonly key: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertSecret#name
     */
    readonly name?: string;
    /**
     * @schema PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertSecret#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertSecret' to JSON representation.
 */
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertSecret(obj: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertSecret | undefined): Record<string, any> | undefined;
/**
 *
 *
 * @schema PrometheusRule
 */
export declare class PrometheusRule extends ApiObject {
    /**
     * Returns the apiVersion and kind for "PrometheusRule"
     */
    static readonly GVK: GroupVersionKind;
    /**
     * Renders a Kubernetes manifest for "PrometheusRule".
     *
     * This can be used to inline resource manifests inside other objects (e.g. as templates).
     *
     * @param props initialization props
     */
    static manifest(props: PrometheusRuleProps): any;
    /**
     * Defines a "PrometheusRule" API object
     * @param scope the scope in which to define this object
     * @param id a scope-local name for the object
     * @param props initialization props
     */
    constructor(scope: Construct, id: string, props: PrometheusRuleProps);
    /**
     * Renders the object to Kubernetes JSON.
     */
    toJson(): any;
}
/**
 * @schema PrometheusRule
 */
export interface PrometheusRuleProps {
    /**
     * @schema PrometheusRule#metadata
     */
    readonly metadata?: ApiObjectMetadata;
    /**
     * @schema PrometheusRule#spec
     */
    readonly spec: PrometheusRuleSpec;
}
/**
 * Converts an object of type 'PrometheusRuleProps' to JSON representation.
 */
export declare function toJson_PrometheusRuleProps(obj: PrometheusRuleProps | undefined): Record<string, any> | undefined;
/**
 * @schema PrometheusRuleSpec
 */
export interface PrometheusRuleSpec {
    /**
     * @schema PrometheusRuleSpec#groups
     */
    readonly groups?: PrometheusRuleSpecGroups[];
}
/**
 * Converts an object of type 'PrometheusRuleSpec' to JSON representation.
 */
export declare function toJson_PrometheusRuleSpec(obj: PrometheusRuleSpec | undefined): Record<string, any> | undefined;
/**
 * @schema PrometheusRuleSpecGroups
 */
export interface PrometheusRuleSpecGroups {
    /**
     * @schema PrometheusRuleSpecGroups#interval
     */
    readonly interval?: string;
    /**
     * @schema PrometheusRuleSpecGroups#labels
     */
    readonly labels?: {
        [key: string]: string;
    };
    /**
     * @schema PrometheusRuleSpecGroups#limit
     */
    readonly limit?: number;
    /**
     * @schema PrometheusRuleSpecGroups#name
     */
    readonly name: string;
    /**
     * @schema PrometheusRuleSpecGroups#partial_response_strategy
     */
    readonly partialResponseStrategy?: string;
    /**
     * @schema PrometheusRuleSpecGroups#query_offset
     */
    readonly queryOffset?: string;
    /**
     * @schema PrometheusRuleSpecGroups#rules
     */
    readonly rules?: PrometheusRuleSpecGroupsRules[];
}
/**
 * Converts an object of type 'PrometheusRuleSpecGroups' to JSON representation.
 */
export declare function toJson_PrometheusRuleSpecGroups(obj: PrometheusRuleSpecGroups | undefined): Record<string, any> | undefined;
/**
 * @schema PrometheusRuleSpecGroupsRules
 */
export interface PrometheusRuleSpecGroupsRules {
    /**
     * @schema PrometheusRuleSpecGroupsRules#alert
     */
    readonly alert?: string;
    /**
     * @schema PrometheusRuleSpecGroupsRules#annotations
     */
    readonly annotations?: {
        [key: string]: string;
    };
    /**
     * @schema PrometheusRuleSpecGroupsRules#expr
     */
    readonly expr: PrometheusRuleSpecGroupsRulesExpr;
    /**
     * @schema PrometheusRuleSpecGroupsRules#for
     */
    readonly for?: string;
    /**
     * @schema PrometheusRuleSpecGroupsRules#keep_firing_for
     */
    readonly keepFiringFor?: string;
    /**
     * @schema PrometheusRuleSpecGroupsRules#labels
     */
    readonly labels?: {
        [key: string]: string;
    };
    /**
     * @schema PrometheusRuleSpecGroupsRules#record
     */
    readonly record?: string;
}
/**
 * Converts an object of type 'PrometheusRuleSpecGroupsRules' to JSON representation.
 */
export declare function toJson_PrometheusRuleSpecGroupsRules(obj: PrometheusRuleSpecGroupsRules | undefined): Record<string, any> | undefined;
/**
 * @schema PrometheusRuleSpecGroupsRulesExpr
 */
export declare class PrometheusRuleSpecGroupsRulesExpr {
    readonly value: number | string;
    static fromNumber(value: number): PrometheusRuleSpecGroupsRulesExpr;
    static fromString(value: string): PrometheusRuleSpecGroupsRulesExpr;
    private constructor();
}
/**
 *
 *
 * @schema ServiceMonitor
 */
export declare class ServiceMonitor extends ApiObject {
    /**
     * Returns the apiVersion and kind for "ServiceMonitor"
     */
    static readonly GVK: GroupVersionKind;
    /**
     * Renders a Kubernetes manifest for "ServiceMonitor".
     *
     * This can be used to inline resource manifests inside other objects (e.g. as templates).
     *
     * @param props initialization props
     */
    static manifest(props: ServiceMonitorProps): any;
    /**
     * Defines a "ServiceMonitor" API object
     * @param scope the scope in which to define this object
     * @param id a scope-local name for the object
     * @param props initialization props
     */
    constructor(scope: Construct, id: string, props: ServiceMonitorProps);
    /**
     * Renders the object to Kubernetes JSON.
     */
    toJson(): any;
}
/**
 * @schema ServiceMonitor
 */
export interface ServiceMonitorProps {
    /**
     * @schema ServiceMonitor#metadata
     */
    readonly metadata?: ApiObjectMetadata;
    /**
     * @schema ServiceMonitor#spec
     */
    readonly spec: ServiceMonitorSpec;
}
/**
 * Converts an object of type 'ServiceMonitorProps' to JSON representation.
 */
export declare function toJson_ServiceMonitorProps(obj: ServiceMonitorProps | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpec
 */
export interface ServiceMonitorSpec {
    /**
     * @schema ServiceMonitorSpec#attachMetadata
     */
    readonly attachMetadata?: ServiceMonitorSpecAttachMetadata;
    /**
     * @schema ServiceMonitorSpec#bodySizeLimit
     */
    readonly bodySizeLimit?: string;
    /**
     * @schema ServiceMonitorSpec#convertClassicHistogramsToNHCB
     */
    readonly convertClassicHistogramsToNhcb?: boolean;
    /**
     * @schema ServiceMonitorSpec#endpoints
     */
    readonly endpoints: ServiceMonitorSpecEndpoints[];
    /**
     * @schema ServiceMonitorSpec#fallbackScrapeProtocol
     */
    readonly fallbackScrapeProtocol?: ServiceMonitorSpecFallbackScrapeProtocol;
    /**
     * @schema ServiceMonitorSpec#jobLabel
     */
    readonly jobLabel?: string;
    /**
     * @schema ServiceMonitorSpec#keepDroppedTargets
     */
    readonly keepDroppedTargets?: number;
    /**
     * @schema ServiceMonitorSpec#labelLimit
     */
    readonly labelLimit?: number;
    /**
     * @schema ServiceMonitorSpec#labelNameLengthLimit
     */
    readonly labelNameLengthLimit?: number;
    /**
     * @schema ServiceMonitorSpec#labelValueLengthLimit
     */
    readonly labelValueLengthLimit?: number;
    /**
     * @schema ServiceMonitorSpec#namespaceSelector
     */
    readonly namespaceSelector?: ServiceMonitorSpecNamespaceSelector;
    /**
     * @schema ServiceMonitorSpec#nativeHistogramBucketLimit
     */
    readonly nativeHistogramBucketLimit?: number;
    /**
     * @schema ServiceMonitorSpec#nativeHistogramMinBucketFactor
     */
    readonly nativeHistogramMinBucketFactor?: ServiceMonitorSpecNativeHistogramMinBucketFactor;
    /**
     * @schema ServiceMonitorSpec#podTargetLabels
     */
    readonly podTargetLabels?: string[];
    /**
     * @schema ServiceMonitorSpec#sampleLimit
     */
    readonly sampleLimit?: number;
    /**
     * @schema ServiceMonitorSpec#scrapeClass
     */
    readonly scrapeClass?: string;
    /**
     * @schema ServiceMonitorSpec#scrapeClassicHistograms
     */
    readonly scrapeClassicHistograms?: boolean;
    /**
     * @schema ServiceMonitorSpec#scrapeNativeHistograms
     */
    readonly scrapeNativeHistograms?: boolean;
    /**
     * @schema ServiceMonitorSpec#scrapeProtocols
     */
    readonly scrapeProtocols?: ServiceMonitorSpecScrapeProtocols[];
    /**
     * @schema ServiceMonitorSpec#selector
     */
    readonly selector: ServiceMonitorSpecSelector;
    /**
     * @schema ServiceMonitorSpec#selectorMechanism
     */
    readonly selectorMechanism?: ServiceMonitorSpecSelectorMechanism;
    /**
     * @schema ServiceMonitorSpec#serviceDiscoveryRole
     */
    readonly serviceDiscoveryRole?: ServiceMonitorSpecServiceDiscoveryRole;
    /**
     * @schema ServiceMonitorSpec#targetLabels
     */
    readonly targetLabels?: string[];
    /**
     * @schema ServiceMonitorSpec#targetLimit
     */
    readonly targetLimit?: number;
}
/**
 * Converts an object of type 'ServiceMonitorSpec' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpec(obj: ServiceMonitorSpec | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecAttachMetadata
 */
export interface ServiceMonitorSpecAttachMetadata {
    /**
     * @schema ServiceMonitorSpecAttachMetadata#node
     */
    readonly node?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecAttachMetadata' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecAttachMetadata(obj: ServiceMonitorSpecAttachMetadata | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpoints
 */
export interface ServiceMonitorSpecEndpoints {
    /**
     * @schema ServiceMonitorSpecEndpoints#authorization
     */
    readonly authorization?: ServiceMonitorSpecEndpointsAuthorization;
    /**
     * @schema ServiceMonitorSpecEndpoints#basicAuth
     */
    readonly basicAuth?: ServiceMonitorSpecEndpointsBasicAuth;
    /**
     * @schema ServiceMonitorSpecEndpoints#bearerTokenFile
     */
    readonly bearerTokenFile?: string;
    /**
     * @schema ServiceMonitorSpecEndpoints#bearerTokenSecret
     */
    readonly bearerTokenSecret?: ServiceMonitorSpecEndpointsBearerTokenSecret;
    /**
     * @schema ServiceMonitorSpecEndpoints#enableHttp2
     */
    readonly enableHttp2?: boolean;
    /**
     * @schema ServiceMonitorSpecEndpoints#filterRunning
     */
    readonly filterRunning?: boolean;
    /**
     * @schema ServiceMonitorSpecEndpoints#followRedirects
     */
    readonly followRedirects?: boolean;
    /**
     * @schema ServiceMonitorSpecEndpoints#honorLabels
     */
    readonly honorLabels?: boolean;
    /**
     * @schema ServiceMonitorSpecEndpoints#honorTimestamps
     */
    readonly honorTimestamps?: boolean;
    /**
     * @schema ServiceMonitorSpecEndpoints#interval
     */
    readonly interval?: string;
    /**
     * @schema ServiceMonitorSpecEndpoints#metricRelabelings
     */
    readonly metricRelabelings?: ServiceMonitorSpecEndpointsMetricRelabelings[];
    /**
     * @schema ServiceMonitorSpecEndpoints#noProxy
     */
    readonly noProxy?: string;
    /**
     * @schema ServiceMonitorSpecEndpoints#oauth2
     */
    readonly oauth2?: ServiceMonitorSpecEndpointsOauth2;
    /**
     * @schema ServiceMonitorSpecEndpoints#params
     */
    readonly params?: {
        [key: string]: string[];
    };
    /**
     * @schema ServiceMonitorSpecEndpoints#path
     */
    readonly path?: string;
    /**
     * @schema ServiceMonitorSpecEndpoints#port
     */
    readonly port?: string;
    /**
     * @schema ServiceMonitorSpecEndpoints#proxyConnectHeader
     */
    readonly proxyConnectHeader?: {
        [key: string]: ServiceMonitorSpecEndpointsProxyConnectHeader[];
    };
    /**
     * @schema ServiceMonitorSpecEndpoints#proxyFromEnvironment
     */
    readonly proxyFromEnvironment?: boolean;
    /**
     * @schema ServiceMonitorSpecEndpoints#proxyUrl
     */
    readonly proxyUrl?: string;
    /**
     * @schema ServiceMonitorSpecEndpoints#relabelings
     */
    readonly relabelings?: ServiceMonitorSpecEndpointsRelabelings[];
    /**
     * @schema ServiceMonitorSpecEndpoints#scheme
     */
    readonly scheme?: ServiceMonitorSpecEndpointsScheme;
    /**
     * @schema ServiceMonitorSpecEndpoints#scrapeTimeout
     */
    readonly scrapeTimeout?: string;
    /**
     * @schema ServiceMonitorSpecEndpoints#targetPort
     */
    readonly targetPort?: ServiceMonitorSpecEndpointsTargetPort;
    /**
     * @schema ServiceMonitorSpecEndpoints#tlsConfig
     */
    readonly tlsConfig?: ServiceMonitorSpecEndpointsTlsConfig;
    /**
     * @schema ServiceMonitorSpecEndpoints#trackTimestampsStaleness
     */
    readonly trackTimestampsStaleness?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpoints' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpoints(obj: ServiceMonitorSpecEndpoints | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecFallbackScrapeProtocol
 */
export declare enum ServiceMonitorSpecFallbackScrapeProtocol {
    /** PrometheusProto */
    PROMETHEUS_PROTO = "PrometheusProto",
    /** OpenMetricsText0.0.1 */
    OPEN_METRICS_TEXT0_0_1 = "OpenMetricsText0.0.1",
    /** OpenMetricsText1.0.0 */
    OPEN_METRICS_TEXT1_0_0 = "OpenMetricsText1.0.0",
    /** PrometheusText0.0.4 */
    PROMETHEUS_TEXT0_0_4 = "PrometheusText0.0.4",
    /** PrometheusText1.0.0 */
    PROMETHEUS_TEXT1_0_0 = "PrometheusText1.0.0"
}
/**
 * @schema ServiceMonitorSpecNamespaceSelector
 */
export interface ServiceMonitorSpecNamespaceSelector {
    /**
     * @schema ServiceMonitorSpecNamespaceSelector#any
     */
    readonly any?: boolean;
    /**
     * @schema ServiceMonitorSpecNamespaceSelector#matchNames
     */
    readonly matchNames?: string[];
}
/**
 * Converts an object of type 'ServiceMonitorSpecNamespaceSelector' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecNamespaceSelector(obj: ServiceMonitorSpecNamespaceSelector | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecNativeHistogramMinBucketFactor
 */
export declare class ServiceMonitorSpecNativeHistogramMinBucketFactor {
    readonly value: number | string;
    static fromNumber(value: number): ServiceMonitorSpecNativeHistogramMinBucketFactor;
    static fromString(value: string): ServiceMonitorSpecNativeHistogramMinBucketFactor;
    private constructor();
}
/**
 * @schema ServiceMonitorSpecScrapeProtocols
 */
export declare enum ServiceMonitorSpecScrapeProtocols {
    /** PrometheusProto */
    PROMETHEUS_PROTO = "PrometheusProto",
    /** OpenMetricsText0.0.1 */
    OPEN_METRICS_TEXT0_0_1 = "OpenMetricsText0.0.1",
    /** OpenMetricsText1.0.0 */
    OPEN_METRICS_TEXT1_0_0 = "OpenMetricsText1.0.0",
    /** PrometheusText0.0.4 */
    PROMETHEUS_TEXT0_0_4 = "PrometheusText0.0.4",
    /** PrometheusText1.0.0 */
    PROMETHEUS_TEXT1_0_0 = "PrometheusText1.0.0"
}
/**
 * @schema ServiceMonitorSpecSelector
 */
export interface ServiceMonitorSpecSelector {
    /**
     * @schema ServiceMonitorSpecSelector#matchExpressions
     */
    readonly matchExpressions?: ServiceMonitorSpecSelectorMatchExpressions[];
    /**
     * @schema ServiceMonitorSpecSelector#matchLabels
     */
    readonly matchLabels?: {
        [key: string]: string;
    };
}
/**
 * Converts an object of type 'ServiceMonitorSpecSelector' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecSelector(obj: ServiceMonitorSpecSelector | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecSelectorMechanism
 */
export declare enum ServiceMonitorSpecSelectorMechanism {
    /** RelabelConfig */
    RELABEL_CONFIG = "RelabelConfig",
    /** RoleSelector */
    ROLE_SELECTOR = "RoleSelector"
}
/**
 * @schema ServiceMonitorSpecServiceDiscoveryRole
 */
export declare enum ServiceMonitorSpecServiceDiscoveryRole {
    /** Endpoints */
    ENDPOINTS = "Endpoints",
    /** EndpointSlice */
    ENDPOINT_SLICE = "EndpointSlice"
}
/**
 * @schema ServiceMonitorSpecEndpointsAuthorization
 */
export interface ServiceMonitorSpecEndpointsAuthorization {
    /**
     * @schema ServiceMonitorSpecEndpointsAuthorization#credentials
     */
    readonly credentials?: ServiceMonitorSpecEndpointsAuthorizationCredentials;
    /**
     * @schema ServiceMonitorSpecEndpointsAuthorization#type
     */
    readonly type?: string;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsAuthorization' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsAuthorization(obj: ServiceMonitorSpecEndpointsAuthorization | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsBasicAuth
 */
export interface ServiceMonitorSpecEndpointsBasicAuth {
    /**
     * @schema ServiceMonitorSpecEndpointsBasicAuth#password
     */
    readonly password?: ServiceMonitorSpecEndpointsBasicAuthPassword;
    /**
     * @schema ServiceMonitorSpecEndpointsBasicAuth#username
     */
    readonly username?: ServiceMonitorSpecEndpointsBasicAuthUsername;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsBasicAuth' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsBasicAuth(obj: ServiceMonitorSpecEndpointsBasicAuth | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsBearerTokenSecret
 */
export interface ServiceMonitorSpecEndpointsBearerTokenSecret {
    /**
     * @schema ServiceMonitorSpecEndpointsBearerTokenSecret#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecEndpointsBearerTokenSecret#name
     */
    readonly name?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsBearerTokenSecret#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsBearerTokenSecret' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsBearerTokenSecret(obj: ServiceMonitorSpecEndpointsBearerTokenSecret | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsMetricRelabelings
 */
export interface ServiceMonitorSpecEndpointsMetricRelabelings {
    /**
     * @schema ServiceMonitorSpecEndpointsMetricRelabelings#action
     */
    readonly action?: ServiceMonitorSpecEndpointsMetricRelabelingsAction;
    /**
     * @schema ServiceMonitorSpecEndpointsMetricRelabelings#modulus
     */
    readonly modulus?: number;
    /**
     * @schema ServiceMonitorSpecEndpointsMetricRelabelings#regex
     */
    readonly regex?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsMetricRelabelings#replacement
     */
    readonly replacement?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsMetricRelabelings#separator
     */
    readonly separator?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsMetricRelabelings#sourceLabels
     */
    readonly sourceLabels?: string[];
    /**
     * @schema ServiceMonitorSpecEndpointsMetricRelabelings#targetLabel
     */
    readonly targetLabel?: string;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsMetricRelabelings' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsMetricRelabelings(obj: ServiceMonitorSpecEndpointsMetricRelabelings | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsOauth2
 */
export interface ServiceMonitorSpecEndpointsOauth2 {
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2#clientId
     */
    readonly clientId: ServiceMonitorSpecEndpointsOauth2ClientId;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2#clientSecret
     */
    readonly clientSecret: ServiceMonitorSpecEndpointsOauth2ClientSecret;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2#endpointParams
     */
    readonly endpointParams?: {
        [key: string]: string;
    };
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2#noProxy
     */
    readonly noProxy?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2#proxyConnectHeader
     */
    readonly proxyConnectHeader?: {
        [key: string]: ServiceMonitorSpecEndpointsOauth2ProxyConnectHeader[];
    };
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2#proxyFromEnvironment
     */
    readonly proxyFromEnvironment?: boolean;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2#proxyUrl
     */
    readonly proxyUrl?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2#scopes
     */
    readonly scopes?: string[];
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2#tlsConfig
     */
    readonly tlsConfig?: ServiceMonitorSpecEndpointsOauth2TlsConfig;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2#tokenUrl
     */
    readonly tokenUrl: string;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsOauth2' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsOauth2(obj: ServiceMonitorSpecEndpointsOauth2 | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsProxyConnectHeader
 */
export interface ServiceMonitorSpecEndpointsProxyConnectHeader {
    /**
     * @schema ServiceMonitorSpecEndpointsProxyConnectHeader#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecEndpointsProxyConnectHeader#name
     */
    readonly name?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsProxyConnectHeader#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsProxyConnectHeader' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsProxyConnectHeader(obj: ServiceMonitorSpecEndpointsProxyConnectHeader | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsRelabelings
 */
export interface ServiceMonitorSpecEndpointsRelabelings {
    /**
     * @schema ServiceMonitorSpecEndpointsRelabelings#action
     */
    readonly action?: ServiceMonitorSpecEndpointsRelabelingsAction;
    /**
     * @schema ServiceMonitorSpecEndpointsRelabelings#modulus
     */
    readonly modulus?: number;
    /**
     * @schema ServiceMonitorSpecEndpointsRelabelings#regex
     */
    readonly regex?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsRelabelings#replacement
     */
    readonly replacement?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsRelabelings#separator
     */
    readonly separator?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsRelabelings#sourceLabels
     */
    readonly sourceLabels?: string[];
    /**
     * @schema ServiceMonitorSpecEndpointsRelabelings#targetLabel
     */
    readonly targetLabel?: string;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsRelabelings' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsRelabelings(obj: ServiceMonitorSpecEndpointsRelabelings | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsScheme
 */
export declare enum ServiceMonitorSpecEndpointsScheme {
    /** http */
    HTTP = "http",
    /** https */
    HTTPS = "https"
}
/**
 * @schema ServiceMonitorSpecEndpointsTargetPort
 */
export declare class ServiceMonitorSpecEndpointsTargetPort {
    readonly value: number | string;
    static fromNumber(value: number): ServiceMonitorSpecEndpointsTargetPort;
    static fromString(value: string): ServiceMonitorSpecEndpointsTargetPort;
    private constructor();
}
/**
 * @schema ServiceMonitorSpecEndpointsTlsConfig
 */
export interface ServiceMonitorSpecEndpointsTlsConfig {
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfig#ca
     */
    readonly ca?: ServiceMonitorSpecEndpointsTlsConfigCa;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfig#caFile
     */
    readonly caFile?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfig#cert
     */
    readonly cert?: ServiceMonitorSpecEndpointsTlsConfigCert;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfig#certFile
     */
    readonly certFile?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfig#insecureSkipVerify
     */
    readonly insecureSkipVerify?: boolean;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfig#keyFile
     */
    readonly keyFile?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfig#keySecret
     */
    readonly keySecret?: ServiceMonitorSpecEndpointsTlsConfigKeySecret;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfig#maxVersion
     */
    readonly maxVersion?: ServiceMonitorSpecEndpointsTlsConfigMaxVersion;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfig#minVersion
     */
    readonly minVersion?: ServiceMonitorSpecEndpointsTlsConfigMinVersion;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfig#serverName
     */
    readonly serverName?: string;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsTlsConfig' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsTlsConfig(obj: ServiceMonitorSpecEndpointsTlsConfig | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecSelectorMatchExpressions
 */
export interface ServiceMonitorSpecSelectorMatchExpressions {
    /**
     * @schema ServiceMonitorSpecSelectorMatchExpressions#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecSelectorMatchExpressions#operator
     */
    readonly operator: string;
    /**
     * @schema ServiceMonitorSpecSelectorMatchExpressions#values
     */
    readonly values?: string[];
}
/**
 * Converts an object of type 'ServiceMonitorSpecSelectorMatchExpressions' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecSelectorMatchExpressions(obj: ServiceMonitorSpecSelectorMatchExpressions | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsAuthorizationCredentials
 */
export interface ServiceMonitorSpecEndpointsAuthorizationCredentials {
    /**
     * @schema ServiceMonitorSpecEndpointsAuthorizationCredentials#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecEndpointsAuthorizationCredentials#name
     */
    readonly name?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsAuthorizationCredentials#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsAuthorizationCredentials' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsAuthorizationCredentials(obj: ServiceMonitorSpecEndpointsAuthorizationCredentials | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsBasicAuthPassword
 */
export interface ServiceMonitorSpecEndpointsBasicAuthPassword {
    /**
     * @schema ServiceMonitorSpecEndpointsBasicAuthPassword#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecEndpointsBasicAuthPassword#name
     */
    readonly name?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsBasicAuthPassword#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsBasicAuthPassword' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsBasicAuthPassword(obj: ServiceMonitorSpecEndpointsBasicAuthPassword | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsBasicAuthUsername
 */
export interface ServiceMonitorSpecEndpointsBasicAuthUsername {
    /**
     * @schema ServiceMonitorSpecEndpointsBasicAuthUsername#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecEndpointsBasicAuthUsername#name
     */
    readonly name?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsBasicAuthUsername#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsBasicAuthUsername' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsBasicAuthUsername(obj: ServiceMonitorSpecEndpointsBasicAuthUsername | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsMetricRelabelingsAction
 */
export declare enum ServiceMonitorSpecEndpointsMetricRelabelingsAction {
    /** replace */
    REPLACE = "replace",
    /** keep */
    KEEP = "keep",
    /** drop */
    DROP = "drop",
    /** hashmod */
    HASHMOD = "hashmod",
    /** labelmap */
    LABELMAP = "labelmap",
    /** labeldrop */
    LABELDROP = "labeldrop",
    /** labelkeep */
    LABELKEEP = "labelkeep",
    /** lowercase */
    LOWERCASE = "lowercase",
    /** uppercase */
    UPPERCASE = "uppercase",
    /** keepequal */
    KEEPEQUAL = "keepequal",
    /** dropequal */
    DROPEQUAL = "dropequal"
}
/**
 * @schema ServiceMonitorSpecEndpointsOauth2ClientId
 */
export interface ServiceMonitorSpecEndpointsOauth2ClientId {
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2ClientId#configMap
     */
    readonly configMap?: ServiceMonitorSpecEndpointsOauth2ClientIdConfigMap;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2ClientId#secret
     */
    readonly secret?: ServiceMonitorSpecEndpointsOauth2ClientIdSecret;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsOauth2ClientId' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsOauth2ClientId(obj: ServiceMonitorSpecEndpointsOauth2ClientId | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsOauth2ClientSecret
 */
export interface ServiceMonitorSpecEndpointsOauth2ClientSecret {
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2ClientSecret#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2ClientSecret#name
     */
    readonly name?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2ClientSecret#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsOauth2ClientSecret' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsOauth2ClientSecret(obj: ServiceMonitorSpecEndpointsOauth2ClientSecret | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsOauth2ProxyConnectHeader
 */
export interface ServiceMonitorSpecEndpointsOauth2ProxyConnectHeader {
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2ProxyConnectHeader#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2ProxyConnectHeader#name
     */
    readonly name?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2ProxyConnectHeader#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsOauth2ProxyConnectHeader' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsOauth2ProxyConnectHeader(obj: ServiceMonitorSpecEndpointsOauth2ProxyConnectHeader | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsOauth2TlsConfig
 */
export interface ServiceMonitorSpecEndpointsOauth2TlsConfig {
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfig#ca
     */
    readonly ca?: ServiceMonitorSpecEndpointsOauth2TlsConfigCa;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfig#cert
     */
    readonly cert?: ServiceMonitorSpecEndpointsOauth2TlsConfigCert;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfig#insecureSkipVerify
     */
    readonly insecureSkipVerify?: boolean;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfig#keySecret
     */
    readonly keySecret?: ServiceMonitorSpecEndpointsOauth2TlsConfigKeySecret;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfig#maxVersion
     */
    readonly maxVersion?: ServiceMonitorSpecEndpointsOauth2TlsConfigMaxVersion;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfig#minVersion
     */
    readonly minVersion?: ServiceMonitorSpecEndpointsOauth2TlsConfigMinVersion;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfig#serverName
     */
    readonly serverName?: string;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsOauth2TlsConfig' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsOauth2TlsConfig(obj: ServiceMonitorSpecEndpointsOauth2TlsConfig | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsRelabelingsAction
 */
export declare enum ServiceMonitorSpecEndpointsRelabelingsAction {
    /** replace */
    REPLACE = "replace",
    /** keep */
    KEEP = "keep",
    /** drop */
    DROP = "drop",
    /** hashmod */
    HASHMOD = "hashmod",
    /** labelmap */
    LABELMAP = "labelmap",
    /** labeldrop */
    LABELDROP = "labeldrop",
    /** labelkeep */
    LABELKEEP = "labelkeep",
    /** lowercase */
    LOWERCASE = "lowercase",
    /** uppercase */
    UPPERCASE = "uppercase",
    /** keepequal */
    KEEPEQUAL = "keepequal",
    /** dropequal */
    DROPEQUAL = "dropequal"
}
/**
 * @schema ServiceMonitorSpecEndpointsTlsConfigCa
 */
export interface ServiceMonitorSpecEndpointsTlsConfigCa {
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfigCa#configMap
     */
    readonly configMap?: ServiceMonitorSpecEndpointsTlsConfigCaConfigMap;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfigCa#secret
     */
    readonly secret?: ServiceMonitorSpecEndpointsTlsConfigCaSecret;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsTlsConfigCa' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsTlsConfigCa(obj: ServiceMonitorSpecEndpointsTlsConfigCa | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsTlsConfigCert
 */
export interface ServiceMonitorSpecEndpointsTlsConfigCert {
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfigCert#configMap
     */
    readonly configMap?: ServiceMonitorSpecEndpointsTlsConfigCertConfigMap;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfigCert#secret
     */
    readonly secret?: ServiceMonitorSpecEndpointsTlsConfigCertSecret;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsTlsConfigCert' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsTlsConfigCert(obj: ServiceMonitorSpecEndpointsTlsConfigCert | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsTlsConfigKeySecret
 */
export interface ServiceMonitorSpecEndpointsTlsConfigKeySecret {
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfigKeySecret#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfigKeySecret#name
     */
    readonly name?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfigKeySecret#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsTlsConfigKeySecret' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsTlsConfigKeySecret(obj: ServiceMonitorSpecEndpointsTlsConfigKeySecret | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsTlsConfigMaxVersion
 */
export declare enum ServiceMonitorSpecEndpointsTlsConfigMaxVersion {
    /** TLS10 */
    TLS10 = "TLS10",
    /** TLS11 */
    TLS11 = "TLS11",
    /** TLS12 */
    TLS12 = "TLS12",
    /** TLS13 */
    TLS13 = "TLS13"
}
/**
 * @schema ServiceMonitorSpecEndpointsTlsConfigMinVersion
 */
export declare enum ServiceMonitorSpecEndpointsTlsConfigMinVersion {
    /** TLS10 */
    TLS10 = "TLS10",
    /** TLS11 */
    TLS11 = "TLS11",
    /** TLS12 */
    TLS12 = "TLS12",
    /** TLS13 */
    TLS13 = "TLS13"
}
/**
 * @schema ServiceMonitorSpecEndpointsOauth2ClientIdConfigMap
 */
export interface ServiceMonitorSpecEndpointsOauth2ClientIdConfigMap {
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2ClientIdConfigMap#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2ClientIdConfigMap#name
     */
    readonly name?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2ClientIdConfigMap#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsOauth2ClientIdConfigMap' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsOauth2ClientIdConfigMap(obj: ServiceMonitorSpecEndpointsOauth2ClientIdConfigMap | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsOauth2ClientIdSecret
 */
export interface ServiceMonitorSpecEndpointsOauth2ClientIdSecret {
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2ClientIdSecret#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2ClientIdSecret#name
     */
    readonly name?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2ClientIdSecret#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsOauth2ClientIdSecret' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsOauth2ClientIdSecret(obj: ServiceMonitorSpecEndpointsOauth2ClientIdSecret | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCa
 */
export interface ServiceMonitorSpecEndpointsOauth2TlsConfigCa {
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCa#configMap
     */
    readonly configMap?: ServiceMonitorSpecEndpointsOauth2TlsConfigCaConfigMap;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCa#secret
     */
    readonly secret?: ServiceMonitorSpecEndpointsOauth2TlsConfigCaSecret;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsOauth2TlsConfigCa' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsOauth2TlsConfigCa(obj: ServiceMonitorSpecEndpointsOauth2TlsConfigCa | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCert
 */
export interface ServiceMonitorSpecEndpointsOauth2TlsConfigCert {
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCert#configMap
     */
    readonly configMap?: ServiceMonitorSpecEndpointsOauth2TlsConfigCertConfigMap;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCert#secret
     */
    readonly secret?: ServiceMonitorSpecEndpointsOauth2TlsConfigCertSecret;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsOauth2TlsConfigCert' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsOauth2TlsConfigCert(obj: ServiceMonitorSpecEndpointsOauth2TlsConfigCert | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigKeySecret
 */
export interface ServiceMonitorSpecEndpointsOauth2TlsConfigKeySecret {
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigKeySecret#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigKeySecret#name
     */
    readonly name?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigKeySecret#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsOauth2TlsConfigKeySecret' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsOauth2TlsConfigKeySecret(obj: ServiceMonitorSpecEndpointsOauth2TlsConfigKeySecret | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigMaxVersion
 */
export declare enum ServiceMonitorSpecEndpointsOauth2TlsConfigMaxVersion {
    /** TLS10 */
    TLS10 = "TLS10",
    /** TLS11 */
    TLS11 = "TLS11",
    /** TLS12 */
    TLS12 = "TLS12",
    /** TLS13 */
    TLS13 = "TLS13"
}
/**
 * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigMinVersion
 */
export declare enum ServiceMonitorSpecEndpointsOauth2TlsConfigMinVersion {
    /** TLS10 */
    TLS10 = "TLS10",
    /** TLS11 */
    TLS11 = "TLS11",
    /** TLS12 */
    TLS12 = "TLS12",
    /** TLS13 */
    TLS13 = "TLS13"
}
/**
 * @schema ServiceMonitorSpecEndpointsTlsConfigCaConfigMap
 */
export interface ServiceMonitorSpecEndpointsTlsConfigCaConfigMap {
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfigCaConfigMap#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfigCaConfigMap#name
     */
    readonly name?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfigCaConfigMap#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsTlsConfigCaConfigMap' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsTlsConfigCaConfigMap(obj: ServiceMonitorSpecEndpointsTlsConfigCaConfigMap | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsTlsConfigCaSecret
 */
export interface ServiceMonitorSpecEndpointsTlsConfigCaSecret {
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfigCaSecret#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfigCaSecret#name
     */
    readonly name?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfigCaSecret#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsTlsConfigCaSecret' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsTlsConfigCaSecret(obj: ServiceMonitorSpecEndpointsTlsConfigCaSecret | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsTlsConfigCertConfigMap
 */
export interface ServiceMonitorSpecEndpointsTlsConfigCertConfigMap {
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfigCertConfigMap#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfigCertConfigMap#name
     */
    readonly name?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfigCertConfigMap#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsTlsConfigCertConfigMap' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsTlsConfigCertConfigMap(obj: ServiceMonitorSpecEndpointsTlsConfigCertConfigMap | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsTlsConfigCertSecret
 */
export interface ServiceMonitorSpecEndpointsTlsConfigCertSecret {
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfigCertSecret#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfigCertSecret#name
     */
    readonly name?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsTlsConfigCertSecret#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsTlsConfigCertSecret' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsTlsConfigCertSecret(obj: ServiceMonitorSpecEndpointsTlsConfigCertSecret | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCaConfigMap
 */
export interface ServiceMonitorSpecEndpointsOauth2TlsConfigCaConfigMap {
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCaConfigMap#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCaConfigMap#name
     */
    readonly name?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCaConfigMap#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsOauth2TlsConfigCaConfigMap' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsOauth2TlsConfigCaConfigMap(obj: ServiceMonitorSpecEndpointsOauth2TlsConfigCaConfigMap | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCaSecret
 */
export interface ServiceMonitorSpecEndpointsOauth2TlsConfigCaSecret {
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCaSecret#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCaSecret#name
     */
    readonly name?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCaSecret#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsOauth2TlsConfigCaSecret' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsOauth2TlsConfigCaSecret(obj: ServiceMonitorSpecEndpointsOauth2TlsConfigCaSecret | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCertConfigMap
 */
export interface ServiceMonitorSpecEndpointsOauth2TlsConfigCertConfigMap {
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCertConfigMap#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCertConfigMap#name
     */
    readonly name?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCertConfigMap#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsOauth2TlsConfigCertConfigMap' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsOauth2TlsConfigCertConfigMap(obj: ServiceMonitorSpecEndpointsOauth2TlsConfigCertConfigMap | undefined): Record<string, any> | undefined;
/**
 * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCertSecret
 */
export interface ServiceMonitorSpecEndpointsOauth2TlsConfigCertSecret {
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCertSecret#key
     */
    readonly key: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCertSecret#name
     */
    readonly name?: string;
    /**
     * @schema ServiceMonitorSpecEndpointsOauth2TlsConfigCertSecret#optional
     */
    readonly optional?: boolean;
}
/**
 * Converts an object of type 'ServiceMonitorSpecEndpointsOauth2TlsConfigCertSecret' to JSON representation.
 */
export declare function toJson_ServiceMonitorSpecEndpointsOauth2TlsConfigCertSecret(obj: ServiceMonitorSpecEndpointsOauth2TlsConfigCertSecret | undefined): Record<string, any> | undefined;
