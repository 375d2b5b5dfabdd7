/**
 * The whole installation as one cdk8s chart, for our own `dist/` and for the cdk8s app of a GitOps repository.
 */
import { ApiObject, Chart } from 'cdk8s'
import type { Construct } from 'constructs'
import { version } from '../runtime/version.ts'
import { checkRelease, checkValues } from './check-values.ts'
import { gatewaySyncCrd, syncReportCrd } from './crd.ts'
import { optional } from './helm/nodes.ts'
import type { Release } from './names.ts'
import { objects } from './objects.ts'
import type { Manifest } from './manifest.ts'
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
    addAll(this, [
      ...(createNamespace ? [namespaceOf(release, values)] : []),
      ...(Object.values(objects(release, values, version)).flat() as Manifest[]),
    ])
  }
}

/** It may hold more than this installation, so that it has none of our own labels. */
function namespaceOf({ namespace: name }: Release, { commonLabels, commonAnnotations }: Values): Manifest {
  const common = { ...optional('labels', commonLabels), ...optional('annotations', commonAnnotations) }
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...common } }
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
