/**
 * Builds the volumes that an agent adds to the pod, each with its mount: its tokens, the downward API, files for probes. Secrets that its
 * GatewaySync names are read through the content server, so that a pod may be created before its GatewaySync. Pure.
 */
import { agentVariables, podInfoFiles } from '../settings/agent.ts'
import { deliveryToken } from '../api/names.ts'

/** Where client libraries expect the API token. The mount keeps the ServiceAccount plugin from adding its own. */
const apiTokenFolder = '/var/run/secrets/kubernetes.io/serviceaccount'
const folder = '/var/run/cluster-sync'

/** The lifetime that Kubernetes itself uses for such tokens; kubelets renew them at 80 %. */
const apiTokenSeconds = 3607

type AgentVolume = {
  volume: { name: string } & Record<string, unknown>
  mount: { name: string; mountPath: string; readOnly?: true }
  /** The agent's setting for it, and the path. */
  setting: Partial<Record<keyof typeof agentVariables, string>>
}

/** Where an agent without a port writes probe results. */
export const probeFolder = `${folder}/probes`

/** All are named `cluster-sync-…`; a name that the pod already uses (`taken`) gets a number. */
export function agentVolumes(taken: readonly string[], { withProbes }: { withProbes: boolean }): AgentVolume[] {
  const volumes = [deliveryTokenVolume(), apiTokenVolume(), podInfoVolume(), ...(withProbes ? [probesVolume()] : [])]
  return volumes.map((volume) => renamed(volume, freeName(volume.volume.name, taken)))
}

function deliveryTokenVolume(): AgentVolume {
  const { audience, expirySeconds } = deliveryToken
  const source = { serviceAccountToken: { audience, expirationSeconds: expirySeconds, path: 'token' } }
  return agentVolume(
    'delivery-token',
    `${folder}/delivery`,
    { projected: { sources: [source] } },
    { deliveryTokenFile: `${folder}/delivery/token` },
  )
}

function apiTokenVolume(): AgentVolume {
  const sources = [
    { serviceAccountToken: { expirationSeconds: apiTokenSeconds, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
  ]
  return agentVolume('api-token', apiTokenFolder, { projected: { sources } }, {})
}

function podInfoVolume(): AgentVolume {
  const items = [
    { path: podInfoFiles.annotations, fieldRef: { fieldPath: 'metadata.annotations' } },
    { path: podInfoFiles.labels, fieldRef: { fieldPath: 'metadata.labels' } },
  ]
  return agentVolume('pod-info', `${folder}/pod`, { downwardAPI: { items } }, { podInfoDir: `${folder}/pod` })
}

function probesVolume(): AgentVolume {
  const name = 'cluster-sync-probes'
  const emptyDir = { medium: 'Memory', sizeLimit: '1Mi' }
  return { volume: { name, emptyDir }, mount: { name, mountPath: probeFolder }, setting: { probeDir: probeFolder } }
}

function agentVolume(short: string, mountPath: string, source: Record<string, unknown>, setting: AgentVolume['setting']): AgentVolume {
  const name = `cluster-sync-${short}`
  return { volume: { name, ...source }, mount: { name, mountPath, readOnly: true }, setting }
}

function renamed({ volume, mount, setting }: AgentVolume, name: string): AgentVolume {
  return { volume: { ...volume, name }, mount: { ...mount, name }, setting }
}

function freeName(name: string, taken: readonly string[]): string {
  if (!taken.includes(name)) return name
  const numbers = taken.map((_, index) => `${name}-${index + 2}`)
  return numbers.find((candidate) => !taken.includes(candidate)) ?? `${name}-${taken.length + 2}`
}
