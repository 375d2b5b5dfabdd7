/**
 * Real TLS handshakes between a server with a certificate and a client that trusts a bundle.
 */
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'

/** `trusted`, or OpenSSL's error code. */
export async function handshake(leaf: { certificate: string; key: string }, caBundle: string, servername = 'localhost'): Promise<string> {
  const server = tls.createServer({ cert: leaf.certificate, key: leaf.key }, (socket) => socket.end())
  // A client that refuses the certificate resets the connection.
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    return await connect(port, caBundle, servername)
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
}

async function connect(port: number, caBundle: string, servername: string): Promise<string> {
  return await new Promise((resolve) => {
    const socket = tls.connect({ host: '127.0.0.1', port, servername, ca: caBundle })
    socket.once('secureConnect', () => {
      resolve('trusted')
      socket.destroy()
    })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })
}
