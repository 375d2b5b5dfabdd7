/**
 * Writes the CAs that the API server trusts for the admission webhook.
 */
import type { V1MutatingWebhook } from '@kubernetes/client-node'
import type { Clock } from '../platform/clock.ts'
import type { Kube } from '../kube/client.ts'
import { type Json, webhookConfigurationType } from '../kube/types.ts'

/** Collaborators for reading and patching a MutatingWebhookConfiguration. */
export type TrustDeps = { kube: Pick<Kube, 'get' | 'mergePatch'>; clock: Clock }

type Webhook = Json<V1MutatingWebhook>

/**
 * How long a replica that cannot write the trust bundle, or waits for it, stays unready. Admission fails during and after that, but agents
 * still need the content server.
 */
export const patienceMs = 60_000

/** Keeps the `caBundle` of one webhook configuration. */
export type CaBundleKeeper = {
  /** Writes this bundle (PEM) into the configuration. Returns whether that changed it. Throws Conflict, Forbidden, ApiUnavailable. */
  follow(caBundle: string, signal: AbortSignal): Promise<boolean>
  /** Whether that has succeeded once, or has been tried for a minute. */
  isTrusted(): boolean
}

/** `name`: of the MutatingWebhookConfiguration; undefined: there is none, and nothing is written. */
export function createCaBundleKeeper({ kube, clock }: TrustDeps, name: string | undefined): CaBundleKeeper {
  const untilMs = clock.monotonicMs() + patienceMs
  let isKnown = name === undefined
  return {
    async follow(caBundle, signal) {
      const changed = name !== undefined && (await patchCaBundle(kube, name, caBundle, signal))
      isKnown = true
      return changed
    },
    isTrusted: () => isKnown || clock.monotonicMs() >= untilMs,
  }
}

/** Returns the bundle of each webhook, PEM, empty if there is none; a missing configuration has none. Throws Forbidden, ApiUnavailable. */
export async function readCaBundles(kube: Pick<Kube, 'get'>, name: string, signal: AbortSignal): Promise<string[]> {
  const found = await kube.get(webhookConfigurationType, { name }, signal)
  return (found?.webhooks ?? []).map(({ clientConfig }) => Buffer.from(clientConfig.caBundle ?? '', 'base64').toString())
}

/** Returns whether it was changed; a missing configuration counts as correct. Throws Conflict, Forbidden, ApiUnavailable. */
async function patchCaBundle(
  kube: Pick<Kube, 'get' | 'mergePatch'>,
  name: string,
  caBundle: string,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await kube.get(webhookConfigurationType, { name }, signal)
  const webhooks = trusting(found?.webhooks ?? [], Buffer.from(caBundle).toString('base64'))
  if (found === undefined || webhooks === undefined) return false
  // A merge patch replaces whole lists; the resourceVersion ensures that it replaces the list that was read.
  const patch = { metadata: { resourceVersion: found.metadata.resourceVersion }, webhooks }
  await kube.mergePatch(webhookConfigurationType, { name }, patch, {}, signal)
  return true
}

/** Returns the webhooks with this bundle, or undefined when all of them have it. */
function trusting(webhooks: readonly Webhook[], caBundle: string): Webhook[] | undefined {
  if (webhooks.every(({ clientConfig }) => clientConfig.caBundle === caBundle)) return undefined
  return webhooks.map((webhook) => ({ ...webhook, clientConfig: { ...webhook.clientConfig, caBundle } }))
}
