/**
 * The status page of a run: one port for the whole run, whatever version of the file with the GatewaySync is followed.
 */
import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import { serve } from '../../serve.ts'
import { statusPageApp } from '../../statuspage/app.ts'
import { factsOfRun } from '../fleet/read-fleet.ts'
import type { Standalone } from './standalone.ts'
import type { Story } from '../story/tell.ts'

/** `closed` settles when the port is closed, after the signal. */
export type RunPage = {
  /** Shows this version from now on. */
  follow(standalone: Standalone): void
  /** Something may be different from what the page shows. */
  changed(): void
  closed: Promise<void>
}

type Deps = { clock: Clock; log: Log; story: Pick<Story, 'tell'> }

/** Connections for a control room: each viewer has one for the page and one for news. */
const bounds = { maxConnections: 500, readAheadBytes: 16 * 1024 }

/** Throws InvalidConfiguration when the port cannot be opened. */
export async function openRunPage(
  { clock, log, story }: Deps,
  { port, host, first }: { port: number; host: string; first: Standalone },
  signal: AbortSignal,
): Promise<RunPage> {
  const isOwn = isLoopback(host)
  let shown = first
  let tell = (): void => undefined
  const app = statusPageApp({
    facts: () => factsOfRun({ ...shown.keeper.record(), reports: shown.keeper.reports() }),
    subscribe(changed) {
      tell = changed
      return () => undefined
    },
    isOpen: !isOwn,
    commits: {
      words: (...what) => shown.commits.words(...what),
      changes: (...what) => shown.commits.changes(...what),
    },
    report: async ({ pod }) => shown.keeper.reports()[pod],
    hosts: isOwn ? ['localhost', '127.0.0.1', '[::1]', host] : undefined,
    clock,
    signal,
  })
  const served = await serve({ app, port, host, bounds, log }, signal)
  story.tell({ event: 'serving', url: served.url })
  return {
    follow(standalone) {
      shown = standalone
      tell()
    },
    changed: () => tell(),
    closed: served.closed,
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}
