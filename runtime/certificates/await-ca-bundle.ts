/**
 * Waits until cert-manager's injector has written the CA that the API server is to trust: until then each admission call fails, and a ready
 * replica would let users create gateways that are rejected.
 */
import { type Clock, pause } from '../platform/clock.ts'
import { asFault, type Fault, isAbort } from '../platform/fault.ts'
import type { Kube } from '../kube/client.ts'
import type { Log } from '../platform/log/log.ts'
import { patienceMs, readCaBundles } from './ca-bundle.ts'
import { isSignedBy, readCertificate } from './parse.ts'
import type { CertificateKeeper, RenewedCertificates } from './serving.ts'

const pollIntervalMs = 1_000

type Deps = { kube: Pick<Kube, 'get'>; clock: Clock; log: Log }

/**
 * Wraps a keeper so that `isTrusted` reports whether every webhook of the configuration `name` trusts the CA of its certificate. Stops
 * checking once that is so, is forbidden, or after a minute.
 */
export function awaitCaBundle({ kube, clock, log }: Deps, keeper: RenewedCertificates, name: string): CertificateKeeper {
  const untilMs = clock.monotonicMs() + patienceMs
  let isDone = false
  let lastFault: Fault | undefined
  const warn = (reason: string, message: string): void =>
    log.warn({ component: 'certificates', name, reason, message }, 'whether the API server trusts this certificate is not known')
  const isWritten = async (signal: AbortSignal): Promise<boolean> => {
    try {
      const bundles = await readCaBundles(kube, name, signal)
      lastFault = undefined
      return bundles.every((bundle) => vouches(bundle, keeper.current().cert))
    } catch (error) {
      if (isAbort(error, signal)) return false
      lastFault = asFault(error)
      const { reason, message } = lastFault
      if (reason !== 'Forbidden') return false
      // Roles of an earlier release: waiting would not help.
      warn(reason, message)
      return true
    }
  }
  const poll = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && !isDone) {
      isDone = await isWritten(signal)
      if (isDone) return
      if (clock.monotonicMs() >= untilMs) {
        const waited = "cert-manager's injector has not written the caBundle of the webhook; look at its log"
        warn(lastFault?.reason ?? 'Timeout', lastFault?.message ?? waited)
        isDone = true
        return
      }
      await pause(clock, pollIntervalMs, signal)
    }
  }
  return {
    current: keeper.current,
    onChange: keeper.onChange,
    isTrusted: () => isDone,
    async run(signal) {
      await Promise.all([keeper.run(signal), poll(signal)])
    },
  }
}

/** Whether one of the CAs, PEM, issued the certificate or is it. */
function vouches(bundle: string, cert: string): boolean {
  const leaf = readCertificate(cert)
  const authorities = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return authorities.some((text) => {
    const authority = readCertificate(text)
    return authority !== undefined && leaf !== undefined && (isSignedBy(leaf, authority) || text.trim() === cert.trim())
  })
}
