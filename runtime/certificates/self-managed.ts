/**
 * Keeps the self-managed certificate in a Secret that all replicas share, and writes the webhook's trust bundle. Any replica may write; the
 * Secret's resourceVersion decides who was first.
 */
import type { Clock } from '../clock.ts'
import { asFault, Fault, isAbort } from '../fault.ts'
import type { Kube } from '../kube/client.ts'
import { type KubeObject, secretType } from '../kube/types.ts'
import type { Log } from '../log.ts'
import { type NextCertificates, nextCertificates, type StoredCertificates } from './rotation.ts'
import { fromSecretData, type SecretData, toSecretData } from './secret-data.ts'
import { type CertificateKeeper, createServing } from './serving.ts'
import { createCaBundleKeeper } from './ca-bundle.ts'

/** How often the Secret and the bundle are checked: another replica may have renewed, or somebody applied the manifests again. */
const lookEveryMs = 15_000
/** Replicas that write at the same time settle within a few rounds. */
const maxAttempts = 5

/** What keeping the certificate takes. */
export type SelfManagedDeps = { kube: Pick<Kube, 'get' | 'create' | 'mergePatch'>; clock: Clock; log: Log }

/** Where the certificate is kept, and whom it is for. */
export type SelfManagedOptions = {
  namespace: string
  secretName: string
  dnsNames: readonly string[]
  /** The MutatingWebhookConfiguration whose caBundle is kept current; undefined: there is none. */
  webhookConfiguration: string | undefined
}

/** Settles once there is a certificate to serve. Throws ApiUnavailable, Forbidden, Conflict, Rejected. */
export async function openSelfManaged(deps: SelfManagedDeps, options: SelfManagedOptions, signal: AbortSignal): Promise<CertificateKeeper> {
  const { clock, log } = deps
  let latest = await settle(deps, options, undefined, signal)
  const serving = createServing(servable(latest))
  const trust = createCaBundleKeeper(deps, options.webhookConfiguration)

  const look = async (own: AbortSignal): Promise<void> => {
    latest = await settle(deps, options, latest.stored, own)
    if (serving.show(servable(latest))) log.info({ component: 'certificates' }, 'certificate renewed')
    const changed = await trust.follow(latest.caBundle, own)
    if (changed) log.info({ component: 'certificates', name: options.webhookConfiguration ?? '' }, 'webhook trusts the present authorities')
  }

  return {
    current: serving.current,
    onChange: serving.onChange,
    isTrusted: trust.isTrusted,
    async run(own) {
      while (!own.aborted) {
        try {
          await look(own)
          await clock.wait(untilNextLook(latest.renewAt, clock.now()), own)
        } catch (error) {
          if (isAbort(error, own)) return
          const { reason, message } = asFault(error)
          log.warn({ component: 'certificates', reason, message }, 'certificate could not be looked after')
          await clock.wait(lookEveryMs, own).catch(() => {})
        }
      }
    },
  }
}

function untilNextLook(renewAt: Temporal.Instant, now: Temporal.Instant): number {
  return Math.min(lookEveryMs, Math.max(1000, renewAt.epochMilliseconds - now.epochMilliseconds))
}

function servable({ leaf, caBundle }: NextCertificates): { cert: string; key: string; caBundle: string } {
  return { cert: leaf.certificate, key: leaf.key, caBundle }
}

/** Reads and, if due, renews the Secret, so that all replicas agree. A deleted Secret is written again as it was known here. */
async function settle(
  { kube, clock }: SelfManagedDeps,
  { namespace, secretName, dnsNames }: SelfManagedOptions,
  known: StoredCertificates | undefined,
  signal: AbortSignal,
): Promise<NextCertificates> {
  const key = { namespace, name: secretName }
  for (let attempt = 1; ; attempt += 1) {
    const secret: (KubeObject & { data?: SecretData }) | undefined = await kube.get(secretType, key, signal)
    const stored = fromSecretData(secret?.data)
    const next = await nextCertificates(stored ?? known, { dnsNames, now: clock.now() })
    if (stored !== undefined && !next.changed) return next
    const data = toSecretData(next.stored, next.caBundle)
    try {
      if (secret === undefined) await kube.create(secretType, newSecret(key, data), signal)
      else await kube.mergePatch(secretType, key, { metadata: { resourceVersion: secret.metadata.resourceVersion }, data }, {}, signal)
      return next
    } catch (error) {
      if (!(error instanceof Fault) || error.reason !== 'Conflict' || attempt === maxAttempts) throw error
    }
  }
}

function newSecret({ namespace, name }: { namespace: string; name: string }, data: Record<string, string | null>): object {
  const present = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null))
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, type: 'kubernetes.io/tls', data: present }
}
