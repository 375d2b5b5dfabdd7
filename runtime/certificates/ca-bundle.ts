/**
 * The CAs that the API server trusts for the admission webhook: writes them into the webhook's configuration, or waits until
 * cert-manager's injector has.
 */
import type { V1MutatingWebhook } from '@kubernetes/client-node'
import { type Clock, pause } from '../platform/clock.ts'
import type { Kube } from '../kube/client.ts'
import { type Json, webhookConfigurationType } from '../kube/types.ts'
import { asFault, isAbort, type Fault } from '../platform/fault.ts'
import type { Log } from '../platform/log/log.ts'
import { type CertificateKeeper, type RenewedCertificates, isSignedBy, readCertificate } from './serving.ts'
/** Collaborators for reading and patching a MutatingWebhookConfiguration. */
export type TrustDeps = { kube: Pick<Kube, 'get' | 'mergePatch'>; clock: Clock }

type Webhook = Json<V1MutatingWebhook>

/**
 * How long a replica that cannot write the trust bundle, or waits for it, stays unready. Admission fails during and after that, but agents
 * still need the content server.
 */
const patienceMs = 60_000

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
async function readCaBundles(kube: Pick<Kube, 'get'>, name: string, signal: AbortSignal): Promise<string[]> {
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

/** Check interval: applying the manifests again removes the caBundle. */
const pollIntervalMs = 15_000

/** Collaborators for keeping the bundle. */
type KeepCaBundleDeps = { kube: Pick<Kube, 'get' | 'mergePatch'>; clock: Clock; log: Log }

/**
 * For a certificate from a user's Secret: cert-manager's injector handles only its own. Wraps a keeper so that, while it runs, the
 * configuration `name` trusts its CAs. Failures to write are logged and retried.
 */
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

const injectorPollMs = 1_000

type Deps = { kube: Pick<Kube, 'get'>; clock: Clock; log: Log }

/**
 * Until cert-manager's injector has written the CA, each admission call fails, and a ready replica would let users create gateways that
 * are rejected. Wraps a keeper so that `isTrusted` reports whether every webhook of the configuration `name` trusts the CA of its
 * certificate. Stops checking once that is so, is forbidden, or after a minute.
 */
export function awaitCaBundle({ kube, clock, log }: Deps, keeper: RenewedCertificates, name: string): CertificateKeeper {
  const untilMs = clock.monotonicMs() + patienceMs
  let isDone = false
  let lastFault: Fault | undefined
  const warn = (reason: string, message: string): void =>
    log.warn({ component: 'certificates', name, reason, message }, 'it is unknown whether the API server trusts this certificate')
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
        const waited = "cert-manager's injector has not written the caBundle of the webhook; check its log"
        warn(lastFault?.reason ?? 'Timeout', lastFault?.message ?? waited)
        isDone = true
        return
      }
      await pause(clock, injectorPollMs, signal)
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
