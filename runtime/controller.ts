/**
 * Runs the controller. Every replica watches and serves webhooks, admission and content; the one that holds the Lease also reconciles.
 */
import { type Clock, systemClock } from './platform/clock.ts'
import { type ControllerConfig, readControllerConfig } from './settings/environment.ts'
import { Captures } from './controller/captures/captures.ts'
import { watchCluster } from './controller/cluster/cluster.ts'
import { openEndpoints, openProbes } from './controller/endpoints.ts'
import { createLeadership } from './controller/leadership.ts'
import { openCertificates } from './controller/open-certificates.ts'
import { openParts } from './controller/parts.ts'
import { pruneMirrors } from './controller/prune-mirrors.ts'
import { isOpen, warnOpen } from './controller/serve/receiver.ts'
import { reclaimMemory, boundGarbage } from './controller/reclaim-memory.ts'
import { waitForApiServer, watchEventLoop, createReadiness, createEnding, type Ending } from './controller/lifecycle.ts'
import { asFault, Fault, isAbort } from './platform/fault.ts'
import { keptReport } from './reconcile/decide/report-details.ts'
import { createKube, type Kube, loadKube } from './kube/client.ts'
import { createLog, type Log } from './platform/log/log.ts'
import { consoleDestination } from './platform/log/console.ts'
import { createMetrics } from './telemetry/metrics/metrics.ts'
import { stopWithinSeconds } from './settings/controller.ts'
import { openTracing } from './telemetry/tracing/open.ts'
import type { Tracing } from './telemetry/tracing/trace.ts'
import { version } from './platform/version.ts'

async function main(): Promise<void> {
  const clock = systemClock
  const config = readControllerConfig()
  const log = config.settings.development
    ? createLog({ level: 'debug', destination: await consoleDestination(1) })
    : createLog({ level: config.settings.logLevel })
  const ending = createEnding(clock, config.settings.shutdownDelaySeconds * 1000)
  process.once('SIGTERM', () => ending.begin('SIGTERM'))
  process.once('SIGINT', () => ending.now('SIGINT'))
  // Everything is released then; after a deadline the process exits in any case.
  ending.closing.addEventListener('abort', () =>
    AbortSignal.timeout(stopWithinSeconds * 1000).addEventListener('abort', () => process.exit(1)),
  )
  const kubeconfig = loadKube({ kubeconfig: config.kubeconfig })
  const open = (connections: number): Kube =>
    createKube(kubeconfig, { clock, userAgent: `cluster-sync-controller/${version}`, connections })
  const kubes = { kube: open(32), leading: open(8), reviews: open(8) }
  const traced = { service: 'cluster-sync-controller', version, namespace: config.settings.namespace, pod: config.identity, log }
  const tracing = await openTracing(config.tracing, traced)
  log.info({ name: config.identity, version }, 'controller started')
  log.debug(
    { message: `Node ${process.versions.node}, ${process.arch}, ${process.constrainedMemory()} bytes of memory` },
    'runtime environment',
  )
  await run({ ...kubes, tracing, clock, log }, config, ending).catch((error: unknown) => {
    if (!isAbort(error, ending.closing)) throw error
  })
  await tracing.close()
  for (const kube of Object.values(kubes)) kube.close()
  log.info({}, 'controller stopped')
}

/** `leading`: a client for Lease and status; `reviews`: one for callers' tokens. Each has its own connections. */
type Deps = { kube: Kube; leading: Kube; reviews: Kube; tracing: Tracing; clock: Clock; log: Log }

/** Serves until `ending.closing`; leads until `ending.leaving` at most. */
async function run(deps: Deps, config: ControllerConfig, ending: Ending): Promise<void> {
  const { kube, clock, log } = deps
  const { settings, identity } = config
  const { leaving, closing: signal } = ending
  const metrics = createMetrics({ clock, version, agentVersions: () => parts.store.agentVersions() })
  const readiness = createReadiness(leaving)
  const notLive = watchEventLoop(clock, metrics.delayed, signal)
  boundGarbage(signal)
  const probes = await openProbes({ log, notReady: readiness.notReady, notLive }, settings, signal)
  // A replica that was never ready has no callers to wait for.
  leaving.addEventListener('abort', () => readiness.isListed() || ending.now('nothing to answer yet'))
  await waitForApiServer(deps, signal)
  const certificates = await openCertificates(deps, settings, signal)
  readiness.trustedWhen(certificates.isTrusted)
  metrics.certificate(certificates.current())
  certificates.onChange(metrics.certificate)

  const figures = { fetchedBytes: metrics.fetchedBytes, volume: metrics.volume }
  const parts = openParts({ ...deps, figures }, config, readiness.isListed, signal)
  const { store, mirrors, events, unfollowed, validator, clusters } = parts
  const captures = new Captures({ ...deps, ...parts, captured: metrics.captured })
  const leadership = createLeadership({ ...deps, parts, captures, metrics, certificates }, config)
  const endpoints = await openEndpoints(
    {
      ...deps,
      ...parts,
      ...leadership,
      captures,
      readSecret: parts.secrets.readSecret,
      metrics,
      certificates,
      notReady: readiness.notListed,
      tracingSettings: config.tracing,
    },
    settings,
    signal,
  )
  const renewing = certificates.run(signal)
  if (isOpen(settings.receiver)) {
    metrics.receiverOpen(true)
    await warnOpen({ kube, events, log }, { namespace: settings.namespace, name: identity }, signal)
  }

  const { watchNamespaces: namespaces, watchLabelSelector: selector } = settings
  const { listed: ready } = readiness
  const observe = { restarted: metrics.watchRestarted, relisted: metrics.relisted }
  const watching = watchCluster(
    { ...deps, observe },
    { store, namespaces, selector, ready, forbidden: metrics.forbiddenNamespaces, ...(settings.statusPage && { details: keptReport }) },
    signal,
  )
  await readiness.whenListed(signal)
  const leading = leadership.run(leaving)
  const tending = [
    pruneMirrors({ store, mirrors, clock, log }, signal),
    reclaimMemory({ clock, log, endedThreads: validator.endedThreads }, signal),
    unfollowed.run(signal),
    clusters.run(signal),
  ]
  await Promise.all([leading, watching, renewing, ...tending, ...[probes, ...endpoints].map(({ closed }) => closed)])
  await parts.close()
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
