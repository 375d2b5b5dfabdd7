/**
 * Writes the webhook's trust bundle when the certificate is mounted from a user's Secret: cert-manager's injector handles only its own.
 */
import { type Clock, pause } from '../platform/clock.ts'
import { asFault, isAbort } from '../platform/fault.ts'
import type { Kube } from '../kube/client.ts'
import type { Log } from '../platform/log/log.ts'
import type { CertificateKeeper, RenewedCertificates } from './serving.ts'
import { createCaBundleKeeper } from './ca-bundle.ts'

/** Check interval: applying the manifests again removes the caBundle. */
const pollIntervalMs = 15_000

/** Collaborators for keeping the bundle. */
export type KeepCaBundleDeps = { kube: Pick<Kube, 'get' | 'mergePatch'>; clock: Clock; log: Log }

/** Wraps a keeper so that, while it runs, the configuration `name` trusts its CAs. Failures to write are logged and retried. */
export function keepCaBundle({ kube, clock, log }: KeepCaBundleDeps, keeper: RenewedCertificates, name: string): CertificateKeeper {
  const trust = createCaBundleKeeper({ kube, clock }, name)
  const follow = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        const changed = await trust.follow(keeper.current().caBundle, signal)
        if (changed) log.info({ component: 'certificates', name }, 'webhook trusts the current CAs')
      } catch (error) {
        if (isAbort(error, signal)) return
        const { reason, message } = asFault(error)
        log.warn({ component: 'certificates', name, reason, message }, 'could not set the CA bundle of the webhook')
      }
      await pause(clock, pollIntervalMs, signal)
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
