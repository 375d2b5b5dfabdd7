/**
 * Decides which connection to close when a port has too many: never one whose call is being answered, and among the others one of the peer
 * with the most. So a peer that opens hundreds and stays silent takes them only from itself. A connection that was just opened is not closed
 * for a peer that holds as many: when thousands come at once, each newcomer would end a handshake whose time is already spent.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type Clock, systemClock } from '../clock.ts'
import { peerOf } from './peer.ts'

type Connection = {
  socket: Socket
  peer: string
  openedMs: number
  /** The latest call; stays set after its answer. */
  call: { request: Pick<IncomingMessage, 'complete'>; answered: boolean } | undefined
}

/** The connections of one port. */
export type Connections = {
  /** Adds a new connection, and closes another, or this one, when there are too many. */
  open(socket: Socket): void
  /** Notes a call on a connection when its head has arrived; returns a function to call when its answer is sent. */
  begin(request: Pick<IncomingMessage, 'complete' | 'socket'>): () => void
}

/** Time for a handshake and the head of a first call, even when hundreds happen at once. */
const startMs = 1_000

/** `maxConnections` at once; a newcomer beyond that closes one that is not busy, or is closed itself. */
export function createConnections(maxConnections: number, clock: Pick<Clock, 'monotonicMs'> = systemClock): Connections {
  /** In order of their latest call, the longest silent first. */
  const open = new Map<string, Connection>()

  return {
    open(socket) {
      const key = keyOf(socket)
      const peer = peerOf(socket.remoteAddress)
      const openedMs = clock.monotonicMs()
      open.set(key, { socket, peer, openedMs, call: undefined })
      socket.once('close', () => {
        if (open.get(key)?.socket === socket) open.delete(key)
      })
      if (open.size > maxConnections) (whoGoes([...open.values()], peer, openedMs - startMs) ?? { socket }).socket.destroy()
    },
    begin(request) {
      // Over TLS the call has another socket object than the connection, with the same two ends.
      const key = keyOf(request.socket)
      const connection = open.get(key)
      if (connection === undefined) return () => undefined
      const call = { request, answered: false }
      connection.call = call
      open.delete(key)
      open.set(key, connection)
      return () => {
        call.answered = true
      }
    },
  }
}

function keyOf({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string {
  return `${remoteAddress ?? ''} ${remotePort ?? ''}`
}

/**
 * Of the connections that may be closed, the first one of the peer that holds the most. Spared are a peer that holds fewer than the
 * newcomer's, and one that holds no more while it has not called yet and was opened after `startedMs`. Undefined: the newcomer itself is
 * closed.
 */
function whoGoes(connections: readonly Connection[], newcomer: string, startedMs: number): Connection | undefined {
  const held = new Map<string, number>()
  for (const { peer } of connections) held.set(peer, (held.get(peer) ?? 0) + 1)
  const own = held.get(newcomer) ?? 0
  let chosen: Connection | undefined
  let most = 0
  for (const connection of connections) {
    const count = held.get(connection.peer) ?? 0
    const isStarting = connection.call === undefined && connection.openedMs > startedMs
    const isSpared = (connection.peer !== newcomer && count < own) || (isStarting && count <= own)
    if (isBusy(connection) || isSpared || count <= most) continue
    chosen = connection
    most = count
  }
  return chosen
}

/** Whether a complete call is being answered. One whose body is still missing does not count, for it may never come. */
function isBusy({ call }: Connection): boolean {
  return call !== undefined && call.request.complete && !call.answered
}
