/**
 * Tells the API server whom to trust when the certificate is mounted and nobody else does: cert-manager's injector only knows its own.
 */
import { type Clock, pause } from '../clock.ts'
import { asFault, isAbort } from '../fault.ts'
import type { Kube } from '../kube/client.ts'
import type { Log } from '../log.ts'
import type { CertificateKeeper, RenewedCertificates } from './serving.ts'
import { createCaBundleKeeper } from './ca-bundle.ts'

/** Someone may have applied the manifests again, which have no caBundle. */
const lookEveryMs = 15_000

export type KeepCaBundleDeps = { kube: Pick<Kube, 'get' | 'mergePatch'>; clock: Clock; log: Log }

/** The same keeper, whose authorities a MutatingWebhookConfiguration follows while it runs. Outlives failures of writing them. */
export function keepCaBundle({ kube, clock, log }: KeepCaBundleDeps, keeper: RenewedCertificates, name: string): CertificateKeeper {
  const trust = createCaBundleKeeper({ kube, clock }, name)
  const follow = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        const changed = await trust.follow(keeper.current().caBundle, signal)
        if (changed) log.info({ component: 'certificates', name }, 'webhook trusts the present authorities')
      } catch (error) {
        if (isAbort(error, signal)) return
        const { reason, message } = asFault(error)
        log.warn({ component: 'certificates', name, reason, message }, 'webhook could not be told whom to trust')
      }
      await pause(clock, lookEveryMs, signal)
    }
  }
  return {
    current: keeper.current,
    onChange: keeper.onChange,
    isTrusted: trust.isTrusted,
    async run(signal) {
      await Promise.all([keeper.run(signal), follow(signal)])
    },
  }
}
