/**
 * What a replica still lacks before it can do its work.
 */
import { unlessAborted } from '../../clock.ts'

/** What the parts of a replica report about their start. */
export type Readiness = {
  /** Why the replica is not ready; empty when it is. */
  notReady(): string[]
  /** Why the objects of the cluster are not known yet; empty when they are. Unlike `notReady`, stays empty while the replica shuts down. */
  notListed(): string[]
  isListed(): boolean
  /** To be called when every object that we may list has been listed. */
  listed(): void
  /** From now on readiness also depends on `isTrusted`: whether the API server knows which certificate to trust. */
  trustedWhen(isTrusted: () => boolean): void
  /** Settles once everything is listed, and with the signal. */
  whenListed(signal: AbortSignal): Promise<void>
}

/** `leaving`: fires when the replica begins to shut down. */
export function createReadiness(leaving: AbortSignal): Readiness {
  let isListed = false
  let isTrusted = (): boolean => false
  const listed = Promise.withResolvers<void>()
  const notListed = (): string[] => (isListed ? [] : ['the objects of the cluster have not been listed yet'])
  return {
    notReady: () => [
      ...notListed(),
      ...(isTrusted() ? [] : ['the API server has not been told yet which certificate to trust']),
      ...(leaving.aborted ? ['the controller is shutting down'] : []),
    ],
    notListed,
    isListed: () => isListed,
    listed() {
      isListed = true
      listed.resolve()
    },
    trustedWhen(tells) {
      isTrusted = tells
    },
    async whenListed(signal) {
      await unlessAborted(listed.promise, signal).catch(() => undefined)
    },
  }
}
