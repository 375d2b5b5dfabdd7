/**
 * The agent's metrics: few and written by hand, because a metrics library would cost memory in every gateway pod. See the decision record
 * libraries-fit-the-memory-limits. Series with a closed set of labels start at zero.
 */
import { isAbort } from '../platform/fault.ts'
import type { Gateway, GatewayStatus } from '../gateway/gateway.ts'
import { phases } from '../api/schema/report.ts'
import type { SyncReportStatus } from '../api/schema/report.ts'
import { exposeProcess } from '../telemetry/metrics/node.ts'
import { agentMetrics } from '../telemetry/metrics/table.ts'
import { family, type Sample } from '../telemetry/metrics/exposition.ts'
import { type CycleStep, cycleSteps } from '../sync/step.ts'

const gatewayStates = [
  'running',
  'commissioning',
  'starting',
  'stopping',
  'faulted',
  'unreachable',
] as const satisfies readonly GatewayStatus[]
const outcomes = ['ok', 'failed'] as const
const operations = ['added', 'changed', 'removed'] as const
/** Phases in which the published commit is in place. */
const successes: ReadonlySet<SyncReportStatus['phase']> = new Set(['Synced', 'Drifted'])

/** Whether there was nothing to do, which is reported each time the pod is read; every attempt names a commit or its files. */
function isIdle({ phase, attempt, files }: SyncReportStatus): boolean {
  return (phase === 'Pending' || phase === 'Blocked') && attempt === undefined && files === undefined
}

/** Receives events of the agent's parts and renders the scrape. Counters start at zero with the process. */
export class AgentMetrics {
  readonly #version: string
  readonly #cycles = { ok: 0, failed: 0 }
  readonly #scans = { ok: 0, failed: 0 }
  readonly #files = { added: 0, changed: 0, removed: 0 }
  readonly #steps = new Map(cycleSteps.map((step) => [step, { count: 0, sumMs: 0 }]))
  #last: SyncReportStatus | undefined
  #writtenBytes = 0
  #consecutiveFailures = 0
  #succeededAtMs: number | undefined
  #gatewayState: GatewayStatus | undefined
  #designers = 0

  /** `version`: the agent's. */
  constructor({ version }: { version: string }) {
    this.#version = version
  }

  /** Takes the latest report. A status with `finishedAt` ends a cycle, unless there was nothing to do. */
  reported(status: SyncReportStatus): void {
    this.#last = status
    if (status.finishedAt === undefined) return
    const isFailed = status.phase === 'Failed'
    this.#consecutiveFailures = isFailed ? this.#consecutiveFailures + 1 : 0
    if (isIdle(status)) return
    this.#cycles[isFailed ? 'failed' : 'ok'] += 1
    if (successes.has(status.phase)) this.#succeededAtMs = Date.parse(status.finishedAt)
    for (const operation of operations) this.#files[operation] += status.files?.[operation] ?? 0
    this.#writtenBytes += status.files?.bytes ?? 0
  }

  /** Records the duration of a cycle's step, whatever its result. */
  stepped(step: CycleStep, durationMs: number): void {
    const known = this.#steps.get(step)
    if (known === undefined) return
    known.count += 1
    known.sumMs += durationMs
  }

  /** Wraps a gateway to count its responses. */
  watched(gateway: Gateway): Gateway {
    return {
      ...gateway,
      status: async (signal) => {
        this.#gatewayState = await gateway.status(signal)
        // Only a running gateway has Designer sessions.
        if (this.#gatewayState !== 'running') this.#designers = 0
        return this.#gatewayState
      },
      designers: async (signal) => {
        const found = await gateway.designers(signal)
        this.#designers = found.length
        return found
      },
      scan: async (kinds, signal) => {
        try {
          const scanned = await gateway.scan(kinds, signal)
          this.#scans.ok += 1
          return scanned
        } catch (error) {
          if (!isAbort(error, signal)) this.#scans.failed += 1
          throw error
        }
      },
    }
  }

  /** Text exposition format 0.0.4. */
  text(): string {
    const samples = this.#samples()
    const families = Object.entries(agentMetrics).map(([name, metric]) => family(name, metric, samples[name as keyof typeof agentMetrics]))
    return families.join('') + exposeProcess()
  }

  #samples(): Record<keyof typeof agentMetrics, Sample[]> {
    const [cycles, scans, files] = [this.#cycles, this.#scans, this.#files]
    return {
      clustersync_agent_build_info: [{ labels: { version: this.#version }, value: 1 }],
      clustersync_agent_phase: phases.map((phase) => ({ labels: { phase }, value: this.#last?.phase === phase ? 1 : 0 })),
      clustersync_agent_cycles_total: outcomes.map((outcome) => ({ labels: { outcome }, value: cycles[outcome] })),
      clustersync_agent_consecutive_failures: [{ value: this.#consecutiveFailures }],
      clustersync_agent_last_success_timestamp_seconds: this.#succeededAtMs === undefined ? [] : [{ value: this.#succeededAtMs / 1000 }],
      clustersync_agent_step_duration_seconds: [...this.#steps].flatMap(([step, { count, sumMs }]) => [
        { labels: { step }, suffix: '_sum', value: sumMs / 1000 },
        { labels: { step }, suffix: '_count', value: count },
      ]),
      clustersync_agent_files_total: operations.map((operation) => ({ labels: { operation }, value: files[operation] })),
      clustersync_agent_written_bytes_total: [{ value: this.#writtenBytes }],
      clustersync_agent_drifted_files: [{ value: this.#last?.drift?.count ?? 0 }],
      clustersync_agent_scans_total: outcomes.map((outcome) => ({ labels: { outcome }, value: scans[outcome] })),
      clustersync_agent_gateway_state: gatewayStates.map((state) => ({ labels: { state }, value: this.#gatewayState === state ? 1 : 0 })),
      clustersync_agent_open_designers: [{ value: this.#designers }],
    }
  }
}
