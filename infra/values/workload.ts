/**
 * The values for the controller's pods: nodes, user, volumes and probes. Pure.
 */
import * as v from 'valibot'
import { defaultShutdownDelaySeconds, stopWithinSeconds } from '../../runtime/settings/controller.ts'
import { annotations, count, flag, objectWith, optionalObjectName, podVolumeMounts, podVolumes } from './fields.ts'

const secondsOfDay = 86_400

const probe = (what: string, consequence: string, defaults: { initialDelaySeconds: number; periodSeconds: number }) =>
  v.optional(
    v.strictObject({
      initialDelaySeconds: count(`Seconds before the first ${what} probe.`, defaults.initialDelaySeconds, 0, secondsOfDay),
      periodSeconds: count(`Seconds between ${what} probes.`, defaults.periodSeconds, 1, secondsOfDay),
      timeoutSeconds: count(`Timeout of a ${what} probe, in seconds.`, 5, 1, secondsOfDay),
      failureThreshold: count(`Number of consecutive failures after which the ${consequence}.`, 3, 1, 1000),
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

/** The security context of a container. If set, it replaces the whole built-in one. */
export const containerSecurity = (description: string) => objectWith([...ofContainers, ...ofContainersAlone], description)

/** Seconds that a controller may take from SIGTERM to its end. */
export const minGraceSeconds = defaultShutdownDelaySeconds + stopWithinSeconds

const picked = <const Choices extends readonly string[]>(choices: Choices, description: string) =>
  v.pipe(v.picklist(choices), v.description(description))

/** The values of each Service: its type, and annotations, which load balancers and monitoring systems read. */
export const serviceValues = (what: string) => ({
  type: v.optional(picked(['ClusterIP', 'NodePort', 'LoadBalancer'], `Type of the ${what} Service.`), 'ClusterIP'),
  annotations: annotations(`Annotations of the ${what} Service.`),
})

export const workloadValues = {
  deploymentAnnotations: annotations('Annotations of the Deployment or StatefulSet of the controller.'),
  podSecurityContext: objectWith(
    [...ofContainers, ...ofPodsAlone],
    'Security context of the controller pod. If set, it replaces the whole built-in one, which sets the user and groups to 65532. Without runAsUser, runAsGroup and fsGroup, the cluster chooses them, as OpenShift requires.',
  ),
  securityContext: containerSecurity(
    'Security context of the controller container. If set, it replaces the whole built-in one, which disallows privilege escalation, drops all capabilities and makes the root file system read-only.',
  ),
  hostNetwork: flag('Runs the controller pod on the host network, for clusters whose API server cannot reach pods.', false),
  dnsPolicy: v.optional(
    picked(
      ['', 'ClusterFirst', 'ClusterFirstWithHostNet', 'Default'],
      'DNS policy of the controller pod. Defaults to ClusterFirst, and with hostNetwork to ClusterFirstWithHostNet.',
    ),
    '',
  ),
  extraVolumes: podVolumes('Extra volumes of the controller pod, as in the Kubernetes API.'),
  extraVolumeMounts: podVolumeMounts('Extra volume mounts of the controller container: entries {name, mountPath, subPath, readOnly}.'),
  livenessProbe: probe('liveness', 'container is restarted', { initialDelaySeconds: 15, periodSeconds: 20 }),
  readinessProbe: probe('readiness', 'pod is marked as not ready', { initialDelaySeconds: 1, periodSeconds: 5 }),
  terminationGracePeriodSeconds: count(
    `Seconds until a controller pod is killed if it is still running. After the termination signal it serves requests for ${defaultShutdownDelaySeconds} s and then exits within ${stopWithinSeconds} s.`,
    30,
    minGraceSeconds,
    secondsOfDay,
  ),
  revisionHistoryLimit: count('Number of old revisions to keep for rollbacks.', 10, 0, 1000),
  serviceAccount: v.optional(
    v.strictObject({
      create: flag('Creates the ServiceAccount of the controller. If false, it must already exist.', true),
      name: optionalObjectName('Name of the ServiceAccount. Defaults to the full name (the prefix of most object names).'),
      annotations: annotations("Annotations of the controller's ServiceAccount."),
    }),
    {},
  ),
} as const
