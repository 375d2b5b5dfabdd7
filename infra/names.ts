/**
 * The names, labels and annotations of everything that an installation creates. Pure.
 */
import type { ApiObjectMetadata } from 'cdk8s'
import { group } from '../runtime/api/names.ts'
import type { Values } from './values.ts'

export const chartName = 'cluster-sync-operator'

/** As in Helm, most object names begin with the release name. */
export type Release = { name: string; namespace: string }

export type Names = {
  fullname: string
  namespace: string
  serviceAccount: string
  /** Permissions on cluster-scoped objects. */
  controllerRole: string
  /** Permissions in the namespaces that the controller watches. */
  watchedRole: string
  /** Permission to read the Secrets that GatewaySyncs reference. */
  secretsRole: string
  agentRole: string
  metricsReaderRole: string
  webhookService: string
  deliveryService: string
  metricsService: string
  receiverService: string
  statusPageService: string
  certificateSecret: string
  /** Secret for the webhook receiver's keys that are given inline in the values. */
  receiverSecret: string
  /** Labels of every object; not used in selectors. */
  labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
  selector: Readonly<Record<string, string>>
}

/** The labels that distinguish the pods of one installation from all others. */
export const selectorKeys = ['app.kubernetes.io/name', 'app.kubernetes.io/instance'] as const
/** Keys of the labels that every object has and that values cannot override. */
export const ownLabelKeys = [
  ...selectorKeys,
  'app.kubernetes.io/version',
  'app.kubernetes.io/part-of',
  'app.kubernetes.io/managed-by',
] as const

/** Service names have at most 63 characters. */
const maxNameLength = 63
const longestSuffix = '-webhook-receiver'

/** Follows the convention of Helm charts. The full name is truncated so that the longest suffix still fits. */
export function namesOf({ name, namespace }: Release, values: Values, version: string): Names {
  const chart = values.nameOverride || chartName
  const uncut = values.fullnameOverride || (name.includes(chart) ? name : `${name}-${chart}`)
  const fullname = uncut.slice(0, maxNameLength - longestSuffix.length).replace(/-+$/, '')
  const selector = { 'app.kubernetes.io/name': chart, 'app.kubernetes.io/instance': name }
  const ownLabels: Record<(typeof ownLabelKeys)[number], string> = {
    ...selector,
    'app.kubernetes.io/version': version,
    'app.kubernetes.io/part-of': group,
    'app.kubernetes.io/managed-by': 'cdk8s',
  }
  return {
    fullname,
    namespace,
    serviceAccount: values.serviceAccount.name || fullname,
    controllerRole: `${fullname}-controller`,
    watchedRole: `${fullname}-watched`,
    secretsRole: `${fullname}-secrets`,
    agentRole: `${fullname}-agent`,
    metricsReaderRole: `${fullname}-metrics-reader`,
    webhookService: `${fullname}-webhook`,
    deliveryService: `${fullname}-delivery`,
    metricsService: `${fullname}-metrics`,
    receiverService: `${fullname}${longestSuffix}`,
    statusPageService: `${fullname}-status-page`,
    certificateSecret: values.webhook.existingSecret || `${fullname}-certificate`,
    receiverSecret: `${fullname}-receiver`,
    selector,
    labels: { ...values.commonLabels, ...ownLabels },
    annotations: values.commonAnnotations,
  }
}

type Own = { labels?: Readonly<Record<string, string>>; annotations?: Readonly<Record<string, string>> }

/** The metadata of a cluster-scoped object. Its own labels and annotations override the common ones. */
export function clusterMetadata(names: Names, name: string, { labels, annotations }: Own = {}): ApiObjectMetadata {
  return { name, labels: { ...names.labels, ...labels }, annotations: { ...names.annotations, ...annotations } }
}

/** The metadata of an object in the release's namespace. */
export function metadata(names: Names, name: string, own: Own = {}): ApiObjectMetadata {
  return { ...clusterMetadata(names, name, own), namespace: names.namespace }
}
