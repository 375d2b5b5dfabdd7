import { ApiObject, ApiObjectMetadata, GroupVersionKind } from 'cdk8s';
import { Construct } from 'constructs';
/**
 *
 *
 * @schema Certificate
 */
export declare class Certificate extends ApiObject {
    /**
     * Returns the apiVersion and kind for "Certificate"
     */
    static readonly GVK: GroupVersionKind;
    /**
     * Renders a Kubernetes manifest for "Certificate".
     *
     * This can be used to inline resource manifests inside other objects (e.g. as templates).
     *
     * @param props initialization props
     */
    static manifest(props?: CertificateProps): any;
    /**
     * Defines a "Certificate" API object
     * @param scope the scope in which to define this object
     * @param id a scope-local name for the object
     * @param props initialization props
     */
    constructor(scope: Construct, id: string, props?: CertificateProps);
    /**
     * Renders the object to Kubernetes JSON.
     */
    toJson(): any;
}
/**
 * @schema Certificate
 */
export interface CertificateProps {
    /**
     * @schema Certificate#metadata
     */
    readonly metadata?: ApiObjectMetadata;
    /**
     * @schema Certificate#spec
     */
    readonly spec?: CertificateSpec;
}
/**
 * Converts an object of type 'CertificateProps' to JSON representation.
 */
export declare function toJson_CertificateProps(obj: CertificateProps | undefined): Record<string, any> | undefined;
/**
 * @schema CertificateSpec
 */
export interface CertificateSpec {
    /**
     * @schema CertificateSpec#additionalOutputFormats
     */
    readonly additionalOutputFormats?: CertificateSpecAdditionalOutputFormats[];
    /**
     * @schema CertificateSpec#commonName
     */
    readonly commonName?: string;
    /**
     * @schema CertificateSpec#dnsNames
     */
    readonly dnsNames?: string[];
    /**
     * @schema CertificateSpec#duration
     */
    readonly duration?: string;
    /**
     * @schema CertificateSpec#emailAddresses
     */
    readonly emailAddresses?: string[];
    /**
     * @schema CertificateSpec#encodeUsagesInRequest
     */
    readonly encodeUsagesInRequest?: boolean;
    /**
     * @schema CertificateSpec#ipAddresses
     */
    readonly ipAddresses?: string[];
    /**
     * @schema CertificateSpec#isCA
     */
    readonly isCa?: boolean;
    /**
     * @schema CertificateSpec#issuerRef
     */
    readonly issuerRef: CertificateSpecIssuerRef;
    /**
     * @schema CertificateSpec#keystores
     */
    readonly keystores?: CertificateSpecKeystores;
    /**
     * @schema CertificateSpec#literalSubject
     */
    readonly literalSubject?: string;
    /**
     * @schema CertificateSpec#nameConstraints
     */
    readonly nameConstraints?: CertificateSpecNameConstraints;
    /**
     * @schema CertificateSpec#otherNames
     */
    readonly otherNames?: CertificateSpecOtherNames[];
    /**
     * @schema CertificateSpec#privateKey
     */
    readonly privateKey?: CertificateSpecPrivateKey;
    /**
     * @schema CertificateSpec#renewBefore
     */
    readonly renewBefore?: string;
    /**
     * @schema CertificateSpec#renewBeforePercentage
     */
    readonly renewBeforePercentage?: number;
    /**
     * @schema CertificateSpec#renewal
     */
    readonly renewal?: CertificateSpecRenewal;
    /**
     * @schema CertificateSpec#revisionHistoryLimit
     */
    readonly revisionHistoryLimit?: number;
    /**
     * @schema CertificateSpec#secretName
     */
    readonly secretName: string;
    /**
     * @schema CertificateSpec#secretTemplate
     */
    readonly secretTemplate?: CertificateSpecSecretTemplate;
    /**
     * @schema CertificateSpec#signatureAlgorithm
     */
    readonly signatureAlgorithm?: CertificateSpecSignatureAlgorithm;
    /**
     * @schema CertificateSpec#subject
     */
    readonly subject?: CertificateSpecSubject;
    /**
     * @schema CertificateSpec#uris
     */
    readonly uris?: string[];
    /**
     * @schema CertificateSpec#usages
     */
    readonly usages?: CertificateSpecUsages[];
}
/**
 * Converts an object of type 'CertificateSpec' to JSON representation.
 */
export declare function toJson_CertificateSpec(obj: CertificateSpec | undefined): Record<string, any> | undefined;
/**
 * @schema CertificateSpecAdditionalOutputFormats
 */
export interface CertificateSpecAdditionalOutputFormats {
    /**
     * @schema CertificateSpecAdditionalOutputFormats#type
     */
    readonly type: CertificateSpecAdditionalOutputFormatsType;
}
/**
 * Converts an object of type 'CertificateSpecAdditionalOutputFormats' to JSON representation.
 */
export declare function toJson_CertificateSpecAdditionalOutputFormats(obj: CertificateSpecAdditionalOutputFormats | undefined): Record<string, any> | undefined;
/**
 * @schema CertificateSpecIssuerRef
 */
export interface CertificateSpecIssuerRef {
    /**
     * @schema CertificateSpecIssuerRef#group
     */
    readonly group?: string;
    /**
     * @schema CertificateSpecIssuerRef#kind
     */
    readonly kind?: string;
    /**
     * @schema CertificateSpecIssuerRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'CertificateSpecIssuerRef' to JSON representation.
 */
export declare function toJson_CertificateSpecIssuerRef(obj: CertificateSpecIssuerRef | undefined): Record<string, any> | undefined;
/**
 * @schema CertificateSpecKeystores
 */
export interface CertificateSpecKeystores {
    /**
     * @schema CertificateSpecKeystores#jks
     */
    readonly jks?: CertificateSpecKeystoresJks;
    /**
     * @schema CertificateSpecKeystores#pkcs12
     */
    readonly pkcs12?: CertificateSpecKeystoresPkcs12;
}
/**
 * Converts an object of type 'CertificateSpecKeystores' to JSON representation.
 */
export declare function toJson_CertificateSpecKeystores(obj: CertificateSpecKeystores | undefined): Record<string, any> | undefined;
/**
 * @schema CertificateSpecNameConstraints
 */
export interface CertificateSpecNameConstraints {
    /**
     * @schema CertificateSpecNameConstraints#critical
     */
    readonly critical?: boolean;
    /**
     * @schema CertificateSpecNameConstraints#excluded
     */
    readonly excluded?: CertificateSpecNameConstraintsExcluded;
    /**
     * @schema CertificateSpecNameConstraints#permitted
     */
    readonly permitted?: CertificateSpecNameConstraintsPermitted;
}
/**
 * Converts an object of type 'CertificateSpecNameConstraints' to JSON representation.
 */
export declare function toJson_CertificateSpecNameConstraints(obj: CertificateSpecNameConstraints | undefined): Record<string, any> | undefined;
/**
 * @schema CertificateSpecOtherNames
 */
export interface CertificateSpecOtherNames {
    /**
     * @schema CertificateSpecOtherNames#oid
     */
    readonly oid?: string;
    /**
     * @schema CertificateSpecOtherNames#utf8Value
     */
    readonly utf8Value?: string;
}
/**
 * Converts an object of type 'CertificateSpecOtherNames' to JSON representation.
 */
export declare function toJson_CertificateSpecOtherNames(obj: CertificateSpecOtherNames | undefined): Record<string, any> | undefined;
/**
 * @schema CertificateSpecPrivateKey
 */
export interface CertificateSpecPrivateKey {
    /**
     * @schema CertificateSpecPrivateKey#algorithm
     */
    readonly algorithm?: CertificateSpecPrivateKeyAlgorithm;
    /**
     * @schema CertificateSpecPrivateKey#encoding
     */
    readonly encoding?: CertificateSpecPrivateKeyEncoding;
    /**
     * @schema CertificateSpecPrivateKey#rotationPolicy
     */
    readonly rotationPolicy?: CertificateSpecPrivateKeyRotationPolicy;
    /**
     * @schema CertificateSpecPrivateKey#size
     */
    readonly size?: number;
}
/**
 * Converts an object of type 'CertificateSpecPrivateKey' to JSON representation.
 */
export declare function toJson_CertificateSpecPrivateKey(obj: CertificateSpecPrivateKey | undefined): Record<string, any> | undefined;
/**
 * @schema CertificateSpecRenewal
 */
export interface CertificateSpecRenewal {
    /**
     * @schema CertificateSpecRenewal#policy
     */
    readonly policy?: CertificateSpecRenewalPolicy;
    /**
     * @schema CertificateSpecRenewal#windows
     */
    readonly windows?: CertificateSpecRenewalWindows[];
}
/**
 * Converts an object of type 'CertificateSpecRenewal' to JSON representation.
 */
export declare function toJson_CertificateSpecRenewal(obj: CertificateSpecRenewal | undefined): Record<string, any> | undefined;
/**
 * @schema CertificateSpecSecretTemplate
 */
export interface CertificateSpecSecretTemplate {
    /**
     * @schema CertificateSpecSecretTemplate#annotations
     */
    readonly annotations?: {
        [key: string]: string;
    };
    /**
     * @schema CertificateSpecSecretTemplate#labels
     */
    readonly labels?: {
        [key: string]: string;
    };
}
/**
 * Converts an object of type 'CertificateSpecSecretTemplate' to JSON representation.
 */
export declare function toJson_CertificateSpecSecretTemplate(obj: CertificateSpecSecretTemplate | undefined): Record<string, any> | undefined;
/**
 * @schema CertificateSpecSignatureAlgorithm
 */
export declare enum CertificateSpecSignatureAlgorithm {
    /** SHA256WithRSA */
    SHA256_WITH_RSA = "SHA256WithRSA",
    /** SHA384WithRSA */
    SHA384_WITH_RSA = "SHA384WithRSA",
    /** SHA512WithRSA */
    SHA512_WITH_RSA = "SHA512WithRSA",
    /** ECDSAWithSHA256 */
    ECDSA_WITH_SHA256 = "ECDSAWithSHA256",
    /** ECDSAWithSHA384 */
    ECDSA_WITH_SHA384 = "ECDSAWithSHA384",
    /** ECDSAWithSHA512 */
    ECDSA_WITH_SHA512 = "ECDSAWithSHA512",
    /** PureEd25519 */
    PURE_ED25519 = "PureEd25519"
}
/**
 * @schema CertificateSpecSubject
 */
export interface CertificateSpecSubject {
    /**
     * @schema CertificateSpecSubject#countries
     */
    readonly countries?: string[];
    /**
     * @schema CertificateSpecSubject#localities
     */
    readonly localities?: string[];
    /**
     * @schema CertificateSpecSubject#organizationalUnits
     */
    readonly organizationalUnits?: string[];
    /**
     * @schema CertificateSpecSubject#organizations
     */
    readonly organizations?: string[];
    /**
     * @schema CertificateSpecSubject#postalCodes
     */
    readonly postalCodes?: string[];
    /**
     * @schema CertificateSpecSubject#provinces
     */
    readonly provinces?: string[];
    /**
     * @schema CertificateSpecSubject#serialNumber
     */
    readonly serialNumber?: string;
    /**
     * @schema CertificateSpecSubject#streetAddresses
     */
    readonly streetAddresses?: string[];
}
/**
 * Converts an object of type 'CertificateSpecSubject' to JSON representation.
 */
export declare function toJson_CertificateSpecSubject(obj: CertificateSpecSubject | undefined): Record<string, any> | undefined;
/**
 * @schema CertificateSpecUsages
 */
export declare enum CertificateSpecUsages {
    /** signing */
    SIGNING = "signing",
    /** digital signature */
    DIGITAL_SIGNATURE = "digital signature",
    /** content commitment */
    CONTENT_COMMITMENT = "content commitment",
    /** key encipherment */
    KEY_ENCIPHERMENT = "key encipherment",
    /** key agreement */
    KEY_AGREEMENT = "key agreement",
    /** data encipherment */
    DATA_ENCIPHERMENT = "data encipherment",
    /** cert sign */
    CERT_SIGN = "cert sign",
    /** crl sign */
    CRL_SIGN = "crl sign",
    /** encipher only */
    ENCIPHER_ONLY = "encipher only",
    /** decipher only */
    DECIPHER_ONLY = "decipher only",
    /** any */
    ANY = "any",
    /** server auth */
    SERVER_AUTH = "server auth",
    /** client auth */
    CLIENT_AUTH = "client auth",
    /** code signing */
    CODE_SIGNING = "code signing",
    /** email protection */
    EMAIL_PROTECTION = "email protection",
    /** s/mime */
    S_FORWARD_SLASH_MIME = "s/mime",
    /** ipsec end system */
    IPSEC_END_SYSTEM = "ipsec end system",
    /** ipsec tunnel */
    IPSEC_TUNNEL = "ipsec tunnel",
    /** ipsec user */
    IPSEC_USER = "ipsec user",
    /** timestamping */
    TIMESTAMPING = "timestamping",
    /** ocsp signing */
    OCSP_SIGNING = "ocsp signing",
    /** microsoft sgc */
    MICROSOFT_SGC = "microsoft sgc",
    /** netscape sgc */
    NETSCAPE_SGC = "netscape sgc"
}
/**
 * @schema CertificateSpecAdditionalOutputFormatsType
 */
export declare enum CertificateSpecAdditionalOutputFormatsType {
    /** DER */
    DER = "DER",
    /** CombinedPEM */
    COMBINED_PEM = "CombinedPEM"
}
/**
 * @schema CertificateSpecKeystoresJks
 */
export interface CertificateSpecKeystoresJks {
    /**
     * @schema CertificateSpecKeystoresJks#alias
     */
    readonly alias?: string;
    /**
     * @schema CertificateSpecKeystoresJks#create
     */
    readonly create: boolean;
    /**
     * @schema CertificateSpecKeystoresJks#password
     */
    readonly password?: string;
    /**
     * @schema CertificateSpecKeystoresJks#passwordSecretRef
     */
    readonly passwordSecretRef?: CertificateSpecKeystoresJksPasswordSecretRef;
}
/**
 * Converts an object of type 'CertificateSpecKeystoresJks' to JSON representation.
 */
export declare function toJson_CertificateSpecKeystoresJks(obj: CertificateSpecKeystoresJks | undefined): Record<string, any> | undefined;
/**
 * @schema CertificateSpecKeystoresPkcs12
 */
export interface CertificateSpecKeystoresPkcs12 {
    /**
     * @schema CertificateSpecKeystoresPkcs12#create
     */
    readonly create: boolean;
    /**
     * @schema CertificateSpecKeystoresPkcs12#password
     */
    readonly password?: string;
    /**
     * @schema CertificateSpecKeystoresPkcs12#passwordSecretRef
     */
    readonly passwordSecretRef?: CertificateSpecKeystoresPkcs12PasswordSecretRef;
    /**
     * @schema CertificateSpecKeystoresPkcs12#profile
     */
    readonly profile?: CertificateSpecKeystoresPkcs12Profile;
}
/**
 * Converts an object of type 'CertificateSpecKeystoresPkcs12' to JSON representation.
 */
export declare function toJson_CertificateSpecKeystoresPkcs12(obj: CertificateSpecKeystoresPkcs12 | undefined): Record<string, any> | undefined;
/**
 * @schema CertificateSpecNameConstraintsExcluded
 */
export interface CertificateSpecNameConstraintsExcluded {
    /**
     * @schema CertificateSpecNameConstraintsExcluded#dnsDomains
     */
    readonly dnsDomains?: string[];
    /**
     * @schema CertificateSpecNameConstraintsExcluded#emailAddresses
     */
    readonly emailAddresses?: string[];
    /**
     * @schema CertificateSpecNameConstraintsExcluded#ipRanges
     */
    readonly ipRanges?: string[];
    /**
     * @schema CertificateSpecNameConstraintsExcluded#uriDomains
     */
    readonly uriDomains?: string[];
}
/**
 * Converts an object of type 'CertificateSpecNameConstraintsExcluded' to JSON representation.
 */
export declare function toJson_CertificateSpecNameConstraintsExcluded(obj: CertificateSpecNameConstraintsExcluded | undefined): Record<string, any> | undefined;
/**
 * @schema CertificateSpecNameConstraintsPermitted
 */
export interface CertificateSpecNameConstraintsPermitted {
    /**
     * @schema CertificateSpecNameConstraintsPermitted#dnsDomains
     */
    readonly dnsDomains?: string[];
    /**
     * @schema CertificateSpecNameConstraintsPermitted#emailAddresses
     */
    readonly emailAddresses?: string[];
    /**
     * @schema CertificateSpecNameConstraintsPermitted#ipRanges
     */
    readonly ipRanges?: string[];
    /**
     * @schema CertificateSpecNameConstraintsPermitted#uriDomains
     */
    readonly uriDomains?: string[];
}
/**
 * Converts an object of type 'CertificateSpecNameConstraintsPermitted' to JSON representation.
 */
export declare function toJson_CertificateSpecNameConstraintsPermitted(obj: CertificateSpecNameConstraintsPermitted | undefined): Record<string, any> | undefined;
/**
 * @schema CertificateSpecPrivateKeyAlgorithm
 */
export declare enum CertificateSpecPrivateKeyAlgorithm {
    /** RSA */
    RSA = "RSA",
    /** ECDSA */
    ECDSA = "ECDSA",
    /** Ed25519 */
    ED25519 = "Ed25519"
}
/**
 * @schema CertificateSpecPrivateKeyEncoding
 */
export declare enum CertificateSpecPrivateKeyEncoding {
    /** PKCS1 */
    PKCS1 = "PKCS1",
    /** PKCS8 */
    PKCS8 = "PKCS8"
}
/**
 * @schema CertificateSpecPrivateKeyRotationPolicy
 */
export declare enum CertificateSpecPrivateKeyRotationPolicy {
    /** Never */
    NEVER = "Never",
    /** Always */
    ALWAYS = "Always"
}
/**
 * @schema CertificateSpecRenewalPolicy
 */
export declare enum CertificateSpecRenewalPolicy {
    /** RenewBefore */
    RENEW_BEFORE = "RenewBefore",
    /** Disabled */
    DISABLED = "Disabled"
}
/**
 * @schema CertificateSpecRenewalWindows
 */
export interface CertificateSpecRenewalWindows {
    /**
     * @schema CertificateSpecRenewalWindows#cron
     */
    readonly cron: string;
    /**
     * @schema CertificateSpecRenewalWindows#timezone
     */
    readonly timezone?: string;
    /**
     * @schema CertificateSpecRenewalWindows#windowDuration
     */
    readonly windowDuration: string;
}
/**
 * Converts an object of type 'CertificateSpecRenewalWindows' to JSON representation.
 */
export declare function toJson_CertificateSpecRenewalWindows(obj: CertificateSpecRenewalWindows | undefined): Record<string, any> | undefined;
/**
 * @schema CertificateSpecKeystoresJksPasswordSecretRef
 */
export interface CertificateSpecKeystoresJksPasswordSecretRef {
    /**
     * @schema CertificateSpecKeystoresJksPasswordSecretRef#key
     */
    readonly key?: string;
    /**
     * @schema CertificateSpecKeystoresJksPasswordSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'CertificateSpecKeystoresJksPasswordSecretRef' to JSON representation.
 */
export declare function toJson_CertificateSpecKeystoresJksPasswordSecretRef(obj: CertificateSpecKeystoresJksPasswordSecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema CertificateSpecKeystoresPkcs12PasswordSecretRef
 */
export interface CertificateSpecKeystoresPkcs12PasswordSecretRef {
    /**
     * @schema CertificateSpecKeystoresPkcs12PasswordSecretRef#key
     */
    readonly key?: string;
    /**
     * @schema CertificateSpecKeystoresPkcs12PasswordSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'CertificateSpecKeystoresPkcs12PasswordSecretRef' to JSON representation.
 */
export declare function toJson_CertificateSpecKeystoresPkcs12PasswordSecretRef(obj: CertificateSpecKeystoresPkcs12PasswordSecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema CertificateSpecKeystoresPkcs12Profile
 */
export declare enum CertificateSpecKeystoresPkcs12Profile {
    /** LegacyRC2 */
    LEGACY_RC2 = "LegacyRC2",
    /** LegacyDES */
    LEGACY_DES = "LegacyDES",
    /** Modern2023 */
    MODERN2023 = "Modern2023",
    /** Modern2026 */
    MODERN2026 = "Modern2026"
}
/**
 *
 *
 * @schema Issuer
 */
export declare class Issuer extends ApiObject {
    /**
     * Returns the apiVersion and kind for "Issuer"
     */
    static readonly GVK: GroupVersionKind;
    /**
     * Renders a Kubernetes manifest for "Issuer".
     *
     * This can be used to inline resource manifests inside other objects (e.g. as templates).
     *
     * @param props initialization props
     */
    static manifest(props: IssuerProps): any;
    /**
     * Defines a "Issuer" API object
     * @param scope the scope in which to define this object
     * @param id a scope-local name for the object
     * @param props initialization props
     */
    constructor(scope: Construct, id: string, props: IssuerProps);
    /**
     * Renders the object to Kubernetes JSON.
     */
    toJson(): any;
}
/**
 * @schema Issuer
 */
export interface IssuerProps {
    /**
     * @schema Issuer#metadata
     */
    readonly metadata?: ApiObjectMetadata;
    /**
     * @schema Issuer#spec
     */
    readonly spec: IssuerSpec;
}
/**
 * Converts an object of type 'IssuerProps' to JSON representation.
 */
export declare function toJson_IssuerProps(obj: IssuerProps | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpec
 */
export interface IssuerSpec {
    /**
     * @schema IssuerSpec#acme
     */
    readonly acme?: IssuerSpecAcme;
    /**
     * @schema IssuerSpec#ca
     */
    readonly ca?: IssuerSpecCa;
    /**
     * @schema IssuerSpec#selfSigned
     */
    readonly selfSigned?: IssuerSpecSelfSigned;
    /**
     * @schema IssuerSpec#vault
     */
    readonly vault?: IssuerSpecVault;
    /**
     * @schema IssuerSpec#venafi
     */
    readonly venafi?: IssuerSpecVenafi;
}
/**
 * Converts an object of type 'IssuerSpec' to JSON representation.
 */
export declare function toJson_IssuerSpec(obj: IssuerSpec | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcme
 */
export interface IssuerSpecAcme {
    /**
     * @schema IssuerSpecAcme#caBundle
     */
    readonly caBundle?: string;
    /**
     * @schema IssuerSpecAcme#disableAccountKeyGeneration
     */
    readonly disableAccountKeyGeneration?: boolean;
    /**
     * @schema IssuerSpecAcme#email
     */
    readonly email?: string;
    /**
     * @schema IssuerSpecAcme#enableDurationFeature
     */
    readonly enableDurationFeature?: boolean;
    /**
     * @schema IssuerSpecAcme#externalAccountBinding
     */
    readonly externalAccountBinding?: IssuerSpecAcmeExternalAccountBinding;
    /**
     * @schema IssuerSpecAcme#preferredChain
     */
    readonly preferredChain?: string;
    /**
     * @schema IssuerSpecAcme#privateKeySecretRef
     */
    readonly privateKeySecretRef: IssuerSpecAcmePrivateKeySecretRef;
    /**
     * @schema IssuerSpecAcme#profile
     */
    readonly profile?: string;
    /**
     * @schema IssuerSpecAcme#renewalInformationSource
     */
    readonly renewalInformationSource?: IssuerSpecAcmeRenewalInformationSource;
    /**
     * @schema IssuerSpecAcme#server
     */
    readonly server: string;
    /**
     * @schema IssuerSpecAcme#skipTLSVerify
     */
    readonly skipTlsVerify?: boolean;
    /**
     * @schema IssuerSpecAcme#solvers
     */
    readonly solvers?: IssuerSpecAcmeSolvers[];
}
/**
 * Converts an object of type 'IssuerSpecAcme' to JSON representation.
 */
export declare function toJson_IssuerSpecAcme(obj: IssuerSpecAcme | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecCa
 */
export interface IssuerSpecCa {
    /**
     * @schema IssuerSpecCa#crlDistributionPoints
     */
    readonly crlDistributionPoints?: string[];
    /**
     * @schema IssuerSpecCa#issuingCertificateURLs
     */
    readonly issuingCertificateUrLs?: string[];
    /**
     * @schema IssuerSpecCa#ocspServers
     */
    readonly ocspServers?: string[];
    /**
     * @schema IssuerSpecCa#secretName
     */
    readonly secretName: string;
}
/**
 * Converts an object of type 'IssuerSpecCa' to JSON representation.
 */
export declare function toJson_IssuerSpecCa(obj: IssuerSpecCa | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecSelfSigned
 */
export interface IssuerSpecSelfSigned {
    /**
     * @schema IssuerSpecSelfSigned#crlDistributionPoints
     */
    readonly crlDistributionPoints?: string[];
}
/**
 * Converts an object of type 'IssuerSpecSelfSigned' to JSON representation.
 */
export declare function toJson_IssuerSpecSelfSigned(obj: IssuerSpecSelfSigned | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVault
 */
export interface IssuerSpecVault {
    /**
     * @schema IssuerSpecVault#auth
     */
    readonly auth: IssuerSpecVaultAuth;
    /**
     * @schema IssuerSpecVault#caBundle
     */
    readonly caBundle?: string;
    /**
     * @schema IssuerSpecVault#caBundleSecretRef
     */
    readonly caBundleSecretRef?: IssuerSpecVaultCaBundleSecretRef;
    /**
     * @schema IssuerSpecVault#clientCertSecretRef
     */
    readonly clientCertSecretRef?: IssuerSpecVaultClientCertSecretRef;
    /**
     * @schema IssuerSpecVault#clientKeySecretRef
     */
    readonly clientKeySecretRef?: IssuerSpecVaultClientKeySecretRef;
    /**
     * @schema IssuerSpecVault#namespace
     */
    readonly namespace?: string;
    /**
     * @schema IssuerSpecVault#path
     */
    readonly path: string;
    /**
     * @schema IssuerSpecVault#server
     */
    readonly server: string;
    /**
     * @schema IssuerSpecVault#serverName
     */
    readonly serverName?: string;
}
/**
 * Converts an object of type 'IssuerSpecVault' to JSON representation.
 */
export declare function toJson_IssuerSpecVault(obj: IssuerSpecVault | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVenafi
 */
export interface IssuerSpecVenafi {
    /**
     * @schema IssuerSpecVenafi#cloud
     */
    readonly cloud?: IssuerSpecVenafiCloud;
    /**
     * @schema IssuerSpecVenafi#ngts
     */
    readonly ngts?: IssuerSpecVenafiNgts;
    /**
     * @schema IssuerSpecVenafi#tpp
     */
    readonly tpp?: IssuerSpecVenafiTpp;
    /**
     * @schema IssuerSpecVenafi#zone
     */
    readonly zone: string;
}
/**
 * Converts an object of type 'IssuerSpecVenafi' to JSON representation.
 */
export declare function toJson_IssuerSpecVenafi(obj: IssuerSpecVenafi | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeExternalAccountBinding
 */
export interface IssuerSpecAcmeExternalAccountBinding {
    /**
     * @schema IssuerSpecAcmeExternalAccountBinding#keyAlgorithm
     */
    readonly keyAlgorithm?: IssuerSpecAcmeExternalAccountBindingKeyAlgorithm;
    /**
     * @schema IssuerSpecAcmeExternalAccountBinding#keyID
     */
    readonly keyId: string;
    /**
     * @schema IssuerSpecAcmeExternalAccountBinding#keySecretRef
     */
    readonly keySecretRef: IssuerSpecAcmeExternalAccountBindingKeySecretRef;
}
/**
 * Converts an object of type 'IssuerSpecAcmeExternalAccountBinding' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeExternalAccountBinding(obj: IssuerSpecAcmeExternalAccountBinding | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmePrivateKeySecretRef
 */
export interface IssuerSpecAcmePrivateKeySecretRef {
    /**
     * @schema IssuerSpecAcmePrivateKeySecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecAcmePrivateKeySecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmePrivateKeySecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmePrivateKeySecretRef(obj: IssuerSpecAcmePrivateKeySecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeRenewalInformationSource
 */
export declare enum IssuerSpecAcmeRenewalInformationSource {
    /** ARI */
    ARI = "ARI",
    /** None */
    NONE = "None"
}
/**
 * @schema IssuerSpecAcmeSolvers
 */
export interface IssuerSpecAcmeSolvers {
    /**
     * @schema IssuerSpecAcmeSolvers#dns01
     */
    readonly dns01?: IssuerSpecAcmeSolversDns01;
    /**
     * @schema IssuerSpecAcmeSolvers#http01
     */
    readonly http01?: IssuerSpecAcmeSolversHttp01;
    /**
     * @schema IssuerSpecAcmeSolvers#selector
     */
    readonly selector?: IssuerSpecAcmeSolversSelector;
    /**
     * @schema IssuerSpecAcmeSolvers#waitInsteadOfSelfCheck
     */
    readonly waitInsteadOfSelfCheck?: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolvers' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolvers(obj: IssuerSpecAcmeSolvers | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVaultAuth
 */
export interface IssuerSpecVaultAuth {
    /**
     * @schema IssuerSpecVaultAuth#appRole
     */
    readonly appRole?: IssuerSpecVaultAuthAppRole;
    /**
     * @schema IssuerSpecVaultAuth#aws
     */
    readonly aws?: IssuerSpecVaultAuthAws;
    /**
     * @schema IssuerSpecVaultAuth#clientCertificate
     */
    readonly clientCertificate?: IssuerSpecVaultAuthClientCertificate;
    /**
     * @schema IssuerSpecVaultAuth#kubernetes
     */
    readonly kubernetes?: IssuerSpecVaultAuthKubernetes;
    /**
     * @schema IssuerSpecVaultAuth#tokenSecretRef
     */
    readonly tokenSecretRef?: IssuerSpecVaultAuthTokenSecretRef;
}
/**
 * Converts an object of type 'IssuerSpecVaultAuth' to JSON representation.
 */
export declare function toJson_IssuerSpecVaultAuth(obj: IssuerSpecVaultAuth | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVaultCaBundleSecretRef
 */
export interface IssuerSpecVaultCaBundleSecretRef {
    /**
     * @schema IssuerSpecVaultCaBundleSecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecVaultCaBundleSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecVaultCaBundleSecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecVaultCaBundleSecretRef(obj: IssuerSpecVaultCaBundleSecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVaultClientCertSecretRef
 */
export interface IssuerSpecVaultClientCertSecretRef {
    /**
     * @schema IssuerSpecVaultClientCertSecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecVaultClientCertSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecVaultClientCertSecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecVaultClientCertSecretRef(obj: IssuerSpecVaultClientCertSecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVaultClientKeySecretRef
 */
export interface IssuerSpecVaultClientKeySecretRef {
    /**
     * @schema IssuerSpecVaultClientKeySecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecVaultClientKeySecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecVaultClientKeySecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecVaultClientKeySecretRef(obj: IssuerSpecVaultClientKeySecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVenafiCloud
 */
export interface IssuerSpecVenafiCloud {
    /**
     * @schema IssuerSpecVenafiCloud#apiTokenSecretRef
     */
    readonly apiTokenSecretRef: IssuerSpecVenafiCloudApiTokenSecretRef;
    /**
     * @schema IssuerSpecVenafiCloud#url
     */
    readonly url?: string;
}
/**
 * Converts an object of type 'IssuerSpecVenafiCloud' to JSON representation.
 */
export declare function toJson_IssuerSpecVenafiCloud(obj: IssuerSpecVenafiCloud | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVenafiNgts
 */
export interface IssuerSpecVenafiNgts {
    /**
     * @schema IssuerSpecVenafiNgts#credentialsRef
     */
    readonly credentialsRef: IssuerSpecVenafiNgtsCredentialsRef;
    /**
     * @schema IssuerSpecVenafiNgts#tokenEndpoint
     */
    readonly tokenEndpoint?: string;
    /**
     * @schema IssuerSpecVenafiNgts#tsgID
     */
    readonly tsgId: string;
    /**
     * @schema IssuerSpecVenafiNgts#url
     */
    readonly url?: string;
}
/**
 * Converts an object of type 'IssuerSpecVenafiNgts' to JSON representation.
 */
export declare function toJson_IssuerSpecVenafiNgts(obj: IssuerSpecVenafiNgts | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVenafiTpp
 */
export interface IssuerSpecVenafiTpp {
    /**
     * @schema IssuerSpecVenafiTpp#caBundle
     */
    readonly caBundle?: string;
    /**
     * @schema IssuerSpecVenafiTpp#caBundleSecretRef
     */
    readonly caBundleSecretRef?: IssuerSpecVenafiTppCaBundleSecretRef;
    /**
     * @schema IssuerSpecVenafiTpp#credentialsRef
     */
    readonly credentialsRef: IssuerSpecVenafiTppCredentialsRef;
    /**
     * @schema IssuerSpecVenafiTpp#url
     */
    readonly url: string;
}
/**
 * Converts an object of type 'IssuerSpecVenafiTpp' to JSON representation.
 */
export declare function toJson_IssuerSpecVenafiTpp(obj: IssuerSpecVenafiTpp | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeExternalAccountBindingKeyAlgorithm
 */
export declare enum IssuerSpecAcmeExternalAccountBindingKeyAlgorithm {
    /** HS256 */
    HS256 = "HS256",
    /** HS384 */
    HS384 = "HS384",
    /** HS512 */
    HS512 = "HS512"
}
/**
 * @schema IssuerSpecAcmeExternalAccountBindingKeySecretRef
 */
export interface IssuerSpecAcmeExternalAccountBindingKeySecretRef {
    /**
     * @schema IssuerSpecAcmeExternalAccountBindingKeySecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecAcmeExternalAccountBindingKeySecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeExternalAccountBindingKeySecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeExternalAccountBindingKeySecretRef(obj: IssuerSpecAcmeExternalAccountBindingKeySecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01
 */
export interface IssuerSpecAcmeSolversDns01 {
    /**
     * @schema IssuerSpecAcmeSolversDns01#acmeDNS
     */
    readonly acmeDns?: IssuerSpecAcmeSolversDns01AcmeDns;
    /**
     * @schema IssuerSpecAcmeSolversDns01#akamai
     */
    readonly akamai?: IssuerSpecAcmeSolversDns01Akamai;
    /**
     * @schema IssuerSpecAcmeSolversDns01#azureDNS
     */
    readonly azureDns?: IssuerSpecAcmeSolversDns01AzureDns;
    /**
     * @schema IssuerSpecAcmeSolversDns01#cloudDNS
     */
    readonly cloudDns?: IssuerSpecAcmeSolversDns01CloudDns;
    /**
     * @schema IssuerSpecAcmeSolversDns01#cloudflare
     */
    readonly cloudflare?: IssuerSpecAcmeSolversDns01Cloudflare;
    /**
     * @schema IssuerSpecAcmeSolversDns01#cnameStrategy
     */
    readonly cnameStrategy?: IssuerSpecAcmeSolversDns01CnameStrategy;
    /**
     * @schema IssuerSpecAcmeSolversDns01#digitalocean
     */
    readonly digitalocean?: IssuerSpecAcmeSolversDns01Digitalocean;
    /**
     * @schema IssuerSpecAcmeSolversDns01#nameservers
     */
    readonly nameservers?: string[];
    /**
     * @schema IssuerSpecAcmeSolversDns01#rfc2136
     */
    readonly rfc2136?: IssuerSpecAcmeSolversDns01Rfc2136;
    /**
     * @schema IssuerSpecAcmeSolversDns01#route53
     */
    readonly route53?: IssuerSpecAcmeSolversDns01Route53;
    /**
     * @schema IssuerSpecAcmeSolversDns01#webhook
     */
    readonly webhook?: IssuerSpecAcmeSolversDns01Webhook;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01(obj: IssuerSpecAcmeSolversDns01 | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversHttp01
 */
export interface IssuerSpecAcmeSolversHttp01 {
    /**
     * @schema IssuerSpecAcmeSolversHttp01#gatewayHTTPRoute
     */
    readonly gatewayHttpRoute?: IssuerSpecAcmeSolversHttp01GatewayHttpRoute;
    /**
     * @schema IssuerSpecAcmeSolversHttp01#ingress
     */
    readonly ingress?: IssuerSpecAcmeSolversHttp01Ingress;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversHttp01' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversHttp01(obj: IssuerSpecAcmeSolversHttp01 | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversSelector
 */
export interface IssuerSpecAcmeSolversSelector {
    /**
     * @schema IssuerSpecAcmeSolversSelector#dnsNames
     */
    readonly dnsNames?: string[];
    /**
     * @schema IssuerSpecAcmeSolversSelector#dnsZones
     */
    readonly dnsZones?: string[];
    /**
     * @schema IssuerSpecAcmeSolversSelector#matchLabels
     */
    readonly matchLabels?: {
        [key: string]: string;
    };
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversSelector' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversSelector(obj: IssuerSpecAcmeSolversSelector | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVaultAuthAppRole
 */
export interface IssuerSpecVaultAuthAppRole {
    /**
     * @schema IssuerSpecVaultAuthAppRole#path
     */
    readonly path: string;
    /**
     * @schema IssuerSpecVaultAuthAppRole#roleId
     */
    readonly roleId: string;
    /**
     * @schema IssuerSpecVaultAuthAppRole#secretRef
     */
    readonly secretRef: IssuerSpecVaultAuthAppRoleSecretRef;
}
/**
 * Converts an object of type 'IssuerSpecVaultAuthAppRole' to JSON representation.
 */
export declare function toJson_IssuerSpecVaultAuthAppRole(obj: IssuerSpecVaultAuthAppRole | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVaultAuthAws
 */
export interface IssuerSpecVaultAuthAws {
    /**
     * @schema IssuerSpecVaultAuthAws#iamRoleArn
     */
    readonly iamRoleArn?: string;
    /**
     * @schema IssuerSpecVaultAuthAws#mountPath
     */
    readonly mountPath?: string;
    /**
     * @schema IssuerSpecVaultAuthAws#region
     */
    readonly region?: string;
    /**
     * @schema IssuerSpecVaultAuthAws#role
     */
    readonly role: string;
    /**
     * @schema IssuerSpecVaultAuthAws#serviceAccountRef
     */
    readonly serviceAccountRef?: IssuerSpecVaultAuthAwsServiceAccountRef;
    /**
     * @schema IssuerSpecVaultAuthAws#vaultHeaderValue
     */
    readonly vaultHeaderValue?: string;
}
/**
 * Converts an object of type 'IssuerSpecVaultAuthAws' to JSON representation.
 */
export declare function toJson_IssuerSpecVaultAuthAws(obj: IssuerSpecVaultAuthAws | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVaultAuthClientCertificate
 */
export interface IssuerSpecVaultAuthClientCertificate {
    /**
     * @schema IssuerSpecVaultAuthClientCertificate#mountPath
     */
    readonly mountPath?: string;
    /**
     * @schema IssuerSpecVaultAuthClientCertificate#name
     */
    readonly name?: string;
    /**
     * @schema IssuerSpecVaultAuthClientCertificate#secretName
     */
    readonly secretName?: string;
}
/**
 * Converts an object of type 'IssuerSpecVaultAuthClientCertificate' to JSON representation.
 */
export declare function toJson_IssuerSpecVaultAuthClientCertificate(obj: IssuerSpecVaultAuthClientCertificate | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVaultAuthKubernetes
 */
export interface IssuerSpecVaultAuthKubernetes {
    /**
     * @schema IssuerSpecVaultAuthKubernetes#mountPath
     */
    readonly mountPath?: string;
    /**
     * @schema IssuerSpecVaultAuthKubernetes#role
     */
    readonly role: string;
    /**
     * @schema IssuerSpecVaultAuthKubernetes#secretRef
     */
    readonly secretRef?: IssuerSpecVaultAuthKubernetesSecretRef;
    /**
     * @schema IssuerSpecVaultAuthKubernetes#serviceAccountRef
     */
    readonly serviceAccountRef?: IssuerSpecVaultAuthKubernetesServiceAccountRef;
}
/**
 * Converts an object of type 'IssuerSpecVaultAuthKubernetes' to JSON representation.
 */
export declare function toJson_IssuerSpecVaultAuthKubernetes(obj: IssuerSpecVaultAuthKubernetes | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVaultAuthTokenSecretRef
 */
export interface IssuerSpecVaultAuthTokenSecretRef {
    /**
     * @schema IssuerSpecVaultAuthTokenSecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecVaultAuthTokenSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecVaultAuthTokenSecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecVaultAuthTokenSecretRef(obj: IssuerSpecVaultAuthTokenSecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVenafiCloudApiTokenSecretRef
 */
export interface IssuerSpecVenafiCloudApiTokenSecretRef {
    /**
     * @schema IssuerSpecVenafiCloudApiTokenSecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecVenafiCloudApiTokenSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecVenafiCloudApiTokenSecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecVenafiCloudApiTokenSecretRef(obj: IssuerSpecVenafiCloudApiTokenSecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVenafiNgtsCredentialsRef
 */
export interface IssuerSpecVenafiNgtsCredentialsRef {
    /**
     * @schema IssuerSpecVenafiNgtsCredentialsRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecVenafiNgtsCredentialsRef' to JSON representation.
 */
export declare function toJson_IssuerSpecVenafiNgtsCredentialsRef(obj: IssuerSpecVenafiNgtsCredentialsRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVenafiTppCaBundleSecretRef
 */
export interface IssuerSpecVenafiTppCaBundleSecretRef {
    /**
     * @schema IssuerSpecVenafiTppCaBundleSecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecVenafiTppCaBundleSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecVenafiTppCaBundleSecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecVenafiTppCaBundleSecretRef(obj: IssuerSpecVenafiTppCaBundleSecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVenafiTppCredentialsRef
 */
export interface IssuerSpecVenafiTppCredentialsRef {
    /**
     * @schema IssuerSpecVenafiTppCredentialsRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecVenafiTppCredentialsRef' to JSON representation.
 */
export declare function toJson_IssuerSpecVenafiTppCredentialsRef(obj: IssuerSpecVenafiTppCredentialsRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01AcmeDns
 */
export interface IssuerSpecAcmeSolversDns01AcmeDns {
    /**
     * @schema IssuerSpecAcmeSolversDns01AcmeDns#accountSecretRef
     */
    readonly accountSecretRef: IssuerSpecAcmeSolversDns01AcmeDnsAccountSecretRef;
    /**
     * @schema IssuerSpecAcmeSolversDns01AcmeDns#host
     */
    readonly host: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01AcmeDns' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01AcmeDns(obj: IssuerSpecAcmeSolversDns01AcmeDns | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01Akamai
 */
export interface IssuerSpecAcmeSolversDns01Akamai {
    /**
     * @schema IssuerSpecAcmeSolversDns01Akamai#accessTokenSecretRef
     */
    readonly accessTokenSecretRef: IssuerSpecAcmeSolversDns01AkamaiAccessTokenSecretRef;
    /**
     * @schema IssuerSpecAcmeSolversDns01Akamai#clientSecretSecretRef
     */
    readonly clientSecretSecretRef: IssuerSpecAcmeSolversDns01AkamaiClientSecretSecretRef;
    /**
     * @schema IssuerSpecAcmeSolversDns01Akamai#clientTokenSecretRef
     */
    readonly clientTokenSecretRef: IssuerSpecAcmeSolversDns01AkamaiClientTokenSecretRef;
    /**
     * @schema IssuerSpecAcmeSolversDns01Akamai#serviceConsumerDomain
     */
    readonly serviceConsumerDomain: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01Akamai' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01Akamai(obj: IssuerSpecAcmeSolversDns01Akamai | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01AzureDns
 */
export interface IssuerSpecAcmeSolversDns01AzureDns {
    /**
     * @schema IssuerSpecAcmeSolversDns01AzureDns#clientID
     */
    readonly clientId?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01AzureDns#clientSecretSecretRef
     */
    readonly clientSecretSecretRef?: IssuerSpecAcmeSolversDns01AzureDnsClientSecretSecretRef;
    /**
     * @schema IssuerSpecAcmeSolversDns01AzureDns#environment
     */
    readonly environment?: IssuerSpecAcmeSolversDns01AzureDnsEnvironment;
    /**
     * @schema IssuerSpecAcmeSolversDns01AzureDns#hostedZoneName
     */
    readonly hostedZoneName?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01AzureDns#managedIdentity
     */
    readonly managedIdentity?: IssuerSpecAcmeSolversDns01AzureDnsManagedIdentity;
    /**
     * @schema IssuerSpecAcmeSolversDns01AzureDns#resourceGroupName
     */
    readonly resourceGroupName: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01AzureDns#subscriptionID
     */
    readonly subscriptionId: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01AzureDns#tenantID
     */
    readonly tenantId?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01AzureDns#zoneType
     */
    readonly zoneType?: IssuerSpecAcmeSolversDns01AzureDnsZoneType;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01AzureDns' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01AzureDns(obj: IssuerSpecAcmeSolversDns01AzureDns | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01CloudDns
 */
export interface IssuerSpecAcmeSolversDns01CloudDns {
    /**
     * @schema IssuerSpecAcmeSolversDns01CloudDns#hostedZoneName
     */
    readonly hostedZoneName?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01CloudDns#project
     */
    readonly project: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01CloudDns#serviceAccountSecretRef
     */
    readonly serviceAccountSecretRef?: IssuerSpecAcmeSolversDns01CloudDnsServiceAccountSecretRef;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01CloudDns' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01CloudDns(obj: IssuerSpecAcmeSolversDns01CloudDns | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01Cloudflare
 */
export interface IssuerSpecAcmeSolversDns01Cloudflare {
    /**
     * @schema IssuerSpecAcmeSolversDns01Cloudflare#apiKeySecretRef
     */
    readonly apiKeySecretRef?: IssuerSpecAcmeSolversDns01CloudflareApiKeySecretRef;
    /**
     * @schema IssuerSpecAcmeSolversDns01Cloudflare#apiTokenSecretRef
     */
    readonly apiTokenSecretRef?: IssuerSpecAcmeSolversDns01CloudflareApiTokenSecretRef;
    /**
     * @schema IssuerSpecAcmeSolversDns01Cloudflare#email
     */
    readonly email?: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01Cloudflare' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01Cloudflare(obj: IssuerSpecAcmeSolversDns01Cloudflare | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01CnameStrategy
 */
export declare enum IssuerSpecAcmeSolversDns01CnameStrategy {
    /** None */
    NONE = "None",
    /** Follow */
    FOLLOW = "Follow"
}
/**
 * @schema IssuerSpecAcmeSolversDns01Digitalocean
 */
export interface IssuerSpecAcmeSolversDns01Digitalocean {
    /**
     * @schema IssuerSpecAcmeSolversDns01Digitalocean#tokenSecretRef
     */
    readonly tokenSecretRef: IssuerSpecAcmeSolversDns01DigitaloceanTokenSecretRef;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01Digitalocean' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01Digitalocean(obj: IssuerSpecAcmeSolversDns01Digitalocean | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01Rfc2136
 */
export interface IssuerSpecAcmeSolversDns01Rfc2136 {
    /**
     * @schema IssuerSpecAcmeSolversDns01Rfc2136#nameserver
     */
    readonly nameserver: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01Rfc2136#protocol
     */
    readonly protocol?: IssuerSpecAcmeSolversDns01Rfc2136Protocol;
    /**
     * @schema IssuerSpecAcmeSolversDns01Rfc2136#tsigAlgorithm
     */
    readonly tsigAlgorithm?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01Rfc2136#tsigKeyName
     */
    readonly tsigKeyName?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01Rfc2136#tsigSecretSecretRef
     */
    readonly tsigSecretSecretRef?: IssuerSpecAcmeSolversDns01Rfc2136TsigSecretSecretRef;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01Rfc2136' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01Rfc2136(obj: IssuerSpecAcmeSolversDns01Rfc2136 | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01Route53
 */
export interface IssuerSpecAcmeSolversDns01Route53 {
    /**
     * @schema IssuerSpecAcmeSolversDns01Route53#accessKeyID
     */
    readonly accessKeyId?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01Route53#accessKeyIDSecretRef
     */
    readonly accessKeyIdSecretRef?: IssuerSpecAcmeSolversDns01Route53AccessKeyIdSecretRef;
    /**
     * @schema IssuerSpecAcmeSolversDns01Route53#auth
     */
    readonly auth?: IssuerSpecAcmeSolversDns01Route53Auth;
    /**
     * @schema IssuerSpecAcmeSolversDns01Route53#hostedZoneID
     */
    readonly hostedZoneId?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01Route53#region
     */
    readonly region?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01Route53#role
     */
    readonly role?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01Route53#secretAccessKeySecretRef
     */
    readonly secretAccessKeySecretRef?: IssuerSpecAcmeSolversDns01Route53SecretAccessKeySecretRef;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01Route53' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01Route53(obj: IssuerSpecAcmeSolversDns01Route53 | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01Webhook
 */
export interface IssuerSpecAcmeSolversDns01Webhook {
    /**
     * @schema IssuerSpecAcmeSolversDns01Webhook#config
     */
    readonly config?: any;
    /**
     * @schema IssuerSpecAcmeSolversDns01Webhook#groupName
     */
    readonly groupName: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01Webhook#solverName
     */
    readonly solverName: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01Webhook' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01Webhook(obj: IssuerSpecAcmeSolversDns01Webhook | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversHttp01GatewayHttpRoute
 */
export interface IssuerSpecAcmeSolversHttp01GatewayHttpRoute {
    /**
     * @schema IssuerSpecAcmeSolversHttp01GatewayHttpRoute#labels
     */
    readonly labels?: {
        [key: string]: string;
    };
    /**
     * @schema IssuerSpecAcmeSolversHttp01GatewayHttpRoute#parentRefs
     */
    readonly parentRefs?: IssuerSpecAcmeSolversHttp01GatewayHttpRouteParentRefs[];
    /**
     * @schema IssuerSpecAcmeSolversHttp01GatewayHttpRoute#podTemplate
     */
    readonly podTemplate?: any;
    /**
     * @schema IssuerSpecAcmeSolversHttp01GatewayHttpRoute#serviceType
     */
    readonly serviceType?: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversHttp01GatewayHttpRoute' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversHttp01GatewayHttpRoute(obj: IssuerSpecAcmeSolversHttp01GatewayHttpRoute | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversHttp01Ingress
 */
export interface IssuerSpecAcmeSolversHttp01Ingress {
    /**
     * @schema IssuerSpecAcmeSolversHttp01Ingress#class
     */
    readonly class?: string;
    /**
     * @schema IssuerSpecAcmeSolversHttp01Ingress#ingressClassName
     */
    readonly ingressClassName?: string;
    /**
     * @schema IssuerSpecAcmeSolversHttp01Ingress#ingressTemplate
     */
    readonly ingressTemplate?: IssuerSpecAcmeSolversHttp01IngressIngressTemplate;
    /**
     * @schema IssuerSpecAcmeSolversHttp01Ingress#name
     */
    readonly name?: string;
    /**
     * @schema IssuerSpecAcmeSolversHttp01Ingress#podTemplate
     */
    readonly podTemplate?: any;
    /**
     * @schema IssuerSpecAcmeSolversHttp01Ingress#serviceType
     */
    readonly serviceType?: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversHttp01Ingress' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversHttp01Ingress(obj: IssuerSpecAcmeSolversHttp01Ingress | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVaultAuthAppRoleSecretRef
 */
export interface IssuerSpecVaultAuthAppRoleSecretRef {
    /**
     * @schema IssuerSpecVaultAuthAppRoleSecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecVaultAuthAppRoleSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecVaultAuthAppRoleSecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecVaultAuthAppRoleSecretRef(obj: IssuerSpecVaultAuthAppRoleSecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVaultAuthAwsServiceAccountRef
 */
export interface IssuerSpecVaultAuthAwsServiceAccountRef {
    /**
     * @schema IssuerSpecVaultAuthAwsServiceAccountRef#audiences
     */
    readonly audiences?: string[];
    /**
     * @schema IssuerSpecVaultAuthAwsServiceAccountRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecVaultAuthAwsServiceAccountRef' to JSON representation.
 */
export declare function toJson_IssuerSpecVaultAuthAwsServiceAccountRef(obj: IssuerSpecVaultAuthAwsServiceAccountRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVaultAuthKubernetesSecretRef
 */
export interface IssuerSpecVaultAuthKubernetesSecretRef {
    /**
     * @schema IssuerSpecVaultAuthKubernetesSecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecVaultAuthKubernetesSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecVaultAuthKubernetesSecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecVaultAuthKubernetesSecretRef(obj: IssuerSpecVaultAuthKubernetesSecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecVaultAuthKubernetesServiceAccountRef
 */
export interface IssuerSpecVaultAuthKubernetesServiceAccountRef {
    /**
     * @schema IssuerSpecVaultAuthKubernetesServiceAccountRef#audiences
     */
    readonly audiences?: string[];
    /**
     * @schema IssuerSpecVaultAuthKubernetesServiceAccountRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecVaultAuthKubernetesServiceAccountRef' to JSON representation.
 */
export declare function toJson_IssuerSpecVaultAuthKubernetesServiceAccountRef(obj: IssuerSpecVaultAuthKubernetesServiceAccountRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01AcmeDnsAccountSecretRef
 */
export interface IssuerSpecAcmeSolversDns01AcmeDnsAccountSecretRef {
    /**
     * @schema IssuerSpecAcmeSolversDns01AcmeDnsAccountSecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01AcmeDnsAccountSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01AcmeDnsAccountSecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01AcmeDnsAccountSecretRef(obj: IssuerSpecAcmeSolversDns01AcmeDnsAccountSecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01AkamaiAccessTokenSecretRef
 */
export interface IssuerSpecAcmeSolversDns01AkamaiAccessTokenSecretRef {
    /**
     * @schema IssuerSpecAcmeSolversDns01AkamaiAccessTokenSecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01AkamaiAccessTokenSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01AkamaiAccessTokenSecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01AkamaiAccessTokenSecretRef(obj: IssuerSpecAcmeSolversDns01AkamaiAccessTokenSecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01AkamaiClientSecretSecretRef
 */
export interface IssuerSpecAcmeSolversDns01AkamaiClientSecretSecretRef {
    /**
     * @schema IssuerSpecAcmeSolversDns01AkamaiClientSecretSecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01AkamaiClientSecretSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01AkamaiClientSecretSecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01AkamaiClientSecretSecretRef(obj: IssuerSpecAcmeSolversDns01AkamaiClientSecretSecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01AkamaiClientTokenSecretRef
 */
export interface IssuerSpecAcmeSolversDns01AkamaiClientTokenSecretRef {
    /**
     * @schema IssuerSpecAcmeSolversDns01AkamaiClientTokenSecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01AkamaiClientTokenSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01AkamaiClientTokenSecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01AkamaiClientTokenSecretRef(obj: IssuerSpecAcmeSolversDns01AkamaiClientTokenSecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01AzureDnsClientSecretSecretRef
 */
export interface IssuerSpecAcmeSolversDns01AzureDnsClientSecretSecretRef {
    /**
     * @schema IssuerSpecAcmeSolversDns01AzureDnsClientSecretSecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01AzureDnsClientSecretSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01AzureDnsClientSecretSecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01AzureDnsClientSecretSecretRef(obj: IssuerSpecAcmeSolversDns01AzureDnsClientSecretSecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01AzureDnsEnvironment
 */
export declare enum IssuerSpecAcmeSolversDns01AzureDnsEnvironment {
    /** AzurePublicCloud */
    AZURE_PUBLIC_CLOUD = "AzurePublicCloud",
    /** AzureChinaCloud */
    AZURE_CHINA_CLOUD = "AzureChinaCloud",
    /** AzureGermanCloud */
    AZURE_GERMAN_CLOUD = "AzureGermanCloud",
    /** AzureUSGovernmentCloud */
    AZURE_US_GOVERNMENT_CLOUD = "AzureUSGovernmentCloud"
}
/**
 * @schema IssuerSpecAcmeSolversDns01AzureDnsManagedIdentity
 */
export interface IssuerSpecAcmeSolversDns01AzureDnsManagedIdentity {
    /**
     * @schema IssuerSpecAcmeSolversDns01AzureDnsManagedIdentity#clientID
     */
    readonly clientId?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01AzureDnsManagedIdentity#resourceID
     */
    readonly resourceId?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01AzureDnsManagedIdentity#tenantID
     */
    readonly tenantId?: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01AzureDnsManagedIdentity' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01AzureDnsManagedIdentity(obj: IssuerSpecAcmeSolversDns01AzureDnsManagedIdentity | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01AzureDnsZoneType
 */
export declare enum IssuerSpecAcmeSolversDns01AzureDnsZoneType {
    /** AzurePublicZone */
    AZURE_PUBLIC_ZONE = "AzurePublicZone",
    /** AzurePrivateZone */
    AZURE_PRIVATE_ZONE = "AzurePrivateZone"
}
/**
 * @schema IssuerSpecAcmeSolversDns01CloudDnsServiceAccountSecretRef
 */
export interface IssuerSpecAcmeSolversDns01CloudDnsServiceAccountSecretRef {
    /**
     * @schema IssuerSpecAcmeSolversDns01CloudDnsServiceAccountSecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01CloudDnsServiceAccountSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01CloudDnsServiceAccountSecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01CloudDnsServiceAccountSecretRef(obj: IssuerSpecAcmeSolversDns01CloudDnsServiceAccountSecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01CloudflareApiKeySecretRef
 */
export interface IssuerSpecAcmeSolversDns01CloudflareApiKeySecretRef {
    /**
     * @schema IssuerSpecAcmeSolversDns01CloudflareApiKeySecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01CloudflareApiKeySecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01CloudflareApiKeySecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01CloudflareApiKeySecretRef(obj: IssuerSpecAcmeSolversDns01CloudflareApiKeySecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01CloudflareApiTokenSecretRef
 */
export interface IssuerSpecAcmeSolversDns01CloudflareApiTokenSecretRef {
    /**
     * @schema IssuerSpecAcmeSolversDns01CloudflareApiTokenSecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01CloudflareApiTokenSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01CloudflareApiTokenSecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01CloudflareApiTokenSecretRef(obj: IssuerSpecAcmeSolversDns01CloudflareApiTokenSecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01DigitaloceanTokenSecretRef
 */
export interface IssuerSpecAcmeSolversDns01DigitaloceanTokenSecretRef {
    /**
     * @schema IssuerSpecAcmeSolversDns01DigitaloceanTokenSecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01DigitaloceanTokenSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01DigitaloceanTokenSecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01DigitaloceanTokenSecretRef(obj: IssuerSpecAcmeSolversDns01DigitaloceanTokenSecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01Rfc2136Protocol
 */
export declare enum IssuerSpecAcmeSolversDns01Rfc2136Protocol {
    /** TCP */
    TCP = "TCP",
    /** UDP */
    UDP = "UDP"
}
/**
 * @schema IssuerSpecAcmeSolversDns01Rfc2136TsigSecretSecretRef
 */
export interface IssuerSpecAcmeSolversDns01Rfc2136TsigSecretSecretRef {
    /**
     * @schema IssuerSpecAcmeSolversDns01Rfc2136TsigSecretSecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01Rfc2136TsigSecretSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01Rfc2136TsigSecretSecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01Rfc2136TsigSecretSecretRef(obj: IssuerSpecAcmeSolversDns01Rfc2136TsigSecretSecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01Route53AccessKeyIdSecretRef
 */
export interface IssuerSpecAcmeSolversDns01Route53AccessKeyIdSecretRef {
    /**
     * @schema IssuerSpecAcmeSolversDns01Route53AccessKeyIdSecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01Route53AccessKeyIdSecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01Route53AccessKeyIdSecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01Route53AccessKeyIdSecretRef(obj: IssuerSpecAcmeSolversDns01Route53AccessKeyIdSecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01Route53Auth
 */
export interface IssuerSpecAcmeSolversDns01Route53Auth {
    /**
     * @schema IssuerSpecAcmeSolversDns01Route53Auth#kubernetes
     */
    readonly kubernetes: IssuerSpecAcmeSolversDns01Route53AuthKubernetes;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01Route53Auth' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01Route53Auth(obj: IssuerSpecAcmeSolversDns01Route53Auth | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01Route53SecretAccessKeySecretRef
 */
export interface IssuerSpecAcmeSolversDns01Route53SecretAccessKeySecretRef {
    /**
     * @schema IssuerSpecAcmeSolversDns01Route53SecretAccessKeySecretRef#key
     */
    readonly key?: string;
    /**
     * @schema IssuerSpecAcmeSolversDns01Route53SecretAccessKeySecretRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01Route53SecretAccessKeySecretRef' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01Route53SecretAccessKeySecretRef(obj: IssuerSpecAcmeSolversDns01Route53SecretAccessKeySecretRef | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversHttp01GatewayHttpRouteParentRefs
 */
export interface IssuerSpecAcmeSolversHttp01GatewayHttpRouteParentRefs {
    /**
     * @schema IssuerSpecAcmeSolversHttp01GatewayHttpRouteParentRefs#group
     */
    readonly group?: string;
    /**
     * @schema IssuerSpecAcmeSolversHttp01GatewayHttpRouteParentRefs#kind
     */
    readonly kind?: string;
    /**
     * @schema IssuerSpecAcmeSolversHttp01GatewayHttpRouteParentRefs#name
     */
    readonly name: string;
    /**
     * @schema IssuerSpecAcmeSolversHttp01GatewayHttpRouteParentRefs#namespace
     */
    readonly namespace?: string;
    /**
     * @schema IssuerSpecAcmeSolversHttp01GatewayHttpRouteParentRefs#port
     */
    readonly port?: number;
    /**
     * @schema IssuerSpecAcmeSolversHttp01GatewayHttpRouteParentRefs#sectionName
     */
    readonly sectionName?: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversHttp01GatewayHttpRouteParentRefs' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversHttp01GatewayHttpRouteParentRefs(obj: IssuerSpecAcmeSolversHttp01GatewayHttpRouteParentRefs | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversHttp01IngressIngressTemplate
 */
export interface IssuerSpecAcmeSolversHttp01IngressIngressTemplate {
    /**
     * @schema IssuerSpecAcmeSolversHttp01IngressIngressTemplate#metadata
     */
    readonly metadata?: IssuerSpecAcmeSolversHttp01IngressIngressTemplateMetadata;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversHttp01IngressIngressTemplate' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversHttp01IngressIngressTemplate(obj: IssuerSpecAcmeSolversHttp01IngressIngressTemplate | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01Route53AuthKubernetes
 */
export interface IssuerSpecAcmeSolversDns01Route53AuthKubernetes {
    /**
     * @schema IssuerSpecAcmeSolversDns01Route53AuthKubernetes#serviceAccountRef
     */
    readonly serviceAccountRef: IssuerSpecAcmeSolversDns01Route53AuthKubernetesServiceAccountRef;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01Route53AuthKubernetes' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01Route53AuthKubernetes(obj: IssuerSpecAcmeSolversDns01Route53AuthKubernetes | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversHttp01IngressIngressTemplateMetadata
 */
export interface IssuerSpecAcmeSolversHttp01IngressIngressTemplateMetadata {
    /**
     * @schema IssuerSpecAcmeSolversHttp01IngressIngressTemplateMetadata#annotations
     */
    readonly annotations?: {
        [key: string]: string;
    };
    /**
     * @schema IssuerSpecAcmeSolversHttp01IngressIngressTemplateMetadata#labels
     */
    readonly labels?: {
        [key: string]: string;
    };
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversHttp01IngressIngressTemplateMetadata' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversHttp01IngressIngressTemplateMetadata(obj: IssuerSpecAcmeSolversHttp01IngressIngressTemplateMetadata | undefined): Record<string, any> | undefined;
/**
 * @schema IssuerSpecAcmeSolversDns01Route53AuthKubernetesServiceAccountRef
 */
export interface IssuerSpecAcmeSolversDns01Route53AuthKubernetesServiceAccountRef {
    /**
     * @schema IssuerSpecAcmeSolversDns01Route53AuthKubernetesServiceAccountRef#audiences
     */
    readonly audiences?: string[];
    /**
     * @schema IssuerSpecAcmeSolversDns01Route53AuthKubernetesServiceAccountRef#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'IssuerSpecAcmeSolversDns01Route53AuthKubernetesServiceAccountRef' to JSON representation.
 */
export declare function toJson_IssuerSpecAcmeSolversDns01Route53AuthKubernetesServiceAccountRef(obj: IssuerSpecAcmeSolversDns01Route53AuthKubernetesServiceAccountRef | undefined): Record<string, any> | undefined;
