/**
 * Tracks what a replica lacks before it is ready.
 */
import { unlessAborted } from '../../platform/clock.ts'

/** The start-up state of a replica's parts. */
export type Readiness = {
  /** Returns why the replica is not ready; empty when it is. */
  notReady(): string[]
  /** Returns why the objects of the cluster are not known yet; empty when they are. Unlike `notReady`, stays empty during shutdown. */
  notListed(): string[]
  isListed(): boolean
  /** Call when every permitted object has been listed. */
  listed(): void
  /** From now on readiness also depends on `isTrusted`: whether the API server knows which certificate to trust. */
  trustedWhen(isTrusted: () => boolean): void
  /** Settles once everything is listed, or when the signal aborts. */
  whenListed(signal: AbortSignal): Promise<void>
}

/** `leaving`: aborts when the replica begins to shut down. */
export function createReadiness(leaving: AbortSignal): Readiness {
  let isListed = false
  let isTrusted = (): boolean => false
  const listed = Promise.withResolvers<void>()
  const notListed = (): string[] => (isListed ? [] : ['the objects of the cluster have not been listed yet'])
  return {
    notReady: () => [
      ...notListed(),
      ...(isTrusted() ? [] : ['the API server does not have the CA bundle of the webhook yet']),
      ...(leaving.aborted ? ['the controller is shutting down'] : []),
    ],
    notListed,
    isListed: () => isListed,
    listed() {
      isListed = true
      listed.resolve()
    },
    trustedWhen(isTrustedNow) {
      isTrusted = isTrustedNow
    },
    async whenListed(signal) {
      await unlessAborted(listed.promise, signal).catch(() => undefined)
    },
  }
}
