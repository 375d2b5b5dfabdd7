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
/** What was given out is not free, though nobody may listen there yet. */
const given = new Set<number>()

export async function freePort(): Promise<number> {
  let cause: Error | undefined
  for (let tries = 0; tries < mostTries; tries += 1) {
    const port = randomInt(range.first, range.last + 1)
    if (given.has(port)) continue
    // At once, for others may ask while this one is tried.
    given.add(port)
    cause = await whyTaken(port)
    if (cause === undefined) return port
  }
  throw new Error(`none of ${mostTries} ports from ${range.first} to ${range.last} is free`, { cause })
}

/** The error of listening at the port; undefined: it is free. */
function whyTaken(port: number): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.on('error', resolve)
    server.listen(port, () => server.close(() => resolve(undefined)))
  })
}
