/**
 * The controller's pods: a Deployment, or a StatefulSet whose replicas each keep their mirrors on their own volume.
 */
import { ApiObject, Duration, JsonPatch } from 'cdk8s'
import * as kplus from 'cdk8s-plus-28'
import { Construct } from 'constructs'
import { nodeOptions, ports } from '../../runtime/api/names.ts'
import { controllerSettingsVariable } from '../../runtime/settings/controller.ts'
import { tracingVariables } from '../../runtime/telemetry/tracing/settings.ts'
import type { SharedProps } from './shared-props.ts'
import { metadata } from '../names.ts'
import { openPorts } from '../values/open-ports.ts'
import type { Values } from '../values.ts'
import { controllerSettings, imageOf, settingsJson } from './controller-settings.ts'
import { addToField, appendTo, isEmpty, setFields } from './fields.ts'
import { otherVolumes, volumeMounts } from './volumes.ts'

export type ControllerProps = SharedProps & {
  serviceAccount: kplus.IServiceAccount
  /** The governing Service, if the controller is a StatefulSet. */
  service: kplus.Service
}

const podSpec = '/spec/template/spec'
const container = `${podSpec}/containers/controller`

export class Controller extends Construct {
  /** Despite its name, a StatefulSet if `source.persistence.enabled` is true. */
  readonly deployment: kplus.Deployment | kplus.StatefulSet
  readonly disruptionBudget: kplus.k8s.KubePodDisruptionBudget | undefined

  constructor(scope: Construct, id: string, props: ControllerProps) {
    super(scope, id)
    const { names, values, service } = props
    const { persistence } = values.source
    const workload = workloadProps(this, props)
    // Parallel, because replicas do not depend on each other: one that is not ready must not keep the others from starting.
    this.deployment = persistence.enabled
      ? new kplus.StatefulSet(this, 'StatefulSet', { ...workload, service, podManagementPolicy: kplus.PodManagementPolicy.PARALLEL })
      : new kplus.Deployment(this, 'Deployment', { ...workload, strategy: strategy(values) })
    this.deployment.select(kplus.LabelSelector.of({ labels: names.selector }))
    this.completePod(values)
    if (persistence.enabled) {
      setFields(this.deployment, {
        // Mirrors can be fetched again, so the claim of a removed replica is of no use.
        '/spec/persistentVolumeClaimRetentionPolicy': { whenDeleted: persistence.whenDeleted, whenScaled: 'Delete' },
        '/spec/volumeClaimTemplates': [claimTemplate(names.selector, persistence)],
      })
      // The StatefulSet of cdk8s-plus adds its own label to the selector of the Service.
      ApiObject.of(service).addJsonPatch(JsonPatch.remove(`/spec/selector/${kplus.Pod.ADDRESS_LABEL.replace('/', '~1')}`))
    }
    const { podDisruptionBudget: budget, replicaCount } = values
    if (budget.enabled && replicaCount > 1) {
      // cdk8s-plus has no construct for disruption budgets.
      this.disruptionBudget = new kplus.k8s.KubePodDisruptionBudget(this, 'DisruptionBudget', {
        metadata: metadata(names, names.fullname),
        spec: {
          minAvailable: kplus.k8s.IntOrString.fromNumber(budget.minAvailable),
          // A replica that is not ready serves no requests, so an eviction may remove it.
          unhealthyPodEvictionPolicy: 'AlwaysAllow',
          selector: { matchLabels: names.selector },
        },
      })
    }
  }

  /** Sets fields that cdk8s-plus does not support, and values in the format of the Kubernetes API. */
  private completePod(values: Values): void {
    const { podSecurityContext, securityContext, source } = values
    setFields(this.deployment, {
      '/spec/revisionHistoryLimit': values.revisionHistoryLimit,
      // On the pod, so that it also applies to containers that an app adds; cdk8s-plus supports it on containers only.
      [`${podSpec}/securityContext/seccompProfile`]: { type: 'RuntimeDefault' },
      // A context from the values replaces the default one.
      [`${podSpec}/securityContext`]: podSecurityContext,
      [`${podSpec}/imagePullSecrets`]: values.imagePullSecrets,
      [`${podSpec}/nodeSelector`]: values.nodeSelector,
      [`${podSpec}/topologySpreadConstraints`]: values.topologySpreadConstraints,
      [`${podSpec}/priorityClassName`]: values.priorityClassName,
      [`${container}/resources`]: values.resources,
      [`${container}/securityContext`]: securityContext,
    })
    addToField(this.deployment, `${podSpec}/tolerations`, values.tolerations)
    addToField(this.deployment, `${podSpec}/affinity`, values.affinity)
    // cdk8s-plus writes values that the API server does not store: each apply would change the workload again.
    const workload = ApiObject.of(this.deployment)
    workload.addJsonPatch(JsonPatch.remove('/spec/minReadySeconds'))
    if (!values.hostNetwork) workload.addJsonPatch(JsonPatch.remove(`${podSpec}/hostNetwork`))
    // cdk8s-plus accepts sizes only, not every quantity.
    if (!source.persistence.enabled && source.storage.existingClaim === '')
      setFields(this.deployment, { [`${podSpec}/volumes/source/emptyDir`]: { sizeLimit: source.storage.sizeLimit } })
    const others = otherVolumes(values)
    const volumes = others.flatMap(({ volume }) => volume ?? [])
    appendTo(this.deployment, `${podSpec}/volumes`, [...volumes, ...values.extraVolumes])
    appendTo(this.deployment, `${container}/volumeMounts`, [...others.map(({ mount }) => mount), ...values.extraVolumeMounts])
    appendTo(this.deployment, `${container}/env`, values.extraEnv)
  }
}

function workloadProps(
  scope: Construct,
  { names, values, version, serviceAccount }: ControllerProps,
): kplus.WorkloadProps & { replicas: number } {
  const { hostNetwork, dnsPolicy } = values
  return {
    metadata: metadata(names, names.fullname, { annotations: values.deploymentAnnotations }),
    podMetadata: {
      // The selector comes last: a pod without its labels would not belong to the Deployment.
      labels: { ...names.labels, ...values.podLabels, ...names.selector },
      annotations: { ...values.commonAnnotations, ...values.podAnnotations },
    },
    // By default, cdk8s-plus selects by a label of its own, but the selector of an installed Deployment is immutable.
    select: false,
    replicas: values.replicaCount,
    serviceAccount,
    automountServiceAccountToken: true,
    terminationGracePeriod: Duration.seconds(values.terminationGracePeriodSeconds),
    hostNetwork,
    // With ClusterFirst, a pod in the host network uses the DNS of the node and cannot resolve Services.
    dns: { policy: (dnsPolicy || (hostNetwork ? 'ClusterFirstWithHostNet' : 'ClusterFirst')) as kplus.DnsPolicy },
    // Meets the Pod Security Standard `restricted`.
    securityContext: {
      user: 65532,
      group: 65532,
      fsGroup: 65532,
      // Otherwise the kubelet would change the group of every mirror file at each start.
      fsGroupChangePolicy: kplus.FsGroupChangePolicy.ON_ROOT_MISMATCH,
      ...(openPorts(values).some(({ port }) => port < 1024) && {
        sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
      }),
    },
    containers: [
      {
        name: 'controller',
        image: imageOf(values.image, version),
        imagePullPolicy: values.image.pullPolicy as kplus.ImagePullPolicy,
        envVariables: environment({ names, values, version }),
        ports: [{ name: 'probes', port: ports.probes }, ...openPorts(values)].map(({ name, port }) => ({
          name,
          number: port,
          protocol: kplus.Protocol.TCP,
        })),
        liveness: probe('/healthz', values.livenessProbe),
        readiness: probe('/readyz', values.readinessProbe),
        // cdk8s-plus would set its own defaults; `completePod` sets the values.
        resources: {},
        securityContext: { capabilities: { drop: [kplus.Capability.ALL] } },
        volumeMounts: volumeMounts(scope, names, values),
      },
    ],
  }
}

function environment(props: SharedProps): Record<string, kplus.EnvValue> {
  const { tracing } = props.values
  // With the version that the API server would add, so that a second apply finds nothing to change.
  const field = (path: kplus.EnvFieldPaths) => kplus.EnvValue.fromFieldRef(path, { apiVersion: 'v1' })
  return {
    POD_NAME: field(kplus.EnvFieldPaths.POD_NAME),
    // The other replicas connect to the leader at this address.
    POD_IP: field(kplus.EnvFieldPaths.POD_IP),
    NODE_OPTIONS: kplus.EnvValue.fromValue(nodeOptions),
    [controllerSettingsVariable]: kplus.EnvValue.fromValue(settingsJson(controllerSettings(props))),
    ...(tracing.endpoint !== '' && {
      [tracingVariables.endpoint]: kplus.EnvValue.fromValue(tracing.endpoint),
      [tracingVariables.ratio]: kplus.EnvValue.fromValue(String(tracing.samplingRatio)),
    }),
  }
}

function probe(
  path: string,
  { initialDelaySeconds, periodSeconds, timeoutSeconds, failureThreshold }: Values['livenessProbe'],
): kplus.Probe {
  return kplus.Probe.fromHttpGet(path, {
    port: ports.probes,
    initialDelaySeconds: Duration.seconds(initialDelaySeconds),
    periodSeconds: Duration.seconds(periodSeconds),
    timeoutSeconds: Duration.seconds(timeoutSeconds),
    failureThreshold,
  })
}

/** Where two replicas could write to one claim or both act as leader, the old one must stop before the new one starts. */
function strategy({ source: { storage }, leaderElection, hostNetwork }: Values): kplus.DeploymentStrategy {
  if (storage.existingClaim !== '' || !leaderElection.enabled) return kplus.DeploymentStrategy.recreate()
  // Two pods on one node cannot use the same host port, so the old pod must stop first.
  if (hostNetwork)
    return kplus.DeploymentStrategy.rollingUpdate({
      maxSurge: kplus.PercentOrAbsolute.absolute(0),
      maxUnavailable: kplus.PercentOrAbsolute.absolute(1),
    })
  return kplus.DeploymentStrategy.rollingUpdate()
}

/** Claim templates are immutable, so this one has only labels that never change. */
function claimTemplate(labels: Readonly<Record<string, string>>, persistence: Values['source']['persistence']): object {
  const { annotations, accessMode, storageClassName, size } = persistence
  return {
    // The API server adds both; without them, a second server-side apply would find a difference.
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'source', labels, ...(!isEmpty(annotations) && { annotations }) },
    spec: {
      accessModes: [accessMode],
      ...(storageClassName !== '' && { storageClassName }),
      resources: { requests: { storage: size } },
      volumeMode: 'Filesystem',
    },
  }
}
