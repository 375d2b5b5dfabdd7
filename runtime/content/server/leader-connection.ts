/**
 * Monitors the leader: replicas query it over a kept connection to the content port, so that the end of its process is detected at once and
 * that of its node within a second or two, without a call to the API server.
 */
import { Hono } from 'hono'
import { Agent } from 'node:https'
import type { Socket } from 'node:net'
import { type Clock, pause } from '../../platform/clock.ts'
import type { Contact } from '../../kube/lease/lease.ts'
import { readText, startCall } from '../../http/client.ts'
import { readAddress } from './forward.ts'

/** Returns the replica's name, or 404 when it does not lead. Needs no token, because the name is not secret. */
const leaderPath = '/v1/leader'

const probeIntervalMs = 500
/** A healthy replica answers within milliseconds; one on an overloaded node may need longer. */
const answerMs = 1_500
/** Delays before each attempt: a connection may break, and a new leader needs a moment to start. */
const triesMs = [0, 100, 250]
const maxSilent = 2
const maxNameBytes = 1_024

/** The route that other replicas query. `leads` returns this replica's name while it leads, else undefined. */
export function leadingApp(leads: () => string | undefined): Hono {
  const app = new Hono()
  app.get(leaderPath, (context) => {
    const name = leads()
    return name === undefined ? context.text('this replica does not lead', 404) : context.text(name)
  })
  return app
}

/** How a leader is authenticated: by the certificate's name, because it is called by its address. */
export type ContactOptions = {
  /** The DNS name in the content server's certificate. */
  serverName: string
  /** The current CAs, PEM; they change when certificates rotate. */
  caBundle(): string
  clock: Clock
}

/**
 * Queries the leader at an address, `ip:port`, every half second. Settles when it no longer confirms that it leads: `gone` when its port is
 * closed or another process answers, `silent` when nothing answers. Settles with the signal too; never throws.
 */
export function createContact({ serverName, caBundle, clock }: ContactOptions): Contact {
  return async (leader, signal) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, minVersion: 'TLSv1.2' })
    let broken = new AbortController()
    let connection: Socket | undefined
    // A connection is used for days: a listener for each query would be a leak.
    const connected = (socket: Socket): void => {
      if (socket === connection) return
      const ended = new AbortController()
      socket.once('close', () => ended.abort())
      ;[connection, broken] = [socket, ended]
    }
    try {
      for (;;) {
        const answer = await probe(clock, () => probeOnce(agent, { ...leader, serverName, ca: caBundle(), connected }, signal), signal)
        if (signal.aborted || answer !== 'leads') return answer === 'silent' ? 'silent' : 'gone'
        await pause(clock, probeIntervalMs, AbortSignal.any([signal, broken.signal]))
      }
    } finally {
      agent.destroy()
    }
  }
}

type Answer = 'leads' | 'gone' | 'silent'

async function probe(clock: Clock, once: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  let silent = 0
  let answer: Answer = 'leads'
  for (const afterMs of triesMs) {
    await pause(clock, afterMs, signal)
    answer = await once()
    if (answer === 'silent') silent += 1
    if (signal.aborted || answer === 'leads' || silent === maxSilent) return answer
  }
  return answer
}

type ProbeTarget = { identity: string; address: string; serverName: string; ca: string; connected(socket: Socket): void }

/** Queries the process at the address once whether it leads under that name. `connected` receives the connection. Never throws. */
async function probeOnce(
  agent: Agent,
  { identity, address, serverName, ca, connected }: ProbeTarget,
  signal: AbortSignal,
): Promise<Answer> {
  if (readAddress(address) === undefined) return 'gone'
  const late = AbortSignal.timeout(answerMs)
  try {
    const options = { agent, signal: AbortSignal.any([signal, late]), servername: serverName, ca }
    const { request, answered } = startCall(`https://${address}${leaderPath}`, options)
    request.once('socket', connected)
    const response = await answered
    const text = await readText(response, maxNameBytes)
    return response.statusCode === 200 && text === identity ? 'leads' : 'gone'
  } catch {
    return late.aborted ? 'silent' : 'gone'
  }
}
