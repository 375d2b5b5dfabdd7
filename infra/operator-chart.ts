/**
 * The whole installation as one cdk8s chart, for our own `dist/` and for the cdk8s app of a GitOps repository.
 */
import { ApiObject, Chart } from 'cdk8s'
import { k8s } from 'cdk8s-plus-28'
import type { Construct, IConstruct } from 'constructs'
import { version } from '../runtime/version.ts'
import { checkRelease, checkValues } from './values/check.ts'
import type { Admission } from './constructs/admission.ts'
import type { AgentRights } from './constructs/agent-rights.ts'
import { apiObject } from './constructs/api-object.ts'
import type { Certificates } from './constructs/certificates.ts'
import { type Concerns, concernsIn, templatesOf } from './constructs/concerns.ts'
import type { Controller } from './constructs/controller.ts'
import type { Delivery } from './constructs/delivery.ts'
import { installationOf } from './constructs/installation.ts'
import type { Monitoring } from './constructs/monitoring.ts'
import type { Network } from './constructs/network.ts'
import type { Policies } from './constructs/policies.ts'
import type { Receiver } from './constructs/receiver.ts'
import type { StatusPage } from './constructs/status-page.ts'
import { gatewaySyncCrd, syncReportCrd } from './crd.ts'
import { unlessEmpty } from './helm/nodes.ts'
import type { Release } from './names.ts'
import type { ValuesInput } from './values.ts'

export type OperatorProps = {
  /** Release name, which begins most names, and the namespace of everything that has one. */
  release: Release
  values?: ValuesInput
  /** Also creates the namespace. Default: false, the namespace exists already. */
  createNamespace?: boolean
  /** Is told each warning once, when the app is synthesised. Default: a line on standard error. */
  onWarning?: (warning: string) => void
}

/**
 * Its objects are members of its concerns, so that an app can reach and patch each of them: `operator.receiver.ingress?.addJsonPatch(…)`.
 * The constructor throws an Error that names each key of the values which is wrong.
 */
export class OperatorChart extends Chart implements Concerns {
  /** One sentence for each value that is set and has no effect, beginning with its key. */
  readonly warnings: readonly string[]
  /** Defined where `createNamespace` is true. The namespace may hold more than this installation, so it has none of our own labels. */
  readonly ownNamespace: ApiObject | undefined
  readonly controller: Controller
  readonly agentRights: AgentRights
  readonly policies: Policies
  readonly certificates: Certificates
  readonly delivery: Delivery
  readonly admission: Admission
  readonly receiver: Receiver
  readonly statusPage: StatusPage
  readonly network: Network
  readonly monitoring: Monitoring

  constructor(scope: Construct, id: string, { release, values: input, createNamespace = false, onWarning = tell }: OperatorProps) {
    super(scope, id, { disableResourceNameHashes: true })
    checkRelease(release)
    const { values, warnings } = checkValues(input ?? {})
    this.warnings = warnings
    this.warn(onWarning)
    const { commonLabels, commonAnnotations } = values
    const metadata = { name: release.namespace, labels: unlessEmpty(commonLabels), annotations: unlessEmpty(commonAnnotations) }
    this.ownNamespace = createNamespace ? apiObject(this, 'namespace', k8s.KubeNamespace, { metadata }) : undefined
    const concerns = concernsIn(this, installationOf(release, values, version))
    this.controller = concerns.controller
    this.agentRights = concerns.agentRights
    this.policies = concerns.policies
    this.certificates = concerns.certificates
    this.delivery = concerns.delivery
    this.admission = concerns.admission
    this.receiver = concerns.receiver
    this.statusPage = concerns.statusPage
    this.network = concerns.network
    this.monitoring = concerns.monitoring
  }

  /** Every object of the chart, rights before what uses them; those that an app has added come last. */
  override get apiObjects(): ApiObject[] {
    const own = [this.ownNamespace, ...Object.values(templatesOf(this)).flat()].filter((object) => object !== undefined)
    return [...new Set([...own, ...this.inTree()])]
  }

  /** In the order of `apiObjects`; where an app adds dependencies, in the order of these. */
  override toJson(): unknown[] {
    const written: unknown[] = super.toJson()
    if (this.node.findAll().some(({ node }) => node.dependencies.length > 0)) return written
    const byObject = new Map(this.inTree().map((object, index) => [object, written[index]]))
    return this.apiObjects.map((object) => byObject.get(object))
  }

  /** Adds the warnings to the metadata of the construct, and passes them on when the app is validated, before any file is written. */
  private warn(onWarning: (warning: string) => void): void {
    const untold = [...this.warnings]
    for (const warning of untold) this.node.addMetadata('warning', warning)
    this.node.addValidation({
      validate: () => {
        for (const warning of untold.splice(0)) onWarning(warning)
        return []
      },
    })
  }

  private inTree(): ApiObject[] {
    const isOurs = (construct: IConstruct): construct is ApiObject => ApiObject.isApiObject(construct) && Chart.of(construct) === this
    return this.node.findAll().filter(isOurs)
  }
}

function tell(warning: string): void {
  process.stderr.write(`warning: ${warning}\n`)
}

/** Everything that is installed, the definitions first: charts `crds` and `operator`. Throws as `OperatorChart` does. */
export function installation(app: Construct, props: OperatorProps): Chart[] {
  const { values } = checkValues(props.values ?? {})
  const crds = values.crds.install ? [new CrdChart(app, 'crds')] : []
  return [...crds, new OperatorChart(app, 'operator', props)]
}

/** The two kinds, which are installed before everything else and outlive an installation. */
export class CrdChart extends Chart {
  readonly gatewaySync: ApiObject
  readonly syncReport: ApiObject

  constructor(scope: Construct, id: string) {
    super(scope, id, { disableResourceNameHashes: true })
    this.gatewaySync = new ApiObject(this, 'gatewaysync', gatewaySyncCrd())
    this.syncReport = new ApiObject(this, 'syncreport', syncReportCrd())
  }
}
