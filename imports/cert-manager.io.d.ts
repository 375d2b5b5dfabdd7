import { ApiObject, ApiObjectMetadata, GroupVersionKind } from 'cdk8s';
import { Construct } from 'constructs';
export declare class Certificate extends ApiObject {
    static readonly GVK: GroupVersionKind;
    static manifest(props?: CertificateProps): any;
    constructor(scope: Construct, id: string, props?: CertificateProps);
    toJson(): any;
}
export interface CertificateProps {
    readonly metadata?: ApiObjectMetadata;
    readonly spec?: CertificateSpec;
}
export declare function toJson_CertificateProps(obj: CertificateProps | undefined): Record<string, any> | undefined;
export interface CertificateSpec {
    readonly additionalOutputFormats?: CertificateSpecAdditionalOutputFormats[];
    readonly commonName?: string;
    readonly dnsNames?: string[];
    readonly duration?: string;
    readonly emailAddresses?: string[];
    readonly encodeUsagesInRequest?: boolean;
    readonly ipAddresses?: string[];
    readonly isCa?: boolean;
    readonly issuerRef: CertificateSpecIssuerRef;
    readonly keystores?: CertificateSpecKeystores;
    readonly literalSubject?: string;
    readonly nameConstraints?: CertificateSpecNameConstraints;
    readonly otherNames?: CertificateSpecOtherNames[];
    readonly privateKey?: CertificateSpecPrivateKey;
    readonly renewBefore?: string;
    readonly renewBeforePercentage?: number;
    readonly renewal?: CertificateSpecRenewal;
    readonly revisionHistoryLimit?: number;
    readonly secretName: string;
    readonly secretTemplate?: CertificateSpecSecretTemplate;
    readonly signatureAlgorithm?: CertificateSpecSignatureAlgorithm;
    readonly subject?: CertificateSpecSubject;
    readonly uris?: string[];
    readonly usages?: CertificateSpecUsages[];
}
export declare function toJson_CertificateSpec(obj: CertificateSpec | undefined): Record<string, any> | undefined;
export interface CertificateSpecAdditionalOutputFormats {
    readonly type: CertificateSpecAdditionalOutputFormatsType;
}
export declare function toJson_CertificateSpecAdditionalOutputFormats(obj: CertificateSpecAdditionalOutputFormats | undefined): Record<string, any> | undefined;
export interface CertificateSpecIssuerRef {
    readonly group?: string;
    readonly kind?: string;
    readonly name: string;
}
export declare function toJson_CertificateSpecIssuerRef(obj: CertificateSpecIssuerRef | undefined): Record<string, any> | undefined;
export interface CertificateSpecKeystores {
    readonly jks?: CertificateSpecKeystoresJks;
    readonly pkcs12?: CertificateSpecKeystoresPkcs12;
}
export declare function toJson_CertificateSpecKeystores(obj: CertificateSpecKeystores | undefined): Record<string, any> | undefined;
export interface CertificateSpecNameConstraints {
    readonly critical?: boolean;
    readonly excluded?: CertificateSpecNameConstraintsExcluded;
    readonly permitted?: CertificateSpecNameConstraintsPermitted;
}
export declare function toJson_CertificateSpecNameConstraints(obj: CertificateSpecNameConstraints | undefined): Record<string, any> | undefined;
export interface CertificateSpecOtherNames {
    readonly oid?: string;
    readonly utf8Value?: string;
}
export declare function toJson_CertificateSpecOtherNames(obj: CertificateSpecOtherNames | undefined): Record<string, any> | undefined;
export interface CertificateSpecPrivateKey {
    readonly algorithm?: CertificateSpecPrivateKeyAlgorithm;
    readonly encoding?: CertificateSpecPrivateKeyEncoding;
    readonly rotationPolicy?: CertificateSpecPrivateKeyRotationPolicy;
    readonly size?: number;
}
export declare function toJson_CertificateSpecPrivateKey(obj: CertificateSpecPrivateKey | undefined): Record<string, any> | undefined;
export interface CertificateSpecRenewal {
    readonly policy?: CertificateSpecRenewalPolicy;
    readonly windows?: CertificateSpecRenewalWindows[];
}
export declare function toJson_CertificateSpecRenewal(obj: CertificateSpecRenewal | undefined): Record<string, any> | undefined;
export interface CertificateSpecSecretTemplate {
    readonly annotations?: {
        [key: string]: string;
    };
    readonly labels?: {
        [key: string]: string;
    };
}
export declare function toJson_CertificateSpecSecretTemplate(obj: CertificateSpecSecretTemplate | undefined): Record<string, any> | undefined;
export declare enum CertificateSpecSignatureAlgorithm {
    SHA256_WITH_RSA = "SHA256WithRSA",
    SHA384_WITH_RSA = "SHA384WithRSA",
    SHA512_WITH_RSA = "SHA512WithRSA",
    ECDSA_WITH_SHA256 = "ECDSAWithSHA256",
    ECDSA_WITH_SHA384 = "ECDSAWithSHA384",
    ECDSA_WITH_SHA512 = "ECDSAWithSHA512",
    PURE_ED25519 = "PureEd25519"
}
export interface CertificateSpecSubject {
    readonly countries?: string[];
    readonly localities?: string[];
    readonly organizationalUnits?: string[];
    readonly organizations?: string[];
    readonly postalCodes?: string[];
    readonly provinces?: string[];
    readonly serialNumber?: string;
    readonly streetAddresses?: string[];
}
export declare function toJson_CertificateSpecSubject(obj: CertificateSpecSubject | undefined): Record<string, any> | undefined;
export declare enum CertificateSpecUsages {
    SIGNING = "signing",
    DIGITAL_SIGNATURE = "digital signature",
    CONTENT_COMMITMENT = "content commitment",
    KEY_ENCIPHERMENT = "key encipherment",
    KEY_AGREEMENT = "key agreement",
    DATA_ENCIPHERMENT = "data encipherment",
    CERT_SIGN = "cert sign",
    CRL_SIGN = "crl sign",
    ENCIPHER_ONLY = "encipher only",
    DECIPHER_ONLY = "decipher only",
    ANY = "any",
    SERVER_AUTH = "server auth",
    CLIENT_AUTH = "client auth",
    CODE_SIGNING = "code signing",
    EMAIL_PROTECTION = "email protection",
    S_FORWARD_SLASH_MIME = "s/mime",
    IPSEC_END_SYSTEM = "ipsec end system",
    IPSEC_TUNNEL = "ipsec tunnel",
    IPSEC_USER = "ipsec user",
    TIMESTAMPING = "timestamping",
    OCSP_SIGNING = "ocsp signing",
    MICROSOFT_SGC = "microsoft sgc",
    NETSCAPE_SGC = "netscape sgc"
}
export declare enum CertificateSpecAdditionalOutputFormatsType {
    DER = "DER",
    COMBINED_PEM = "CombinedPEM"
}
export interface CertificateSpecKeystoresJks {
    readonly alias?: string;
    readonly create: boolean;
    readonly password?: string;
    readonly passwordSecretRef?: CertificateSpecKeystoresJksPasswordSecretRef;
}
export declare function toJson_CertificateSpecKeystoresJks(obj: CertificateSpecKeystoresJks | undefined): Record<string, any> | undefined;
export interface CertificateSpecKeystoresPkcs12 {
    readonly create: boolean;
    readonly password?: string;
    readonly passwordSecretRef?: CertificateSpecKeystoresPkcs12PasswordSecretRef;
    readonly profile?: CertificateSpecKeystoresPkcs12Profile;
}
export declare function toJson_CertificateSpecKeystoresPkcs12(obj: CertificateSpecKeystoresPkcs12 | undefined): Record<string, any> | undefined;
export interface CertificateSpecNameConstraintsExcluded {
    readonly dnsDomains?: string[];
    readonly emailAddresses?: string[];
    readonly ipRanges?: string[];
    readonly uriDomains?: string[];
}
export declare function toJson_CertificateSpecNameConstraintsExcluded(obj: CertificateSpecNameConstraintsExcluded | undefined): Record<string, any> | undefined;
export interface CertificateSpecNameConstraintsPermitted {
    readonly dnsDomains?: string[];
    readonly emailAddresses?: string[];
    readonly ipRanges?: string[];
    readonly uriDomains?: string[];
}
export declare function toJson_CertificateSpecNameConstraintsPermitted(obj: CertificateSpecNameConstraintsPermitted | undefined): Record<string, any> | undefined;
export declare enum CertificateSpecPrivateKeyAlgorithm {
    RSA = "RSA",
    ECDSA = "ECDSA",
    ED25519 = "Ed25519"
}
export declare enum CertificateSpecPrivateKeyEncoding {
    PKCS1 = "PKCS1",
    PKCS8 = "PKCS8"
}
export declare enum CertificateSpecPrivateKeyRotationPolicy {
    NEVER = "Never",
    ALWAYS = "Always"
}
export declare enum CertificateSpecRenewalPolicy {
    RENEW_BEFORE = "RenewBefore",
    DISABLED = "Disabled"
}
export interface CertificateSpecRenewalWindows {
    readonly cron: string;
    readonly timezone?: string;
    readonly windowDuration: string;
}
export declare function toJson_CertificateSpecRenewalWindows(obj: CertificateSpecRenewalWindows | undefined): Record<string, any> | undefined;
export interface CertificateSpecKeystoresJksPasswordSecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_CertificateSpecKeystoresJksPasswordSecretRef(obj: CertificateSpecKeystoresJksPasswordSecretRef | undefined): Record<string, any> | undefined;
export interface CertificateSpecKeystoresPkcs12PasswordSecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_CertificateSpecKeystoresPkcs12PasswordSecretRef(obj: CertificateSpecKeystoresPkcs12PasswordSecretRef | undefined): Record<string, any> | undefined;
export declare enum CertificateSpecKeystoresPkcs12Profile {
    LEGACY_RC2 = "LegacyRC2",
    LEGACY_DES = "LegacyDES",
    MODERN2023 = "Modern2023",
    MODERN2026 = "Modern2026"
}
export declare class Issuer extends ApiObject {
    static readonly GVK: GroupVersionKind;
    static manifest(props: IssuerProps): any;
    constructor(scope: Construct, id: string, props: IssuerProps);
    toJson(): any;
}
export interface IssuerProps {
    readonly metadata?: ApiObjectMetadata;
    readonly spec: IssuerSpec;
}
export declare function toJson_IssuerProps(obj: IssuerProps | undefined): Record<string, any> | undefined;
export interface IssuerSpec {
    readonly acme?: IssuerSpecAcme;
    readonly ca?: IssuerSpecCa;
    readonly selfSigned?: IssuerSpecSelfSigned;
    readonly vault?: IssuerSpecVault;
    readonly venafi?: IssuerSpecVenafi;
}
export declare function toJson_IssuerSpec(obj: IssuerSpec | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcme {
    readonly caBundle?: string;
    readonly disableAccountKeyGeneration?: boolean;
    readonly email?: string;
    readonly enableDurationFeature?: boolean;
    readonly externalAccountBinding?: IssuerSpecAcmeExternalAccountBinding;
    readonly preferredChain?: string;
    readonly privateKeySecretRef: IssuerSpecAcmePrivateKeySecretRef;
    readonly profile?: string;
    readonly renewalInformationSource?: IssuerSpecAcmeRenewalInformationSource;
    readonly server: string;
    readonly skipTlsVerify?: boolean;
    readonly solvers?: IssuerSpecAcmeSolvers[];
}
export declare function toJson_IssuerSpecAcme(obj: IssuerSpecAcme | undefined): Record<string, any> | undefined;
export interface IssuerSpecCa {
    readonly crlDistributionPoints?: string[];
    readonly issuingCertificateUrLs?: string[];
    readonly ocspServers?: string[];
    readonly secretName: string;
}
export declare function toJson_IssuerSpecCa(obj: IssuerSpecCa | undefined): Record<string, any> | undefined;
export interface IssuerSpecSelfSigned {
    readonly crlDistributionPoints?: string[];
}
export declare function toJson_IssuerSpecSelfSigned(obj: IssuerSpecSelfSigned | undefined): Record<string, any> | undefined;
export interface IssuerSpecVault {
    readonly auth: IssuerSpecVaultAuth;
    readonly caBundle?: string;
    readonly caBundleSecretRef?: IssuerSpecVaultCaBundleSecretRef;
    readonly clientCertSecretRef?: IssuerSpecVaultClientCertSecretRef;
    readonly clientKeySecretRef?: IssuerSpecVaultClientKeySecretRef;
    readonly namespace?: string;
    readonly path: string;
    readonly server: string;
    readonly serverName?: string;
}
export declare function toJson_IssuerSpecVault(obj: IssuerSpecVault | undefined): Record<string, any> | undefined;
export interface IssuerSpecVenafi {
    readonly cloud?: IssuerSpecVenafiCloud;
    readonly ngts?: IssuerSpecVenafiNgts;
    readonly tpp?: IssuerSpecVenafiTpp;
    readonly zone: string;
}
export declare function toJson_IssuerSpecVenafi(obj: IssuerSpecVenafi | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeExternalAccountBinding {
    readonly keyAlgorithm?: IssuerSpecAcmeExternalAccountBindingKeyAlgorithm;
    readonly keyId: string;
    readonly keySecretRef: IssuerSpecAcmeExternalAccountBindingKeySecretRef;
}
export declare function toJson_IssuerSpecAcmeExternalAccountBinding(obj: IssuerSpecAcmeExternalAccountBinding | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmePrivateKeySecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecAcmePrivateKeySecretRef(obj: IssuerSpecAcmePrivateKeySecretRef | undefined): Record<string, any> | undefined;
export declare enum IssuerSpecAcmeRenewalInformationSource {
    ARI = "ARI",
    NONE = "None"
}
export interface IssuerSpecAcmeSolvers {
    readonly dns01?: IssuerSpecAcmeSolversDns01;
    readonly http01?: IssuerSpecAcmeSolversHttp01;
    readonly selector?: IssuerSpecAcmeSolversSelector;
    readonly waitInsteadOfSelfCheck?: string;
}
export declare function toJson_IssuerSpecAcmeSolvers(obj: IssuerSpecAcmeSolvers | undefined): Record<string, any> | undefined;
export interface IssuerSpecVaultAuth {
    readonly appRole?: IssuerSpecVaultAuthAppRole;
    readonly aws?: IssuerSpecVaultAuthAws;
    readonly clientCertificate?: IssuerSpecVaultAuthClientCertificate;
    readonly kubernetes?: IssuerSpecVaultAuthKubernetes;
    readonly tokenSecretRef?: IssuerSpecVaultAuthTokenSecretRef;
}
export declare function toJson_IssuerSpecVaultAuth(obj: IssuerSpecVaultAuth | undefined): Record<string, any> | undefined;
export interface IssuerSpecVaultCaBundleSecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecVaultCaBundleSecretRef(obj: IssuerSpecVaultCaBundleSecretRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecVaultClientCertSecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecVaultClientCertSecretRef(obj: IssuerSpecVaultClientCertSecretRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecVaultClientKeySecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecVaultClientKeySecretRef(obj: IssuerSpecVaultClientKeySecretRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecVenafiCloud {
    readonly apiTokenSecretRef: IssuerSpecVenafiCloudApiTokenSecretRef;
    readonly url?: string;
}
export declare function toJson_IssuerSpecVenafiCloud(obj: IssuerSpecVenafiCloud | undefined): Record<string, any> | undefined;
export interface IssuerSpecVenafiNgts {
    readonly credentialsRef: IssuerSpecVenafiNgtsCredentialsRef;
    readonly tokenEndpoint?: string;
    readonly tsgId: string;
    readonly url?: string;
}
export declare function toJson_IssuerSpecVenafiNgts(obj: IssuerSpecVenafiNgts | undefined): Record<string, any> | undefined;
export interface IssuerSpecVenafiTpp {
    readonly caBundle?: string;
    readonly caBundleSecretRef?: IssuerSpecVenafiTppCaBundleSecretRef;
    readonly credentialsRef: IssuerSpecVenafiTppCredentialsRef;
    readonly url: string;
}
export declare function toJson_IssuerSpecVenafiTpp(obj: IssuerSpecVenafiTpp | undefined): Record<string, any> | undefined;
export declare enum IssuerSpecAcmeExternalAccountBindingKeyAlgorithm {
    HS256 = "HS256",
    HS384 = "HS384",
    HS512 = "HS512"
}
export interface IssuerSpecAcmeExternalAccountBindingKeySecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecAcmeExternalAccountBindingKeySecretRef(obj: IssuerSpecAcmeExternalAccountBindingKeySecretRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01 {
    readonly acmeDns?: IssuerSpecAcmeSolversDns01AcmeDns;
    readonly akamai?: IssuerSpecAcmeSolversDns01Akamai;
    readonly azureDns?: IssuerSpecAcmeSolversDns01AzureDns;
    readonly cloudDns?: IssuerSpecAcmeSolversDns01CloudDns;
    readonly cloudflare?: IssuerSpecAcmeSolversDns01Cloudflare;
    readonly cnameStrategy?: IssuerSpecAcmeSolversDns01CnameStrategy;
    readonly digitalocean?: IssuerSpecAcmeSolversDns01Digitalocean;
    readonly nameservers?: string[];
    readonly rfc2136?: IssuerSpecAcmeSolversDns01Rfc2136;
    readonly route53?: IssuerSpecAcmeSolversDns01Route53;
    readonly webhook?: IssuerSpecAcmeSolversDns01Webhook;
}
export declare function toJson_IssuerSpecAcmeSolversDns01(obj: IssuerSpecAcmeSolversDns01 | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversHttp01 {
    readonly gatewayHttpRoute?: IssuerSpecAcmeSolversHttp01GatewayHttpRoute;
    readonly ingress?: IssuerSpecAcmeSolversHttp01Ingress;
}
export declare function toJson_IssuerSpecAcmeSolversHttp01(obj: IssuerSpecAcmeSolversHttp01 | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversSelector {
    readonly dnsNames?: string[];
    readonly dnsZones?: string[];
    readonly matchLabels?: {
        [key: string]: string;
    };
}
export declare function toJson_IssuerSpecAcmeSolversSelector(obj: IssuerSpecAcmeSolversSelector | undefined): Record<string, any> | undefined;
export interface IssuerSpecVaultAuthAppRole {
    readonly path: string;
    readonly roleId: string;
    readonly secretRef: IssuerSpecVaultAuthAppRoleSecretRef;
}
export declare function toJson_IssuerSpecVaultAuthAppRole(obj: IssuerSpecVaultAuthAppRole | undefined): Record<string, any> | undefined;
export interface IssuerSpecVaultAuthAws {
    readonly iamRoleArn?: string;
    readonly mountPath?: string;
    readonly region?: string;
    readonly role: string;
    readonly serviceAccountRef?: IssuerSpecVaultAuthAwsServiceAccountRef;
    readonly vaultHeaderValue?: string;
}
export declare function toJson_IssuerSpecVaultAuthAws(obj: IssuerSpecVaultAuthAws | undefined): Record<string, any> | undefined;
export interface IssuerSpecVaultAuthClientCertificate {
    readonly mountPath?: string;
    readonly name?: string;
    readonly secretName?: string;
}
export declare function toJson_IssuerSpecVaultAuthClientCertificate(obj: IssuerSpecVaultAuthClientCertificate | undefined): Record<string, any> | undefined;
export interface IssuerSpecVaultAuthKubernetes {
    readonly mountPath?: string;
    readonly role: string;
    readonly secretRef?: IssuerSpecVaultAuthKubernetesSecretRef;
    readonly serviceAccountRef?: IssuerSpecVaultAuthKubernetesServiceAccountRef;
}
export declare function toJson_IssuerSpecVaultAuthKubernetes(obj: IssuerSpecVaultAuthKubernetes | undefined): Record<string, any> | undefined;
export interface IssuerSpecVaultAuthTokenSecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecVaultAuthTokenSecretRef(obj: IssuerSpecVaultAuthTokenSecretRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecVenafiCloudApiTokenSecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecVenafiCloudApiTokenSecretRef(obj: IssuerSpecVenafiCloudApiTokenSecretRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecVenafiNgtsCredentialsRef {
    readonly name: string;
}
export declare function toJson_IssuerSpecVenafiNgtsCredentialsRef(obj: IssuerSpecVenafiNgtsCredentialsRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecVenafiTppCaBundleSecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecVenafiTppCaBundleSecretRef(obj: IssuerSpecVenafiTppCaBundleSecretRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecVenafiTppCredentialsRef {
    readonly name: string;
}
export declare function toJson_IssuerSpecVenafiTppCredentialsRef(obj: IssuerSpecVenafiTppCredentialsRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01AcmeDns {
    readonly accountSecretRef: IssuerSpecAcmeSolversDns01AcmeDnsAccountSecretRef;
    readonly host: string;
}
export declare function toJson_IssuerSpecAcmeSolversDns01AcmeDns(obj: IssuerSpecAcmeSolversDns01AcmeDns | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01Akamai {
    readonly accessTokenSecretRef: IssuerSpecAcmeSolversDns01AkamaiAccessTokenSecretRef;
    readonly clientSecretSecretRef: IssuerSpecAcmeSolversDns01AkamaiClientSecretSecretRef;
    readonly clientTokenSecretRef: IssuerSpecAcmeSolversDns01AkamaiClientTokenSecretRef;
    readonly serviceConsumerDomain: string;
}
export declare function toJson_IssuerSpecAcmeSolversDns01Akamai(obj: IssuerSpecAcmeSolversDns01Akamai | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01AzureDns {
    readonly clientId?: string;
    readonly clientSecretSecretRef?: IssuerSpecAcmeSolversDns01AzureDnsClientSecretSecretRef;
    readonly environment?: IssuerSpecAcmeSolversDns01AzureDnsEnvironment;
    readonly hostedZoneName?: string;
    readonly managedIdentity?: IssuerSpecAcmeSolversDns01AzureDnsManagedIdentity;
    readonly resourceGroupName: string;
    readonly subscriptionId: string;
    readonly tenantId?: string;
    readonly zoneType?: IssuerSpecAcmeSolversDns01AzureDnsZoneType;
}
export declare function toJson_IssuerSpecAcmeSolversDns01AzureDns(obj: IssuerSpecAcmeSolversDns01AzureDns | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01CloudDns {
    readonly hostedZoneName?: string;
    readonly project: string;
    readonly serviceAccountSecretRef?: IssuerSpecAcmeSolversDns01CloudDnsServiceAccountSecretRef;
}
export declare function toJson_IssuerSpecAcmeSolversDns01CloudDns(obj: IssuerSpecAcmeSolversDns01CloudDns | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01Cloudflare {
    readonly apiKeySecretRef?: IssuerSpecAcmeSolversDns01CloudflareApiKeySecretRef;
    readonly apiTokenSecretRef?: IssuerSpecAcmeSolversDns01CloudflareApiTokenSecretRef;
    readonly email?: string;
}
export declare function toJson_IssuerSpecAcmeSolversDns01Cloudflare(obj: IssuerSpecAcmeSolversDns01Cloudflare | undefined): Record<string, any> | undefined;
export declare enum IssuerSpecAcmeSolversDns01CnameStrategy {
    NONE = "None",
    FOLLOW = "Follow"
}
export interface IssuerSpecAcmeSolversDns01Digitalocean {
    readonly tokenSecretRef: IssuerSpecAcmeSolversDns01DigitaloceanTokenSecretRef;
}
export declare function toJson_IssuerSpecAcmeSolversDns01Digitalocean(obj: IssuerSpecAcmeSolversDns01Digitalocean | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01Rfc2136 {
    readonly nameserver: string;
    readonly protocol?: IssuerSpecAcmeSolversDns01Rfc2136Protocol;
    readonly tsigAlgorithm?: string;
    readonly tsigKeyName?: string;
    readonly tsigSecretSecretRef?: IssuerSpecAcmeSolversDns01Rfc2136TsigSecretSecretRef;
}
export declare function toJson_IssuerSpecAcmeSolversDns01Rfc2136(obj: IssuerSpecAcmeSolversDns01Rfc2136 | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01Route53 {
    readonly accessKeyId?: string;
    readonly accessKeyIdSecretRef?: IssuerSpecAcmeSolversDns01Route53AccessKeyIdSecretRef;
    readonly auth?: IssuerSpecAcmeSolversDns01Route53Auth;
    readonly hostedZoneId?: string;
    readonly region?: string;
    readonly role?: string;
    readonly secretAccessKeySecretRef?: IssuerSpecAcmeSolversDns01Route53SecretAccessKeySecretRef;
}
export declare function toJson_IssuerSpecAcmeSolversDns01Route53(obj: IssuerSpecAcmeSolversDns01Route53 | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01Webhook {
    readonly config?: any;
    readonly groupName: string;
    readonly solverName: string;
}
export declare function toJson_IssuerSpecAcmeSolversDns01Webhook(obj: IssuerSpecAcmeSolversDns01Webhook | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversHttp01GatewayHttpRoute {
    readonly labels?: {
        [key: string]: string;
    };
    readonly parentRefs?: IssuerSpecAcmeSolversHttp01GatewayHttpRouteParentRefs[];
    readonly podTemplate?: any;
    readonly serviceType?: string;
}
export declare function toJson_IssuerSpecAcmeSolversHttp01GatewayHttpRoute(obj: IssuerSpecAcmeSolversHttp01GatewayHttpRoute | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversHttp01Ingress {
    readonly class?: string;
    readonly ingressClassName?: string;
    readonly ingressTemplate?: IssuerSpecAcmeSolversHttp01IngressIngressTemplate;
    readonly name?: string;
    readonly podTemplate?: any;
    readonly serviceType?: string;
}
export declare function toJson_IssuerSpecAcmeSolversHttp01Ingress(obj: IssuerSpecAcmeSolversHttp01Ingress | undefined): Record<string, any> | undefined;
export interface IssuerSpecVaultAuthAppRoleSecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecVaultAuthAppRoleSecretRef(obj: IssuerSpecVaultAuthAppRoleSecretRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecVaultAuthAwsServiceAccountRef {
    readonly audiences?: string[];
    readonly name: string;
}
export declare function toJson_IssuerSpecVaultAuthAwsServiceAccountRef(obj: IssuerSpecVaultAuthAwsServiceAccountRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecVaultAuthKubernetesSecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecVaultAuthKubernetesSecretRef(obj: IssuerSpecVaultAuthKubernetesSecretRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecVaultAuthKubernetesServiceAccountRef {
    readonly audiences?: string[];
    readonly name: string;
}
export declare function toJson_IssuerSpecVaultAuthKubernetesServiceAccountRef(obj: IssuerSpecVaultAuthKubernetesServiceAccountRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01AcmeDnsAccountSecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecAcmeSolversDns01AcmeDnsAccountSecretRef(obj: IssuerSpecAcmeSolversDns01AcmeDnsAccountSecretRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01AkamaiAccessTokenSecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecAcmeSolversDns01AkamaiAccessTokenSecretRef(obj: IssuerSpecAcmeSolversDns01AkamaiAccessTokenSecretRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01AkamaiClientSecretSecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecAcmeSolversDns01AkamaiClientSecretSecretRef(obj: IssuerSpecAcmeSolversDns01AkamaiClientSecretSecretRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01AkamaiClientTokenSecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecAcmeSolversDns01AkamaiClientTokenSecretRef(obj: IssuerSpecAcmeSolversDns01AkamaiClientTokenSecretRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01AzureDnsClientSecretSecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecAcmeSolversDns01AzureDnsClientSecretSecretRef(obj: IssuerSpecAcmeSolversDns01AzureDnsClientSecretSecretRef | undefined): Record<string, any> | undefined;
export declare enum IssuerSpecAcmeSolversDns01AzureDnsEnvironment {
    AZURE_PUBLIC_CLOUD = "AzurePublicCloud",
    AZURE_CHINA_CLOUD = "AzureChinaCloud",
    AZURE_GERMAN_CLOUD = "AzureGermanCloud",
    AZURE_US_GOVERNMENT_CLOUD = "AzureUSGovernmentCloud"
}
export interface IssuerSpecAcmeSolversDns01AzureDnsManagedIdentity {
    readonly clientId?: string;
    readonly resourceId?: string;
    readonly tenantId?: string;
}
export declare function toJson_IssuerSpecAcmeSolversDns01AzureDnsManagedIdentity(obj: IssuerSpecAcmeSolversDns01AzureDnsManagedIdentity | undefined): Record<string, any> | undefined;
export declare enum IssuerSpecAcmeSolversDns01AzureDnsZoneType {
    AZURE_PUBLIC_ZONE = "AzurePublicZone",
    AZURE_PRIVATE_ZONE = "AzurePrivateZone"
}
export interface IssuerSpecAcmeSolversDns01CloudDnsServiceAccountSecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecAcmeSolversDns01CloudDnsServiceAccountSecretRef(obj: IssuerSpecAcmeSolversDns01CloudDnsServiceAccountSecretRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01CloudflareApiKeySecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecAcmeSolversDns01CloudflareApiKeySecretRef(obj: IssuerSpecAcmeSolversDns01CloudflareApiKeySecretRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01CloudflareApiTokenSecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecAcmeSolversDns01CloudflareApiTokenSecretRef(obj: IssuerSpecAcmeSolversDns01CloudflareApiTokenSecretRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01DigitaloceanTokenSecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecAcmeSolversDns01DigitaloceanTokenSecretRef(obj: IssuerSpecAcmeSolversDns01DigitaloceanTokenSecretRef | undefined): Record<string, any> | undefined;
export declare enum IssuerSpecAcmeSolversDns01Rfc2136Protocol {
    TCP = "TCP",
    UDP = "UDP"
}
export interface IssuerSpecAcmeSolversDns01Rfc2136TsigSecretSecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecAcmeSolversDns01Rfc2136TsigSecretSecretRef(obj: IssuerSpecAcmeSolversDns01Rfc2136TsigSecretSecretRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01Route53AccessKeyIdSecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecAcmeSolversDns01Route53AccessKeyIdSecretRef(obj: IssuerSpecAcmeSolversDns01Route53AccessKeyIdSecretRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01Route53Auth {
    readonly kubernetes: IssuerSpecAcmeSolversDns01Route53AuthKubernetes;
}
export declare function toJson_IssuerSpecAcmeSolversDns01Route53Auth(obj: IssuerSpecAcmeSolversDns01Route53Auth | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01Route53SecretAccessKeySecretRef {
    readonly key?: string;
    readonly name: string;
}
export declare function toJson_IssuerSpecAcmeSolversDns01Route53SecretAccessKeySecretRef(obj: IssuerSpecAcmeSolversDns01Route53SecretAccessKeySecretRef | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversHttp01GatewayHttpRouteParentRefs {
    readonly group?: string;
    readonly kind?: string;
    readonly name: string;
    readonly namespace?: string;
    readonly port?: number;
    readonly sectionName?: string;
}
export declare function toJson_IssuerSpecAcmeSolversHttp01GatewayHttpRouteParentRefs(obj: IssuerSpecAcmeSolversHttp01GatewayHttpRouteParentRefs | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversHttp01IngressIngressTemplate {
    readonly metadata?: IssuerSpecAcmeSolversHttp01IngressIngressTemplateMetadata;
}
export declare function toJson_IssuerSpecAcmeSolversHttp01IngressIngressTemplate(obj: IssuerSpecAcmeSolversHttp01IngressIngressTemplate | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01Route53AuthKubernetes {
    readonly serviceAccountRef: IssuerSpecAcmeSolversDns01Route53AuthKubernetesServiceAccountRef;
}
export declare function toJson_IssuerSpecAcmeSolversDns01Route53AuthKubernetes(obj: IssuerSpecAcmeSolversDns01Route53AuthKubernetes | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversHttp01IngressIngressTemplateMetadata {
    readonly annotations?: {
        [key: string]: string;
    };
    readonly labels?: {
        [key: string]: string;
    };
}
export declare function toJson_IssuerSpecAcmeSolversHttp01IngressIngressTemplateMetadata(obj: IssuerSpecAcmeSolversHttp01IngressIngressTemplateMetadata | undefined): Record<string, any> | undefined;
export interface IssuerSpecAcmeSolversDns01Route53AuthKubernetesServiceAccountRef {
    readonly audiences?: string[];
    readonly name: string;
}
export declare function toJson_IssuerSpecAcmeSolversDns01Route53AuthKubernetesServiceAccountRef(obj: IssuerSpecAcmeSolversDns01Route53AuthKubernetesServiceAccountRef | undefined): Record<string, any> | undefined;
