import { ApiObject, ApiObjectMetadata, GroupVersionKind } from 'cdk8s';
import { Construct } from 'constructs';
export declare class PodMonitor extends ApiObject {
    static readonly GVK: GroupVersionKind;
    static manifest(props: PodMonitorProps): any;
    constructor(scope: Construct, id: string, props: PodMonitorProps);
    toJson(): any;
}
export interface PodMonitorProps {
    readonly metadata?: ApiObjectMetadata;
    readonly spec: PodMonitorSpec;
}
export declare function toJson_PodMonitorProps(obj: PodMonitorProps | undefined): Record<string, any> | undefined;
export interface PodMonitorSpec {
    readonly attachMetadata?: PodMonitorSpecAttachMetadata;
    readonly bodySizeLimit?: string;
    readonly convertClassicHistogramsToNhcb?: boolean;
    readonly fallbackScrapeProtocol?: PodMonitorSpecFallbackScrapeProtocol;
    readonly jobLabel?: string;
    readonly keepDroppedTargets?: number;
    readonly labelLimit?: number;
    readonly labelNameLengthLimit?: number;
    readonly labelValueLengthLimit?: number;
    readonly namespaceSelector?: PodMonitorSpecNamespaceSelector;
    readonly nativeHistogramBucketLimit?: number;
    readonly nativeHistogramMinBucketFactor?: PodMonitorSpecNativeHistogramMinBucketFactor;
    readonly podMetricsEndpoints?: PodMonitorSpecPodMetricsEndpoints[];
    readonly podTargetLabels?: string[];
    readonly sampleLimit?: number;
    readonly scrapeClass?: string;
    readonly scrapeClassicHistograms?: boolean;
    readonly scrapeNativeHistograms?: boolean;
    readonly scrapeProtocols?: PodMonitorSpecScrapeProtocols[];
    readonly selector: PodMonitorSpecSelector;
    readonly selectorMechanism?: PodMonitorSpecSelectorMechanism;
    readonly targetLimit?: number;
}
export declare function toJson_PodMonitorSpec(obj: PodMonitorSpec | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecAttachMetadata {
    readonly node?: boolean;
}
export declare function toJson_PodMonitorSpecAttachMetadata(obj: PodMonitorSpecAttachMetadata | undefined): Record<string, any> | undefined;
export declare enum PodMonitorSpecFallbackScrapeProtocol {
    PROMETHEUS_PROTO = "PrometheusProto",
    OPEN_METRICS_TEXT0_0_1 = "OpenMetricsText0.0.1",
    OPEN_METRICS_TEXT1_0_0 = "OpenMetricsText1.0.0",
    PROMETHEUS_TEXT0_0_4 = "PrometheusText0.0.4",
    PROMETHEUS_TEXT1_0_0 = "PrometheusText1.0.0"
}
export interface PodMonitorSpecNamespaceSelector {
    readonly any?: boolean;
    readonly matchNames?: string[];
}
export declare function toJson_PodMonitorSpecNamespaceSelector(obj: PodMonitorSpecNamespaceSelector | undefined): Record<string, any> | undefined;
export declare class PodMonitorSpecNativeHistogramMinBucketFactor {
    readonly value: number | string;
    static fromNumber(value: number): PodMonitorSpecNativeHistogramMinBucketFactor;
    static fromString(value: string): PodMonitorSpecNativeHistogramMinBucketFactor;
    private constructor();
}
export interface PodMonitorSpecPodMetricsEndpoints {
    readonly authorization?: PodMonitorSpecPodMetricsEndpointsAuthorization;
    readonly basicAuth?: PodMonitorSpecPodMetricsEndpointsBasicAuth;
    readonly bearerTokenSecret?: PodMonitorSpecPodMetricsEndpointsBearerTokenSecret;
    readonly enableHttp2?: boolean;
    readonly filterRunning?: boolean;
    readonly followRedirects?: boolean;
    readonly honorLabels?: boolean;
    readonly honorTimestamps?: boolean;
    readonly interval?: string;
    readonly metricRelabelings?: PodMonitorSpecPodMetricsEndpointsMetricRelabelings[];
    readonly noProxy?: string;
    readonly oauth2?: PodMonitorSpecPodMetricsEndpointsOauth2;
    readonly params?: {
        [key: string]: string[];
    };
    readonly path?: string;
    readonly port?: string;
    readonly portNumber?: number;
    readonly proxyConnectHeader?: {
        [key: string]: PodMonitorSpecPodMetricsEndpointsProxyConnectHeader[];
    };
    readonly proxyFromEnvironment?: boolean;
    readonly proxyUrl?: string;
    readonly relabelings?: PodMonitorSpecPodMetricsEndpointsRelabelings[];
    readonly scheme?: PodMonitorSpecPodMetricsEndpointsScheme;
    readonly scrapeTimeout?: string;
    readonly targetPort?: PodMonitorSpecPodMetricsEndpointsTargetPort;
    readonly tlsConfig?: PodMonitorSpecPodMetricsEndpointsTlsConfig;
    readonly trackTimestampsStaleness?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpoints(obj: PodMonitorSpecPodMetricsEndpoints | undefined): Record<string, any> | undefined;
export declare enum PodMonitorSpecScrapeProtocols {
    PROMETHEUS_PROTO = "PrometheusProto",
    OPEN_METRICS_TEXT0_0_1 = "OpenMetricsText0.0.1",
    OPEN_METRICS_TEXT1_0_0 = "OpenMetricsText1.0.0",
    PROMETHEUS_TEXT0_0_4 = "PrometheusText0.0.4",
    PROMETHEUS_TEXT1_0_0 = "PrometheusText1.0.0"
}
export interface PodMonitorSpecSelector {
    readonly matchExpressions?: PodMonitorSpecSelectorMatchExpressions[];
    readonly matchLabels?: {
        [key: string]: string;
    };
}
export declare function toJson_PodMonitorSpecSelector(obj: PodMonitorSpecSelector | undefined): Record<string, any> | undefined;
export declare enum PodMonitorSpecSelectorMechanism {
    RELABEL_CONFIG = "RelabelConfig",
    ROLE_SELECTOR = "RoleSelector"
}
export interface PodMonitorSpecPodMetricsEndpointsAuthorization {
    readonly credentials?: PodMonitorSpecPodMetricsEndpointsAuthorizationCredentials;
    readonly type?: string;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsAuthorization(obj: PodMonitorSpecPodMetricsEndpointsAuthorization | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsBasicAuth {
    readonly password?: PodMonitorSpecPodMetricsEndpointsBasicAuthPassword;
    readonly username?: PodMonitorSpecPodMetricsEndpointsBasicAuthUsername;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsBasicAuth(obj: PodMonitorSpecPodMetricsEndpointsBasicAuth | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsBearerTokenSecret {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsBearerTokenSecret(obj: PodMonitorSpecPodMetricsEndpointsBearerTokenSecret | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsMetricRelabelings {
    readonly action?: PodMonitorSpecPodMetricsEndpointsMetricRelabelingsAction;
    readonly modulus?: number;
    readonly regex?: string;
    readonly replacement?: string;
    readonly separator?: string;
    readonly sourceLabels?: string[];
    readonly targetLabel?: string;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsMetricRelabelings(obj: PodMonitorSpecPodMetricsEndpointsMetricRelabelings | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsOauth2 {
    readonly clientId: PodMonitorSpecPodMetricsEndpointsOauth2ClientId;
    readonly clientSecret: PodMonitorSpecPodMetricsEndpointsOauth2ClientSecret;
    readonly endpointParams?: {
        [key: string]: string;
    };
    readonly noProxy?: string;
    readonly proxyConnectHeader?: {
        [key: string]: PodMonitorSpecPodMetricsEndpointsOauth2ProxyConnectHeader[];
    };
    readonly proxyFromEnvironment?: boolean;
    readonly proxyUrl?: string;
    readonly scopes?: string[];
    readonly tlsConfig?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfig;
    readonly tokenUrl: string;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2(obj: PodMonitorSpecPodMetricsEndpointsOauth2 | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsProxyConnectHeader {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsProxyConnectHeader(obj: PodMonitorSpecPodMetricsEndpointsProxyConnectHeader | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsRelabelings {
    readonly action?: PodMonitorSpecPodMetricsEndpointsRelabelingsAction;
    readonly modulus?: number;
    readonly regex?: string;
    readonly replacement?: string;
    readonly separator?: string;
    readonly sourceLabels?: string[];
    readonly targetLabel?: string;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsRelabelings(obj: PodMonitorSpecPodMetricsEndpointsRelabelings | undefined): Record<string, any> | undefined;
export declare enum PodMonitorSpecPodMetricsEndpointsScheme {
    HTTP = "http",
    HTTPS = "https"
}
export declare class PodMonitorSpecPodMetricsEndpointsTargetPort {
    readonly value: number | string;
    static fromNumber(value: number): PodMonitorSpecPodMetricsEndpointsTargetPort;
    static fromString(value: string): PodMonitorSpecPodMetricsEndpointsTargetPort;
    private constructor();
}
export interface PodMonitorSpecPodMetricsEndpointsTlsConfig {
    readonly ca?: PodMonitorSpecPodMetricsEndpointsTlsConfigCa;
    readonly cert?: PodMonitorSpecPodMetricsEndpointsTlsConfigCert;
    readonly insecureSkipVerify?: boolean;
    readonly keySecret?: PodMonitorSpecPodMetricsEndpointsTlsConfigKeySecret;
    readonly maxVersion?: PodMonitorSpecPodMetricsEndpointsTlsConfigMaxVersion;
    readonly minVersion?: PodMonitorSpecPodMetricsEndpointsTlsConfigMinVersion;
    readonly serverName?: string;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsTlsConfig(obj: PodMonitorSpecPodMetricsEndpointsTlsConfig | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecSelectorMatchExpressions {
    readonly key: string;
    readonly operator: string;
    readonly values?: string[];
}
export declare function toJson_PodMonitorSpecSelectorMatchExpressions(obj: PodMonitorSpecSelectorMatchExpressions | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsAuthorizationCredentials {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsAuthorizationCredentials(obj: PodMonitorSpecPodMetricsEndpointsAuthorizationCredentials | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsBasicAuthPassword {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsBasicAuthPassword(obj: PodMonitorSpecPodMetricsEndpointsBasicAuthPassword | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsBasicAuthUsername {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsBasicAuthUsername(obj: PodMonitorSpecPodMetricsEndpointsBasicAuthUsername | undefined): Record<string, any> | undefined;
export declare enum PodMonitorSpecPodMetricsEndpointsMetricRelabelingsAction {
    REPLACE = "replace",
    KEEP = "keep",
    DROP = "drop",
    HASHMOD = "hashmod",
    LABELMAP = "labelmap",
    LABELDROP = "labeldrop",
    LABELKEEP = "labelkeep",
    LOWERCASE = "lowercase",
    UPPERCASE = "uppercase",
    KEEPEQUAL = "keepequal",
    DROPEQUAL = "dropequal"
}
export interface PodMonitorSpecPodMetricsEndpointsOauth2ClientId {
    readonly configMap?: PodMonitorSpecPodMetricsEndpointsOauth2ClientIdConfigMap;
    readonly secret?: PodMonitorSpecPodMetricsEndpointsOauth2ClientIdSecret;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2ClientId(obj: PodMonitorSpecPodMetricsEndpointsOauth2ClientId | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsOauth2ClientSecret {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2ClientSecret(obj: PodMonitorSpecPodMetricsEndpointsOauth2ClientSecret | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsOauth2ProxyConnectHeader {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2ProxyConnectHeader(obj: PodMonitorSpecPodMetricsEndpointsOauth2ProxyConnectHeader | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsOauth2TlsConfig {
    readonly ca?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCa;
    readonly cert?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCert;
    readonly insecureSkipVerify?: boolean;
    readonly keySecret?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigKeySecret;
    readonly maxVersion?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigMaxVersion;
    readonly minVersion?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigMinVersion;
    readonly serverName?: string;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2TlsConfig(obj: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfig | undefined): Record<string, any> | undefined;
export declare enum PodMonitorSpecPodMetricsEndpointsRelabelingsAction {
    REPLACE = "replace",
    KEEP = "keep",
    DROP = "drop",
    HASHMOD = "hashmod",
    LABELMAP = "labelmap",
    LABELDROP = "labeldrop",
    LABELKEEP = "labelkeep",
    LOWERCASE = "lowercase",
    UPPERCASE = "uppercase",
    KEEPEQUAL = "keepequal",
    DROPEQUAL = "dropequal"
}
export interface PodMonitorSpecPodMetricsEndpointsTlsConfigCa {
    readonly configMap?: PodMonitorSpecPodMetricsEndpointsTlsConfigCaConfigMap;
    readonly secret?: PodMonitorSpecPodMetricsEndpointsTlsConfigCaSecret;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsTlsConfigCa(obj: PodMonitorSpecPodMetricsEndpointsTlsConfigCa | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsTlsConfigCert {
    readonly configMap?: PodMonitorSpecPodMetricsEndpointsTlsConfigCertConfigMap;
    readonly secret?: PodMonitorSpecPodMetricsEndpointsTlsConfigCertSecret;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsTlsConfigCert(obj: PodMonitorSpecPodMetricsEndpointsTlsConfigCert | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsTlsConfigKeySecret {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsTlsConfigKeySecret(obj: PodMonitorSpecPodMetricsEndpointsTlsConfigKeySecret | undefined): Record<string, any> | undefined;
export declare enum PodMonitorSpecPodMetricsEndpointsTlsConfigMaxVersion {
    TLS10 = "TLS10",
    TLS11 = "TLS11",
    TLS12 = "TLS12",
    TLS13 = "TLS13"
}
export declare enum PodMonitorSpecPodMetricsEndpointsTlsConfigMinVersion {
    TLS10 = "TLS10",
    TLS11 = "TLS11",
    TLS12 = "TLS12",
    TLS13 = "TLS13"
}
export interface PodMonitorSpecPodMetricsEndpointsOauth2ClientIdConfigMap {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2ClientIdConfigMap(obj: PodMonitorSpecPodMetricsEndpointsOauth2ClientIdConfigMap | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsOauth2ClientIdSecret {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2ClientIdSecret(obj: PodMonitorSpecPodMetricsEndpointsOauth2ClientIdSecret | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCa {
    readonly configMap?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaConfigMap;
    readonly secret?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaSecret;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCa(obj: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCa | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCert {
    readonly configMap?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertConfigMap;
    readonly secret?: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertSecret;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCert(obj: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCert | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigKeySecret {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigKeySecret(obj: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigKeySecret | undefined): Record<string, any> | undefined;
export declare enum PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigMaxVersion {
    TLS10 = "TLS10",
    TLS11 = "TLS11",
    TLS12 = "TLS12",
    TLS13 = "TLS13"
}
export declare enum PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigMinVersion {
    TLS10 = "TLS10",
    TLS11 = "TLS11",
    TLS12 = "TLS12",
    TLS13 = "TLS13"
}
export interface PodMonitorSpecPodMetricsEndpointsTlsConfigCaConfigMap {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsTlsConfigCaConfigMap(obj: PodMonitorSpecPodMetricsEndpointsTlsConfigCaConfigMap | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsTlsConfigCaSecret {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsTlsConfigCaSecret(obj: PodMonitorSpecPodMetricsEndpointsTlsConfigCaSecret | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsTlsConfigCertConfigMap {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsTlsConfigCertConfigMap(obj: PodMonitorSpecPodMetricsEndpointsTlsConfigCertConfigMap | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsTlsConfigCertSecret {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsTlsConfigCertSecret(obj: PodMonitorSpecPodMetricsEndpointsTlsConfigCertSecret | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaConfigMap {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaConfigMap(obj: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaConfigMap | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaSecret {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaSecret(obj: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCaSecret | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertConfigMap {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertConfigMap(obj: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertConfigMap | undefined): Record<string, any> | undefined;
export interface PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertSecret {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertSecret(obj: PodMonitorSpecPodMetricsEndpointsOauth2TlsConfigCertSecret | undefined): Record<string, any> | undefined;
export declare class PrometheusRule extends ApiObject {
    static readonly GVK: GroupVersionKind;
    static manifest(props: PrometheusRuleProps): any;
    constructor(scope: Construct, id: string, props: PrometheusRuleProps);
    toJson(): any;
}
export interface PrometheusRuleProps {
    readonly metadata?: ApiObjectMetadata;
    readonly spec: PrometheusRuleSpec;
}
export declare function toJson_PrometheusRuleProps(obj: PrometheusRuleProps | undefined): Record<string, any> | undefined;
export interface PrometheusRuleSpec {
    readonly groups?: PrometheusRuleSpecGroups[];
}
export declare function toJson_PrometheusRuleSpec(obj: PrometheusRuleSpec | undefined): Record<string, any> | undefined;
export interface PrometheusRuleSpecGroups {
    readonly interval?: string;
    readonly labels?: {
        [key: string]: string;
    };
    readonly limit?: number;
    readonly name: string;
    readonly partialResponseStrategy?: string;
    readonly queryOffset?: string;
    readonly rules?: PrometheusRuleSpecGroupsRules[];
}
export declare function toJson_PrometheusRuleSpecGroups(obj: PrometheusRuleSpecGroups | undefined): Record<string, any> | undefined;
export interface PrometheusRuleSpecGroupsRules {
    readonly alert?: string;
    readonly annotations?: {
        [key: string]: string;
    };
    readonly expr: PrometheusRuleSpecGroupsRulesExpr;
    readonly for?: string;
    readonly keepFiringFor?: string;
    readonly labels?: {
        [key: string]: string;
    };
    readonly record?: string;
}
export declare function toJson_PrometheusRuleSpecGroupsRules(obj: PrometheusRuleSpecGroupsRules | undefined): Record<string, any> | undefined;
export declare class PrometheusRuleSpecGroupsRulesExpr {
    readonly value: number | string;
    static fromNumber(value: number): PrometheusRuleSpecGroupsRulesExpr;
    static fromString(value: string): PrometheusRuleSpecGroupsRulesExpr;
    private constructor();
}
export declare class ServiceMonitor extends ApiObject {
    static readonly GVK: GroupVersionKind;
    static manifest(props: ServiceMonitorProps): any;
    constructor(scope: Construct, id: string, props: ServiceMonitorProps);
    toJson(): any;
}
export interface ServiceMonitorProps {
    readonly metadata?: ApiObjectMetadata;
    readonly spec: ServiceMonitorSpec;
}
export declare function toJson_ServiceMonitorProps(obj: ServiceMonitorProps | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpec {
    readonly attachMetadata?: ServiceMonitorSpecAttachMetadata;
    readonly bodySizeLimit?: string;
    readonly convertClassicHistogramsToNhcb?: boolean;
    readonly endpoints: ServiceMonitorSpecEndpoints[];
    readonly fallbackScrapeProtocol?: ServiceMonitorSpecFallbackScrapeProtocol;
    readonly jobLabel?: string;
    readonly keepDroppedTargets?: number;
    readonly labelLimit?: number;
    readonly labelNameLengthLimit?: number;
    readonly labelValueLengthLimit?: number;
    readonly namespaceSelector?: ServiceMonitorSpecNamespaceSelector;
    readonly nativeHistogramBucketLimit?: number;
    readonly nativeHistogramMinBucketFactor?: ServiceMonitorSpecNativeHistogramMinBucketFactor;
    readonly podTargetLabels?: string[];
    readonly sampleLimit?: number;
    readonly scrapeClass?: string;
    readonly scrapeClassicHistograms?: boolean;
    readonly scrapeNativeHistograms?: boolean;
    readonly scrapeProtocols?: ServiceMonitorSpecScrapeProtocols[];
    readonly selector: ServiceMonitorSpecSelector;
    readonly selectorMechanism?: ServiceMonitorSpecSelectorMechanism;
    readonly serviceDiscoveryRole?: ServiceMonitorSpecServiceDiscoveryRole;
    readonly targetLabels?: string[];
    readonly targetLimit?: number;
}
export declare function toJson_ServiceMonitorSpec(obj: ServiceMonitorSpec | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecAttachMetadata {
    readonly node?: boolean;
}
export declare function toJson_ServiceMonitorSpecAttachMetadata(obj: ServiceMonitorSpecAttachMetadata | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpoints {
    readonly authorization?: ServiceMonitorSpecEndpointsAuthorization;
    readonly basicAuth?: ServiceMonitorSpecEndpointsBasicAuth;
    readonly bearerTokenFile?: string;
    readonly bearerTokenSecret?: ServiceMonitorSpecEndpointsBearerTokenSecret;
    readonly enableHttp2?: boolean;
    readonly filterRunning?: boolean;
    readonly followRedirects?: boolean;
    readonly honorLabels?: boolean;
    readonly honorTimestamps?: boolean;
    readonly interval?: string;
    readonly metricRelabelings?: ServiceMonitorSpecEndpointsMetricRelabelings[];
    readonly noProxy?: string;
    readonly oauth2?: ServiceMonitorSpecEndpointsOauth2;
    readonly params?: {
        [key: string]: string[];
    };
    readonly path?: string;
    readonly port?: string;
    readonly proxyConnectHeader?: {
        [key: string]: ServiceMonitorSpecEndpointsProxyConnectHeader[];
    };
    readonly proxyFromEnvironment?: boolean;
    readonly proxyUrl?: string;
    readonly relabelings?: ServiceMonitorSpecEndpointsRelabelings[];
    readonly scheme?: ServiceMonitorSpecEndpointsScheme;
    readonly scrapeTimeout?: string;
    readonly targetPort?: ServiceMonitorSpecEndpointsTargetPort;
    readonly tlsConfig?: ServiceMonitorSpecEndpointsTlsConfig;
    readonly trackTimestampsStaleness?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpoints(obj: ServiceMonitorSpecEndpoints | undefined): Record<string, any> | undefined;
export declare enum ServiceMonitorSpecFallbackScrapeProtocol {
    PROMETHEUS_PROTO = "PrometheusProto",
    OPEN_METRICS_TEXT0_0_1 = "OpenMetricsText0.0.1",
    OPEN_METRICS_TEXT1_0_0 = "OpenMetricsText1.0.0",
    PROMETHEUS_TEXT0_0_4 = "PrometheusText0.0.4",
    PROMETHEUS_TEXT1_0_0 = "PrometheusText1.0.0"
}
export interface ServiceMonitorSpecNamespaceSelector {
    readonly any?: boolean;
    readonly matchNames?: string[];
}
export declare function toJson_ServiceMonitorSpecNamespaceSelector(obj: ServiceMonitorSpecNamespaceSelector | undefined): Record<string, any> | undefined;
export declare class ServiceMonitorSpecNativeHistogramMinBucketFactor {
    readonly value: number | string;
    static fromNumber(value: number): ServiceMonitorSpecNativeHistogramMinBucketFactor;
    static fromString(value: string): ServiceMonitorSpecNativeHistogramMinBucketFactor;
    private constructor();
}
export declare enum ServiceMonitorSpecScrapeProtocols {
    PROMETHEUS_PROTO = "PrometheusProto",
    OPEN_METRICS_TEXT0_0_1 = "OpenMetricsText0.0.1",
    OPEN_METRICS_TEXT1_0_0 = "OpenMetricsText1.0.0",
    PROMETHEUS_TEXT0_0_4 = "PrometheusText0.0.4",
    PROMETHEUS_TEXT1_0_0 = "PrometheusText1.0.0"
}
export interface ServiceMonitorSpecSelector {
    readonly matchExpressions?: ServiceMonitorSpecSelectorMatchExpressions[];
    readonly matchLabels?: {
        [key: string]: string;
    };
}
export declare function toJson_ServiceMonitorSpecSelector(obj: ServiceMonitorSpecSelector | undefined): Record<string, any> | undefined;
export declare enum ServiceMonitorSpecSelectorMechanism {
    RELABEL_CONFIG = "RelabelConfig",
    ROLE_SELECTOR = "RoleSelector"
}
export declare enum ServiceMonitorSpecServiceDiscoveryRole {
    ENDPOINTS = "Endpoints",
    ENDPOINT_SLICE = "EndpointSlice"
}
export interface ServiceMonitorSpecEndpointsAuthorization {
    readonly credentials?: ServiceMonitorSpecEndpointsAuthorizationCredentials;
    readonly type?: string;
}
export declare function toJson_ServiceMonitorSpecEndpointsAuthorization(obj: ServiceMonitorSpecEndpointsAuthorization | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsBasicAuth {
    readonly password?: ServiceMonitorSpecEndpointsBasicAuthPassword;
    readonly username?: ServiceMonitorSpecEndpointsBasicAuthUsername;
}
export declare function toJson_ServiceMonitorSpecEndpointsBasicAuth(obj: ServiceMonitorSpecEndpointsBasicAuth | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsBearerTokenSecret {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpointsBearerTokenSecret(obj: ServiceMonitorSpecEndpointsBearerTokenSecret | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsMetricRelabelings {
    readonly action?: ServiceMonitorSpecEndpointsMetricRelabelingsAction;
    readonly modulus?: number;
    readonly regex?: string;
    readonly replacement?: string;
    readonly separator?: string;
    readonly sourceLabels?: string[];
    readonly targetLabel?: string;
}
export declare function toJson_ServiceMonitorSpecEndpointsMetricRelabelings(obj: ServiceMonitorSpecEndpointsMetricRelabelings | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsOauth2 {
    readonly clientId: ServiceMonitorSpecEndpointsOauth2ClientId;
    readonly clientSecret: ServiceMonitorSpecEndpointsOauth2ClientSecret;
    readonly endpointParams?: {
        [key: string]: string;
    };
    readonly noProxy?: string;
    readonly proxyConnectHeader?: {
        [key: string]: ServiceMonitorSpecEndpointsOauth2ProxyConnectHeader[];
    };
    readonly proxyFromEnvironment?: boolean;
    readonly proxyUrl?: string;
    readonly scopes?: string[];
    readonly tlsConfig?: ServiceMonitorSpecEndpointsOauth2TlsConfig;
    readonly tokenUrl: string;
}
export declare function toJson_ServiceMonitorSpecEndpointsOauth2(obj: ServiceMonitorSpecEndpointsOauth2 | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsProxyConnectHeader {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpointsProxyConnectHeader(obj: ServiceMonitorSpecEndpointsProxyConnectHeader | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsRelabelings {
    readonly action?: ServiceMonitorSpecEndpointsRelabelingsAction;
    readonly modulus?: number;
    readonly regex?: string;
    readonly replacement?: string;
    readonly separator?: string;
    readonly sourceLabels?: string[];
    readonly targetLabel?: string;
}
export declare function toJson_ServiceMonitorSpecEndpointsRelabelings(obj: ServiceMonitorSpecEndpointsRelabelings | undefined): Record<string, any> | undefined;
export declare enum ServiceMonitorSpecEndpointsScheme {
    HTTP = "http",
    HTTPS = "https"
}
export declare class ServiceMonitorSpecEndpointsTargetPort {
    readonly value: number | string;
    static fromNumber(value: number): ServiceMonitorSpecEndpointsTargetPort;
    static fromString(value: string): ServiceMonitorSpecEndpointsTargetPort;
    private constructor();
}
export interface ServiceMonitorSpecEndpointsTlsConfig {
    readonly ca?: ServiceMonitorSpecEndpointsTlsConfigCa;
    readonly caFile?: string;
    readonly cert?: ServiceMonitorSpecEndpointsTlsConfigCert;
    readonly certFile?: string;
    readonly insecureSkipVerify?: boolean;
    readonly keyFile?: string;
    readonly keySecret?: ServiceMonitorSpecEndpointsTlsConfigKeySecret;
    readonly maxVersion?: ServiceMonitorSpecEndpointsTlsConfigMaxVersion;
    readonly minVersion?: ServiceMonitorSpecEndpointsTlsConfigMinVersion;
    readonly serverName?: string;
}
export declare function toJson_ServiceMonitorSpecEndpointsTlsConfig(obj: ServiceMonitorSpecEndpointsTlsConfig | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecSelectorMatchExpressions {
    readonly key: string;
    readonly operator: string;
    readonly values?: string[];
}
export declare function toJson_ServiceMonitorSpecSelectorMatchExpressions(obj: ServiceMonitorSpecSelectorMatchExpressions | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsAuthorizationCredentials {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpointsAuthorizationCredentials(obj: ServiceMonitorSpecEndpointsAuthorizationCredentials | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsBasicAuthPassword {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpointsBasicAuthPassword(obj: ServiceMonitorSpecEndpointsBasicAuthPassword | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsBasicAuthUsername {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpointsBasicAuthUsername(obj: ServiceMonitorSpecEndpointsBasicAuthUsername | undefined): Record<string, any> | undefined;
export declare enum ServiceMonitorSpecEndpointsMetricRelabelingsAction {
    REPLACE = "replace",
    KEEP = "keep",
    DROP = "drop",
    HASHMOD = "hashmod",
    LABELMAP = "labelmap",
    LABELDROP = "labeldrop",
    LABELKEEP = "labelkeep",
    LOWERCASE = "lowercase",
    UPPERCASE = "uppercase",
    KEEPEQUAL = "keepequal",
    DROPEQUAL = "dropequal"
}
export interface ServiceMonitorSpecEndpointsOauth2ClientId {
    readonly configMap?: ServiceMonitorSpecEndpointsOauth2ClientIdConfigMap;
    readonly secret?: ServiceMonitorSpecEndpointsOauth2ClientIdSecret;
}
export declare function toJson_ServiceMonitorSpecEndpointsOauth2ClientId(obj: ServiceMonitorSpecEndpointsOauth2ClientId | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsOauth2ClientSecret {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpointsOauth2ClientSecret(obj: ServiceMonitorSpecEndpointsOauth2ClientSecret | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsOauth2ProxyConnectHeader {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpointsOauth2ProxyConnectHeader(obj: ServiceMonitorSpecEndpointsOauth2ProxyConnectHeader | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsOauth2TlsConfig {
    readonly ca?: ServiceMonitorSpecEndpointsOauth2TlsConfigCa;
    readonly cert?: ServiceMonitorSpecEndpointsOauth2TlsConfigCert;
    readonly insecureSkipVerify?: boolean;
    readonly keySecret?: ServiceMonitorSpecEndpointsOauth2TlsConfigKeySecret;
    readonly maxVersion?: ServiceMonitorSpecEndpointsOauth2TlsConfigMaxVersion;
    readonly minVersion?: ServiceMonitorSpecEndpointsOauth2TlsConfigMinVersion;
    readonly serverName?: string;
}
export declare function toJson_ServiceMonitorSpecEndpointsOauth2TlsConfig(obj: ServiceMonitorSpecEndpointsOauth2TlsConfig | undefined): Record<string, any> | undefined;
export declare enum ServiceMonitorSpecEndpointsRelabelingsAction {
    REPLACE = "replace",
    KEEP = "keep",
    DROP = "drop",
    HASHMOD = "hashmod",
    LABELMAP = "labelmap",
    LABELDROP = "labeldrop",
    LABELKEEP = "labelkeep",
    LOWERCASE = "lowercase",
    UPPERCASE = "uppercase",
    KEEPEQUAL = "keepequal",
    DROPEQUAL = "dropequal"
}
export interface ServiceMonitorSpecEndpointsTlsConfigCa {
    readonly configMap?: ServiceMonitorSpecEndpointsTlsConfigCaConfigMap;
    readonly secret?: ServiceMonitorSpecEndpointsTlsConfigCaSecret;
}
export declare function toJson_ServiceMonitorSpecEndpointsTlsConfigCa(obj: ServiceMonitorSpecEndpointsTlsConfigCa | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsTlsConfigCert {
    readonly configMap?: ServiceMonitorSpecEndpointsTlsConfigCertConfigMap;
    readonly secret?: ServiceMonitorSpecEndpointsTlsConfigCertSecret;
}
export declare function toJson_ServiceMonitorSpecEndpointsTlsConfigCert(obj: ServiceMonitorSpecEndpointsTlsConfigCert | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsTlsConfigKeySecret {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpointsTlsConfigKeySecret(obj: ServiceMonitorSpecEndpointsTlsConfigKeySecret | undefined): Record<string, any> | undefined;
export declare enum ServiceMonitorSpecEndpointsTlsConfigMaxVersion {
    TLS10 = "TLS10",
    TLS11 = "TLS11",
    TLS12 = "TLS12",
    TLS13 = "TLS13"
}
export declare enum ServiceMonitorSpecEndpointsTlsConfigMinVersion {
    TLS10 = "TLS10",
    TLS11 = "TLS11",
    TLS12 = "TLS12",
    TLS13 = "TLS13"
}
export interface ServiceMonitorSpecEndpointsOauth2ClientIdConfigMap {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpointsOauth2ClientIdConfigMap(obj: ServiceMonitorSpecEndpointsOauth2ClientIdConfigMap | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsOauth2ClientIdSecret {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpointsOauth2ClientIdSecret(obj: ServiceMonitorSpecEndpointsOauth2ClientIdSecret | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsOauth2TlsConfigCa {
    readonly configMap?: ServiceMonitorSpecEndpointsOauth2TlsConfigCaConfigMap;
    readonly secret?: ServiceMonitorSpecEndpointsOauth2TlsConfigCaSecret;
}
export declare function toJson_ServiceMonitorSpecEndpointsOauth2TlsConfigCa(obj: ServiceMonitorSpecEndpointsOauth2TlsConfigCa | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsOauth2TlsConfigCert {
    readonly configMap?: ServiceMonitorSpecEndpointsOauth2TlsConfigCertConfigMap;
    readonly secret?: ServiceMonitorSpecEndpointsOauth2TlsConfigCertSecret;
}
export declare function toJson_ServiceMonitorSpecEndpointsOauth2TlsConfigCert(obj: ServiceMonitorSpecEndpointsOauth2TlsConfigCert | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsOauth2TlsConfigKeySecret {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpointsOauth2TlsConfigKeySecret(obj: ServiceMonitorSpecEndpointsOauth2TlsConfigKeySecret | undefined): Record<string, any> | undefined;
export declare enum ServiceMonitorSpecEndpointsOauth2TlsConfigMaxVersion {
    TLS10 = "TLS10",
    TLS11 = "TLS11",
    TLS12 = "TLS12",
    TLS13 = "TLS13"
}
export declare enum ServiceMonitorSpecEndpointsOauth2TlsConfigMinVersion {
    TLS10 = "TLS10",
    TLS11 = "TLS11",
    TLS12 = "TLS12",
    TLS13 = "TLS13"
}
export interface ServiceMonitorSpecEndpointsTlsConfigCaConfigMap {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpointsTlsConfigCaConfigMap(obj: ServiceMonitorSpecEndpointsTlsConfigCaConfigMap | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsTlsConfigCaSecret {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpointsTlsConfigCaSecret(obj: ServiceMonitorSpecEndpointsTlsConfigCaSecret | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsTlsConfigCertConfigMap {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpointsTlsConfigCertConfigMap(obj: ServiceMonitorSpecEndpointsTlsConfigCertConfigMap | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsTlsConfigCertSecret {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpointsTlsConfigCertSecret(obj: ServiceMonitorSpecEndpointsTlsConfigCertSecret | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsOauth2TlsConfigCaConfigMap {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpointsOauth2TlsConfigCaConfigMap(obj: ServiceMonitorSpecEndpointsOauth2TlsConfigCaConfigMap | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsOauth2TlsConfigCaSecret {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpointsOauth2TlsConfigCaSecret(obj: ServiceMonitorSpecEndpointsOauth2TlsConfigCaSecret | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsOauth2TlsConfigCertConfigMap {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpointsOauth2TlsConfigCertConfigMap(obj: ServiceMonitorSpecEndpointsOauth2TlsConfigCertConfigMap | undefined): Record<string, any> | undefined;
export interface ServiceMonitorSpecEndpointsOauth2TlsConfigCertSecret {
    readonly key: string;
    readonly name?: string;
    readonly optional?: boolean;
}
export declare function toJson_ServiceMonitorSpecEndpointsOauth2TlsConfigCertSecret(obj: ServiceMonitorSpecEndpointsOauth2TlsConfigCertSecret | undefined): Record<string, any> | undefined;
