/**
 * Tells the API server which authorities to trust when it calls our admission webhook.
 */
import type { Clock } from '../clock.ts'
import type { Kube } from '../kube/client.ts'
import { type KubeObject, webhookConfigurationType } from '../kube/types.ts'

export type TrustDeps = { kube: Pick<Kube, 'get' | 'mergePatch'>; clock: Clock }

type Webhook = { clientConfig?: { caBundle?: string } & Record<string, unknown> } & Record<string, unknown>

/**
 * How long a replica stays unready that cannot tell the API server what to trust. Admission fails meanwhile and afterwards, but agents need
 * delivery all the same.
 */
const patienceMs = 60_000

export type CaBundleKeeper = {
  /** Lets the configuration trust this bundle; whether that changed it. Throws Conflict, Forbidden, ApiUnavailable. */
  follow(caBundle: string, signal: AbortSignal): Promise<boolean>
  /** Whether that has worked once, or has been tried for long enough. */
  isTrusted(): boolean
}

/** `name` undefined: there is no webhook, so nobody has to be told. */
export function createCaBundleKeeper({ kube, clock }: TrustDeps, name: string | undefined): CaBundleKeeper {
  const untilMs = clock.monotonicMs() + patienceMs
  let told = name === undefined
  return {
    async follow(caBundle, signal) {
      const changed = name !== undefined && (await patchCaBundle(kube, name, caBundle, signal))
      told = true
      return changed
    },
    isTrusted: () => told || clock.monotonicMs() >= untilMs,
  }
}

/** Whether it had to be changed; a configuration that does not exist has nobody to tell. Throws Conflict, Forbidden, ApiUnavailable. */
async function patchCaBundle(
  kube: Pick<Kube, 'get' | 'mergePatch'>,
  name: string,
  caBundle: string,
  signal: AbortSignal,
): Promise<boolean> {
  const found: (KubeObject & { webhooks?: Webhook[] }) | undefined = await kube.get(webhookConfigurationType, { name }, signal)
  const webhooks = trusting(found?.webhooks ?? [], Buffer.from(caBundle).toString('base64'))
  if (found === undefined || webhooks === undefined) return false
  // A merge patch replaces lists whole; with the version it replaces only the list that was read.
  const patch = { metadata: { resourceVersion: found.metadata.resourceVersion }, webhooks }
  await kube.mergePatch(webhookConfigurationType, { name }, patch, {}, signal)
  return true
}

/** The webhooks with this bundle, or undefined when all of them have it. */
function trusting(webhooks: readonly Webhook[], caBundle: string): Webhook[] | undefined {
  if (webhooks.every(({ clientConfig }) => clientConfig?.caBundle === caBundle)) return undefined
  return webhooks.map((webhook) => ({ ...webhook, clientConfig: { ...webhook.clientConfig, caBundle } }))
}
