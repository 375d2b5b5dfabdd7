/**
 * The whole installation as one cdk8s chart, for our own `dist/` and for the cdk8s app of a GitOps repository.
 */
import { ApiObject, Chart } from 'cdk8s'
import type { Construct } from 'constructs'
import { version } from '../runtime/version.ts'
import { alerts } from './alerts.ts'
import { certificates } from './certificates.ts'
import { checkRelease, checkValues } from './check-values.ts'
import { certificateBy, controller, disruptionBudget } from './controller.ts'
import { gatewaySyncCrd, syncReportCrd } from './crd.ts'
import { injection } from './injection.ts'
import { dashboardMap, podMonitor, serviceMonitor } from './monitoring.ts'
import { type Names, namesOf, type Release } from './names.ts'
import { network } from './network.ts'
import { type LiveManifest, type Manifest, policies } from './policies.ts'
import { rbac, watchedEverywhere, watchedIn } from './rbac.ts'
import { inlineSecret, receiverIngress, receiverService } from './receiver.ts'
import { admissionService, deliveryService, metricsService } from './services.ts'
import type { Values, ValuesInput } from './values.ts'

export type OperatorProps = {
  /** Release name, which begins most names, and the namespace of everything that has one. */
  release: Release
  values?: ValuesInput
  /** Makes the namespace too. Default: it is there. */
  createNamespace?: boolean
}

/** Throws an Error that names each key of the values which is wrong. */
export class OperatorChart extends Chart {
  /** What is set and does nothing; `cdk8s synth` prints them. */
  readonly warnings: readonly string[]

  constructor(scope: Construct, id: string, { release, values: input, createNamespace = false }: OperatorProps) {
    super(scope, id, { disableResourceNameHashes: true })
    checkRelease(release)
    const { values, warnings } = checkValues(input ?? {})
    this.warnings = warnings
    const names = namesOf(release, values, version)
    addAll(this, [
      ...(createNamespace ? [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: release.namespace } }] : []),
      ...(objects(names, values) as Manifest[]),
    ])
  }
}

/** What the values ask for. No other file decides whether an object is there. */
function objects(names: Names, values: Values): LiveManifest[] {
  const { metrics, webhook, webhookReceiver: receiver, podDisruptionBudget, replicaCount, watchNamespaces } = values
  const { serviceMonitor: collected, podMonitor: agentsCollected, grafanaDashboard, prometheusRule, networkPolicy } = values
  const inline = [receiver.hmac, receiver.token].some(({ secret, secretRef }) => secret !== '' && secretRef.name === '')
  return [
    ...rbac(names, values),
    ...(watchNamespaces.length === 0 ? [watchedEverywhere(names)] : watchNamespaces.map((namespace) => watchedIn(names, namespace))),
    ...policies(names, watchNamespaces),
    ...(certificateBy(values).certManager === true ? certificates(names) : []),
    controller(names, values, version),
    ...(podDisruptionBudget.enabled && replicaCount > 1 ? [disruptionBudget(names, values)] : []),
    deliveryService(names, values),
    ...(webhook.enabled ? [admissionService(names)] : []),
    ...(metrics.enabled ? [metricsService(names, values)] : []),
    ...(receiver.enabled && inline ? [inlineSecret(names, values)] : []),
    ...(receiver.enabled ? [receiverService(names, values)] : []),
    ...(receiver.enabled && receiver.ingress.enabled ? [receiverIngress(names, values)] : []),
    ...(webhook.enabled ? [injection(names, values)] : []),
    ...(networkPolicy.enabled ? [network(names, values)] : []),
    ...(collected.enabled ? [serviceMonitor(names, values)] : []),
    ...(agentsCollected.enabled ? [podMonitor(names, values)] : []),
    ...(grafanaDashboard.enabled ? [dashboardMap(names, values)] : []),
    ...(prometheusRule.enabled ? [alerts(names, values)] : []),
  ]
}

/** Everything that is installed, the definitions first: charts `crds` and `operator`. Throws as `OperatorChart` does. */
export function installation(app: Construct, props: OperatorProps): { charts: Chart[]; warnings: readonly string[] } {
  const { values } = checkValues(props.values ?? {})
  const crds = values.crds.install ? [new CrdChart(app, 'crds')] : []
  const operator = new OperatorChart(app, 'operator', props)
  return { charts: [...crds, operator], warnings: operator.warnings }
}

/** The two kinds, which are installed before everything else and outlive an installation. */
export class CrdChart extends Chart {
  constructor(scope: Construct, id: string) {
    super(scope, id, { disableResourceNameHashes: true })
    addAll(this, [gatewaySyncCrd(), syncReportCrd()])
  }
}

function addAll(chart: Chart, manifests: readonly Manifest[]): void {
  for (const manifest of manifests) {
    const { name, namespace = '' } = manifest.metadata
    new ApiObject(chart, `${manifest.kind}-${String(namespace)}-${name}`, manifest)
  }
}
