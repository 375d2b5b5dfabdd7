/**
 * The life of a controller process: waiting for the API server, becoming ready, detecting that it hangs, and shutting down.
 */
import { backoffMs, type Clock, pause, unlessAborted } from '../platform/clock.ts'
import { asFault } from '../platform/fault.ts'
import type { Kube } from '../kube/client.ts'
import type { Log } from '../platform/log/log.ts'

const firstRetryMs = 500
const longestRetryMs = 5_000

/**
 * An API server may start later than the controller, as after a restart of the whole cluster. Settles once the API server has returned its
 * version. Throws UnsupportedKubernetes, and the signal's reason.
 */
export async function waitForApiServer(
  { kube, clock, log }: { kube: Pick<Kube, 'requireVersion'>; clock: Clock; log: Log },
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 1; ; failures += 1) {
    try {
      await kube.requireVersion(signal)
      return
    } catch (error) {
      const fault = asFault(error)
      if (signal.aborted || fault.reason === 'UnsupportedKubernetes' || fault.reason === 'Unexpected') throw error
      log.warn({ reason: fault.reason, message: fault.message }, 'the API server is not available yet')
      await clock.wait(backoffMs(failures, firstRetryMs, longestRetryMs, clock.random()), signal)
    }
  }
}

/** An event loop that has not run for this long counts as stuck. */
const stuckAfterMs = 60_000
const beatMs = 1_000

/**
 * Detects an event loop that is blocked for minutes at a time; one that hangs answers no probe anyway. Checks each second until `signal`
 * aborts and reports how late each check was. The returned function returns why the process should be restarted; empty when it need not
 * be.
 */
export function watchEventLoop(
  clock: Pick<Clock, 'monotonicMs' | 'wait'>,
  delayed: (ms: number) => void,
  signal: AbortSignal,
): () => string[] {
  let lastMs = clock.monotonicMs()
  const beat = async (): Promise<void> => {
    while (!signal.aborted) {
      lastMs = clock.monotonicMs()
      await pause(clock, beatMs, signal)
      if (!signal.aborted) delayed(clock.monotonicMs() - lastMs - beatMs)
    }
  }
  void beat()
  return () => (clock.monotonicMs() - lastMs > stuckAfterMs ? ['the event loop is blocked'] : [])
}

/** The start-up state of a replica's parts. */
type Readiness = {
  /** Returns why the replica is not ready; empty when it is. */
  notReady(): string[]
  /** Returns why the objects of the cluster are not known yet; empty when they are. Unlike `notReady`, stays empty during shutdown. */
  notListed(): string[]
  isListed(): boolean
  /** Call when every permitted object has been listed. */
  listed(): void
  /** From now on readiness also depends on `isTrusted`: whether the API server has the CA of the certificate. */
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

/** The two signals of a shutdown. */
export type Ending = {
  /** Aborts on SIGTERM or SIGINT. */
  leaving: AbortSignal
  /** Aborts when no more calls are answered. */
  closing: AbortSignal
  /** Skips the delay: when nothing is served yet, or at a terminal. */
  now(reason: string): void
  /** Starts the shutdown, with the delay. */
  begin(reason: string): void
}

/**
 * First the controller becomes unready and stops leading but still answers, until all callers have noticed; then it closes its ports.
 * `delayMs`: from `leaving` to `closing`.
 */
export function createEnding(clock: Pick<Clock, 'wait'>, delayMs: number): Ending {
  const [leaving, closing] = [new AbortController(), new AbortController()]
  const now = (reason: string): void => {
    leaving.abort(new Error(reason))
    closing.abort(new Error(reason))
  }
  return {
    leaving: leaving.signal,
    closing: closing.signal,
    now,
    begin(reason) {
      leaving.abort(new Error(reason))
      clock.wait(delayMs, closing.signal).then(
        () => closing.abort(new Error(reason)),
        () => undefined,
      )
    },
  }
}
