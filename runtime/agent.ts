/**
 * The agent's entry: flow C in one gateway pod. It reads its own GatewaySync and writes its own SyncReport; content comes from delivery.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { AgentSettings } from './agent-settings.ts'
import { podInfoFiles } from './agent-settings.ts'
import { parseDownwardFile, type PodFacts } from './agent/desired.ts'
import { createFollower, type Follower } from './agent/follow.ts'
import { type AgentCounters, countReport, exposition, noCycles } from './agent/metrics.ts'
import { serveProbes } from './agent/probes.ts'
import { createReporter, type Reporter } from './agent/report.ts'
import { type Clock, systemClock } from './clock.ts'
import { readAgentConfig } from './config.ts'
import { deliveryClient } from './delivery/client.ts'
import type { Source } from './delivery/protocol.ts'
import { Fault } from './fault.ts'
import { connectGateway, type Gateway } from './gateway/gateway.ts'
import { createModeFinder } from './gateway/mode.ts'
import type { SyncReportStatus } from './gatewaysync/report.ts'
import type { GatewaySyncSpec } from './gatewaysync/spec.ts'
import type { GatewaySyncStatus } from './gatewaysync/status.ts'
import { createKube, type Kube, loadKube } from './kube/client.ts'
import { runListWatch } from './kube/list-watch.ts'
import { gatewaySyncType } from './kube/types.ts'
import { createLog, type Log } from './log.ts'
import { readSmallFile } from './sync/disk.ts'
import { type EngineMemory, present, recoverFolder, runCycle } from './sync/cycle.ts'
import { isInterrupted } from './sync/journal.ts'
import { releaseLock } from './sync/lock.ts'
import { version } from './version.ts'

const maxConfBytes = 1024 * 1024
const maxMountedCharacters = 1024 * 1024
/** After SIGTERM a publish is finished, a report written; then the process ends in any case. */
const stopWithinMs = 15_000

type Deps = { clock: Clock; log: Log }

async function main(): Promise<void> {
  const clock = systemClock
  const log = createLog({ level: 'info' })
  const settings = readAgentConfig()
  const stop = new AbortController()
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort(new Error(name)))
  log.info({ namespace: settings.podNamespace, pod: settings.podName, name: settings.gatewaySync ?? '' }, 'agent started')
  const { gatewaySync, dataDir } = settings
  if (gatewaySync === undefined || dataDir === undefined) await idle({ log }, settings, stop.signal)
  else await follow({ clock, log }, { ...settings, gatewaySync, dataDir }, stop.signal)
  log.info({}, 'agent stopped')
  // Whatever still waits (a half-open connection, say) must not keep the pod.
  setImmediate(() => process.exit(0)).unref()
}

/** Injection found nothing to follow: the gateway runs as if we were not there, and the pod's annotations say why. */
async function idle({ log }: { log: Log }, { port }: AgentSettings, signal: AbortSignal): Promise<void> {
  log.warn({}, 'nothing to do: the pod names no GatewaySync, or has no data volume')
  const health = () => ({ started: true, live: true, why: undefined })
  const { closed } = await serveProbes({ health, metrics: () => exposition(undefined, noCycles) }, { port, host: '::' }, signal)
  await closed
}

type Following = AgentSettings & { gatewaySync: string; dataDir: string }

async function follow(deps: Deps, settings: Following, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps
  const kube = createKube(loadKube({ kubeconfig: settings.kubeconfig }), { clock, userAgent: `cluster-sync-agent/${version}` })
  const reporter = createReporter({ kube, clock, log }, { ...reporterIdentity(settings) })
  let last: SyncReportStatus | undefined
  let counters: AgentCounters = noCycles
  const report = (status: SyncReportStatus): void => {
    last = status
    counters = countReport(counters, status)
    reporter.report(status)
  }
  const follower = createAgentFollower(deps, settings, report)
  const probes = await serveProbes(
    { health: () => follower.health(), metrics: () => exposition(last, counters) },
    { port: settings.port, host: '::' },
    signal,
  )
  await run(deps, settings, { kube, follower, reporter }, signal)
  releaseLock(settings.dataDir)
  await probes.closed
}

function reporterIdentity({ podNamespace, podName, podUid, gatewaySync }: Following) {
  return { namespace: podNamespace, podName, podUid, gatewaySync }
}

/** The reporter outlives the follower, so that the last word of a cycle is written. */
async function run(
  deps: Deps,
  settings: Following,
  { kube, follower, reporter }: { kube: Kube; follower: Follower; reporter: Reporter },
  signal: AbortSignal,
): Promise<void> {
  const followed = new AbortController()
  const reporting = reporter.run(followed.signal)
  const watching = watchOwn({ ...deps, kube }, settings, follower, signal)
  await follower.run(signal)
  followed.abort(signal.reason)
  const late = AbortSignal.timeout(stopWithinMs)
  await Promise.race([
    Promise.all([reporting, watching]),
    new Promise((resolve) => late.addEventListener('abort', resolve, { once: true })),
  ])
}

/** The one watch of an agent: its own GatewaySync, by name. */
async function watchOwn(deps: Deps & { kube: Kube }, settings: Following, follower: Follower, signal: AbortSignal): Promise<void> {
  let present = false
  await runListWatch(
    deps,
    {
      type: gatewaySyncType,
      namespace: settings.podNamespace,
      fieldSelector: `metadata.name=${settings.gatewaySync}`,
      project: ({ metadata, spec, status }) => ({
        annotations: metadata.annotations ?? {},
        spec,
        status: (status ?? {}) as GatewaySyncStatus,
      }),
    },
    {
      upsert(_key, object) {
        present = true
        follower.observe(object)
      },
      remove() {
        present = false
        follower.observe(undefined)
      },
      synced() {
        if (!present) follower.observe(undefined)
      },
    },
    signal,
  )
}

function createAgentFollower({ clock, log }: Deps, settings: Following, report: (status: SyncReportStatus) => void): Follower {
  const { dataDir, gatewaySync, modeArgument, modeEnvironment } = settings
  const memory: EngineMemory = { manifest: undefined }
  const conf = path.join(dataDir, 'ignition.conf')
  const ignitionConf = (): string | undefined => readSmallFile(conf, maxConfBytes)?.toString('utf8')
  return createFollower(
    {
      clock,
      log,
      source: (delivery) => sourceOf({ clock }, settings, delivery),
      gateway: (spec) => gatewayOf({ clock, log }, settings, spec),
      mode: createModeFinder({ clock, ignitionConf }, { argument: modeArgument, environment: modeEnvironment }),
      podFacts: async () => podFactsOf(settings),
      present: () => present(dataDir),
      async recover(signal) {
        if (isInterrupted(dataDir)) await recoverFolder({ clock, log, memory, only: settings.podUid }, dataDir, signal)
      },
      cycle: (source, gateway, wanted, signal) => runCycle({ source, gateway, clock, log, memory, only: settings.podUid }, wanted, signal),
      report,
    },
    { gatewaySync, dataDir, agentVersion: version },
  )
}

/** The token goes to the host that injection named and to no other, whoever wrote the status. */
function sourceOf({ clock }: { clock: Clock }, settings: Following, { url, caBundle }: { url: string; caBundle: string }): Source {
  if (URL.parse(url)?.host !== settings.deliveryHost) {
    const message = `status.delivery names ${url}, and this pod was injected to use ${settings.deliveryHost}; recreate the pod`
    return unusableSource(new Fault('DeliveryUnauthorised', message))
  }
  const token = async (): Promise<string> => readFileSync(settings.deliveryTokenFile, 'utf8').trim()
  return deliveryClient({ url, caBundle, token, namespace: settings.podNamespace, name: settings.gatewaySync, clock })
}

function unusableSource(fault: Fault): Source {
  return {
    // oxlint-disable-next-line require-yield -- there is nothing to yield
    async *changes() {
      throw fault
    },
    async blobs() {
      throw fault
    },
  }
}

/** The gateway's container shares the pod's network. */
function gatewayOf({ clock, log }: Deps, { apiKeyFile, gatewayCaFile }: Following, spec: GatewaySyncSpec['gateway']): Gateway {
  const port = spec.port ?? (spec.tls ? 8043 : 8088)
  return connectGateway({
    url: `${spec.tls ? 'https' : 'http'}://localhost:${port}`,
    apiKey: async () => (apiKeyFile === undefined ? undefined : readMounted(apiKeyFile)),
    ca: () => (gatewayCaFile === undefined ? undefined : readMounted(gatewayCaFile)),
    clock,
    log,
  })
}

/** Mounted keys are links, as the kubelet swaps them as a whole; an absent optional one is none. */
function readMounted(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').slice(0, maxMountedCharacters).trim()
  } catch {
    return undefined
  }
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
