/**
 * Who leads: this replica while it holds the Lease, otherwise another one that it keeps in touch with and asks for content that it lacks.
 */
import type { CertificateKeeper } from '../certificates/serving.ts'
import type { Clock } from '../clock.ts'
import type { ControllerConfig } from '../config.ts'
import { addressOf, type AskLeader, createForwarding, readAddress } from '../delivery/forward.ts'
import { createContact } from '../delivery/leading.ts'
import type { Kube } from '../kube/client.ts'
import type { Lead } from '../kube/lease/hold.ts'
import { runWithLease } from '../kube/lease/run.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { createCommitCheck } from '../reconcile/commit-check.ts'
import { createSignatureCheck } from '../reconcile/signature-check.ts'
import type { Tracing } from '../tracing/trace.ts'
import type { Captures } from './captures/captures.ts'
import { fenced } from './lead/fenced.ts'
import { type LeaderDeps, runLeader } from './lead/leader.ts'
import type { Parts } from './parts.ts'

/** This replica's part in the election. */
export type Leadership = {
  /** The name of this replica while it leads. */
  leads(): string | undefined
  /** Asks the leading replica; undefined when this one leads or the leader is not known. */
  leader(): AskLeader | undefined
  /** Stands by and leads, in turn, until the signal; then releases the Lease. */
  run(signal: AbortSignal): Promise<void>
}

type Deps = {
  kube: Kube
  /** A client only for Lease and status, so that they never wait for a connection behind anything else. */
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
  const askAt = createForwarding({ ...peers, log })
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
    leader: () => (leaderAddress === undefined ? undefined : askAt(leaderAddress)),
    async run(signal) {
      if (settings.leaderElection) await runWithLease({ kube: leading, clock, log }, lease, lead, signal)
      else await lead(signal, async () => undefined)
    },
  }
}

/** What this replica works with during one term as the leader. */
function leaderDeps(
  { kube, leading, parts, captures, metrics, certificates, tracing, clock, log }: Deps,
  { settings }: ControllerConfig,
): LeaderDeps {
  const { store, mirrors, network, hostApi, secrets, events, gate, changes } = parts
  const { folder, allowLocal, allowedHosts } = settings.source
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
    ...createCommitCheck({ store, gate, inMirror: (key, ...how) => mirrors.held(key).readBy(...how) }),
    verify: createSignatureCheck({
      readSecret: secrets.readSecret,
      rawObject: (key, ...what) => mirrors.held(key).rawObject(...what),
      folder,
      clock,
      checked: metrics.signaturesChecked,
    }),
    delivery: () => ({ url: settings.delivery.url, caBundle: certificates.current().caBundle }),
    bindAgentsTo: settings.agent.autoBind ? settings.agent.clusterRole : undefined,
    watchNamespaces: settings.watchNamespaces,
    subscribe(changed) {
      // Agents trust the authorities in the status, so a new authority means a new status.
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
