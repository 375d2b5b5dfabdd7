/**
 * The agent's HTTP port for the kubelet and Prometheus: /startz, /livez, /metrics. Uses only node:http, because every import costs the agent
 * memory.
 */
import { createServer, type Server, type ServerResponse } from 'node:http'
import { backoffMs, type Clock, pause } from '../clock.ts'
import type { Log } from '../log.ts'
import type { AgentHealth } from './health.ts'

/** `health` and `metrics` are called at each request. */
export type ProbeDeps = {
  clock: Clock
  log: Log
  health(): AgentHealth
  /** The exposition text of the agent's metrics. */
  metrics(): string
}

/** A probe sends a few headers and no body. */
const limits = { maxHeaderSize: 8192, headersTimeout: 5000, requestTimeout: 5000, keepAliveTimeout: 5000 }

/** How often a port that somebody else has is tried again. */
const retryMs = { first: 500, longest: 5_000 }

/** What becomes of the port. */
export type ServedProbes = {
  /** The port once it is open; undefined: the signal came first. */
  opened: Promise<number | undefined>
  /** Settles after the signal, when the last answer is out. */
  closed: Promise<void>
}

/**
 * Serves until the signal. A port that cannot be opened is tried until it can, which the log tells: an agent that ended because of it would
 * keep its gateway from starting and sync nothing. Never throws.
 */
export function serveProbes(deps: ProbeDeps, { port, host }: { port: number; host: string }, signal: AbortSignal): ServedProbes {
  const server = createServer(limits, (request, response) => {
    request.resume()
    answer(deps, request.method ?? '', request.url ?? '', response)
  })
  server.maxConnections = 50
  // One connection that cannot be accepted, for lack of memory say, would end the process.
  server.on('error', () => undefined)
  const opened = open(deps, server, { port, host }, signal)
  const closed = opened.then(
    () =>
      new Promise<void>((resolve) => {
        const close = (): void => void server.close(() => resolve())
        if (signal.aborted) close()
        else signal.addEventListener('abort', close, { once: true })
      }),
  )
  return { opened, closed }
}

async function open(
  { clock, log }: ProbeDeps,
  server: Server,
  options: { port: number; host: string },
  signal: AbortSignal,
): Promise<number | undefined> {
  for (let failures = 1; !signal.aborted; failures += 1) {
    const error = await listen(server, options)
    const address = server.address()
    if (error === undefined) return typeof address === 'object' && address !== null ? address.port : options.port
    if (failures === 1) {
      const message = `port ${options.port}: ${error.message}; it is tried until it is free`
      log.error({ reason: 'InvalidConfiguration', message }, 'the port of the probes cannot be opened')
    }
    await pause(clock, backoffMs(failures, retryMs.first, retryMs.longest, clock.random()), signal)
  }
  return undefined
}

function answer({ health, metrics }: ProbeDeps, method: string, url: string, response: ServerResponse): void {
  const [path] = url.split('?')
  if (method !== 'GET') return end(response, 405, 'method not allowed\n', { allow: 'GET' })
  if (path === '/metrics') return end(response, 200, metrics(), { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
  const { started, live, why } = health()
  if (path === '/startz') return end(response, started ? 200 : 503, `${started ? 'ok' : (why ?? 'not started')}\n`)
  if (path === '/livez') return end(response, live ? 200 : 503, `${live ? 'ok' : (why ?? 'stuck')}\n`)
  return end(response, 404, 'there are /startz, /livez and /metrics\n')
}

function end(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers })
  response.end(body)
}

/** Settles with why the port could not be opened. */
function listen(server: Server, { port, host }: { port: number; host: string }): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const settle = (error?: Error): void => {
      server.off('error', settle).off('listening', opened)
      resolve(error)
    }
    const opened = (): void => settle()
    server.once('error', settle).once('listening', opened)
    // Without a host Node takes all addresses, also where there is no IPv6.
    server.listen({ port, ...(host === '::' ? {} : { host }) })
  })
}
