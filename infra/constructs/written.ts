/**
 * The types of cdk8s-plus-28 and of imports/ as what stands in a manifest: with the API's own spelling, which jsii changes, and with
 * expressions in the place of values that only Helm knows. Nothing has to be mapped when it is written, so that a field of a newer
 * Kubernetes, which a user gives, is not lost.
 */
import type { k8s } from 'cdk8s-plus-28'
import type { Value } from '../helm/expression.ts'

/**
 * Members that the API spells otherwise than the types. Those without a spelling have two in the API, one for each of two kinds, and cannot
 * be written here.
 */
export const spellings = {
  accessKeyId: 'accessKeyID',
  accessKeyIdSecretRef: 'accessKeyIDSecretRef',
  acmeDns: 'acmeDNS',
  azureDns: 'azureDNS',
  clientId: undefined,
  clientIp: 'clientIP',
  cloudDns: 'cloudDNS',
  clusterIp: 'clusterIP',
  convertClassicHistogramsToNhcb: 'convertClassicHistogramsToNHCB',
  datasetUuid: 'datasetUUID',
  diskUri: 'diskURI',
  downwardApi: 'downwardAPI',
  externalId: 'externalID',
  gatewayHttpRoute: 'gatewayHTTPRoute',
  hostIp: 'hostIP',
  hostIpc: 'hostIPC',
  hostPid: 'hostPID',
  hostedZoneId: 'hostedZoneID',
  insecureSkipTlsVerify: 'insecureSkipTLSVerify',
  isCa: 'isCA',
  issuingCertificateUrLs: 'issuingCertificateURLs',
  keepFiringFor: 'keep_firing_for',
  keyId: 'keyID',
  loadBalancerIp: 'loadBalancerIP',
  nodeId: 'nodeID',
  nonResourceUrLs: 'nonResourceURLs',
  openApiv3Schema: 'openAPIV3Schema',
  partialResponseStrategy: 'partial_response_strategy',
  pdId: 'pdID',
  podCidr: 'podCIDR',
  podCidRs: 'podCIDRs',
  providerId: 'providerID',
  queryOffset: 'query_offset',
  ref: '$ref',
  resourceId: 'resourceID',
  scaleIo: 'scaleIO',
  setHostnameAsFqdn: 'setHostnameAsFQDN',
  skipTlsVerify: 'skipTLSVerify',
  storagePolicyId: 'storagePolicyID',
  subscriptionId: 'subscriptionID',
  targetCpuUtilizationPercentage: 'targetCPUUtilizationPercentage',
  targetWwNs: 'targetWWNs',
  tenantId: 'tenantID',
  tsgId: 'tsgID',
  volumeId: 'volumeID',
  xKubernetesEmbeddedResource: 'x-kubernetes-embedded-resource',
  xKubernetesIntOrString: 'x-kubernetes-int-or-string',
  xKubernetesListMapKeys: 'x-kubernetes-list-map-keys',
  xKubernetesListType: 'x-kubernetes-list-type',
  xKubernetesMapType: 'x-kubernetes-map-type',
  xKubernetesPreserveUnknownFields: 'x-kubernetes-preserve-unknown-fields',
  xKubernetesValidations: 'x-kubernetes-validations',
} as const

type Spelled<Key> = Key extends keyof typeof spellings ? NonNullable<(typeof spellings)[Key]> : Key

/** The type of what stands in a manifest where cdk8s-plus-28 has a T. */
export type Written<T> = 0 extends 1 & T
  ? unknown
  : T extends string
    ? Value<`${T}`>
    : T extends number
      ? Value<number>
      : T extends boolean
        ? Value<boolean>
        : T extends Date
          ? Value<string>
          : T extends readonly (infer Element)[]
            ? Value<readonly Written<Element>[]>
            : // Classes with a single value, such as a quantity, or a port by its number or name.
              [keyof T] extends ['value']
              ? Value<string | number>
              : string extends keyof T
                ? Value<Readonly<Record<string, Written<T[keyof T]> | undefined>>>
                : { readonly [Key in keyof T as Spelled<Key>]: Written<NonNullable<T[Key]>> | Absent<T, Key> }

/** An optional member may be set to undefined, which leaves it out. */
type Absent<T, Key extends keyof T> = object extends Pick<T, Key> ? undefined : never

/** What every object of an installation says of itself. */
export type Metadata = Written<k8s.ObjectMeta> & { readonly name: Value<string> }

/**
 * What a user writes in the words of Kubernetes; it fits every place. Only the API server knows them all, as a cluster may be newer than
 * the types.
 */
export function asGiven(value: Value<unknown>): never {
  return value as never
}
