/**
 * The whole installation as a cdk8s chart, for this repository's `dist/` and for cdk8s apps of other repositories.
 */
import { ApiObject, Chart, JsonPatch } from 'cdk8s'
import * as kplus from 'cdk8s-plus-28'
import type { Construct } from 'constructs'
import { version } from '../runtime/platform/version.ts'
import { Admission } from './constructs/admission.ts'
import { AgentPermissions } from './constructs/agent-permissions.ts'
import { Certificates } from './constructs/certificates.ts'
import { ContentServer } from './constructs/content-server.ts'
import { Controller } from './constructs/controller.ts'
import { ControllerPermissions } from './constructs/controller-permissions.ts'
import { patchable } from './constructs/fields.ts'
import { Monitoring } from './constructs/monitoring.ts'
import { NetworkPolicy } from './constructs/network-policy.ts'
import { Policies } from './constructs/policies.ts'
import { Receiver } from './constructs/receiver.ts'
import type { SharedProps } from './constructs/shared-props.ts'
import { StatusPage } from './constructs/status-page.ts'
import { gatewaySyncCrd, syncReportCrd } from './crd.ts'
import { namesOf, type Release } from './names.ts'
import { checkRelease, checkValues } from './values/check.ts'
import type { ValuesInput } from './values.ts'

export type OperatorProps = {
  /** The release name, with which most object names begin, and the namespace of the operator. */
  release: Release
  /**
   * The values of the installation.
   *
   * @default {}
   */
  values?: ValuesInput
  /**
   * Whether to create the namespace.
   *
   * @default false - the namespace exists
   */
  createNamespace?: boolean
  /**
   * Called once for each warning when the app is synthesized.
   *
   * @default - writes to standard error
   */
  onWarning?: (warning: string) => void
}

/**
 * The operator. Every object is a public property of the construct that creates it: `operator.receiver.service?.exposeViaIngress('/webhook')`,
 * `operator.controller.deployment.podMetadata.addLabel(…)`, `ApiObject.of(operator.controller.deployment).addJsonPatch(…)`.
 * The constructor throws an Error that names each invalid key of the values.
 */
export class OperatorChart extends Chart {
  /** Warnings about values that have no effect, have less effect than expected, or are risky; each begins with the key. */
  readonly warnings: readonly string[]
  readonly namespaceObject: kplus.Namespace | undefined
  readonly permissions: ControllerPermissions
  readonly agentPermissions: AgentPermissions
  readonly policies: Policies
  readonly certificates: Certificates
  readonly contentServer: ContentServer
  readonly admission: Admission
  readonly receiver: Receiver
  readonly statusPage: StatusPage
  readonly networkPolicy: NetworkPolicy
  readonly controller: Controller
  readonly monitoring: Monitoring

  constructor(scope: Construct, id: string, { release, values: input = {}, createNamespace = false, onWarning = warn }: OperatorProps) {
    super(scope, id, { disableResourceNameHashes: true })
    checkRelease(release)
    const { values, warnings } = checkValues(input)
    this.warnings = warnings
    this.reportWarnings(onWarning)

    const props: SharedProps = { names: namesOf(release, values, version), values, version }
    // Objects are written in this order, so that referenced objects come first.
    if (createNamespace) this.namespaceObject = this.createNamespace(props)
    this.permissions = new ControllerPermissions(this, 'Permissions', props)
    this.agentPermissions = new AgentPermissions(this, 'AgentPermissions', props)
    this.policies = new Policies(this, 'Policies', props)
    this.certificates = new Certificates(this, 'Certificates', props)
    this.contentServer = new ContentServer(this, 'ContentServer', props)
    this.receiver = new Receiver(this, 'Receiver', props)
    this.statusPage = new StatusPage(this, 'StatusPage', props)
    this.monitoring = new Monitoring(this, 'Monitoring', props)
    this.networkPolicy = new NetworkPolicy(this, 'NetworkPolicy', props)
    this.controller = new Controller(this, 'Controller', {
      ...props,
      serviceAccount: this.permissions.serviceAccount,
      service: this.contentServer.service,
    })
    // Last, because from then on pods that request an agent need the controller.
    this.admission = new Admission(this, 'Admission', props)
    // An app can then set any field with a JSON patch.
    for (const object of this.apiObjects) patchable(object)
    setNamespace(this, release.namespace)
  }

  /** All objects, including those of nested constructs, which `Chart.apiObjects` omits. */
  override get apiObjects(): ApiObject[] {
    return this.node.findAll().filter((construct): construct is ApiObject => ApiObject.isApiObject(construct))
  }

  private createNamespace({ names, values }: SharedProps): kplus.Namespace {
    const { commonLabels: labels, commonAnnotations: annotations } = values
    // Other workloads may share the namespace, so it does not have the labels of this installation.
    const namespace = new kplus.Namespace(this, 'Namespace', { metadata: { name: names.namespace, labels, annotations } })
    // cdk8s-plus writes an empty spec.
    ApiObject.of(namespace).addJsonPatch(JsonPatch.remove('/spec'))
    return namespace
  }

  /** Adds the warnings to the construct's metadata, and reports them when the app is validated, before any file is written. */
  private reportWarnings(onWarning: (warning: string) => void): void {
    const unreported = [...this.warnings]
    for (const warning of unreported) this.node.addMetadata('warning', warning)
    this.node.addValidation({
      validate: () => {
        for (const warning of unreported.splice(0)) onWarning(warning)
        return []
      },
    })
  }
}

/**
 * The namespace of objects that an app adds, such as the Ingress of `exposeViaIngress`. As a prop of the chart, it would also apply to the
 * cluster-scoped objects of the operator; the API server removes it from those that an app adds.
 */
function setNamespace(chart: Chart, namespace: string): void {
  Object.assign(chart, { namespace })
}

function warn(warning: string): void {
  process.stderr.write(`warning: ${warning}\n`)
}

/**
 * The CRDs. Apply them before everything else; uninstalling the operator keeps them. They are plain objects, as in the Helm chart: the schemas
 * of `k8s.KubeCustomResourceDefinition` have other names for the fields of Kubernetes (`xKubernetesListType`).
 */
export class CrdChart extends Chart {
  readonly gatewaySync: ApiObject
  readonly syncReport: ApiObject

  constructor(scope: Construct, id: string) {
    super(scope, id, { disableResourceNameHashes: true })
    this.gatewaySync = new ApiObject(this, 'GatewaySync', gatewaySyncCrd())
    this.syncReport = new ApiObject(this, 'SyncReport', syncReportCrd())
  }
}
