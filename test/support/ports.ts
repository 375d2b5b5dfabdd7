/** Ports of this machine that are free now. */
import { randomInt } from 'node:crypto'
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

/** Below those that systems give to calls that go out: such a call could take a port before whoever it is for has opened it. */
const range = { first: 12_000, last: 29_999 }
const mostTries = 100

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const port = randomInt(range.first, range.last + 1)
    if (await isFree(port)) return port
  }
  throw new Error(`none of ${mostTries} ports from ${range.first} to ${range.last} is free`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.on('error', () => resolve(false))
    server.listen(port, () => server.close(() => resolve(true)))
  })
}
