/**
 * The agent's own figures as Prometheus reads them. Few and by hand: a metrics library would be a tenth of the agent's memory. Pure.
 */
import { phases } from '../gatewaysync/schema/report.ts'
import type { SyncReportStatus } from '../gatewaysync/schema/report.ts'

/** Counted since the start of the process. */
export type AgentCounters = { cycles: Readonly<Record<'ok' | 'failed', number>>; filesWritten: number; bytesWritten: number }

export const noCycles: AgentCounters = { cycles: { ok: 0, failed: 0 }, filesWritten: 0, bytesWritten: 0 }

/** The counters after one more report that ended a cycle. */
export function countReport(counters: AgentCounters, status: SyncReportStatus): AgentCounters {
  if (status.finishedAt === undefined) return counters
  const outcome = status.phase === 'Failed' ? 'failed' : 'ok'
  const { added = 0, changed = 0, bytes = 0 } = status.files ?? {}
  return {
    cycles: { ...counters.cycles, [outcome]: counters.cycles[outcome] + 1 },
    filesWritten: counters.filesWritten + added + changed,
    bytesWritten: counters.bytesWritten + bytes,
  }
}

/** Text exposition format 0.0.4. */
export function exposition(status: SyncReportStatus | undefined, counters: AgentCounters): string {
  const lines = [
    ...family('clustersync_agent_phase', 'gauge', '1 for the phase that the gateway is in', (line) => {
      for (const phase of phases) line(`{phase="${phase}"}`, status?.phase === phase ? 1 : 0)
    }),
    ...family('clustersync_agent_cycles_total', 'counter', 'sync cycles by outcome', (line) => {
      for (const [outcome, count] of Object.entries(counters.cycles)) line(`{outcome="${outcome}"}`, count)
    }),
    ...family('clustersync_agent_files_written_total', 'counter', 'files put in place', (line) => line('', counters.filesWritten)),
    ...family('clustersync_agent_written_bytes_total', 'counter', 'content put in place', (line) => line('', counters.bytesWritten)),
    ...family('clustersync_agent_drifted_files', 'gauge', 'owned files that were changed locally', (line) =>
      line('', status?.drift?.count ?? 0),
    ),
  ]
  return `${lines.join('\n')}\n`
}

function family(
  name: string,
  type: 'gauge' | 'counter',
  help: string,
  write: (line: (labels: string, value: number) => void) => void,
): string[] {
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
  write((labels, value) => lines.push(`${name}${labels} ${value}`))
  return lines
}
