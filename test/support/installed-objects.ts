/** The objects of an installation, adapted to a machine without pods and Services, and the pods of gateways. */
import type { New, Stored } from '../../runtime/kube/types.ts'
import type { V1Pod } from '@kubernetes/client-node'
import path from 'node:path'
import type { Simulator } from '../../examples/simulator/simulator.ts'
import { podAnnotations } from '../../runtime/api/names.ts'
import { type ControllerSettingsInput, controllerSettingsVariable } from '../../runtime/settings/controller.ts'
import type { Manifest } from './manifest.ts'
import type { Ports } from './ports.ts'

export type GatewayOptions = {
  account: string
  simulator: Simulator
  dataDir: string
  profile?: string
  mode?: string
  /** The GatewaySync that the pod names. */
  follows?: string
  labels?: Record<string, string>
}

/** The controller's account, and the settings and OpenTelemetry variables of its Deployment. */
export function deployed(manifests: readonly Manifest[]): {
  account: string
  settings: ControllerSettingsInput
  tracing: Record<string, string>
} {
  const { spec } = manifests.find(({ kind }) => kind === 'Deployment') as Manifest & {
    spec: { template: { spec: { serviceAccountName: string; containers: { env: { name: string; value?: string }[] }[] } } }
  }
  const { serviceAccountName, containers } = spec.template.spec
  const env = containers[0]?.env ?? []
  const written = env.find(({ name }) => name === controllerSettingsVariable)?.value ?? ''
  const tracing = Object.fromEntries(env.flatMap(({ name, value }) => (name.startsWith('OTEL_') ? [[name, value ?? '']] : [])))
  return { account: serviceAccountName, settings: JSON.parse(written) as ControllerSettingsInput, tracing }
}

/** Without a Service network the API server needs the address. */
export function reachable(manifest: Manifest, port: number): Manifest {
  if (manifest.kind !== 'MutatingWebhookConfiguration') return manifest
  const webhooks = (manifest['webhooks'] as Record<string, unknown>[]).map((webhook) => ({
    ...webhook,
    clientConfig: { url: `https://localhost:${port}/mutate` },
  }))
  return { ...manifest, webhooks }
}

/** The settings of the manifests, except for differences outside a pod: addresses, ports, folders. */
export function onThisMachine(settings: ControllerSettingsInput, folder: string, ports: Ports, tokenFile: string): ControllerSettingsInput {
  return {
    ...settings,
    host: '127.0.0.1',
    ports,
    source: { ...settings.source, folder: path.join(folder, 'mirrors') },
    dnsNames: ['localhost', ...settings.dnsNames],
    receiver: { ...settings.receiver, tokenFile },
    ...(settings.statusPage && { statusPage: statusPageHere(settings.statusPage, path.dirname(tokenFile)) }),
    // One folder per receiver beside the token, in place of the mounted Secret.
    notifications:
      settings.notifications?.map((one) => ({ ...one, folder: path.join(path.dirname(tokenFile), 'notifications', one.name) })) ?? [],
  }
}

/** The secret of the page's proxy and the kubeconfigs of other clusters are beside the token, in place of the mounted Secrets. */
function statusPageHere(
  { proxy, clusters = [], ...page }: NonNullable<ControllerSettingsInput['statusPage']>,
  folder: string,
): NonNullable<ControllerSettingsInput['statusPage']> {
  return {
    ...page,
    clusters: clusters.map((one) => ({ ...one, kubeconfigFile: path.join(folder, `cluster-${one.name}`) })),
    ...(proxy && { proxy: { ...proxy, secretFile: path.join(folder, 'page-proxy-secret') } }),
  }
}

/** A pod as its owner writes it, before admission. */
export function gatewayPod(
  namespace: string,
  name: string,
  { account, profile, mode, follows, labels = {} }: GatewayOptions,
): New<Stored<V1Pod>> {
  const annotations = {
    [podAnnotations.inject]: 'true',
    ...(profile === undefined ? {} : { [podAnnotations.profile]: profile }),
    ...(follows === undefined ? {} : { [podAnnotations.gatewaySync]: follows }),
  }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, annotations, labels },
    spec: {
      serviceAccountName: account,
      containers: [
        {
          name: 'gateway',
          image: 'gateway:8.3',
          args: ['-n', name, '--', ...(mode === undefined ? [] : [`-Dignition.config.mode=${mode}`])],
          volumeMounts: [{ name: 'data', mountPath: '/usr/local/bin/ignition/data' }],
        },
      ],
      volumes: [{ name: 'data', emptyDir: {} }],
    },
  }
}
