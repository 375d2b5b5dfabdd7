/**
 * Decides which connection to close when a port has too many: never one whose call is being answered, and otherwise one of the client with
 * the most. So a client that opens hundreds of idle connections harms only itself. A new connection is not closed in favor of a client that
 * holds as many: when thousands arrive at the same time, each would otherwise end a handshake that has already used processor time.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type Clock, systemClock } from '../platform/clock.ts'
import { peerOf } from './client-address.ts'

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
  /** Records a call on a connection when its head has arrived; returns a function to call when its answer is sent. */
  begin(request: Pick<IncomingMessage, 'complete' | 'socket'>): () => void
}

/** Time for a handshake and the head of a first call, even when hundreds happen at the same time. */
const startMs = 1_000

/** Allows `maxConnections` at the same time; a new one beyond that closes one that is not busy, or is closed itself. */
export function createConnections(maxConnections: number, clock: Pick<Clock, 'monotonicMs'> = systemClock): Connections {
  /** Ordered by latest call, the longest idle first. */
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
      if (open.size > maxConnections) (connectionToClose([...open.values()], peer, openedMs - startMs) ?? { socket }).socket.destroy()
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
 * Returns the first closable connection of the client that holds the most. Not closable: connections of a client that holds fewer than the
 * new one's client, and connections of a client that holds no more, without a call and opened after `startedMs`. Undefined: the new
 * connection is closed.
 */
function connectionToClose(connections: readonly Connection[], newcomer: string, startedMs: number): Connection | undefined {
  const openBy = new Map<string, number>()
  for (const { peer } of connections) openBy.set(peer, (openBy.get(peer) ?? 0) + 1)
  const own = openBy.get(newcomer) ?? 0
  let chosen: Connection | undefined
  let most = 0
  for (const connection of connections) {
    const count = openBy.get(connection.peer) ?? 0
    const isStarting = connection.call === undefined && connection.openedMs > startedMs
    const isSpared = (connection.peer !== newcomer && count < own) || (isStarting && count <= own)
    if (isBusy(connection) || isSpared || count <= most) continue
    chosen = connection
    most = count
  }
  return chosen
}

/** Whether a complete call is being answered. One with an incomplete body does not count, as the rest may never arrive. */
function isBusy({ call }: Connection): boolean {
  return call !== undefined && call.request.complete && !call.answered
}
