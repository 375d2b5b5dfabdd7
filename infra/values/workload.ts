/**
 * The values that say how the controller's pods run: on which nodes, as which user, with which volumes and probes. Pure.
 */
import * as v from 'valibot'
import { defaultShutdownDelaySeconds, stopWithinSeconds } from '../../runtime/settings.ts'
import { annotations, count, flag, objectWith, optionalObjectName, podVolumeMounts, podVolumes } from './fields.ts'

const secondsOfDay = 86_400

const probe = (what: string, usual: { initialDelaySeconds: number; periodSeconds: number }) =>
  v.optional(
    v.strictObject({
      initialDelaySeconds: count(`Seconds before the first ${what} probe.`, usual.initialDelaySeconds, 0, secondsOfDay),
      periodSeconds: count(`Seconds between two ${what} probes.`, usual.periodSeconds, 1, secondsOfDay),
      timeoutSeconds: count(`Seconds that a ${what} probe waits for its answer.`, 5, 1, secondsOfDay),
      failureThreshold: count(`Failed ${what} probes in a row before the kubelet acts.`, 3, 1, 1000),
    }),
    {},
  )

const ofContainers = ['runAsNonRoot', 'runAsUser', 'runAsGroup', 'seLinuxOptions', 'seccompProfile', 'appArmorProfile'] as const
const ofPodsAlone = [
  'fsGroup',
  'fsGroupChangePolicy',
  'supplementalGroups',
  'supplementalGroupsPolicy',
  'seLinuxChangePolicy',
  'sysctls',
] as const
const ofContainersAlone = ['allowPrivilegeEscalation', 'readOnlyRootFilesystem', 'capabilities', 'privileged', 'procMount'] as const

/** The security context of a container. One that is given replaces ours as a whole. */
export const containerSecurity = (description: string) => objectWith([...ofContainers, ...ofContainersAlone], description)

/** Seconds that a controller may take from SIGTERM to its end. */
export const leastGraceSeconds = defaultShutdownDelaySeconds + stopWithinSeconds

const picked = <const Choices extends readonly string[]>(choices: Choices, description: string) =>
  v.pipe(v.picklist(choices), v.description(description))

/** The values of each Service: its type, and annotations, which load balancers and monitoring systems read. */
export const serviceValues = (what: string) => ({
  type: v.optional(picked(['ClusterIP', 'NodePort', 'LoadBalancer'], `Type of the ${what} Service.`), 'ClusterIP'),
  annotations: annotations(`Annotations of the ${what} Service.`),
})

export const workloadValues = {
  deploymentAnnotations: annotations("Annotations of the controller's Deployment, or of its StatefulSet."),
  podSecurityContext: objectWith(
    [...ofContainers, ...ofPodsAlone],
    'Security context of the controller pod in place of ours as a whole; ours has user and groups 65532. Without runAsUser, runAsGroup and fsGroup the cluster chooses them, as OpenShift must.',
  ),
  securityContext: containerSecurity(
    'Security context of the controller container in place of ours as a whole; ours has no privilege, no capability and a root file system that is read-only.',
  ),
  hostNetwork: flag("Puts the controller pod into its node's network, where the API server can reach no pod otherwise.", false),
  dnsPolicy: v.optional(
    picked(
      ['', 'ClusterFirst', 'ClusterFirstWithHostNet', 'Default'],
      'DNS policy of the controller pod; empty: ClusterFirst, with hostNetwork ClusterFirstWithHostNet.',
    ),
    '',
  ),
  extraVolumes: podVolumes('Further volumes of the controller pod, as Kubernetes writes them.'),
  extraVolumeMounts: podVolumeMounts('Where the controller container has them: entries {name, mountPath, subPath, readOnly}.'),
  livenessProbe: probe('liveness', { initialDelaySeconds: 15, periodSeconds: 20 }),
  readinessProbe: probe('readiness', { initialDelaySeconds: 1, periodSeconds: 5 }),
  terminationGracePeriodSeconds: count(
    `Seconds until a controller pod that does not end is killed. It answers for ${defaultShutdownDelaySeconds} s after it was told to end, and then takes ${stopWithinSeconds} s at most.`,
    30,
    leastGraceSeconds,
    secondsOfDay,
  ),
  revisionHistoryLimit: count('Former versions of the pod that are kept for a rollback.', 10, 0, 1000),
  serviceAccount: v.optional(
    v.strictObject({
      create: flag("Creates the controller's ServiceAccount; with false it must be there.", true),
      name: optionalObjectName('Its name; empty: the full release name.'),
      annotations: annotations("Annotations of the controller's ServiceAccount."),
    }),
    {},
  ),
} as const
