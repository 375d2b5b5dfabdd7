/**
 * A git host like a user's: real `git http-backend` behind HTTP, with repositories to commit to and a record of requests.
 */
import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import type { Test } from 'tap'
import { gitEnvironment, makeRepository, type Repository } from './repository.ts'

export type GitHost = {
  url(name: string): string
  /** Creates a repository below the host's folder. */
  repository(name: string, options?: { objectFormat?: 'sha1' | 'sha256' }): Repository
  /** Paths of all requests so far, with their query. */
  requests: string[]
  /** The headers of each request. */
  headers: IncomingMessage['headers'][]
  port: number
  /** The number of fetches: each opens one connection and begins with the ref advertisement. */
  fetches(): number
  /** Bytes sent so far, including heads. */
  bytesSent(): number
  /** While true, no request is answered. */
  hang(hangs: boolean): void
  stop(): Promise<void>
}

/**
 * How hosts answer a fetch by commit hash. With protocol v2 git serves every commit, with v0 only if configured; by default a host with v0
 * serves the tips of branches and tags.
 */
export const hostModes = ['v2', 'v0', 'v0, tips only'] as const
export type HostMode = (typeof hostModes)[number]

/** The environment that configures git on a host. */
export function environmentOf(mode: HostMode): Record<string, string> {
  const value = String(mode !== 'v0, tips only')
  return { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'uploadpack.allowAnySHA1InWant', GIT_CONFIG_VALUE_0: value }
}

/**
 * Runs a test once for each kind of host. Use it for every test whose result can depend on what the host advertises or serves: which commit a ref or
 * hash resolves to, how many requests that takes, what a fetch brings, who may fetch, and whether a published commit that is not a tip can be fetched
 * again. Tests of memory, of damage on the disk and of pages in place of git use one host, because these are the same with every protocol.
 */
export function eachHost(t: Test, name: string, test: (t: Test, mode: HostMode) => Promise<void>): void {
  for (const mode of hostModes) void t.test(`${name} (${mode})`, async (t) => await test(t, mode))
}

export type GitHostOptions = {
  mode?: HostMode
  /** The file that receives every packet line of the host. */
  packetTrace?: string
  /** 0 chooses a free port. */
  port?: number
  /** The address to listen on; by default loopback. */
  address?: string
  /** Serves https. */
  tls?: ServerOptions
  /** Returns true if it has answered the request. */
  before?(request: IncomingMessage, response: ServerResponse): boolean
}

export async function startGitHost(folder: string, options: GitHostOptions = {}): Promise<GitHost> {
  const { tls, before, port: desiredPort = 0, address = '127.0.0.1' } = options
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
  // A client that trusts another authority resets the connection.
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(desiredPort, address, () => resolve()))
  const { port } = server.address() as AddressInfo
  return {
    requests,
    fetches: () => requests.filter((url) => url.includes('/info/refs')).length,
    bytesSent: () => bytes,
    headers,
    port,
    url: (name) => `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/${name}`,
    repository: (name, { objectFormat = 'sha1' } = {}) => makeRepository(path.join(folder, name), objectFormat),
    hang(next) {
      hangs = next
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** CGI: headers in the environment and first lines, bodies through pipes. */
function backend(folder: string, request: IncomingMessage, response: ServerResponse, { mode = 'v2', packetTrace }: GitHostOptions): void {
  const [pathname = '', query = ''] = (request.url ?? '').split('?')
  const child = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      ...gitEnvironment,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      ...environmentOf(mode),
      // The user that runs the tests owns the repository of a work tree.
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_1: 'safe.directory',
      GIT_CONFIG_VALUE_1: '*',
      PATH_INFO: pathname,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      ...(mode === 'v2' ? { GIT_PROTOCOL: String(request.headers['git-protocol'] ?? '') } : {}),
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
