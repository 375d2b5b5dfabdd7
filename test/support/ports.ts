/** Free ports of this machine. */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** The ports of a controller's endpoints. */
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

/** Below the range of ephemeral ports: an outgoing connection could take a port before the server listens on it. */
const range = { first: 12_000, last: 29_999 }
const maxTries = 100
/** Ports already handed out are not free, even if no server listens on them yet. */
const given = new Set<number>()

export async function freePort(): Promise<number> {
  let cause: Error | undefined
  for (let tries = 0; tries < maxTries; tries += 1) {
    const port = randomInt(range.first, range.last + 1)
    if (given.has(port)) continue
    // Reserved at once, because concurrent calls may check the same port.
    given.add(port)
    cause = await whyTaken(port)
    if (cause === undefined) return port
  }
  throw new Error(`none of ${maxTries} ports from ${range.first} to ${range.last} is free`, { cause })
}

/** The error of listening on the port; undefined: it is free. */
function whyTaken(port: number): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.on('error', resolve)
    server.listen(port, () => server.close(() => resolve(undefined)))
  })
}
