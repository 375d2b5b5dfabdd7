/**
 * The names of everything that an installation creates. Pure.
 */
import { group } from '../runtime/gatewaysync/names.ts'
import { contains, cut, either, isSet, merged, named, namedObject, text } from './helm/combinators.ts'
import type { Live, Value } from './helm/expression.ts'
import { chartName } from './helm/templates.ts'
import type { Values } from './values.ts'

/** As Helm has it: the name begins most names of objects. */
export type Release = { name: string; namespace: string }

export { chartName }

/** A release as the constructs take it. `service` is what manages its objects. */
export type LiveRelease = { name: Value<string>; namespace: Value<string>; service?: Value<string> }

export type Names = {
  fullname: Value<string>
  namespace: Value<string>
  serviceAccount: Value<string>
  controllerRole: Value<string>
  /** The controller's rights in the namespaces that it works in. */
  watchedRole: Value<string>
  /** The right to read single Secrets, those that GatewaySyncs name. */
  secretsRole: Value<string>
  agentRole: Value<string>
  metricsReaderRole: Value<string>
  webhookService: Value<string>
  deliveryService: Value<string>
  metricsService: Value<string>
  receiverService: Value<string>
  statusPageService: Value<string>
  certificateSecret: Value<string>
  /** Of every object; never a part of a selector. */
  labels: Value<Readonly<Record<string, Value<string>>>>
  annotations: Value<Readonly<Record<string, string>>>
  selector: Readonly<Record<string, Value<string>>>
}

/** The labels that tell one installation's pods from all others. */
export const selectorKeys = ['app.kubernetes.io/name', 'app.kubernetes.io/instance'] as const
/** The labels of every object, which no value changes. */
export const ownLabelKeys = [
  ...selectorKeys,
  'app.kubernetes.io/version',
  'app.kubernetes.io/part-of',
  'app.kubernetes.io/managed-by',
] as const

/** Kubernetes names of Services hold 63 characters. */
const maxName = 63
const longestSuffix = '-webhook-receiver'

/** Follows the usual rule of Helm charts; the full name is cut so that the longest suffix still fits. */
export function namesOf(release: LiveRelease, values: Live<Values>, version: Value<string>): Names {
  const { name, namespace, service = 'cdk8s' } = release
  const { nameOverride, fullnameOverride, webhook, serviceAccount, commonLabels, commonAnnotations } = values
  const { existingSecret } = webhook
  const chart = named('name', either(isSet(nameOverride), nameOverride, chartName))
  const full = either(isSet(fullnameOverride), fullnameOverride, either(contains(name, chart), name, text`${name}-${chart}`))
  const fullname = named('fullname', cut(full, maxName - longestSuffix.length))
  const selector: Record<(typeof selectorKeys)[number], Value<string>> = {
    'app.kubernetes.io/name': chart,
    'app.kubernetes.io/instance': name,
  }
  const own: Record<(typeof ownLabelKeys)[number], Value<string>> = {
    ...selector,
    'app.kubernetes.io/version': version,
    'app.kubernetes.io/part-of': group,
    'app.kubernetes.io/managed-by': service,
  }
  return {
    fullname,
    namespace,
    serviceAccount: either(isSet(serviceAccount.name), serviceAccount.name, fullname),
    controllerRole: text`${fullname}-controller`,
    watchedRole: text`${fullname}-watched`,
    secretsRole: text`${fullname}-secrets`,
    agentRole: text`${fullname}-agent`,
    metricsReaderRole: text`${fullname}-metrics-reader`,
    webhookService: text`${fullname}-webhook`,
    deliveryService: text`${fullname}-delivery`,
    metricsService: text`${fullname}-metrics`,
    receiverService: text`${fullname}${longestSuffix}`,
    statusPageService: text`${fullname}-status-page`,
    certificateSecret: either(isSet(existingSecret), existingSecret, text`${fullname}-certificate`),
    selector,
    labels: namedObject('labels', merged<Value<string>>(commonLabels, own)),
    annotations: commonAnnotations,
  }
}
