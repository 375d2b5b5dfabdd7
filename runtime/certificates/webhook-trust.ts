/**
 * Tells the API server which authorities to trust when it calls our admission webhook.
 */
import type { Kube } from '../kube/client.ts'
import { type KubeObject, webhookConfigurationType } from '../kube/types.ts'

type Webhook = { clientConfig?: { caBundle?: string } & Record<string, unknown> } & Record<string, unknown>

/** Whether it had to be changed; a configuration that does not exist has nobody to tell. Throws Conflict, Forbidden, ApiUnavailable. */
export async function trustIn(
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
