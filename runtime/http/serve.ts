/**
 * Serves a hono app on a port: limits against slow and many callers, certificate replacement without a restart, and a graceful shutdown.
 */
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import * as http from 'node:http'
import * as https from 'node:https'
import type { Socket } from 'node:net'
import { Fault } from '../platform/fault.ts'
import { createConnections } from './connections.ts'
import type { Log } from '../platform/log/log.ts'

/** PEM. */
export type ServingCertificate = { cert: string; key: string }

/** One port. */
export type ServeOptions = {
  app: Pick<Hono, 'fetch'>
  /** 0 chooses a free one. */
  port: number
  host: string
  /** The certificate, or a function that returns the current one; undefined: plain http. */
  tls?: ServingCertificate | undefined
  /** Protects the process's memory from many or large calls. */
  bounds?: Partial<ConnectionBounds>
  log: Log
}

/** Bounds for the connections of one port. */
export type ConnectionBounds = {
  /** Beyond this, an idle connection is closed, one of the client that holds the most. */
  maxConnections: number
  /** How much of a body each connection reads before the app reads it; a piece that arrives is always read whole. */
  readAheadBytes: number
  /** Deadlines, in ms, from the beginning of a connection or call to the end of its headers and body; the first also bounds a TLS handshake. */
  headersTimeoutMs: number
  requestTimeoutMs: number
  /** How long a connection is kept alive after an answer. */
  keptAliveMs: number
}

/** An open port. */
export type Served = {
  port: number
  /** `http://host:port`, with `localhost` for wildcard addresses. */
  url: string
  /** Uses another certificate for new connections. */
  exchange(certificate: ServingCertificate): void
  /** Settles when the last answer has been sent or aborted. */
  closed: Promise<void>
}

/** Maximum size of the headers of one call. */
export const maxHeaderBytes = 16 * 1024
/** The default bounds of a port. */
export const defaultBounds: ConnectionBounds = {
  maxConnections: 1_000,
  readAheadBytes: 64 * 1024,
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  keptAliveMs: 30_000,
}
/** How often slow callers are disconnected. */
const slowCheckMs = 1_000
/** How long running answers may still take at shutdown. */
const drainMs = 10_000

/** Why the system does not open a port. */
const portProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process is already listening on it; stop that process, or choose another port',
  EACCES: 'this user may not open ports below 1024; choose another port',
  EADDRNOTAVAIL: 'this machine does not have the address',
}

function portProblem(error: NodeJS.ErrnoException): string {
  return portProblems[error.code ?? ''] ?? error.message
}

/** Serves until `signal` aborts. Throws InvalidConfiguration when the port cannot be opened. */
export async function serve({ app, port, host, tls, bounds, log }: ServeOptions, signal: AbortSignal): Promise<Served> {
  const { maxConnections, readAheadBytes, headersTimeoutMs, requestTimeoutMs, keptAliveMs } = { ...defaultBounds, ...bounds }
  const options = {
    maxHeaderSize: maxHeaderBytes,
    keepAliveTimeout: keptAliveMs,
    highWaterMark: readAheadBytes,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(slowCheckMs, headersTimeoutMs),
  }
  const connections = createConnections(maxConnections)
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  const listener: http.RequestListener = (request, response) => {
    const answered = connections.begin(request)
    response.once('close', () => {
      answered()
      // A kept-alive connection would delay the shutdown after its last answer.
      setImmediate(() => signal.aborted && server.closeIdleConnections())
    })
    void answer(request, response)
  }
  const secure =
    tls === undefined
      ? undefined
      : https.createServer({ ...options, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: headersTimeoutMs }, listener)
  const server = secure ?? http.createServer(options, listener)
  server.on('connection', (socket: Socket) => connections.open(socket))
  server.on('clientError', (_error, socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    // Not `once`: a connection that cannot be accepted later, for example for lack of memory, must not end the process.
    server.on('error', (error) =>
      reject(new Fault('InvalidConfiguration', `port ${port} of ${host} cannot be opened: ${portProblem(error)}`, { cause: error })),
    )
    // Without a host Node listens on all addresses, also without IPv6.
    server.listen({ port, ...(host === '::' ? {} : { host }) }, () => resolve())
  })
  const closed = new Promise<void>((resolve) => server.once('close', () => resolve()))
  const end = (): void => {
    server.close()
    server.closeIdleConnections()
    const timer = setTimeout(() => {
      log.warn({}, 'open responses were closed')
      server.closeAllConnections()
    }, drainMs)
    void closed.then(() => clearTimeout(timer))
  }
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  const address = server.address()
  const actual = typeof address === 'object' && address !== null ? address.port : port
  const shown = host === '::' || host === '0.0.0.0' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return {
    port: actual,
    url: `${secure === undefined ? 'http' : 'https'}://${shown}:${actual}`,
    exchange: (certificate) => secure?.setSecureContext({ ...certificate, minVersion: 'TLSv1.2' }),
    closed,
  }
}
