/**
 * The names of everything that an installation creates. Pure.
 */
import { group } from '../runtime/gatewaysync/names.ts'
import type { Values } from './values.ts'

export type Release = { name: string; namespace: string }

export const chartName = 'cluster-sync-operator'

export type Names = {
  fullname: string
  namespace: string
  serviceAccount: string
  controllerRole: string
  /** What the controller may do in namespaces that it works in. */
  watchedRole: string
  agentRole: string
  metricsReaderRole: string
  webhookService: string
  deliveryService: string
  metricsService: string
  receiverService: string
  certificateSecret: string
  labels: Readonly<Record<string, string>>
  selector: Readonly<Record<string, string>>
}

/** The labels that tell one installation's pods from all others. */
export const selectorKeys = ['app.kubernetes.io/name', 'app.kubernetes.io/instance'] as const

/** Kubernetes names of Services hold 63 characters. */
const maxName = 63
const longestSuffix = '-webhook-receiver'

/** Helm's usual rule, cut so that the longest suffix still fits. */
export function namesOf(
  { name, namespace }: Release,
  values: Pick<Values, 'nameOverride' | 'fullnameOverride' | 'webhook'>,
  version: string,
): Names {
  const { existingSecret } = values.webhook
  const chart = values.nameOverride === '' ? chartName : values.nameOverride
  const full = values.fullnameOverride !== '' ? values.fullnameOverride : name.includes(chart) ? name : `${name}-${chart}`
  const fullname = full.slice(0, maxName - longestSuffix.length).replace(/-+$/, '')
  const selector: Record<(typeof selectorKeys)[number], string> = { 'app.kubernetes.io/name': chart, 'app.kubernetes.io/instance': name }
  return {
    fullname,
    namespace,
    serviceAccount: fullname,
    controllerRole: `${fullname}-controller`,
    watchedRole: `${fullname}-watched`,
    agentRole: `${fullname}-agent`,
    metricsReaderRole: `${fullname}-metrics-reader`,
    webhookService: `${fullname}-webhook`,
    deliveryService: `${fullname}-delivery`,
    metricsService: `${fullname}-metrics`,
    receiverService: `${fullname}${longestSuffix}`,
    certificateSecret: existingSecret === '' ? `${fullname}-certificate` : existingSecret,
    selector,
    labels: {
      ...selector,
      'app.kubernetes.io/version': version,
      'app.kubernetes.io/part-of': group,
      'app.kubernetes.io/managed-by': 'cdk8s',
    },
  }
}
