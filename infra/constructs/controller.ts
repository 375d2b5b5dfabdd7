/**
 * What runs the controller: a Deployment, or a StatefulSet where each replica keeps its mirrors on a volume of its own; and its rights.
 */
import type { ApiObject } from 'cdk8s'
import { k8s } from 'cdk8s-plus-28'
import { Construct } from 'constructs'
import { and, either, greater, isSet, merged, not, or } from '../helm/combinators.ts'
import type { Live } from '../helm/expression.ts'
import { choose, given, unlessEmpty } from '../helm/nodes.ts'
import type { Names } from '../names.ts'
import type { Values } from '../values.ts'
import { apiObjectWhen, place } from './api-object.ts'
import { ControllerRights } from './controller-rights.ts'
import type { Installation } from './installation.ts'
import { namespaced } from './metadata.ts'
import { podSpec } from './pod.ts'
import type { Metadata, Written } from './written.ts'

/** The pods of the controller and what they may do. */
export class Controller extends Construct {
  readonly rights: ControllerRights
  /** A Deployment, or a StatefulSet where `source.persistence.enabled` is true. */
  readonly workload: ApiObject
  readonly disruptionBudget: ApiObject | undefined

  constructor(scope: Construct, id: string, installation: Installation) {
    super(scope, id)
    const { names, values } = installation
    const { podDisruptionBudget: budget, replicaCount } = values
    this.rights = new ControllerRights(this, 'rights', installation)
    this.workload = place(this, 'workload', workload(installation), [])
    const isBudgeted = and(budget.enabled, greater(replicaCount, 1))
    this.disruptionBudget = apiObjectWhen(isBudgeted, this, 'disruption-budget', k8s.KubePodDisruptionBudget, {
      metadata: namespaced(names, names.fullname),
      // An eviction may remove a replica that is not ready, because it serves nobody.
      spec: { minAvailable: budget.minAvailable, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector: { matchLabels: names.selector } },
    })
  }
}

/** A Deployment or a StatefulSet, which are of one API version and share most fields. */
type Workload = ReturnType<typeof kindOf> & {
  metadata: Metadata
  spec: Written<k8s.DeploymentSpec> & Written<Partial<k8s.StatefulSetSpec>>
}

function kindOf({ source: { persistence } }: Live<Values>) {
  const { KubeDeployment: deployment, KubeStatefulSet: statefulSet } = k8s
  return { apiVersion: deployment.GVK.apiVersion, kind: either(persistence.enabled, statefulSet.GVK.kind, deployment.GVK.kind) }
}

function workload({ names, values, version }: Installation): Workload {
  const { labels, selector } = names
  const { persistence } = values.source
  const stateful = persistence.enabled
  return {
    ...kindOf(values),
    metadata: namespaced(names, names.fullname, { annotations: values.deploymentAnnotations }),
    spec: {
      replicas: values.replicaCount,
      revisionHistoryLimit: values.revisionHistoryLimit,
      selector: { matchLabels: selector },
      strategy: given(not(stateful), strategy(values)),
      serviceName: given(stateful, names.deliveryService),
      // Replicas need not wait for one another to start.
      podManagementPolicy: given(stateful, 'Parallel'),
      updateStrategy: given(stateful, { type: 'RollingUpdate', rollingUpdate: { partition: 0 } }),
      persistentVolumeClaimRetentionPolicy: given(stateful, { whenDeleted: persistence.whenDeleted, whenScaled: 'Delete' }),
      volumeClaimTemplates: given(stateful, [claimTemplate(names, values)]),
      template: {
        metadata: {
          // The selector comes last: a pod without its labels would be no part of the Deployment.
          labels: merged(labels, values.podLabels, selector),
          annotations: unlessEmpty(merged(values.commonAnnotations, values.podAnnotations)),
        },
        spec: podSpec(names, values, version),
      },
    },
  }
}

/** Kubernetes lets nobody change a claim template later, so it has only those labels that never change. */
function claimTemplate({ selector }: Names, { source: { persistence } }: Live<Values>): Written<k8s.KubePersistentVolumeClaimProps> {
  const claim: Written<k8s.KubePersistentVolumeClaimProps> = {
    metadata: { name: 'source', labels: selector, annotations: unlessEmpty(persistence.annotations) },
    spec: {
      accessModes: [persistence.accessMode],
      storageClassName: unlessEmpty(persistence.storageClassName),
      resources: { requests: { storage: persistence.size } },
      volumeMode: 'Filesystem',
    },
  }
  // The API server adds apiVersion and kind, so a second server-side apply would see a difference without them.
  const { apiVersion, kind } = k8s.KubePersistentVolumeClaim.GVK
  return { apiVersion, kind, ...claim } as typeof claim
}

type Strategy = Written<k8s.DeploymentStrategy>

/** Where two replicas would write to one claim, or would both lead, the old one ends before the new one starts. */
function strategy({ source: { storage }, leaderElection, hostNetwork }: Live<Values>): Strategy {
  // The API server's own defaults are written out, so that a server-side apply removes them when the type changes. Otherwise it is refused.
  const rolling: Strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } }
  // Two pods on one node cannot both have a port of the host, so the old one has to end first.
  const replacing: Strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } }
  const one = or(isSet(storage.existingClaim), not(leaderElection.enabled))
  return choose<Strategy>(one, { type: 'Recreate' }, choose<Strategy>(hostNetwork, replacing, rolling))
}
