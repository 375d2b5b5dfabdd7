/**
 * A git host as a user has one: real `git http-backend` behind HTTP, with repositories to commit to and a count of what was asked.
 */
import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { gitEnvironment, makeRepository, type Repository } from './repository.ts'

export type GitHost = {
  url(name: string): string
  /**
   * Makes a repository below the host's folder. As old hosts do, it gives no commit by its hash to who speaks protocol 0, unless
   * `anyHash`; protocol 2 gives every one.
   */
  repository(name: string, options?: { anyHash?: boolean; objectFormat?: 'sha1' | 'sha256' }): Repository
  /** Paths of all requests so far, with their query. */
  requests: string[]
  /** What each request told beside its path. */
  headers: IncomingMessage['headers'][]
  port: number
  /** How often a client began to ask: each fetch opens one connection, with the advertisement as its first request. */
  fetches(): number
  /** Bytes that were sent so far, heads included. */
  bytesSent(): number
  /** While true no request is answered. */
  hang(hangs: boolean): void
  stop(): Promise<void>
}

export type GitHostOptions = {
  /** The newest protocol of git that the host speaks. */
  protocol?: 0 | 2
  /** A file that every packet line of the host is written to. */
  packetTrace?: string
  /** 0 takes a free one. */
  port?: number
  /** Where it listens; by itself on this machine alone. */
  address?: string
  /** Serves https. */
  tls?: ServerOptions
  /** Answers a request itself when it returns true. */
  before?(request: IncomingMessage, response: ServerResponse): boolean
}

export async function startGitHost(folder: string, options: GitHostOptions = {}): Promise<GitHost> {
  const { tls, before, port: wantedPort = 0, address = '127.0.0.1' } = options
  const requests: string[] = []
  const headers: IncomingMessage['headers'][] = []
  let hangs = false
  let bytes = 0
  const answer: RequestListener = (request, response) => {
    requests.push(request.url ?? '')
    headers.push(request.headers)
    const sentBefore = request.socket.bytesWritten
    response.once('close', () => (bytes += request.socket.bytesWritten - sentBefore))
    if (!hangs && before?.(request, response) !== true) backend(folder, request, response, options)
  }
  const server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer)
  // A client that trusts somebody else resets the connection.
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(wantedPort, address, () => resolve()))
  const { port } = server.address() as AddressInfo
  return {
    requests,
    fetches: () => requests.filter((url) => url.includes('/info/refs')).length,
    bytesSent: () => bytes,
    headers,
    port,
    url: (name) => `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/${name}`,
    repository(name, { anyHash = false, objectFormat = 'sha1' } = {}) {
      const repository = makeRepository(path.join(folder, name), objectFormat)
      if (anyHash) repository.git('config', 'uploadpack.allowAnySHA1InWant', 'true')
      return repository
    },
    hang(next) {
      hangs = next
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** CGI: headers by environment and first lines, bodies by pipes. */
function backend(folder: string, request: IncomingMessage, response: ServerResponse, { protocol = 2, packetTrace }: GitHostOptions): void {
  const [pathname = '', query = ''] = (request.url ?? '').split('?')
  const child = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      ...gitEnvironment,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      // A work tree's repository belongs to whoever runs the tests.
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      PATH_INFO: pathname,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      ...(protocol === 2 ? { GIT_PROTOCOL: String(request.headers['git-protocol'] ?? '') } : {}),
      ...(packetTrace === undefined ? {} : { GIT_TRACE_PACKET: packetTrace }),
      REMOTE_ADDR: '127.0.0.1',
    },
  })
  request.pipe(child.stdin)
  child.stdin.on('error', () => undefined)
  let head = Buffer.alloc(0)
  let begun = false
  child.stdout.on('data', (chunk: Buffer) => {
    if (begun) {
      response.write(chunk)
      return
    }
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    begun = true
    for (const line of head.subarray(0, end).toString('latin1').split('\r\n')) {
      const [, name = '', value = ''] = /^([^:]+): *(.*)$/.exec(line) ?? []
      if (name.toLowerCase() === 'status') response.statusCode = Number.parseInt(value, 10)
      else if (name !== '') response.setHeader(name, value)
    }
    response.write(head.subarray(end + 4))
  })
  child.on('close', () => {
    if (!begun) response.statusCode = 500
    response.end()
  })
}
