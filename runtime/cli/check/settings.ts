/**
 * What the manifests told the controller: read from its workload, without refusing what another release wrote into it.
 */
import * as v from 'valibot'
import type { OperatorSettings } from '../../fleet/check/facts.ts'
import { jsonOrUndefined } from '../../json.ts'
import { controllerSettingsVariable } from '../../settings.ts'

/** The part of a Deployment or StatefulSet that leads to the settings of its controller. */
export type Workload = {
  replicas?: number
  template?: {
    spec?: {
      serviceAccountName?: string
      containers?: { env?: { name: string; value?: string }[] }[]
      volumes?: { name: string; secret?: { secretName?: string } }[]
    }
  }
}

const told = v.object({
  namespace: v.string(),
  fullname: v.string(),
  leaderElection: v.optional(v.boolean(), true),
  watchNamespaces: v.optional(v.array(v.string()), []),
  watchLabelSelector: v.optional(v.object({ matchLabels: v.optional(v.record(v.string(), v.string()), {}) }), {}),
  certificates: v.object({ kind: v.string(), secretName: v.optional(v.string()), tellsWebhook: v.optional(v.boolean(), false) }),
  injection: v.object({ enabled: v.boolean(), webhookConfiguration: v.string() }),
  agent: v.object({ clusterRole: v.string(), autoBind: v.optional(v.boolean(), true) }),
  delivery: v.object({ url: v.string() }),
  receiver: v.object({ enabled: v.boolean(), hmacFile: v.optional(v.string()), tokenFile: v.optional(v.string()) }),
})

/** The volume of the pod that a certificate is mounted from. */
const certificateVolume = 'certificate'

/** `secretName`: of the certificate. Undefined where the workload holds no such settings. */
export function settingsOf({ template }: Workload): { settings: OperatorSettings; secretName: string; deliveryUrl: string } | undefined {
  const { containers = [], volumes = [] } = template?.spec ?? {}
  const variable = containers.flatMap(({ env = [] }) => env).find(({ name }) => name === controllerSettingsVariable)
  const parsed = v.safeParse(told, jsonOrUndefined(variable?.value ?? ''))
  if (!parsed.success) return undefined
  const { namespace, fullname, leaderElection, watchNamespaces, watchLabelSelector, certificates, injection, agent, delivery, receiver } =
    parsed.output
  const isSelfManaged = certificates.kind === 'selfManaged'
  const mounted = volumes.find(({ name }) => name === certificateVolume)?.secret?.secretName
  return {
    secretName: certificates.secretName ?? mounted ?? `${fullname}-certificate`,
    deliveryUrl: delivery.url,
    settings: {
      namespace,
      fullname,
      leaderElection,
      watchNamespaces,
      podLabels: watchLabelSelector.matchLabels,
      keepsBundle: isSelfManaged || certificates.tellsWebhook,
      selfManaged: isSelfManaged,
      webhookConfiguration: injection.enabled ? injection.webhookConfiguration : undefined,
      agentRole: agent.clusterRole,
      bindsAgents: agent.autoBind,
      isReceiverOpen: receiver.enabled && receiver.hmacFile === undefined && receiver.tokenFile === undefined,
    },
  }
}
