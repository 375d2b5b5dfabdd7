/**
 * Finds the installations of the operator in a cluster, and reads their facts: objects, settings, and the permissions of their accounts.
 */
import type { V1Deployment, V1PodSpec, V1StatefulSet, V1SubjectAccessReview } from '@kubernetes/client-node'
import * as v from 'valibot'
import type {
  CertificateSecret,
  InstallationFacts,
  Lease,
  OperatorSettings,
  Permission,
  PermissionAnswer,
  Probed,
} from '../../fleet/check/facts.ts'
import { group } from '../../api/names.ts'
import { agentPermissions, controllerPermissions } from '../../fleet/check/permissions.ts'
import { type Json, leaseType, type ResourceType, secretType, type Stored, webhookConfigurationType } from '../../kube/types.ts'
import { jsonOrUndefined } from '../../platform/text/json.ts'
import { controllerSettingsVariable } from '../../settings/controller.ts'
import { tryAdmission, tryDelivery, type Followers, type ProbeClients } from './try-endpoints.ts'

/** The label of every object of an installation. */
export const ownLabel = { key: 'app.kubernetes.io/part-of', value: group } as const
const versionLabel = 'app.kubernetes.io/version'

/** The Deployment or StatefulSet of a controller. */
type Workload = Stored<V1Deployment | V1StatefulSet>

const workloadTypes: readonly ResourceType<Workload>[] = [
  { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true },
  { group: 'apps', version: 'v1', plural: 'statefulsets', kind: 'StatefulSet', namespaced: true },
]

/** The installations of a namespace, or of all, each with the facts of its Deployment, webhook and certificate. */
export async function findInstallations(
  clients: ProbeClients,
  namespace: string | undefined,
  followers: Followers,
): Promise<Probed<InstallationFacts[]>> {
  const workloads = await clients.probe(async () => {
    const found: Workload[] = []
    const within = namespace === undefined ? {} : { namespace }
    const options = { ...within, labelSelector: `${ownLabel.key}=${ownLabel.value}` }
    for (const type of workloadTypes)
      for await (const { items } of clients.kube.listPages(type, options, clients.signal)) found.push(...items)
    return found
  })
  if (workloads.kind !== 'seen') return workloads
  return { kind: 'seen', value: await Promise.all(workloads.value.map((workload) => readInstallation(clients, workload, followers))) }
}

async function readInstallation(
  clients: ProbeClients,
  { metadata, spec, status }: Workload,
  followers: Followers,
): Promise<InstallationFacts> {
  const namespace = metadata.namespace ?? ''
  const pod = spec?.template.spec
  const found = pod === undefined ? undefined : settingsOf(pod)
  const account = pod?.serviceAccountName ?? 'default'
  const facts = {
    name: metadata.name,
    namespace,
    version: metadata.labels?.[versionLabel],
    replicas: spec?.replicas ?? 1,
    readyReplicas: status?.readyReplicas ?? 0,
    settings: found?.settings,
  }
  const unknown = { kind: 'failed', message: 'the settings of the operator cannot be read' } as const
  if (found === undefined) {
    const notTested = { kind: 'notTested', why: unknown.message } as const
    return {
      ...facts,
      lease: undefined,
      permissions: unknown,
      certificate: unknown,
      bundles: undefined,
      admission: notTested,
      delivery: [notTested],
    }
  }
  const { settings, secretName, deliveryUrl } = found
  return {
    ...facts,
    lease: settings.leaderElection ? await clients.probe(() => readLease(clients, settings)) : undefined,
    permissions: await clients.probe(() => queryPermissions(clients, { account, settings }, followers)),
    certificate: await clients.probe(() => readCertificate(clients, settings.namespace, secretName)),
    bundles: settings.webhookConfiguration === undefined ? undefined : await clients.probe(() => readBundles(clients, settings)),
    admission: await tryAdmission(clients, settings, followers.syncs),
    delivery: await tryDelivery(clients, settings, deliveryUrl, followers.syncs),
  }
}

async function readLease({ kube, signal }: ProbeClients, { namespace, fullname }: OperatorSettings): Promise<Lease | undefined> {
  const lease = await kube.get(leaseType, { namespace, name: fullname }, signal)
  if (lease === undefined) return undefined
  const { holderIdentity: holder = '', renewTime: renewedAt, leaseDurationSeconds: durationSeconds = 0 } = lease.spec ?? {}
  return { holder: holder === '' ? undefined : holder, renewedAt, durationSeconds }
}

async function readCertificate({ kube, signal }: ProbeClients, namespace: string, name: string): Promise<CertificateSecret | undefined> {
  const secret = await kube.get(secretType, { namespace, name }, signal)
  const text = (key: string): string | undefined => {
    const value = secret?.data?.[key]
    return value === undefined || value === '' ? undefined : Buffer.from(value, 'base64').toString('utf8')
  }
  return secret === undefined ? undefined : { name, leaf: text('tls.crt'), authority: text('ca.crt') }
}

async function readBundles({ kube, signal }: ProbeClients, { webhookConfiguration = '' }: OperatorSettings): Promise<string[] | undefined> {
  const found = await kube.get(webhookConfigurationType, { name: webhookConfiguration }, signal)
  return found?.webhooks?.map(({ clientConfig }) => Buffer.from(clientConfig.caBundle ?? '', 'base64').toString('utf8'))
}

type Question = { account: { namespace: string; name: string }; right: Permission; namespace: string | undefined }

/** Maximum number of agent accounts to check; a fleet may have hundreds. */
const maxAgentAccounts = 50

/** Throws Forbidden if the user may not query the permissions of other accounts. */
async function queryPermissions(
  { kube, signal }: ProbeClients,
  { account, settings }: { account: string; settings: OperatorSettings },
  followers: Followers,
): Promise<PermissionAnswer[]> {
  const questions = [...ofController(account, settings), ...ofAgents(settings, followers)]
  return await Promise.all(
    questions.map(async ({ account: { namespace, name }, right, namespace: within }) => {
      const [resource = '', subresource] = right.resource.split('/')
      const attributes = {
        verb: right.verb,
        group: right.group,
        resource,
        ...(subresource === undefined ? {} : { subresource }),
        ...(right.name === undefined ? {} : { name: right.name }),
        ...(within === undefined ? {} : { namespace: within }),
      }
      const user = `system:serviceaccount:${namespace}:${name}`
      const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated']
      const review: Json<V1SubjectAccessReview> = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: { user, groups, resourceAttributes: attributes },
      }
      const answer = await kube.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', review, signal)
      const allowed = (answer as typeof review).status?.allowed === true
      return { account: `${namespace}/${name}`, right, namespace: within, allowed }
    }),
  )
}

function ofController(name: string, settings: OperatorSettings): Question[] {
  const { namespace, watchNamespaces } = settings
  const account = { namespace, name }
  const watched: (string | undefined)[] = watchNamespaces.length === 0 ? [undefined] : [...watchNamespaces]
  return controllerPermissions(settings).flatMap(({ where, ...right }) => {
    const namespaces = { cluster: [undefined], own: [namespace], watched }[where]
    return namespaces.map((within) => ({ account, right, namespace: within }))
  })
}

/** The accounts of the gateway pods in the namespaces that this installation watches. */
function ofAgents({ watchNamespaces }: OperatorSettings, { syncs, pods }: Followers): Question[] {
  const followed = new Set(
    syncs.map(({ namespace }) => namespace).filter((name) => watchNamespaces.length === 0 || watchNamespaces.includes(name)),
  )
  const accounts = new Map<string, { namespace: string; name: string }>()
  for (const { metadata, spec } of pods) {
    const namespace = metadata.namespace ?? ''
    const name = spec?.serviceAccountName ?? 'default'
    if (followed.has(namespace)) accounts.set(`${namespace}/${name}`, { namespace, name })
  }
  return [...accounts.values()]
    .slice(0, maxAgentAccounts)
    .flatMap((account) => agentPermissions.map((right) => ({ account, right, namespace: account.namespace })))
}

const deploymentSettings = v.object({
  namespace: v.string(),
  fullname: v.string(),
  leaderElection: v.optional(v.boolean(), true),
  watchNamespaces: v.optional(v.array(v.string()), []),
  watchLabelSelector: v.optional(v.object({ matchLabels: v.optional(v.record(v.string(), v.string()), {}) }), {}),
  certificates: v.object({ kind: v.string(), secretName: v.optional(v.string()), writesCaBundle: v.optional(v.boolean(), false) }),
  injection: v.object({ enabled: v.boolean(), webhookConfiguration: v.string() }),
  agent: v.object({ clusterRole: v.string(), autoBind: v.optional(v.boolean(), true) }),
  delivery: v.object({ url: v.string() }),
  receiver: v.object({ enabled: v.boolean(), hmacFile: v.optional(v.string()), tokenFile: v.optional(v.string()) }),
})

/** The pod volume that holds the certificate. */
const certificateVolume = 'certificate'

/** `secretName`: the Secret of the certificate. Undefined if the workload holds no such settings. */
export function settingsOf({
  containers,
  volumes = [],
}: Json<V1PodSpec>): { settings: OperatorSettings; secretName: string; deliveryUrl: string } | undefined {
  const variable = containers.flatMap(({ env = [] }) => env).find(({ name }) => name === controllerSettingsVariable)
  const parsed = v.safeParse(deploymentSettings, jsonOrUndefined(variable?.value ?? ''))
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
      keepsBundle: isSelfManaged || certificates.writesCaBundle,
      selfManaged: isSelfManaged,
      webhookConfiguration: injection.enabled ? injection.webhookConfiguration : undefined,
      agentRole: agent.clusterRole,
      bindsAgents: agent.autoBind,
      isReceiverOpen: receiver.enabled && receiver.hmacFile === undefined && receiver.tokenFile === undefined,
    },
  }
}
