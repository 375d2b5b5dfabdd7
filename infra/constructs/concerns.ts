/**
 * Everything that an installation consists of, except its definitions and its namespace: one construct for each concern, and the order in
 * which their objects are written.
 */
import type { ApiObject } from 'cdk8s'
import type { Construct } from 'constructs'
import { Admission } from './admission.ts'
import { AgentRights } from './agent-rights.ts'
import { Certificates } from './certificates.ts'
import { Controller } from './controller.ts'
import { Delivery } from './delivery.ts'
import type { Installation } from './installation.ts'
import { Monitoring } from './monitoring.ts'
import { Network } from './network.ts'
import { Policies } from './policies.ts'
import { Receiver } from './receiver.ts'
import { StatusPage } from './status-page.ts'

export type Concerns = {
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
}

/** Makes the construct of every concern in `scope`. */
export function concernsIn(scope: Construct, installation: Installation): Concerns {
  return {
    controller: new Controller(scope, 'controller', installation),
    agentRights: new AgentRights(scope, 'agent-rights', installation),
    policies: new Policies(scope, 'policies', installation),
    certificates: new Certificates(scope, 'certificates', installation),
    delivery: new Delivery(scope, 'delivery', installation),
    admission: new Admission(scope, 'admission', installation),
    receiver: new Receiver(scope, 'receiver', installation),
    statusPage: new StatusPage(scope, 'status-page', installation),
    network: new Network(scope, 'network', installation),
    monitoring: new Monitoring(scope, 'monitoring', installation),
  }
}

/**
 * The objects by the template of the packaged chart that holds them, in the order in which all are written: rights before what uses them.
 * Objects that the values switch off are left out.
 */
export function templatesOf(concerns: Concerns): Record<string, readonly ApiObject[]> {
  const { controller, agentRights, policies, certificates, delivery, admission, receiver, statusPage, network, monitoring } = concerns
  const { rights } = controller
  const templates: Record<string, readonly (ApiObject | undefined)[]> = {
    rbac: [
      rights.serviceAccount,
      rights.clusterRole,
      rights.clusterRoleBinding,
      rights.watchedRole,
      rights.ownRole,
      rights.ownRoleBinding,
      agentRights.clusterRole,
      monitoring.metricsReaderRole,
      ...rights.watchedBindings,
      rights.secretsRole,
      ...rights.secretsBindings,
    ],
    policies: [
      policies.reportPolicy,
      policies.reportBinding,
      policies.statusPolicy,
      policies.statusBinding,
      policies.specPolicy,
      policies.specBinding,
      policies.stagesPolicy,
      policies.stagesBinding,
    ],
    certificates: [certificates.selfSigned, certificates.authority, certificates.issuer, certificates.certificate],
    controller: [controller.workload, controller.disruptionBudget],
    services: [delivery.service, admission.service, monitoring.metricsService],
    receiver: [receiver.secret, receiver.service, receiver.ingress],
    'status-page': [statusPage.service, statusPage.ingress],
    injection: [admission.webhookConfiguration],
    network: [network.policy],
    monitoring: [monitoring.serviceMonitor, monitoring.podMonitor, monitoring.dashboards, monitoring.alerts],
  }
  return Object.fromEntries(Object.entries(templates).map(([name, objects]) => [name, objects.filter((object) => object !== undefined)]))
}
