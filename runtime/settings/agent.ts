/**
 * Defines the agent's settings: one table of environment variables that injection writes and the agent reads. Everything else comes at run
 * time from the downward API's files and its GatewaySync. Pure.
 */
import * as v from 'valibot'
import { Fault } from '../platform/fault.ts'
import { ports } from '../api/names.ts'
import { logLevels } from '../platform/log/level.ts'

/** Each setting and its environment variable. */
export const agentVariables = {
  podName: 'POD_NAME',
  podNamespace: 'POD_NAMESPACE',
  podUid: 'POD_UID',
  gatewaySync: 'CLUSTER_SYNC_GATEWAY_SYNC',
  dataDir: 'CLUSTER_SYNC_DATA_DIR',
  deliveryHost: 'CLUSTER_SYNC_DELIVERY_HOST',
  deliveryTokenFile: 'CLUSTER_SYNC_DELIVERY_TOKEN_FILE',
  podInfoDir: 'CLUSTER_SYNC_POD_INFO_DIR',
  modeArgument: 'CLUSTER_SYNC_MODE_ARGUMENT',
  modeEnvironment: 'CLUSTER_SYNC_MODE_ENVIRONMENT',
  port: 'CLUSTER_SYNC_PORT',
  probeDir: 'CLUSTER_SYNC_PROBE_DIR',
  logLevel: 'CLUSTER_SYNC_LOG_LEVEL',
  kubeconfig: 'KUBECONFIG',
} as const

/** Prefix of the copies of the gateway container's variables, so that none of them can override a setting. */
export const copiedVariablePrefix = 'CLUSTER_SYNC_COPY_'

/** The name of the agent's port, which a PodMonitor selects. */
export const agentPortName = 'cluster-sync'

/** Files that the downward API keeps current below `podInfoDir`. */
export const podInfoFiles = { annotations: 'annotations', labels: 'labels' } as const

/**
 * Files in `probeDir`, in place of a port. The first line identifies the agent's process: pid, space, clock ticks since boot at which it
 * started (empty if `/proc` does not show it). The rest is `ok` or the reason. A file whose process has ended is from a previous container,
 * because the folder outlives it. Each is rewritten at least every `renewedMs`; one older than `staleMs` means that the agent hangs. A
 * contract between releases from the first one on: the command that reads a file stays as the pod was created, and its agent may be of
 * another release.
 */
export const probeFiles = { start: 'start', live: 'live', ok: 'ok', renewedMs: 20_000, staleMs: 120_000 } as const

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(4096))
/** An empty variable counts as unset. */
const optionalText = v.optional(
  v.pipe(
    v.string(),
    v.maxLength(4096),
    v.transform((value) => (value === '' ? undefined : value)),
  ),
)

/** Paths are those inside the agent's container. */
export const agentSettings = v.object({
  podName: text,
  podNamespace: text,
  podUid: text,
  gatewaySync: v.pipe(optionalText, v.description('Absent: the pod names none; the agent follows the only one of its namespace.')),
  dataDir: v.pipe(optionalText, v.description('Where the data volume is mounted. Absent: the pod has none; the agent stays idle.')),
  deliveryHost: v.pipe(text, v.description('host:port of delivery; the agent sends its token nowhere else.')),
  deliveryTokenFile: text,
  podInfoDir: text,
  modeArgument: v.pipe(optionalText, v.description('-Dignition.config.mode=… of the gateway, expanded by the kubelet.')),
  modeEnvironment: v.pipe(optionalText, v.description("DEPLOYMENT_MODE of the gateway's container.")),
  port: v.optional(v.pipe(v.string(), v.regex(/^[0-9]{1,5}$/), v.transform(Number), v.maxValue(65_535)), String(ports.agent)),
  probeDir: v.pipe(optionalText, v.description('Where probes are answered in files; no port is opened then. Absent: at the port.')),
  logLevel: v.optional(v.picklist(logLevels), 'info'),
  kubeconfig: v.pipe(optionalText, v.description("Absent: the pod's own ServiceAccount.")),
})

export type AgentSettings = v.InferOutput<typeof agentSettings>

/** Throws InvalidConfiguration naming the variable. */
export function parseAgentSettings(environment: Readonly<Record<string, string | undefined>>): AgentSettings {
  const named = Object.entries(agentVariables).flatMap(([setting, variable]) => {
    const value = environment[variable]
    return value === undefined ? [] : [[setting, value] as const]
  })
  const parsed = v.safeParse(agentSettings, Object.fromEntries(named))
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  const setting = v.getDotPath(issue) ?? ''
  const variable = Object.hasOwn(agentVariables, setting) ? agentVariables[setting as keyof typeof agentVariables] : setting
  throw new Fault('InvalidConfiguration', `environment variable ${variable}: ${issue.message}`)
}

/** An entry of a container's `env`. */
export type EnvEntry = { name: string; value?: string; valueFrom?: Record<string, unknown> }

/** The settings that injection writes; the pod's own identity comes from the downward API. */
export type WrittenSettings = Partial<Record<Exclude<keyof typeof agentVariables, 'podName' | 'podNamespace' | 'podUid'>, string>>

/** The container's `env` for these settings; undefined ones are omitted. */
export function agentEnvironment(written: WrittenSettings): EnvEntry[] {
  const values = Object.entries(agentVariables).flatMap(([setting, name]): EnvEntry[] => {
    const value = written[setting as keyof WrittenSettings]
    return value === undefined ? [] : [{ name, value }]
  })
  return [
    fromField(agentVariables.podName, 'metadata.name'),
    fromField(agentVariables.podNamespace, 'metadata.namespace'),
    fromField(agentVariables.podUid, 'metadata.uid'),
    ...values,
  ]
}

function fromField(name: string, fieldPath: string): EnvEntry {
  return { name, valueFrom: { fieldRef: { fieldPath } } }
}
