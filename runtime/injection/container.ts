/**
 * Builds the agent's container: a native sidecar, so that the configuration is in place before the gateway starts, and the agent never
 * keeps a pod from ending. It meets the Pod Security Standard `restricted`. Pure.
 */
import { agentEnvironment, agentPortName, type EnvEntry, probeFiles, type WrittenSettings } from '../settings/agent.ts'
import { agentContainerName, nodeOptions, ports } from '../api/names.ts'
import type { Pod, VolumeMount } from './pod.ts'
import { gatewayContainer } from './volumes.ts'
import { amountOf } from '../api/quantity.ts'
import type { GatewaySyncSpec } from '../api/schema/spec.ts'
import type { ControllerSettings } from '../settings/controller.ts'

/** The settings chosen for this pod. */
export type AgentContainer = {
  image: string
  imagePullPolicy: string
  resources: object
  settings: WrittenSettings
  /** Entries besides the settings, in the order in which they expand. */
  env: readonly EnvEntry[]
  mounts: readonly (VolumeMount | { name: string; mountPath: string; readOnly?: true })[]
  /** The probe target; a folder instead of a port: the agent opens no port. */
  probes: { port: number } | { folder: string }
  /** Replaces the whole security context of `restricted`; empty: keeps it. */
  security: Readonly<Record<string, unknown>>
}

/**
 * Probed each second while the gateway waits for it. After 30 minutes the kubelet restarts the agent, which helps if it hangs and is
 * otherwise harmless. A readiness probe is left out: an agent that is down must not take its gateway out of service.
 */
const startup = { periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 1800 }
const liveness = { periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 }

/**
 * A command starts a process, which takes about 40 ms of processor time, so it runs less often; the startup limit is the same; an agent
 * that hangs is restarted after up to four minutes instead of one.
 */
const commands = {
  startup: { periodSeconds: 2, timeoutSeconds: 10, failureThreshold: 900 },
  liveness: { periodSeconds: 60, timeoutSeconds: 10, failureThreshold: 2 },
} as const

/**
 * Reads the file named by its argument, and trusts it while the process that wrote it runs: in a new sandbox of the pod the gateway waits
 * again, with the old files in the folder. The image has only Node; the kubelet's Event shows the output.
 */
const readAnswer = [
  "const fs=require('fs'),f=process.argv[1]",
  "const startOf=pid=>fs.readFileSync('/proc/'+pid+'/stat','latin1').split(') ').pop().split(' ')[19]",
  "let said='the agent does not respond'",
  `try{const[,pid,start,text]=/^(\\d+) (\\d*)\\n([^]*)$/.exec(fs.readFileSync(f,'utf8'))`,
  `if(Math.abs(Date.now()-fs.statSync(f).mtimeMs)<${probeFiles.staleMs}&&(start===''||startOf(pid)===start))said=text}catch{}`,
  'console.log(said)',
  `process.exitCode=said==='${probeFiles.ok}'?0:1`,
].join(';')

/** Returns the agent's init container to insert into the pod. */
export function agentContainer(pod: Pod, chosen: AgentContainer): Record<string, unknown> {
  const { image, imagePullPolicy, resources, settings, env, mounts, probes } = chosen
  return {
    name: agentContainerName,
    image,
    imagePullPolicy,
    restartPolicy: 'Always',
    env: [
      ...env,
      { name: 'NODE_OPTIONS', value: nodeOptions },
      ...agentEnvironment({ ...settings, ...('port' in probes ? { port: String(probes.port) } : {}) }),
    ],
    ...probesOf(probes),
    ...(Object.keys(resources).length === 0 ? {} : { resources }),
    securityContext: securityContext(pod, chosen.security),
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: mounts,
  }
}

function probesOf(probes: AgentContainer['probes']): Record<string, unknown> {
  if ('port' in probes) {
    const { port } = probes
    return {
      ports: [{ name: agentPortName, containerPort: port }],
      startupProbe: { httpGet: { path: '/startz', port }, ...startup },
      livenessProbe: { httpGet: { path: '/livez', port }, ...liveness },
    }
  }
  const exec = (file: string) => ({ exec: { command: ['node', '-e', readAnswer, `${probes.folder}/${file}`] } })
  return {
    startupProbe: { ...exec(probeFiles.start), ...commands.startup },
    livenessProbe: { ...exec(probeFiles.live), ...commands.liveness },
  }
}

/** Runs as the gateway's user, so that each can write the other's files: the pod's, unless the gateway's container sets another. */
function securityContext(pod: Pod, chosen: AgentContainer['security']): Record<string, unknown> {
  const own = gatewayContainer(pod)?.securityContext ?? {}
  const copied = ['runAsUser', 'runAsGroup', 'seLinuxOptions'].flatMap((key) => (own[key] === undefined ? [] : [[key, own[key]] as const]))
  return { ...Object.fromEntries(copied), ...(Object.keys(chosen).length === 0 ? defaultSecurity(pod) : chosen) }
}

/** What the Pod Security Standard `restricted` requires. */
function defaultSecurity(pod: Pod): Record<string, unknown> {
  const user = gatewayContainer(pod)?.securityContext?.['runAsUser'] ?? pod.spec.securityContext?.['runAsUser']
  return {
    // The kubelet does not start a container with runAsNonRoot as root.
    runAsNonRoot: user !== 0,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  }
}

/** Returns the agent's port, or the next one that no container of the pod declares, because they share one network. */
export function freePort(pod: Pod): number {
  const claimed = new Set(
    [...(pod.spec.initContainers ?? []), ...pod.spec.containers].flatMap((container) =>
      (container.ports ?? []).map((port) => port.containerPort),
    ),
  )
  let port: number = ports.agent
  while (claimed.has(port)) port += 1
  return port
}

type AgentSpec = NonNullable<GatewaySyncSpec['agent']>
type Quantities = Record<string, string | number>
/** As in a container's spec. */
type Resources = { requests?: Quantities | undefined; limits?: Quantities | undefined }

/** `warnings`: requested values that are not used. */
type AgentResources = { resources: Resources; warnings: string[] }

const known = ['cpu', 'memory', 'ephemeral-storage']

/**
 * The API server rejects a pod whose requests exceed its limits or name unknown resources, so such values are never passed on. The
 * GatewaySync's resources replace the installation's as a whole. By default a pod keeps its quality-of-service class: in a Guaranteed pod
 * the agent's requests equal its limits.
 */
export function agentResources(installed: ControllerSettings['agent'], spec: AgentSpec | undefined, pod: Pod): AgentResources {
  const fallback = usable(withoutSpec(installed, pod))
  if (spec?.resources === undefined) return fallback
  const requested = usable(spec.resources)
  const warnings = requested.warnings.map((warning) => `spec.agent.resources: ${warning}`)
  return exceeds(spec.resources) ? { resources: fallback.resources, warnings } : { resources: requested.resources, warnings }
}

function usable(resources: Resources): AgentResources {
  if (exceeds(resources)) return { resources: {}, warnings: ['a request exceeds its limit, so no value is used'] }
  const [requests, limits] = [resources.requests, resources.limits].map((given) => given && only(given))
  const foreign = [resources.requests, resources.limits].flatMap((given) =>
    Object.keys(given ?? {}).filter((name) => !isUsable(given, name)),
  )
  const warnings = [...new Set(foreign)].map((name) => `${name} is not supported; use ${known.join(', ')}`)
  return { resources: { ...(requests && { requests }), ...(limits && { limits }) }, warnings }
}

function only(given: Quantities): Quantities {
  return Object.fromEntries(Object.entries(given).filter(([name]) => isUsable(given, name)))
}

function isUsable(given: Quantities | undefined, name: string): boolean {
  const value = given?.[name]
  return known.includes(name) && value !== undefined && amount(value) >= 0
}

function exceeds({ requests = {}, limits = {} }: Resources): boolean {
  return known.some((name) => {
    const [request, limit] = [requests[name], limits[name]]
    return request !== undefined && limit !== undefined && amount(request) > amount(limit)
  })
}

/** Bytes or cores; NaN unless the quantity is valid and not negative. */
function amount(value: string | number): number {
  return amountOf(String(value).replace(/^\+/, ''))
}

function withoutSpec({ resources, guaranteed }: ControllerSettings['agent'], pod: Pod): Resources {
  // Containers together may not request more than their pod, and the remaining amount is unknown.
  if (hasOwnResources(pod)) return {}
  if (guaranteed === undefined || !isWholeGuaranteed(pod)) return resources
  const { requests, limits } = resources
  const { cpu, memory } = guaranteed
  return { requests: { ...requests, cpu, memory }, limits: { ...limits, cpu, memory } }
}

/** Whether the agent's resources would take the class Guaranteed from the pod. */
export function endsGuaranteed(pod: Pod, agent: Resources): boolean {
  return !hasOwnResources(pod) && isWholeGuaranteed(pod) && !isGuaranteed(agent)
}

/** Whether the pod has pod-level resources: then those of its containers do not decide its class. */
function hasOwnResources(pod: Pod): boolean {
  const { requests, limits } = pod.spec.resources ?? {}
  return Object.keys({ ...requests, ...limits }).length > 0
}

function isWholeGuaranteed(pod: Pod): boolean {
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers].every(({ resources }) => isGuaranteed(resources ?? {}))
}

/** A limit without a request implies an equal request; a limit of 0 counts as none. */
function isGuaranteed({ requests, limits }: Resources): boolean {
  return ['cpu', 'memory'].every((name) => {
    const limit = limits?.[name]
    return limit !== undefined && amount(limit) > 0 && (requests?.[name] === undefined || amount(requests[name]) === amount(limit))
  })
}
