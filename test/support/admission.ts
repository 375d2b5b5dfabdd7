/**
 * The admission webhook on a real API server: it calls the real app over TLS, with certificates that the real certificate keeper issues,
 * stores and rotates. Each test has its own webhook, namespaces and label, because other tests of a run share the API server.
 */
import type { V1Pod } from '@kubernetes/client-node'
import { lifetimes } from '../../runtime/certificates/rotation.ts'
import { openSelfManaged } from '../../runtime/certificates/self-managed.ts'
import type { CertificateKeeper } from '../../runtime/certificates/serving.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { admissionApp, type AdmissionOutcome, mutatePath } from '../../runtime/injection/app.ts'
import type { FoundSync } from '../../runtime/injection/inject.ts'
import { createKube, type Kube, loadKube } from '../../runtime/kube/client.ts'
import { type New, podType, type Stored, webhookConfigurationType } from '../../runtime/kube/types.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { serve } from '../../runtime/http/serve.ts'
import { Temporal } from '../../runtime/platform/temporal.ts'
import { startControlPlane } from '../cluster/control-plane.ts'
import { objectsOf, one } from '../infra/installed.ts'
import { agentSettings, barePod, type PodShape } from './pods.ts'
import { steppedClock } from './stepped-clock.ts'
import { namespaceType, serviceAccountType, until } from './world.ts'

const day = 86_400_000
/** All calls to the API server fail after this time. */
const lifetimeMs = 840_000

const settings = {
  agent: agentSettings({
    image: 'clustersync/agent:1',
    imagePullPolicy: 'IfNotPresent',
    imagePullSecrets: [{ name: 'pull' }],
    resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } },
    guaranteed: { cpu: '500m', memory: '256Mi' },
    allowImageOverride: true,
    clusterRole: 'agent',
    autoBind: true,
  }),
  delivery: { url: 'https://delivery.operator.svc:9445' },
}

/** Spec of the GatewaySync that each pod follows until `found` is set otherwise. */
export const spec = {
  git: { repo: 'https://git.example/plant.git', ref: 'main' },
  sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  gateway: { api: { secretName: 'gateway-api' } },
}

export type Admission = {
  kube: Kube
  signal: AbortSignal
  /** The namespace of the keeper's Secret. */
  operator: string
  /** The name of the webhook configuration. */
  configuration: string
  keeper: CertificateKeeper
  /** Sets the keeper's clock and lets it run once. */
  moveTo(now: Temporal.Instant): Promise<void>
  /** Of all reviews so far. */
  outcomes: AdmissionOutcome[]
  /** The GatewaySync that admission finds for a pod. */
  found: { sync: FoundSync }
  /** Creates a namespace that the webhook covers. */
  namespace(prefix: string, labels?: Record<string, string>): Promise<string>
  /** The namespaceSelector of the webhook in the manifests. */
  namespaceSelector(requireLabel: boolean): object
  /** Creates the pod and returns it as admitted. Throws a Fault if it is refused. */
  admit(namespace: string, shape: PodShape): Promise<PodShape>
  /**
   * Resolves when a pod of the namespace is admitted with an agent: the API server applies a changed webhook within a fraction of a second.
   */
  admitSoon(namespace: string): Promise<void>
}

type Tap = { teardown(handler: () => unknown): void }

/** `alsoIn`: existing namespaces that the webhook also covers until the test ends. */
export async function openAdmission(t: Tap, alsoIn: readonly string[] = []): Promise<Admission> {
  const signal = AbortSignal.timeout(lifetimeMs)
  const plane = await startControlPlane()
  t.teardown(() => plane.stop())
  const kube = createKube(loadKube({ kubeconfig: plane.adminKubeconfig }), { clock: systemClock, userAgent: 'test' })
  t.teardown(() => kube.close())
  const operator = await makeNamespace(kube, 'operator', {}, signal)
  const configuration = `${operator}-injection`
  // A separate label name, not a value of a shared one: several tests may label one namespace at the same time.
  const label = `test.clustersync.io/${configuration}`
  // The first authority is old enough that its successor was due a day ago, so it is replaced now.
  const { clock, set, step } = steppedClock(Temporal.Now.instant().subtract({ milliseconds: (lifetimes.authority * 2) / 3 + day }))
  const options = { namespace: operator, secretName: 'serving', dnsNames: ['localhost'], webhookConfiguration: configuration }
  const keeper = await openSelfManaged({ kube, clock, log: silentLog }, options, signal)
  const outcomes: AdmissionOutcome[] = []
  const found: { sync: FoundSync } = { sync: { kind: 'found', name: 'plant', spec } }
  const observe = (outcome: AdmissionOutcome) => outcomes.push(outcome)
  const app = admissionApp({ notReady: () => [], settings, lookup: () => found.sync, clock: systemClock, log: silentLog, observe })
  const stop = new AbortController()
  const served = await serve({ app, port: 0, host: '::', tls: keeper.current(), log: silentLog }, stop.signal)
  keeper.onChange(served.exchange)
  for (const name of alsoIn) {
    await makeAccounts(kube, name, signal)
    const labeled = (value: string | null) => ({ metadata: { labels: { [label]: value } } })
    await kube.mergePatch(namespaceType, { name }, labeled('true'), {}, signal)
    t.teardown(() => kube.mergePatch(namespaceType, { name }, labeled(null), {}, AbortSignal.timeout(30_000)))
  }
  await kube.create(webhookConfigurationType, webhook(configuration, label, served.port), signal)
  const running = keeper.run(stop.signal)
  t.teardown(async () => {
    stop.abort(new Error('the test has ended'))
    await Promise.all([running, served.closed])
    await kube.delete(webhookConfigurationType, { name: configuration }, AbortSignal.timeout(30_000))
  })
  const moveTo = async (now: Temporal.Instant): Promise<void> => {
    set(now)
    await step()
  }
  // A day ago: the next authority is announced, the present one still signs.
  await moveTo(Temporal.Now.instant().subtract({ milliseconds: day }))
  const admit: Admission['admit'] = async (namespace, shape) => {
    const unique = shape.metadata['generateName'] === undefined ? { name: `gw-${Math.random().toString(36).slice(2, 10)}` } : {}
    const metadata = { ...shape.metadata, ...unique, namespace }
    return (await kube.create(
      podType,
      { apiVersion: 'v1', kind: 'Pod', ...shape, metadata } as unknown as New<Stored<V1Pod>>,
      signal,
    )) as unknown as PodShape
  }
  const namespace: Admission['namespace'] = (prefix, labels = {}) => makeNamespace(kube, prefix, { ...labels, [label]: 'true' }, signal)
  const admitSoon = (name: string) => untilInjected(() => admit(name, barePod()))
  await admitSoon(await namespace('first'))
  return {
    kube,
    signal,
    operator,
    configuration,
    keeper,
    moveTo,
    outcomes,
    found,
    namespace,
    namespaceSelector: (requireLabel) => webhook(configuration, label, 0, requireLabel).webhooks[0]?.namespaceSelector ?? {},
    admit,
    admitSoon,
  }
}

async function makeNamespace(kube: Kube, prefix: string, labels: Record<string, string>, signal: AbortSignal): Promise<string> {
  const name = `${prefix}-${Math.random().toString(36).slice(2, 8)}`
  await kube.create(namespaceType, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }, signal)
  await makeAccounts(kube, name, signal)
  return name
}

async function makeAccounts(kube: Kube, name: string, signal: AbortSignal): Promise<void> {
  for (const [account, extra] of [
    ['default', {}],
    ['no-token', { automountServiceAccountToken: false }],
  ] as const) {
    const object = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: name, name: account }, ...extra }
    await kube.create(serviceAccountType, object, signal).catch((error: unknown) => {
      // A controller manager creates the default account, and another test may use the same namespace.
      if (!(error instanceof Fault) || error.reason !== 'Conflict') throw error
    })
  }
}

/** The webhook as the manifests install it, except for its address and namespaces. */
function webhook(name: string, label: string, port: number, requireLabel = false) {
  const values = { webhook: { namespaceSelector: { requireLabel, matchLabels: { [label]: 'true' } } } }
  const installed = one(objectsOf(values), 'MutatingWebhookConfiguration')
  const clientConfig = { url: `https://localhost:${port}${mutatePath}` }
  return { ...installed, metadata: { name }, webhooks: installed.webhooks.map((hook) => ({ ...hook, clientConfig })) }
}

async function untilInjected(admit: () => Promise<PodShape>): Promise<void> {
  let refusal: unknown
  const look = async (): Promise<true | undefined> => {
    try {
      return agentsOf(await admit()).length === 1 ? true : undefined
    } catch (error) {
      refusal = error
      return undefined
    }
  }
  await until(look, 'a pod is admitted with an agent').catch((error: unknown) => {
    throw new Error(String(error), { cause: refusal })
  })
}

type Agent = { volumeMounts: { name: string; mountPath: string }[]; env: { name: string }[]; restartPolicy: string }

/** The agents among the containers of a pod. */
export function agentsOf(pod: PodShape): Agent[] {
  return (pod.spec.initContainers ?? []).filter(({ name }) => name === 'cluster-sync-agent') as unknown as Agent[]
}

/** A copy of a pod with a change applied. */
export function changed(shape: PodShape, change: (shape: PodShape) => void): PodShape {
  const copy = structuredClone(shape)
  change(copy)
  return copy
}
