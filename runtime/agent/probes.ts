/**
 * The agent's HTTP port for the kubelet and Prometheus: /startz, /livez, /metrics. Uses only node:http, because every import costs the agent
 * memory.
 */
import { createServer, type Server, type ServerResponse } from 'node:http'
import { Fault } from '../fault.ts'
import type { AgentHealth } from './health.ts'

/** Called at each request. */
export type ProbeDeps = {
  health(): AgentHealth
  /** The exposition text of the agent's metrics. */
  metrics(): string
}

/** A probe sends a few headers and no body. */
const limits = { maxHeaderSize: 8192, headersTimeout: 5000, requestTimeout: 5000, keepAliveTimeout: 5000 }

/** Serves until the signal; settles when the last answer is out. Throws InvalidConfiguration when the port is taken. */
export async function serveProbes(
  deps: ProbeDeps,
  options: { port: number; host: string },
  signal: AbortSignal,
): Promise<{ port: number; closed: Promise<void> }> {
  const server = createServer(limits, (request, response) => {
    request.resume()
    answer(deps, request.method ?? '', request.url ?? '', response)
  })
  server.maxConnections = 50
  await listening(server, options)
  const closed = new Promise<void>((resolve) => server.once('close', () => resolve()))
  signal.addEventListener('abort', () => server.close(), { once: true })
  if (signal.aborted) server.close()
  const address = server.address()
  return { port: typeof address === 'object' && address !== null ? address.port : options.port, closed }
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

function listening(server: Server, { port, host }: { port: number; host: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(new Fault('InvalidConfiguration', `port ${port} cannot be opened: ${error.message}`, { cause: error })),
    )
    // Without a host Node takes all addresses, also where there is no IPv6.
    server.listen({ port, ...(host === '::' ? {} : { host }) }, () => resolve())
  })
}
