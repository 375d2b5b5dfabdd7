/**
 * An HTTP proxy like those of plants: tunnels CONNECT requests to their target for clients with the right user and password.
 */
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

export type ConnectProxy = {
  port: number
  /** `host:port` and headers of every CONNECT. */
  asked: { target: string; headers: IncomingMessage['headers'] }[]
  stop(): Promise<void>
}

/** `hosts`: targets of names that no resolver knows. */
export async function startConnectProxy(password: string | undefined, hosts: Readonly<Record<string, string>> = {}): Promise<ConnectProxy> {
  const asked: ConnectProxy['asked'] = []
  const open = new Set<Duplex>()
  const desired = password === undefined ? undefined : `Basic ${Buffer.from(password).toString('base64')}`
  const server = createServer((_request, response) => response.writeHead(400).end())
  server.on('connect', (request: IncomingMessage, socket) => {
    socket.on('error', () => undefined)
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    asked.push({ target: request.url ?? '', headers: request.headers })
    if (desired !== undefined && request.headers['proxy-authorization'] !== desired) {
      socket.end(
        'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="plant"\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
      )
      return
    }
    const [name = '', port = ''] = (request.url ?? '').split(':')
    const upstream = connect(Number(port), hosts[name] ?? name, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(socket)
      socket.pipe(upstream)
    })
    upstream.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    async stop() {
      for (const socket of open) socket.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
