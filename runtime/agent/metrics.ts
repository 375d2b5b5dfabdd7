/**
 * The agent's metrics: few and written by hand, because a metrics library would cost memory in every gateway pod. See the decision record
 * telemetry-pays-only-where-used. Series with a closed set of labels start at zero.
 */
import { isAbort } from '../platform/fault.ts'
import type { Gateway, GatewayStatus } from '../gateway/gateway.ts'
import { phases } from '../api/schema/report.ts'
import type { SyncReportStatus } from '../api/schema/report.ts'
import { exposeProcess } from '../telemetry/metrics/node.ts'
import { agentMetrics } from '../telemetry/metrics/table.ts'
import { family, type Sample } from '../telemetry/metrics/text.ts'
import { type CycleStep, cycleSteps } from '../sync/step.ts'

/** Receives events of the agent's parts and renders the scrape. */
export type AgentMetrics = {
  /** Takes the latest report. A status with `finishedAt` ends a cycle, unless there was nothing to do. */
  reported(status: SyncReportStatus): void
  /** Records the duration of a cycle's step, whatever its result. */
  stepped(step: CycleStep, durationMs: number): void
  /** Wraps a gateway to count its responses. */
  watched(gateway: Gateway): Gateway
  /** Text exposition format 0.0.4. */
  text(): string
}

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

/** Counters start at zero with the process. `version`: the agent's. */
export function createAgentMetrics({ version }: { version: string }): AgentMetrics {
  const cycles = { ok: 0, failed: 0 }
  const scans = { ok: 0, failed: 0 }
  const files = { added: 0, changed: 0, removed: 0 }
  const steps = new Map(cycleSteps.map((step) => [step, { count: 0, sumMs: 0 }]))
  let last: SyncReportStatus | undefined
  let writtenBytes = 0
  let failuresInARow = 0
  let succeededAtMs: number | undefined
  let gatewayState: GatewayStatus | undefined
  let designers = 0

  const samplesOf: Record<keyof typeof agentMetrics, () => Sample[]> = {
    clustersync_agent_build_info: () => [{ labels: { version }, value: 1 }],
    clustersync_agent_phase: () => phases.map((phase) => ({ labels: { phase }, value: last?.phase === phase ? 1 : 0 })),
    clustersync_agent_cycles_total: () => outcomes.map((outcome) => ({ labels: { outcome }, value: cycles[outcome] })),
    clustersync_agent_failures_in_a_row: () => [{ value: failuresInARow }],
    clustersync_agent_last_success_timestamp_seconds: () => (succeededAtMs === undefined ? [] : [{ value: succeededAtMs / 1000 }]),
    clustersync_agent_step_seconds: () =>
      [...steps].flatMap(([step, { count, sumMs }]) => [
        { labels: { step }, suffix: '_sum', value: sumMs / 1000 },
        { labels: { step }, suffix: '_count', value: count },
      ]),
    clustersync_agent_files_total: () => operations.map((operation) => ({ labels: { operation }, value: files[operation] })),
    clustersync_agent_written_bytes_total: () => [{ value: writtenBytes }],
    clustersync_agent_drifted_files: () => [{ value: last?.drift?.count ?? 0 }],
    clustersync_agent_scans_total: () => outcomes.map((outcome) => ({ labels: { outcome }, value: scans[outcome] })),
    clustersync_agent_gateway_state: () => gatewayStates.map((state) => ({ labels: { state }, value: gatewayState === state ? 1 : 0 })),
    clustersync_agent_open_designers: () => [{ value: designers }],
  }

  return {
    reported(status) {
      last = status
      if (status.finishedAt === undefined) return
      const isFailed = status.phase === 'Failed'
      failuresInARow = isFailed ? failuresInARow + 1 : 0
      if (isIdle(status)) return
      cycles[isFailed ? 'failed' : 'ok'] += 1
      if (successes.has(status.phase)) succeededAtMs = Date.parse(status.finishedAt)
      for (const operation of operations) files[operation] += status.files?.[operation] ?? 0
      writtenBytes += status.files?.bytes ?? 0
    },
    stepped(step, durationMs) {
      const known = steps.get(step)
      if (known === undefined) return
      known.count += 1
      known.sumMs += durationMs
    },
    watched: (gateway) => ({
      ...gateway,
      async status(signal) {
        gatewayState = await gateway.status(signal)
        // Only a running gateway has Designer sessions.
        if (gatewayState !== 'running') designers = 0
        return gatewayState
      },
      async designers(signal) {
        const found = await gateway.designers(signal)
        designers = found.length
        return found
      },
      async scan(kinds, signal) {
        try {
          const scanned = await gateway.scan(kinds, signal)
          scans.ok += 1
          return scanned
        } catch (error) {
          if (!isAbort(error, signal)) scans.failed += 1
          throw error
        }
      },
    }),
    text() {
      const families = Object.entries(agentMetrics).map(([name, metric]) =>
        family(name, metric, samplesOf[name as keyof typeof agentMetrics]()),
      )
      return families.join('') + exposeProcess()
    },
  }
}
