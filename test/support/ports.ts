/** Ports of this machine that are free now. */
import { createServer } from 'node:net'

/** Where a controller's endpoints listen. */
export type Ports = { receiver: number; admission: number; metrics: number; probes: number; delivery: number }

export async function freePorts(): Promise<Ports> {
  const [receiver, admission, metrics, probes, delivery] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ]
  return { receiver, admission, metrics, probes, delivery }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
