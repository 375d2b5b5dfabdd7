/**
 * The controller's entry. Every replica watches, serves pushes, admission and delivery; the one that holds the Lease also reconciles.
 */
import path from 'node:path'
import type { CertificateKeeper } from './certificates/serving.ts'
import { keepCaBundle } from './certificates/keep-ca-bundle.ts'
import { openMounted } from './certificates/mounted.ts'
import { openSelfManaged } from './certificates/self-managed.ts'
import { backoffMs, type Clock, systemClock } from './clock.ts'
import { type ControllerConfig, readControllerConfig } from './config.ts'
import { watchCluster } from './controller/cluster.ts'
import { createEnding, type Ending } from './controller/ending.ts'
import { fenced } from './controller/fenced.ts'
import { openEndpoints, openProbes } from './controller/endpoints.ts'
import { createPushKeys } from './controller/webhook-keys.ts'
import { runLeader } from './controller/leader.ts'
import { pruneMirrors } from './controller/prune-mirrors.ts'
import { warnOpen } from './controller/receiver.ts'
import { reclaimMemory } from './controller/reclaim-memory.ts'
import { readClusterSecret } from './controller/secrets.ts'
import { sourceSecretUsers } from './controller/secret-users.ts'
import { createUnfollowed } from './controller/unfollowed.ts'
import { addressOf, createForwarding, readAddress } from './delivery/forward.ts'
import { createContact } from './delivery/leading.ts'
import { asFault, Fault, isAbort } from './fault.ts'
import { openIsolatedGate } from './gate/isolate.ts'
import { createMarks } from './gate/marks.ts'
import { fieldManager, group } from './gatewaysync/names.ts'
import { createKube, type Kube, loadKube } from './kube/client.ts'
import { eventRecorder } from './kube/events.ts'
import type { Confirm } from './kube/lease/hold.ts'
import { runWithLease } from './kube/lease/run.ts'
import { networkOf } from './controller/network.ts'
import { createLog, type Log } from './log.ts'
import { consoleDestination } from './log-console.ts'
import { createMetrics } from './metrics/metrics.ts'
import { createCommitCheck } from './reconcile/commit-check.ts'
import { neededCommits } from './reconcile/needed-commits.ts'
import { createSecretChanges } from './reconcile/secret-changes.ts'
import { createSignatureCheck } from './reconcile/signature-check.ts'
import { type ChangeKind, createStore, type SyncKey } from './reconcile/store.ts'
import { createSyncMirrors } from './reconcile/mirrors-of-syncs.ts'
import { createMirrors } from './source/mirrors.ts'
import { createRemotes } from './source/remotes.ts'
import { stopWithinSeconds } from './settings.ts'
import { version } from './version.ts'

/** A loop of the process that did not turn for so long will not turn again. */
const stuckAfterMs = 60_000
const beatMs = 1_000
const firstRetryMs = 500
const longestRetryMs = 5_000

async function main(): Promise<void> {
  const clock = systemClock
  const config = readControllerConfig()
  const log = config.settings.development
    ? createLog({ level: 'debug', destination: await consoleDestination(1) })
    : createLog({ level: config.settings.logLevel })
  const ending = createEnding(clock, config.settings.shutdownDelaySeconds * 1000)
  process.once('SIGTERM', () => ending.begin('SIGTERM'))
  process.once('SIGINT', () => ending.now('SIGINT'))
  // From then on everything is given back; then the process ends in any case.
  ending.closing.addEventListener('abort', () =>
    AbortSignal.timeout(stopWithinSeconds * 1000).addEventListener('abort', () => process.exit(1)),
  )
  const kubeconfig = loadKube({ kubeconfig: config.kubeconfig })
  const open = (connections: number): Kube =>
    createKube(kubeconfig, { clock, userAgent: `cluster-sync-controller/${version}`, connections })
  const kubes = { kube: open(32), leading: open(8), reviews: open(8) }
  log.info({ name: config.identity, message: version }, 'controller started')
  await run({ ...kubes, clock, log }, config, ending).catch((error: unknown) => {
    if (!isAbort(error, ending.closing)) throw error
  })
  for (const kube of Object.values(kubes)) kube.close()
  log.info({}, 'controller stopped')
}

/** `leading`: for the Lease and the status, `reviews`: for tokens of callers; neither waits for a connection behind anything else. */
type Deps = { kube: Kube; leading: Kube; reviews: Kube; clock: Clock; log: Log }

async function run(
  { kube, leading: leadingKube, reviews, clock, log }: Deps,
  { settings, identity, podIP, apiServerHost }: ControllerConfig,
  ending: Ending,
): Promise<void> {
  const { leaving, closing: signal } = ending
  const pulse = startPulse(clock, signal)
  let listed = false
  let isTrusted = (): boolean => false
  const probes = await openProbes(
    {
      log,
      notReady: () => [
        ...(listed ? [] : ['the objects of the cluster have not been listed yet']),
        ...(isTrusted() ? [] : ['the API server has not been told yet which certificate to trust']),
        ...(leaving.aborted ? ['the controller is shutting down'] : []),
      ],
      notLive: () => (clock.monotonicMs() - pulse() > stuckAfterMs ? ['the event loop does not turn'] : []),
    },
    settings,
    signal,
  )
  // Nobody waits for what has never been ready.
  leaving.addEventListener('abort', () => listed || ending.now('nothing to answer yet'))
  await waitForApiServer({ kube, clock, log }, signal)
  const certificates = await openCertificates({ kube, clock, log }, settings, signal)
  isTrusted = certificates.isTrusted
  const metrics = createMetrics({ clock, version })
  metrics.certificate(certificates.current())
  certificates.onChange(metrics.certificate)
  const subscribers = new Set<(key: SyncKey, kind: ChangeKind) => void>()
  const store = createStore((key, kind) => {
    for (const changed of subscribers) changed(key, kind)
  })
  const { folder, sizeLimit, allowedHosts, allowLocal } = settings.source
  const network = networkOf(settings.source, apiServerHost)
  const gitMirrors = createMirrors({
    folder,
    clock,
    log,
    needed: () => (listed ? neededCommits(store) : undefined),
    maxPackBytes: Math.floor(sizeLimit / 2),
    // The file system and what git writes for a moment need some of it.
    maxBytes: Math.floor(sizeLimit * 0.9),
    network,
  })
  const secrets = createSecretChanges({
    readSecret: readClusterSecret({ kube, clock }),
    users: () => sourceSecretUsers(store),
    changed: (key) => subscribers.forEach((changed) => changed(key, 'other')),
    clock,
  })
  const { readSecret } = secrets
  const mirrors = createSyncMirrors(gitMirrors, createRemotes({ allowLocal, allowedHosts, readSecret, network, clock, signal }))
  const gate = openIsolatedGate({ clock, log, marks: createMarks(path.join(folder, 'checking.json')) })
  const events = eventRecorder({ kube, clock, log }, { component: `${group}/${fieldManager}`, instance: identity })
  const keys = createPushKeys({ kube, clock }, settings.receiver)
  const unfollowed = createUnfollowed({ kube, store, events, clock, log })
  let leaderAddress: string | undefined
  let leads = false
  const peers = { serverName: new URL(settings.delivery.url).hostname, caBundle: () => certificates.current().caBundle }
  const forwardTo = createForwarding({ ...peers, log })
  const endpoints = await openEndpoints(
    {
      kube,
      reviews,
      store,
      mirrors,
      readSecret,
      metrics,
      events,
      keys,
      certificates,
      leader: () => (leaderAddress === undefined ? undefined : forwardTo(leaderAddress)),
      leads: () => (leads ? identity : undefined),
      unfollowed,
      clock,
      log,
      notReady: () => (listed ? [] : ['the objects of the cluster have not been listed yet']),
    },
    settings,
    signal,
  )
  const renewing = certificates.run(signal)
  if (settings.receiver.enabled && settings.receiver.hmacFile === undefined && settings.receiver.tokenFile === undefined) {
    metrics.receiverOpen(true)
    await warnOpen({ kube, events, log }, { namespace: settings.namespace, name: identity }, signal)
  }
  const ready = Promise.withResolvers<void>()
  const watching = watchCluster(
    { kube, clock, log },
    {
      store,
      namespaces: settings.watchNamespaces,
      selector: settings.watchLabelSelector,
      ready() {
        listed = true
        ready.resolve()
      },
      forbidden: metrics.forbiddenNamespaces,
    },
    signal,
  )
  signal.addEventListener('abort', () => ready.resolve(), { once: true })
  await ready.promise
  const leadNow = async (own: AbortSignal, confirm: Confirm): Promise<void> => {
    leads = true
    metrics.leading(true)
    try {
      await runLeader(
        {
          kube: fenced(kube, confirm),
          statusKube: fenced(leadingKube, confirm),
          store,
          mirrors,
          events,
          clock,
          log,
          allowLocal,
          check: createCommitCheck({ store, gate, inMirror: (key, ...how) => mirrors.held(key).readBy(...how) }),
          verify: createSignatureCheck({
            readSecret,
            rawObject: (key, ...what) => mirrors.held(key).rawObject(...what),
            folder,
            clock,
            checked: metrics.signaturesChecked,
          }),
          secrets,
          delivery: () => ({ url: settings.delivery.url, caBundle: certificates.current().caBundle }),
          observed: metrics.observed,
          reconciled: metrics.reconciled,
          fetched: metrics.fetched,
          bindAgentsTo: settings.agent.autoBind ? settings.agent.clusterRole : undefined,
          subscribe(changed) {
            subscribers.add(changed)
            // Agents trust what the status names, so another authority is another status.
            const forgetCertificates = certificates.onChange(() =>
              store.syncs().forEach(({ namespace, name }) => changed(`${namespace}/${name}`, 'other')),
            )
            return () => {
              forgetCertificates()
              subscribers.delete(changed)
            }
          },
        },
        own,
      )
    } finally {
      leads = false
      metrics.leading(false)
    }
  }
  const contact = createContact({ ...peers, clock })
  const lease = {
    namespace: settings.namespace,
    name: settings.fullname,
    identity,
    address: addressOf(podIP, settings.ports.delivery),
    onHolder: (address: string | undefined) => (leaderAddress = readAddress(address)),
    contact,
  }
  const leading = settings.leaderElection
    ? runWithLease({ kube: leadingKube, clock, log }, lease, leadNow, leaving)
    : leadNow(leaving, async () => undefined)
  const pruning = pruneMirrors({ store, mirrors, clock, log }, signal)
  const reclaiming = reclaimMemory({ clock }, signal)
  const beside = [pruning, reclaiming, unfollowed.run(signal)]
  await Promise.all([leading, watching, renewing, ...beside, ...[probes, ...endpoints].map(({ closed }) => closed)])
  await events.settled()
  await gate.close()
  await gitMirrors.close()
}

/** The certificate of every secure port, and what the API server and agents are to trust. */
async function openCertificates(
  deps: { kube: Kube; clock: Clock; log: Log },
  { certificates, namespace, dnsNames, injection }: ControllerConfig['settings'],
  signal: AbortSignal,
): Promise<CertificateKeeper> {
  const webhookConfiguration = injection.enabled ? injection.webhookConfiguration : undefined
  if (certificates.kind === 'mounted') {
    const keeper = await openMounted(deps, { folder: certificates.folder })
    if (certificates.tellsWebhook && webhookConfiguration !== undefined) return keepCaBundle(deps, keeper, webhookConfiguration)
    // cert-manager's injector tells the API server by itself.
    return { ...keeper, isTrusted: () => true }
  }
  return await openSelfManaged(deps, { namespace, secretName: certificates.secretName, dnsNames, webhookConfiguration }, signal)
}

/** An API server that is late, as after a start of the whole cluster, is waited for. Throws UnsupportedKubernetes. */
async function waitForApiServer({ kube, clock, log }: { kube: Kube; clock: Clock; log: Log }, signal: AbortSignal): Promise<void> {
  for (let failures = 1; ; failures += 1) {
    try {
      await kube.requireVersion(signal)
      return
    } catch (error) {
      const fault = asFault(error)
      if (signal.aborted || fault.reason === 'UnsupportedKubernetes' || fault.reason === 'Unexpected') throw error
      log.warn({ reason: fault.reason, message: fault.message }, 'the API server is not there yet')
      await clock.wait(backoffMs(failures, firstRetryMs, longestRetryMs, clock.random()), signal)
    }
  }
}

/** When the event loop last turned. */
function startPulse(clock: Clock, signal: AbortSignal): () => number {
  let lastMs = clock.monotonicMs()
  const beat = async (): Promise<void> => {
    while (!signal.aborted) {
      lastMs = clock.monotonicMs()
      await clock.wait(beatMs, signal).catch(() => undefined)
    }
  }
  void beat()
  return () => lastMs
}

try {
  await main()
  process.exit(0)
} catch (error) {
  const fault = asFault(error)
  process.stderr.write(`cluster-sync controller: ${fault.message} (${fault.reason})\n`)
  if (fault.reason === 'Unexpected' && fault.cause instanceof Error) process.stderr.write(`${fault.cause.stack ?? ''}\n`)
  process.exit(error instanceof Fault && error.reason === 'InvalidConfiguration' ? 2 : 1)
}
