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
  /** The release name, with which most object names begin, and the namespace of all objects that have one. */
  release: Release
  values?: ValuesInput
  /** Also creates the namespace. Default: false, the namespace exists already. */
  createNamespace?: boolean
  /** Called once for each warning when the app is synthesized. Default: writes to standard error. */
  onWarning?: (warning: string) => void
}

/**
 * The operator. Every object is a public property of the construct that creates it: `operator.receiver.service?.exposeViaIngress('/webhook')`,
 * `operator.controller.deployment.podMetadata.addLabel(…)`, `ApiObject.of(operator.controller.deployment).addJsonPatch(…)`.
 * The constructor throws an Error that names each wrong key of the values.
 */
export class OperatorChart extends Chart {
  /** Values that have no effect, or less than expected; each begins with its key. */
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
    // Last: once it is there, pods that request an agent wait for the controller.
    this.admission = new Admission(this, 'Admission', props)
    for (const object of this.apiObjects) patchable(object)
    // Objects that an app adds, such as the Ingress of `exposeViaIngress`, belong beside the Services. Set only now: cdk8s would also give
    // this namespace to the objects above that have none.
    Object.assign(this, { namespace: release.namespace })
  }

  /** All objects, also those of nested constructs. */
  override get apiObjects(): ApiObject[] {
    return this.node.findAll().filter((construct): construct is ApiObject => ApiObject.isApiObject(construct))
  }

  private createNamespace({ names, values }: SharedProps): kplus.Namespace {
    const { commonLabels: labels, commonAnnotations: annotations } = values
    // Other things may be in the namespace too, so it does not have the labels of this installation.
    const namespace = new kplus.Namespace(this, 'Namespace', { metadata: { name: names.namespace, labels, annotations } })
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

function warn(warning: string): void {
  process.stderr.write(`warning: ${warning}\n`)
}

/** The CRDs, which are applied before everything else and outlive an installation. */
export class CrdChart extends Chart {
  readonly gatewaySync: ApiObject
  readonly syncReport: ApiObject

  constructor(scope: Construct, id: string) {
    super(scope, id, { disableResourceNameHashes: true })
    this.gatewaySync = new ApiObject(this, 'GatewaySync', gatewaySyncCrd())
    this.syncReport = new ApiObject(this, 'SyncReport', syncReportCrd())
  }
}
