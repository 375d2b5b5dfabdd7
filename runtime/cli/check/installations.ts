/**
 * Finds the installations of the product in a cluster, and what is to be known of each.
 */
import type { CertificateSecret, InstallationFacts, Lease, Looked, OperatorSettings } from '../../fleet/check/facts.ts'
import { group } from '../../gatewaysync/names.ts'
import { type KubeObject, leaseType, type ResourceType, secretType, webhookConfigurationType } from '../../kube/types.ts'
import { askRights } from './ask-rights.ts'
import type { Followers, Looking } from './looking.ts'
import { settingsOf, type Workload } from './settings.ts'
import { tryAdmission } from './try-admission.ts'
import { tryDelivery } from './try-delivery.ts'

/** Every object of an installation has it. */
export const ownLabel = { key: 'app.kubernetes.io/part-of', value: group } as const
const versionLabel = 'app.kubernetes.io/version'

const workloadTypes: readonly ResourceType[] = [
  { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true },
  { group: 'apps', version: 'v1', plural: 'statefulsets', kind: 'StatefulSet', namespaced: true },
]

/** The installations of a namespace, or of all, each with what its Deployment, its webhook and its certificate say. */
export async function findInstallations(
  looking: Looking,
  namespace: string | undefined,
  followers: Followers,
): Promise<Looked<InstallationFacts[]>> {
  const workloads = await looking.look(async () => {
    const found: KubeObject[] = []
    const within = namespace === undefined ? {} : { namespace }
    const options = { ...within, labelSelector: `${ownLabel.key}=${ownLabel.value}` }
    for (const type of workloadTypes)
      for await (const { items } of looking.kube.listPages(type, options, looking.signal)) found.push(...items)
    return found
  })
  if (workloads.kind !== 'seen') return workloads
  return { kind: 'seen', value: await Promise.all(workloads.value.map((workload) => readInstallation(looking, workload, followers))) }
}

async function readInstallation(looking: Looking, object: KubeObject, followers: Followers): Promise<InstallationFacts> {
  const { metadata } = object
  const namespace = metadata.namespace ?? ''
  const workload = (object.spec ?? {}) as Workload
  const { readyReplicas = 0 } = (object.status ?? {}) as { readyReplicas?: number }
  const found = settingsOf(workload)
  const account = workload.template?.spec?.serviceAccountName ?? 'default'
  const facts = {
    name: metadata.name,
    namespace,
    version: metadata.labels?.[versionLabel],
    replicas: workload.replicas ?? 1,
    readyReplicas,
    settings: found?.settings,
  }
  const unknown = { kind: 'failed', message: 'the settings of the operator cannot be read' } as const
  if (found === undefined) {
    const notAsked = { kind: 'notAsked', why: unknown.message } as const
    return {
      ...facts,
      lease: undefined,
      rights: unknown,
      certificate: unknown,
      bundles: undefined,
      admission: notAsked,
      delivery: [notAsked],
    }
  }
  const { settings, secretName, deliveryUrl } = found
  return {
    ...facts,
    lease: settings.leaderElection ? await looking.look(() => readLease(looking, settings)) : undefined,
    rights: await looking.look(() => askRights(looking, { account, settings }, followers)),
    certificate: await looking.look(() => readCertificate(looking, settings.namespace, secretName)),
    bundles: settings.webhookConfiguration === undefined ? undefined : await looking.look(() => readBundles(looking, settings)),
    admission: await tryAdmission(looking, settings, followers.syncs),
    delivery: await tryDelivery(looking, settings, deliveryUrl, followers.syncs),
  }
}

async function readLease({ kube, signal }: Looking, { namespace, fullname }: OperatorSettings): Promise<Lease | undefined> {
  const lease = await kube.get(leaseType, { namespace, name: fullname }, signal)
  if (lease === undefined) return undefined
  const spec = (lease.spec ?? {}) as { holderIdentity?: string | null; renewTime?: string; leaseDurationSeconds?: number }
  const holder = spec.holderIdentity ?? ''
  return { holder: holder === '' ? undefined : holder, renewedAt: spec.renewTime, durationSeconds: spec.leaseDurationSeconds ?? 0 }
}

async function readCertificate({ kube, signal }: Looking, namespace: string, name: string): Promise<CertificateSecret | undefined> {
  const secret = (await kube.get(secretType, { namespace, name }, signal)) as { data?: Record<string, string> } | undefined
  const text = (key: string): string | undefined => {
    const value = secret?.data?.[key]
    return value === undefined || value === '' ? undefined : Buffer.from(value, 'base64').toString('utf8')
  }
  return secret === undefined ? undefined : { name, leaf: text('tls.crt'), authority: text('ca.crt') }
}

async function readBundles({ kube, signal }: Looking, { webhookConfiguration = '' }: OperatorSettings): Promise<string[] | undefined> {
  const found = (await kube.get(webhookConfigurationType, { name: webhookConfiguration }, signal)) as
    { webhooks?: { clientConfig?: { caBundle?: string } }[] } | undefined
  return found?.webhooks?.map(({ clientConfig }) => Buffer.from(clientConfig?.caBundle ?? '', 'base64').toString('utf8'))
}
