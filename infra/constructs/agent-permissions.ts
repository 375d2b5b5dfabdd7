/**
 * The permissions of agents.
 */
import * as kplus from 'cdk8s-plus-28'
import { Construct } from 'constructs'
import { gatewaySyncKind, syncReportKind } from '../../runtime/api/names.ts'
import type { SharedProps } from './shared-props.ts'
import { clusterMetadata } from '../names.ts'
import { createClusterRole, customResource } from './roles.ts'

/**
 * The role of agents, which the controller binds to the ServiceAccounts of gateway pods in their namespaces. An agent watches its GatewaySync and
 * writes its own SyncReport. An admission policy restricts its writes to the report of its pod. No policy can restrict reads, so an agent
 * may list all GatewaySyncs of its namespace.
 */
export class AgentPermissions extends Construct {
  readonly clusterRole: kplus.ClusterRole

  constructor(scope: Construct, id: string, { names }: SharedProps) {
    super(scope, id)
    this.clusterRole = createClusterRole(this, 'ClusterRole', clusterMetadata(names, names.agentRole), [
      { verbs: ['list', 'watch'], endpoints: [customResource(gatewaySyncKind.plural)] },
      { verbs: ['get', 'create', 'patch'], endpoints: [customResource(syncReportKind.plural)] },
      { verbs: ['patch'], endpoints: [customResource(`${syncReportKind.plural}/status`)] },
    ])
  }
}
