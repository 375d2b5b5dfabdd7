/**
 * The agent's metrics: cycles, steps, files and scans, including failed ones.
 */
import t from 'tap'
import { AgentMetrics } from '../../../runtime/agent/metrics.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import type { Gateway } from '../../../runtime/gateway/gateway.ts'
import type { SyncReportStatus } from '../../../runtime/api/schema/report.ts'
import { containsText } from '../../support/assertions.ts'

const signal = new AbortController().signal
const finishedAt = '2026-01-01T00:00:00Z'

function setup() {
  const metrics = new AgentMetrics({ version: '1.2.3' })
  const value = (series: string): number | undefined => {
    const line = metrics
      .text()
      .split('\n')
      .find((text) => text.startsWith(`${series} `))
    return line === undefined ? undefined : Number(line.slice(series.length + 1))
  }
  return { metrics, value }
}

function gatewayThat(more: Partial<Gateway>): Gateway {
  return {
    status: async () => 'running',
    info: async () => ({ name: '', version: '', deploymentMode: '', redundancyRole: '' }),
    designers: async () => [],
    lock: async () => 'held',
    problems: async () => [],
    statusOf: async () => 200,
    scan: async () => ({ problems: [] }),
    ...more,
  }
}

void t.test('a cycle is counted when it ends, and the phase metric shows the last phase', async (t) => {
  const { metrics, value } = setup()
  const files = { added: 2, changed: 1, removed: 4, unchanged: 5, bytes: 100 }
  metrics.reported({ phase: 'Syncing' })
  t.equal(value('clustersync_agent_cycles_total{outcome="ok"}'), 0)
  metrics.reported({ phase: 'Synced', finishedAt, files, drift: { count: 3, paths: [] } })
  t.equal(value('clustersync_agent_phase{phase="Synced"}'), 1)
  t.equal(value('clustersync_agent_drifted_files'), 3)
  t.equal(value('clustersync_agent_cycles_total{outcome="ok"}'), 1)
  t.strictSame(
    ['added', 'changed', 'removed'].map((operation) => value(`clustersync_agent_files_total{operation="${operation}"}`)),
    [2, 1, 4],
  )
  t.equal(value('clustersync_agent_written_bytes_total'), 100)
  t.equal(value('clustersync_agent_last_success_timestamp_seconds'), Date.parse(finishedAt) / 1000)
})

void t.test('failures in a row reset after a cycle that does not fail, and written files stay counted', async (t) => {
  const { metrics, value } = setup()
  const failed: SyncReportStatus = { phase: 'Failed', reason: 'DiskFull', finishedAt }
  metrics.reported({
    phase: 'Synced',
    finishedAt: '2025-12-31T00:00:00Z',
    files: { added: 1, changed: 0, removed: 0, unchanged: 0, bytes: 7 },
  })
  for (let count = 1; count <= 3; count += 1) {
    metrics.reported(failed)
    t.equal(value('clustersync_agent_consecutive_failures'), count)
  }
  t.equal(value('clustersync_agent_cycles_total{outcome="failed"}'), 3)
  t.equal(value('clustersync_agent_phase{phase="Synced"}'), 0)
  t.equal(value('clustersync_agent_written_bytes_total'), 7)
  t.equal(value('clustersync_agent_last_success_timestamp_seconds'), Date.parse('2025-12-31T00:00:00Z') / 1000, 'a failure is no success')
  const attempt = { commit: 'a'.repeat(40), syncHash: 'h' }
  metrics.reported({ phase: 'Blocked', reason: 'MassDeletion', finishedAt, attempt })
  t.equal(value('clustersync_agent_consecutive_failures'), 0, 'an agent that waits for a user does not retry')
  t.equal(value('clustersync_agent_last_success_timestamp_seconds'), Date.parse('2025-12-31T00:00:00Z') / 1000)
})

void t.test('a report without a sync attempt is not counted as a cycle', async (t) => {
  const { metrics, value } = setup()
  metrics.reported({ phase: 'Failed', reason: 'DiskFull', finishedAt })
  for (const status of [
    { phase: 'Pending', reason: 'NotFound' },
    { phase: 'Blocked', reason: 'UnknownProfile', commit: 'a'.repeat(40) },
  ] as const)
    metrics.reported({ ...status, finishedAt })
  t.equal(value('clustersync_agent_cycles_total{outcome="ok"}'), 0)
  t.equal(value('clustersync_agent_cycles_total{outcome="failed"}'), 1)
  t.equal(value('clustersync_agent_consecutive_failures'), 0, 'nothing fails any more')
  t.equal(value('clustersync_agent_phase{phase="Blocked"}'), 1)
})

void t.test('steps are measured in seconds', async (t) => {
  const { metrics, value } = setup()
  metrics.stepped('stage', 250)
  metrics.stepped('stage', 1250)
  t.equal(value('clustersync_agent_step_duration_seconds_sum{step="stage"}'), 1.5)
  t.equal(value('clustersync_agent_step_duration_seconds_count{step="stage"}'), 2)
  t.equal(value('clustersync_agent_step_duration_seconds_count{step="publish"}'), 0)
})

void t.test("the gateway's state and open Designers are recorded when the agent reads them", async (t) => {
  const { metrics, value } = setup()
  let state: Awaited<ReturnType<Gateway['status']>> = 'running'
  const gateway = metrics.watched(
    gatewayThat({
      status: async () => state,
      designers: async () => [
        { user: 'a', project: 'line' },
        { user: 'b', project: '' },
      ],
    }),
  )
  t.equal(value('clustersync_agent_gateway_state{state="running"}'), 0, 'nobody has asked yet')
  t.equal(await gateway.status(signal), 'running')
  t.equal((await gateway.designers(signal)).length, 2)
  t.equal(value('clustersync_agent_gateway_state{state="running"}'), 1)
  t.equal(value('clustersync_agent_open_designers'), 2)
  state = 'unreachable'
  await gateway.status(signal)
  t.equal(value('clustersync_agent_gateway_state{state="running"}'), 0)
  t.equal(value('clustersync_agent_gateway_state{state="unreachable"}'), 1)
  t.equal(value('clustersync_agent_open_designers'), 0, 'a gateway that is gone has none')
})

void t.test('a failed scan counts as failed, and an aborted one is not counted', async (t) => {
  const { metrics, value } = setup()
  const fault = new Fault('ScanFailed', 'no end')
  const ending = new AbortController()
  await metrics.watched(gatewayThat({})).scan(['config'], signal)
  await t.rejects(metrics.watched(gatewayThat({ scan: () => Promise.reject(fault) })).scan(['config'], signal), fault)
  ending.abort(new Error('stop'))
  const ended = metrics.watched(gatewayThat({ scan: () => Promise.reject(ending.signal.reason as Error) }))
  await t.rejects(ended.scan(['config'], ending.signal))
  t.equal(value('clustersync_agent_scans_total{outcome="ok"}'), 1)
  t.equal(value('clustersync_agent_scans_total{outcome="failed"}'), 1)
})

void t.test('series with a closed set of labels exist from the start, and missing values are absent', async (t) => {
  const { metrics } = setup()
  const text = metrics.text()
  t.notMatch(text, /NaN|undefined/)
  containsText(t, text, 'clustersync_agent_build_info{version="1.2.3"} 1\n')
  containsText(t, text, 'clustersync_agent_scans_total{outcome="failed"} 0\n')
  t.notMatch(text, /^clustersync_agent_last_success_timestamp_seconds /m, 'nothing has succeeded yet')
  t.match(text, /^process_resident_memory_bytes [0-9]{7,}$/m)
})
