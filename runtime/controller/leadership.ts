/**
 * Elects the leader: this replica while it holds the Lease, otherwise another one that it connects to for missing content.
 */
import type { CertificateKeeper } from '../certificates/serving.ts'
import type { Clock } from '../platform/clock.ts'
import type { ControllerConfig } from '../settings/environment.ts'
import { addressOf, type ForwardToLeader, createForwarding, readAddress } from '../content/server/forward.ts'
import { createContact } from '../content/server/leader-connection.ts'
import type { Kube } from '../kube/client.ts'
import type { Confirm, Lead } from '../kube/lease/hold.ts'
import { runWithLease } from '../kube/lease/run.ts'
import type { Log } from '../platform/log/log.ts'
import type { Metrics } from '../telemetry/metrics/metrics.ts'
import { createCommitValidation } from '../reconcile/commit-validation.ts'
import { createSignatureCheck } from '../reconcile/signature-check.ts'
import type { Tracing } from '../telemetry/tracing/trace.ts'
import type { Captures } from './captures/captures.ts'
import { type LeaderDeps, runLeader } from './lead/leader.ts'
import type { Parts } from './parts.ts'

/** This replica's part in the election. */
export type Leadership = {
  /** Returns the name of this replica while it leads. */
  leads(): string | undefined
  /** Returns the client of the leading replica; undefined when this one leads or the leader is unknown. */
  leader(): ForwardToLeader | undefined
  /** Stands by and leads alternately until `signal` aborts; then releases the Lease. */
  run(signal: AbortSignal): Promise<void>
}

type Deps = {
  kube: Kube
  /** A client only for Lease and status, with its own connections. */
  leading: Kube
  parts: Parts
  captures: Captures
  metrics: Metrics
  certificates: CertificateKeeper
  tracing: Tracing
  clock: Clock
  log: Log
}

/** Does nothing before `run`. */
export function createLeadership(deps: Deps, config: ControllerConfig): Leadership {
  const { leading, metrics, certificates, clock, log } = deps
  const { settings, identity, podIP } = config
  const peers = { serverName: new URL(settings.delivery.url).hostname, caBundle: () => certificates.current().caBundle }
  const forwardTo = createForwarding({ ...peers, log })
  let leaderAddress: string | undefined
  let isLeading = false

  const lead: Lead = async (signal, confirm) => {
    isLeading = true
    metrics.leading(true)
    try {
      await runLeader(leaderDeps({ ...deps, kube: fenced(deps.kube, confirm), leading: fenced(leading, confirm) }, config), signal)
    } finally {
      isLeading = false
      metrics.leading(false)
    }
  }
  const lease = {
    namespace: settings.namespace,
    name: settings.fullname,
    identity,
    address: addressOf(podIP, settings.ports.delivery),
    onHolder: (address: string | undefined) => (leaderAddress = readAddress(address)),
    contact: createContact({ ...peers, clock }),
  }
  return {
    leads: () => (isLeading ? identity : undefined),
    leader: () => (leaderAddress === undefined ? undefined : forwardTo(leaderAddress)),
    async run(signal) {
      if (settings.leaderElection) await runWithLease({ kube: leading, clock, log }, lease, lead, signal)
      else await lead(signal, async () => undefined)
    },
  }
}

/** Builds the collaborators of a leader for one term. */
function leaderDeps(
  { kube, leading, parts, captures, metrics, certificates, tracing, clock, log }: Deps,
  { settings }: ControllerConfig,
): LeaderDeps {
  const { store, mirrors, network, hostApi, secrets, events, validator, limiters, changes } = parts
  const { folder, allowLocal, allowedHosts } = settings.source
  const signatures = createSignatureCheck({
    readSecret: secrets.readSecret,
    rawObject: (key, ...what) => mirrors.mirrorOf(key).rawObject(...what),
    folder,
    clock,
    checked: metrics.signaturesChecked,
  })
  return {
    kube,
    statusKube: leading,
    store,
    mirrors,
    captures,
    hostApi,
    network,
    allowedHosts,
    receivers: settings.notifications,
    secrets,
    events,
    metrics,
    tracing,
    clock,
    log,
    allowLocal,
    ...createCommitValidation({ store, validator, inMirror: (key, ...how) => mirrors.mirrorOf(key).readBy(...how) }),
    verify: signatures.verify,
    limiters: new Map([...limiters, ['signature-verification', signatures.limiter]]),
    delivery: () => ({ url: settings.delivery.url, caBundle: certificates.current().caBundle }),
    bindAgentsTo: settings.agent.autoBind ? settings.agent.clusterRole : undefined,
    watchNamespaces: settings.watchNamespaces,
    subscribe(changed) {
      // Agents trust the CAs in the status, so a new CA requires a new status.
      const forgetCertificates = certificates.onChange(() =>
        store.syncs().forEach(({ namespace, name }) => changed(`${namespace}/${name}`, 'other')),
      )
      const unsubscribe = changes.subscribe(changed)
      return () => {
        forgetCertificates()
        unsubscribe()
      }
    },
  }
}

/** Each write waits for `confirm`, which throws when this replica no longer leads; reads do not. */
export function fenced(kube: Kube, confirm: Confirm): Kube {
  return {
    ...kube,
    async create(...write) {
      await confirm(write[2])
      return await kube.create(...write)
    },
    async mergePatch(...write) {
      await confirm(write[4])
      return await kube.mergePatch(...write)
    },
    async apply(...write) {
      await confirm(write[3])
      return await kube.apply(...write)
    },
    async delete(...write) {
      await confirm(write[2])
      await kube.delete(...write)
    },
  }
}
