/**
 * Answers the kubelet's probes, and serves the metrics to Prometheus: on an HTTP port, or in files for a pod on the host network.
 */
import { Hono } from 'hono'
import { serve, type Served } from '../http/serve.ts'
import { backoffMs, type Clock, pause } from '../platform/clock.ts'
import { asFault } from '../platform/fault.ts'
import type { Log } from '../platform/log/log.ts'
import type { AgentHealth } from './health.ts'
import { renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { probeFiles } from '../settings/agent.ts'
import { startTimeOf } from '../sync/disk/lock-holder.ts'

/** `health` and `metrics` are called at each request. */
export type ProbeDeps = {
  clock: Clock
  log: Log
  health(): AgentHealth
  /** The exposition text of the agent's metrics. */
  metrics(): string
}

/** A probe sends a few headers and no body. */
const bounds = { maxConnections: 50, headersTimeoutMs: 5_000, requestTimeoutMs: 5_000, keptAliveMs: 5_000 }

/** Retry interval while another process has the port. */
const retryMs = { first: 500, longest: 5_000 }

/** The state of the port. */
export type ServedProbes = {
  /** The port once it is open; undefined: the signal aborted first. */
  opened: Promise<number | undefined>
  /** Settles after the signal, when the last response is sent. */
  closed: Promise<void>
}

/**
 * Serves until the signal aborts. Retries and logs a port that cannot be opened: an agent that exited instead would keep its gateway from
 * starting and sync nothing. Never throws.
 */
export function serveProbes(deps: ProbeDeps, address: { port: number; host: string }, signal: AbortSignal): ServedProbes {
  const served = open(deps, address, signal)
  return { opened: served.then((it) => it?.port), closed: served.then((it) => it?.closed) }
}

async function open(deps: ProbeDeps, address: { port: number; host: string }, signal: AbortSignal): Promise<Served | undefined> {
  const { clock, log } = deps
  const app = probesApp(deps)
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      return await serve({ app, ...address, bounds, log }, signal)
    } catch (error) {
      const { reason, message } = asFault(error)
      if (failures === 1) log.error({ reason, message: `${message}; the agent retries` }, 'the probe port cannot be opened')
      await pause(clock, backoffMs(failures, retryMs.first, retryMs.longest, clock.random()), signal)
    }
  }
  return undefined
}

function probesApp({ health, metrics }: ProbeDeps): Hono {
  const app = new Hono()
  app.get('/metrics', (context) => context.text(metrics(), 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }))
  app.get('/startz', (context) => {
    const { started, why } = health()
    return started ? context.text('ok\n') : context.text(`${why ?? 'not started'}\n`, 503)
  })
  app.get('/livez', (context) => {
    const { live, why } = health()
    return live ? context.text('ok\n') : context.text(`${why ?? 'stuck'}\n`, 503)
  })
  app.notFound((context) =>
    context.req.method === 'GET'
      ? context.text('not found; the routes are /startz, /livez and /metrics\n', 404)
      : context.text('method not allowed\n', 405, { allow: 'GET' }),
  )
  return app
}

/** The files hold the last result of `health`, which is called at every interval. */
type ProbeFilesDeps = { clock: Clock; log: Log; health(): AgentHealth }

const pollIntervalMs = 1_000

/** Keeps both files in `folder` current until the signal aborts. Retries each second if the folder is not writable. Never throws. */
export async function keepProbeFiles({ clock, log, health }: ProbeFilesDeps, folder: string, signal: AbortSignal): Promise<void> {
  const written = new Map<string, { text: string; atMs: number }>()
  const writer = `${process.pid} ${startTimeOf('self') ?? ''}`
  let isLogged = false
  const write = (name: string, text: string): void => {
    const last = written.get(name)
    const nowMs = clock.monotonicMs()
    if (last?.text === text && nowMs - last.atMs < probeFiles.renewedMs) return
    const file = path.join(folder, name)
    // Replaced atomically, because a probe may read it at any moment.
    writeFileSync(`${file}.new`, `${writer}\n${text}`)
    renameSync(`${file}.new`, file)
    written.set(name, { text, atMs: nowMs })
  }
  while (!signal.aborted) {
    const { started, live, why } = health()
    try {
      write(probeFiles.start, started ? probeFiles.ok : (why ?? 'not started'))
      write(probeFiles.live, live ? probeFiles.ok : (why ?? 'stuck'))
    } catch (error) {
      const { reason, message } = asFault(error)
      if (!isLogged) log.error({ reason, message, path: folder }, 'the probe files cannot be written')
      isLogged = true
    }
    await pause(clock, pollIntervalMs, signal)
  }
}
