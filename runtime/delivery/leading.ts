/**
 * How replicas keep in touch with the one that leads: it says so at the port of delivery, over a connection that is kept, so that the end
 * of its process is noticed at once and that of its node within a second or two. Nobody asks the API server for that.
 */
import { Hono } from 'hono'
import { Agent, request as httpsRequest } from 'node:https'
import type { Clock } from '../clock.ts'
import { readText } from '../http/client.ts'
import { readAddress } from './forward.ts'

/** Tells the name of the replica, if it leads. Anybody may know. */
const leaderPath = '/v1/leader'

const askEveryMs = 500
/** A healthy replica answers within milliseconds. */
const answerMs = 1_000
/** A connection may break by itself, and who has just taken the Lease needs a moment to lead. */
const triesMs = [0, 100, 250]
const maxNameBytes = 1_024

/** `leads`: the name of this replica while it leads. */
export function leadingApp(leads: () => string | undefined): Hono {
  const app = new Hono()
  app.get(leaderPath, (context) => {
    const name = leads()
    return name === undefined ? context.text('this replica does not lead', 404) : context.text(name)
  })
  return app
}

export type ContactOptions = {
  /** Which name the certificate of delivery is for. */
  serverName: string
  /** PEM, as it is now. */
  caBundle(): string
  clock: Clock
}

/** Asks the leader at an address, `host:port`, again and again; settles with the signal, or when it does not say any more that it leads. */
export function createContact({ serverName, caBundle, clock }: ContactOptions) {
  return async (leader: { identity: string; address: string }, signal: AbortSignal): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, minVersion: 'TLSv1.2' })
    try {
      while (!signal.aborted) {
        const broken = new AbortController()
        const says = () => ask(agent, { ...leader, serverName, ca: caBundle(), broken: () => broken.abort() }, signal)
        if (!(await isSaid(says, clock, signal))) return
        await clock.wait(askEveryMs, AbortSignal.any([signal, broken.signal])).catch(() => undefined)
      }
    } finally {
      agent.destroy()
    }
  }
}

async function isSaid(says: () => Promise<boolean>, clock: Clock, signal: AbortSignal): Promise<boolean> {
  for (const afterMs of triesMs) {
    await clock.wait(afterMs, signal).catch(() => undefined)
    if (signal.aborted || (await says())) return true
  }
  return false
}

type Question = { identity: string; address: string; serverName: string; ca: string; broken(): void }

/** Whether the process at the address says that it leads under that name. `broken` is called when the connection ends. Never throws. */
function ask(agent: Agent, { identity, address, serverName, ca, broken }: Question, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (readAddress(address) === undefined) return resolve(false)
    const until = AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
    const url = `https://${address}${leaderPath}`
    const request = httpsRequest(url, { agent, signal: until, servername: serverName, ca }, (response) => {
      readText(response, maxNameBytes).then(
        (text) => resolve(response.statusCode === 200 && text === identity),
        () => resolve(false),
      )
    })
    request.once('socket', (socket) => socket.once('close', broken))
    request.once('error', () => resolve(false))
    request.end()
  })
}
