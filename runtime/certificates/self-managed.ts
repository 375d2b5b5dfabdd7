/**
 * Keeps the self-managed certificate in a Secret that all replicas share, and writes the webhook's trust bundle. Any replica may write; the
 * Secret's resourceVersion resolves conflicts.
 */
import type { V1Secret } from '@kubernetes/client-node'
import type { Clock } from '../platform/clock.ts'
import { asFault, Fault, isAbort } from '../platform/fault.ts'
import type { Kube } from '../kube/client.ts'
import { type New, secretType, type Stored } from '../kube/types.ts'
import type { Log } from '../platform/log/log.ts'
import type { Temporal } from '../platform/temporal.ts'
import { type NextCertificates, nextCertificates, type StoredCertificates } from './rotation.ts'
import { type CertificateKeeper, createServing } from './serving.ts'
import { createCaBundleKeeper } from './ca-bundle.ts'
import type { KeyPair } from './issue.ts'

/** How often the Secret and the bundle are checked: another replica may have renewed, or the manifests may have been applied again. */
const pollIntervalMs = 15_000
/** Replicas that write at the same time settle within a few rounds. */
const maxAttempts = 5

/** Collaborators for keeping the certificate. */
export type SelfManagedDeps = { kube: Pick<Kube, 'get' | 'create' | 'mergePatch'>; clock: Clock; log: Log }

/** Where the certificate is kept, and its names. */
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

  const poll = async (own: AbortSignal): Promise<void> => {
    latest = await settle(deps, options, latest.stored, own)
    if (serving.show(servable(latest))) log.info({ component: 'certificates' }, 'certificate renewed')
    const changed = await trust.follow(latest.caBundle, own)
    if (changed) log.info({ component: 'certificates', name: options.webhookConfiguration ?? '' }, 'webhook trusts the current CAs')
  }

  return {
    current: serving.current,
    onChange: serving.onChange,
    isTrusted: trust.isTrusted,
    async run(own) {
      while (!own.aborted) {
        try {
          await poll(own)
          await clock.wait(untilNextCheck(latest.renewAt, clock.now()), own)
        } catch (error) {
          if (isAbort(error, own)) return
          const { reason, message } = asFault(error)
          log.warn({ component: 'certificates', reason, message }, 'certificate renewal failed')
          await clock.wait(pollIntervalMs, own).catch(() => {})
        }
      }
    },
  }
}

function untilNextCheck(renewAt: Temporal.Instant, now: Temporal.Instant): number {
  return Math.min(pollIntervalMs, Math.max(1000, renewAt.epochMilliseconds - now.epochMilliseconds))
}

function servable({ leaf, caBundle }: NextCertificates): { cert: string; key: string; caBundle: string } {
  return { cert: leaf.certificate, key: leaf.key, caBundle }
}

/** Reads and, if due, renews the Secret, so that all replicas agree. A deleted Secret is written again with the known content. */
async function settle(
  { kube, clock }: SelfManagedDeps,
  { namespace, secretName, dnsNames }: SelfManagedOptions,
  known: StoredCertificates | undefined,
  signal: AbortSignal,
): Promise<NextCertificates> {
  const key = { namespace, name: secretName }
  for (let attempt = 1; ; attempt += 1) {
    const secret = await kube.get(secretType, key, signal)
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

function newSecret({ namespace, name }: { namespace: string; name: string }, data: Record<string, string | null>): New<Stored<V1Secret>> {
  const present = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null))
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, type: 'kubernetes.io/tls', data: present }
}

/** Values are base64. */
export type SecretData = Readonly<Record<string, string>>

const keys = {
  leaf: { certificate: 'tls.crt', key: 'tls.key' },
  authority: { certificate: 'authority.crt', key: 'authority.key' },
  next: { certificate: 'next-authority.crt', key: 'next-authority.key' },
} as const
const previousKey = 'previous-authority.crt'
/** For people and tools that expect it; never read here. */
const bundleKey = 'ca.crt'

/** Returns the certificates in the Secret; undefined if it lacks data for a renewal. */
export function fromSecretData(data: SecretData | undefined): StoredCertificates | undefined {
  const authority = readPair(data, keys.authority)
  const leaf = readPair(data, keys.leaf)
  if (authority === undefined || leaf === undefined) return undefined
  return { authority, next: readPair(data, keys.next), previous: readText(data, previousKey), leaf }
}

/** Returns a merge patch of `data`: unneeded keys are null. */
export function toSecretData({ authority, next, previous, leaf }: StoredCertificates, caBundle: string): Record<string, string | null> {
  return {
    [bundleKey]: encode(caBundle),
    ...writePair(leaf, keys.leaf),
    ...writePair(authority, keys.authority),
    ...writePair(next, keys.next),
    [previousKey]: previous === undefined ? null : encode(previous),
  }
}

type Names = { certificate: string; key: string }

function readPair(data: SecretData | undefined, names: Names): KeyPair | undefined {
  const [certificate, key] = [readText(data, names.certificate), readText(data, names.key)]
  return certificate === undefined || key === undefined ? undefined : { certificate, key }
}

function readText(data: SecretData | undefined, name: string): string | undefined {
  const value = data?.[name]
  return value === undefined || value === '' ? undefined : Buffer.from(value, 'base64').toString('utf8')
}

function writePair(pair: KeyPair | undefined, names: Names): Record<string, string | null> {
  return {
    [names.certificate]: pair === undefined ? null : encode(pair.certificate),
    [names.key]: pair === undefined ? null : encode(pair.key),
  }
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64')
}
