/**
 * The status page over HTTP for tests, with fleet data that a test provides and changes.
 */
import type { Test } from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import type { FleetFacts } from '../../runtime/fleet/facts.ts'
import type { SyncReportStatus } from '../../runtime/api/schema/report.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { serve } from '../../runtime/http/serve.ts'
import { type StatusPageDeps, statusPageApp } from '../../runtime/statuspage/app.ts'
import { commit, condition, fleetFacts, pod, report, syncFacts } from './fleet-facts.ts'

/** One healthy GatewaySync and one that is refused. */
export const twoLines = fleetFacts({
  syncs: [
    syncFacts('line-1'),
    syncFacts('line-2', { conditions: [condition('Ready', 'False', 'CollectionsInvalid', 'services/core/a.json: is no JSON')] }),
  ],
  pods: [pod('gw-0', 'line-1'), pod('gw-1', 'line-2')],
  reports: [report('gw-0', 'line-1'), report('gw-1', 'line-2')],
})

export async function openStatusPage(
  t: Pick<Test, 'teardown'>,
  first: FleetFacts = twoLines,
  {
    hosts,
    isOpen = false,
    auth,
    commits,
    report: whole,
    clock = systemClock,
    trustedProxies = [],
    port = 0,
  }: Partial<StatusPageDeps> & { port?: number } = {},
) {
  const stop = new AbortController()
  let current = first
  let tell = (): void => undefined
  const app = statusPageApp({
    facts: () => current,
    subscribe(changed) {
      tell = changed
      return () => undefined
    },
    hosts,
    isOpen,
    auth,
    commits,
    report: whole,
    clock,
    trustedProxies,
    signal: stop.signal,
  })
  const served = await serve({ app, port, host: '127.0.0.1', log: silentLog }, stop.signal)
  const close = async (): Promise<void> => {
    stop.abort()
    await served.closed
  }
  t.teardown(close)
  const url = `http://127.0.0.1:${served.port}`
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${url}${path}`, { headers, signal: AbortSignal.timeout(60_000) })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  return {
    url,
    port: served.port,
    get,
    close,
    change(next: FleetFacts) {
      current = next
      tell()
    },
  }
}

/** A thousand gateways, each with its own status. */
export function thousandGateways(ownStatus: (name: string) => Partial<SyncReportStatus>): FleetFacts {
  const names = Array.from({ length: 1000 }, (_, index) => `gateway-${index}`)
  return fleetFacts({
    syncs: [syncFacts('line-1')],
    pods: names.map((name) => pod(name, 'line-1')),
    reports: names.map((name) => report(name, 'line-1', { gateway: name, commit, ...ownStatus(name) })),
  })
}
