/**
 * What an agent may do; the controller binds the accounts of gateway pods to it.
 */
import type { ApiObject } from 'cdk8s'
import { k8s } from 'cdk8s-plus-28'
import { Construct } from 'constructs'
import { group } from '../../runtime/gatewaysync/names.ts'
import { apiObject } from './api-object.ts'
import type { Installation } from './installation.ts'
import { clusterWide } from './metadata.ts'
import type { Written } from './written.ts'

/** What an agent may do in the namespace of its pod. The controller binds it there. */
export class AgentRights extends Construct {
  readonly clusterRole: ApiObject

  constructor(scope: Construct, id: string, { names }: Installation) {
    super(scope, id)
    const metadata = clusterWide(names, names.agentRole)
    this.clusterRole = apiObject(this, 'cluster-role', k8s.KubeClusterRole, { metadata, rules: agentRules })
  }
}

/**
 * An agent reads its GatewaySync and writes its own report. An admission policy limits its writes to the report of its pod. Nothing can
 * limit its reads in the same way, so it may list all GatewaySyncs of its namespace.
 */
const agentRules: readonly Written<k8s.PolicyRule>[] = [
  { apiGroups: [group], resources: ['gatewaysyncs'], verbs: ['list', 'watch'] },
  { apiGroups: [group], resources: ['syncreports'], verbs: ['get', 'create', 'patch'] },
  { apiGroups: [group], resources: ['syncreports/status'], verbs: ['patch'] },
]
