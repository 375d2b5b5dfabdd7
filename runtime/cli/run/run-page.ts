/**
 * Serves the status page of a run: one port for the whole run, across versions of the GatewaySync file.
 */
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log/log.ts'
import { serve } from '../../http/serve.ts'
import { statusPageApp } from '../../statuspage/app.ts'
import { factsOfRun } from '../fleet/read-fleet.ts'
import type { Standalone } from './standalone.ts'
import type { RunOutput } from '../output/print.ts'

/** `closed` settles when the port is closed, after the signal. */
export type RunPage = {
  /** Shows this version from now on. */
  follow(standalone: Standalone): void
  /** The content of the page may have changed. */
  changed(): void
  closed: Promise<void>
}

type Deps = { clock: Clock; log: Log; output: Pick<RunOutput, 'emit'> }

/** Enough connections for the viewers in a control room: each viewer uses one for the page and one for events. */
const bounds = { maxConnections: 500, readAheadBytes: 16 * 1024 }

/** Throws InvalidConfiguration when the port cannot be opened. */
export async function openRunPage(
  { clock, log, output }: Deps,
  { port, host, receives, first }: { port: number; host: string; receives: boolean; first: Standalone },
  signal: AbortSignal,
): Promise<RunPage> {
  const isOwn = isLoopback(host)
  let shown = first
  let emit = (): void => undefined
  const app = statusPageApp({
    facts: () => ({ ...factsOfRun({ ...shown.objects.record(), reports: shown.objects.reports() }), receives }),
    subscribe(changed) {
      emit = changed
      return () => undefined
    },
    isOpen: !isOwn,
    commits: {
      summary: (...what) => shown.commits.summary(...what),
      changes: (...what) => shown.commits.changes(...what),
    },
    report: async ({ pod }) => shown.objects.reports()[pod],
    hosts: isOwn ? ['localhost', '127.0.0.1', '[::1]', host] : undefined,
    clock,
    signal,
  })
  const served = await serve({ app, port, host, bounds, log }, signal)
  output.emit({ event: 'serving', url: served.url })
  return {
    follow(standalone) {
      shown = standalone
      emit()
    },
    changed: () => emit(),
    closed: served.closed,
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}
