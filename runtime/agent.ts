/**
 * Entry point of the agent, the sidecar of one gateway pod: reads its GatewaySync, writes its SyncReport and fetches content from the
 * controller's content server.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { AgentSettings } from './settings/agent.ts'
import { podInfoFiles } from './settings/agent.ts'
import { type FollowedSync, parseDownwardFile, type PodFacts } from './agent/desired.ts'
import { createCaptureUpload, createQuietUpload } from './capture/submit/upload.ts'
import { createChangesReporter } from './capture/detect/report.ts'
import { createCycleTraces } from './agent/cycle-traces.ts'
import { createAccessKeeper } from './agent/gateway-access.ts'
import { endInterrupted, waitedBefore } from './agent/recover.ts'
import { Follower } from './agent/follow.ts'
import { AgentMetrics } from './agent/metrics.ts'
import { type ProbeDeps, serveProbes, keepProbeFiles } from './agent/probes.ts'
import { Reporter } from './agent/report.ts'
import { type SyncWatch, watchSync } from './agent/watch-sync.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import { readAgentConfig } from './settings/environment.ts'
import { ContentClient, type DeliveryClient } from './content/client/client.ts'
import type { GatewayAccess, Source } from './content/protocol/protocol.ts'
import { Fault } from './platform/fault.ts'
import { connectGateway, type Gateway } from './gateway/gateway.ts'
import { createModeFinder } from './gateway/mode.ts'
import type { SyncReportStatus } from './api/schema/report.ts'
import type { GatewaySyncSpec } from './api/schema/spec.ts'
import { createKube, loadKube } from './kube/client.ts'
import { createLog, type Log, logOf } from './platform/log/log.ts'
import { readSmallFile } from './sync/disk/disk.ts'
import { type EngineMemory, readSynced, recoverFolder, runCycle } from './sync/cycle.ts'
import { releaseLock } from './sync/disk/lock.ts'
import { openTracing } from './telemetry/tracing/open.ts'
import type { Tracing } from './telemetry/tracing/trace.ts'
import { version } from './platform/version.ts'

const maxConfBytes = 1024 * 1024
/** Time after SIGTERM to finish applying a commit and to write a report; then the process exits in any case. */
const stopWithinMs = 15_000

type Deps = { clock: Clock; log: Log; tracing: Tracing }

async function main(): Promise<void> {
  const clock = systemClock
  const settings = readAgentConfig()
  const log = createLog({ level: settings.logLevel })
  const stop = new AbortController()
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort(new Error(name)))
  log.info({ namespace: settings.podNamespace, pod: settings.podName, name: settings.gatewaySync ?? '' }, 'agent started')
  const { dataDir } = settings
  if (dataDir === undefined) await idle({ clock, log }, settings, stop.signal)
  else {
    const { podNamespace: namespace, podName: pod, tracing: to } = settings
    const tracing = await openTracing(to, { service: 'cluster-sync-agent', version, namespace, pod, log })
    await follow({ clock, log, tracing }, { ...settings, dataDir }, stop.signal)
    await tracing.close()
  }
  log.info({}, 'agent stopped')
  // Pending work, such as a half-open connection, must not keep the pod running.
  setImmediate(() => process.exit(0)).unref()
}

/** For a pod without a data volume: only answers probes, so that the gateway can start. */
async function idle({ clock, log }: Pick<Deps, 'clock' | 'log'>, settings: AgentSettings, signal: AbortSignal): Promise<void> {
  log.warn({}, 'data volume unknown: name it with an annotation on the pod')
  const health = () => ({ started: true, live: true, why: undefined })
  const metrics = (): string => new AgentMetrics({ version }).text()
  await answerProbes({ clock, log, health, metrics }, settings, signal)
}

/** Answers the kubelet on the port, or through files if the injection chose that, until the signal aborts. */
async function answerProbes(deps: ProbeDeps, { port, probeDir }: AgentSettings, signal: AbortSignal): Promise<void> {
  await (probeDir === undefined ? serveProbes(deps, { port, host: '::' }, signal).closed : keepProbeFiles(deps, probeDir, signal))
}

type Following = AgentSettings & { dataDir: string }

async function follow(deps: Deps, settings: Following, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps
  const kube = createKube(loadKube({ kubeconfig: settings.kubeconfig }), { clock, userAgent: `cluster-sync-agent/${version}` })
  const { podNamespace: namespace, podName, podUid, gatewaySync: named } = settings
  const reporter = new Reporter({ kube, clock, log }, { namespace, podName, podUid, gatewaySync: () => watch.name() })
  const metrics = new AgentMetrics({ version })
  const report = (status: SyncReportStatus): void => {
    metrics.reported(status)
    reporter.report(status)
  }
  const podFacts = (): PodFacts => {
    const facts = podFactsOf(settings)
    watch.again(facts.annotations)
    return facts
  }
  const follower = createAgentFollower({ ...deps, metrics }, settings, { followedName: () => watch.name(), podFacts, report })
  const annotations = (): PodFacts['annotations'] => podFactsOf(settings).annotations
  const observe = (followed: FollowedSync | undefined): void => {
    follower.observe(followed)
    reporter.missed(followed?.status.unreported?.includes(podName) ?? false)
  }
  const watch = watchSync({ kube, clock, log, observe }, { namespace, named, annotations })
  const probed = { clock, log, health: () => follower.health(), metrics: () => metrics.text() }
  const probes = answerProbes(probed, settings, signal)
  await run({ watch, follower, reporter }, signal)
  releaseLock(settings.dataDir)
  await probes
}

/** Follows the GatewaySync until the signal aborts. The reporter stops after the follower, so that the last report is written. */
async function run(
  { watch, follower, reporter }: { watch: SyncWatch; follower: Follower; reporter: Reporter },
  signal: AbortSignal,
): Promise<void> {
  const followed = new AbortController()
  const reporting = reporter.run(followed.signal)
  const watching = watch.run(signal)
  await follower.run(signal)
  followed.abort(signal.reason)
  const late = AbortSignal.timeout(stopWithinMs)
  await Promise.race([
    Promise.all([reporting, watching]),
    new Promise((resolve) => late.addEventListener('abort', resolve, { once: true })),
  ])
}

function createAgentFollower(
  { clock, log, tracing, metrics }: Deps & { metrics: AgentMetrics },
  settings: Following,
  { followedName, podFacts, report }: { followedName(): string | undefined; podFacts(): PodFacts; report(status: SyncReportStatus): void },
): Follower {
  const { dataDir, gatewaySync, modeArgument, modeEnvironment } = settings
  const memory: EngineMemory = { manifest: undefined }
  const conf = path.join(dataDir, 'ignition.conf')
  const gatewayPod = { namespace: settings.podNamespace, pod: settings.podName }
  const traceCycle = createCycleTraces({ clock, tracing }, gatewayPod, readSynced(dataDir)?.commit)
  const before = waitedBefore({ log }, settings)
  let client: ClientOf = () => unusableClient(new Fault('DeliveryUnreachable', 'no GatewaySync is followed'))
  const upload = createCaptureUpload()
  const listChanges = createChangesReporter()
  const uploadQuiet = createQuietUpload({ clock })
  const ignitionConf = (): string | undefined => readSmallFile(conf, maxConfBytes)?.toString('utf8')
  return new Follower(
    {
      clock,
      log,
      source(delivery) {
        client = clientFor({ clock }, settings, delivery, followedName)
        return throughLatest(client)
      },
      gateway: (spec) => metrics.watched(gatewayOf({ clock, log }, spec, (signal) => client().gateway(signal))),
      mode: createModeFinder({ clock, ignitionConf }, { argument: modeArgument, environment: modeEnvironment }),
      podFacts: async () => podFacts(),
      readSynced: () => readSynced(dataDir),
      async recover(failed, signal) {
        const recover = async () => await recoverFolder({ clock, log, memory, only: settings.podUid }, dataDir, signal)
        await endInterrupted({ recover, failed, clock, log }, { dataDir, recoveringMs: before.recoveringMs }, signal)
      },
      cycle(source, gateway, target, signal) {
        const deps = { source, gateway, clock, log: logOf(log, target.requestId), memory, only: settings.podUid }
        return traceCycle(
          target,
          (step, durationMs) => metrics.stepped(step, durationMs),
          (stepped) => runCycle({ ...deps, stepped }, target, signal),
        )
      },
      listChanges,
      capture: (source, target, request, signal) => upload(source, target, request, (offer) => client().capture(offer, signal), signal),
      captureQuiet: (source, target, quiet, signal) =>
        uploadQuiet(source, target, quiet, (offer) => client().capture(offer, signal), signal),
      report,
    },
    { gatewaySync, dataDir, agentVersion: version, ...before },
  )
}

type ClientOf = () => DeliveryClient

/**
 * Creates the content client for the GatewaySync that is followed at the time of the call. The token is sent only to the host that the
 * injection set, regardless of the status.
 */
function clientFor(
  { clock }: { clock: Clock },
  settings: Following,
  { url, caBundle }: { url: string; caBundle: string },
  followedName: () => string | undefined,
): ClientOf {
  if (URL.parse(url)?.host !== settings.deliveryHost) {
    const message = `status.delivery names ${url}, but this pod was injected to use ${settings.deliveryHost}; recreate the pod`
    return () => unusableClient(new Fault('DeliveryUnauthorized', message))
  }
  const token = async (): Promise<string> => readFileSync(settings.deliveryTokenFile, 'utf8').trim()
  const open = (name: string): { name: string; client: DeliveryClient } => ({
    name,
    client: new ContentClient({ url, caBundle, token, namespace: settings.podNamespace, name, clock }),
  })
  let latest: ReturnType<typeof open> | undefined
  return () => {
    const name = followedName() ?? ''
    if (latest?.name !== name) latest = open(name)
    return latest.client
  }
}

function throughLatest(client: ClientOf): Source {
  return {
    changes: (request, signal) => client().changes(request, signal),
    blobs: (request, sink, signal) => client().blobs(request, sink, signal),
    files: (request, sink, signal) => client().files(request, sink, signal),
  }
}

function unusableClient(fault: Fault): DeliveryClient {
  return {
    // oxlint-disable-next-line require-yield -- there is nothing to yield
    async *changes() {
      throw fault
    },
    async blobs() {
      throw fault
    },
    async files() {
      throw fault
    },
    async gateway() {
      throw fault
    },
    async capture() {
      throw fault
    },
  }
}

/** Connects to the gateway on the pod's own network. Its access is fetched only if the GatewaySync names an API key or a CA. */
function gatewayOf(
  { clock, log }: Pick<Deps, 'clock' | 'log'>,
  spec: GatewaySyncSpec['gateway'],
  fetchAccess: (signal: AbortSignal) => Promise<GatewayAccess>,
): Gateway {
  const port = spec.port ?? (spec.tls ? 8043 : 8088)
  const url = `${spec.tls ? 'https' : 'http'}://localhost:${port}`
  if (spec.api === undefined && spec.caBundle === undefined) return connectGateway({ url, apiKey: async () => undefined, clock, log })
  const access = createAccessKeeper({ clock, fetchAccess })
  const apiKey = async (): Promise<string | undefined> => (spec.api === undefined ? undefined : (await access.get()).apiKey)
  const ca = async (): Promise<string | undefined> => (spec.caBundle === undefined ? undefined : (await access.get()).caBundle)
  return connectGateway({ url, apiKey, ca, renew: () => access.renew(), clock, log })
}

function podFactsOf({ podName, podNamespace, podInfoDir }: Following): PodFacts {
  const read = (name: string): Record<string, string> => parseDownwardFile(readFileSync(path.join(podInfoDir, name), 'utf8'))
  return { podName, namespace: podNamespace, annotations: read(podInfoFiles.annotations), labels: read(podInfoFiles.labels) }
}

try {
  await main()
} catch (error) {
  process.exitCode = error instanceof Fault && error.reason === 'InvalidConfiguration' ? 2 : 1
  process.stderr.write(`cluster-sync agent: ${error instanceof Fault ? `${error.message} (${error.reason})` : String(error)}\n`)
}
