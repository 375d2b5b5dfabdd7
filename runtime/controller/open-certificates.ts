import { openMounted } from '../certificates/mounted.ts'
import { openSelfManaged } from '../certificates/self-managed.ts'
import type { CertificateKeeper } from '../certificates/serving.ts'
import type { Clock } from '../platform/clock.ts'
import type { Kube } from '../kube/client.ts'
import type { Log } from '../platform/log/log.ts'
import type { ControllerSettings } from '../settings/controller.ts'
import { keepCaBundle, awaitCaBundle } from '../certificates/ca-bundle.ts'

/** Opens the configured certificate: mounted, or issued and renewed here. Throws what reading or issuing it throws. */
export async function openCertificates(
  deps: { kube: Kube; clock: Clock; log: Log },
  { certificates, namespace, dnsNames, injection }: ControllerSettings,
  signal: AbortSignal,
): Promise<CertificateKeeper> {
  const webhookConfiguration = injection.enabled ? injection.webhookConfiguration : undefined
  if (certificates.kind === 'mounted') {
    const keeper = await openMounted(deps, { folder: certificates.folder })
    if (webhookConfiguration === undefined) return { ...keeper, isTrusted: () => true }
    // Otherwise cert-manager's injector writes the caBundle.
    const trusted = certificates.writesCaBundle ? keepCaBundle : awaitCaBundle
    return trusted(deps, keeper, webhookConfiguration)
  }
  return await openSelfManaged(deps, { namespace, secretName: certificates.secretName, dnsNames, webhookConfiguration }, signal)
}
