/**
 * How replicas keep in touch with the one that leads: it says so at the port of delivery, over a connection that is kept, so that the end
 * of its process is noticed at once and that of its node within a second or two. Nobody asks the API server for that.
 */
import { Hono } from 'hono'
import { Agent } from 'node:https'
import type { Socket } from 'node:net'
import { type Clock, pause } from '../clock.ts'
import type { Contact } from '../kube/lease/options.ts'
import { readText, startCall } from '../http/client.ts'
import { readAddress } from './forward.ts'

/** Tells the name of the replica, if it leads. Anybody may know. */
const leaderPath = '/v1/leader'

const askEveryMs = 500
/** A healthy replica answers within milliseconds; one on a node that is too busy may take its time. */
const answerMs = 1_500
/** A connection may break by itself, and who has just taken the Lease needs a moment to lead. */
const triesMs = [0, 100, 250]
const mostSilent = 2
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

/**
 * Asks the leader at an address, `host:port`, again and again. Settles when it does not say any more that it leads: `gone` where its port is
 * closed or somebody else answers, `silent` where nothing comes back; and with the signal.
 */
export function createContact({ serverName, caBundle, clock }: ContactOptions): Contact {
  return async (leader, signal) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, minVersion: 'TLSv1.2' })
    let broken = new AbortController()
    let connection: Socket | undefined
    // A connection is used for days: each question that listened to its end would stay.
    const connected = (socket: Socket): void => {
      if (socket === connection) return
      const ended = new AbortController()
      socket.once('close', () => ended.abort())
      ;[connection, broken] = [socket, ended]
    }
    try {
      for (;;) {
        const said = await ask(clock, () => askOnce(agent, { ...leader, serverName, ca: caBundle(), connected }, signal), signal)
        if (signal.aborted || said !== 'leads') return said === 'silent' ? 'silent' : 'gone'
        await pause(clock, askEveryMs, AbortSignal.any([signal, broken.signal]))
      }
    } finally {
      agent.destroy()
    }
  }
}

type Said = 'leads' | 'gone' | 'silent'

async function ask(clock: Clock, once: () => Promise<Said>, signal: AbortSignal): Promise<Said> {
  let silent = 0
  let said: Said = 'leads'
  for (const afterMs of triesMs) {
    await pause(clock, afterMs, signal)
    said = await once()
    if (said === 'silent') silent += 1
    if (signal.aborted || said === 'leads' || silent === mostSilent) return said
  }
  return said
}

type Question = { identity: string; address: string; serverName: string; ca: string; connected(socket: Socket): void }

/** What the process at the address says to being the leader of that name. `connected` is told the connection. Never throws. */
async function askOnce(agent: Agent, { identity, address, serverName, ca, connected }: Question, signal: AbortSignal): Promise<Said> {
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
