/**
 * Who keeps a connection when a port has as many as it may: those whose call is being answered, and of the others those of the peers that
 * hold the fewest. So one peer that opens hundreds and keeps silent takes them from itself alone.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { peerOf } from './peer.ts'

type Connection = {
  socket: Socket
  peer: string
  /** The call that came last; its end is not noted, because an answered call is complete and its answer is out. */
  call: { request: Pick<IncomingMessage, 'complete'>; answered: boolean } | undefined
}

export type Connections = {
  /** Takes a new connection, and closes another or this one where there are too many. */
  open(socket: Socket): void
  /** Notes a call of a connection, from its head on; returns what to call when its answer is out. */
  begin(request: Pick<IncomingMessage, 'complete' | 'socket'>): () => void
}

/** Counts the connections of one server, and says which idle one gives way to a new one. */
export function createConnections(maxConnections: number): Connections {
  /** The one that has been silent for longest comes first. */
  const open = new Map<string, Connection>()

  return {
    open(socket) {
      const key = keyOf(socket)
      const peer = peerOf(socket.remoteAddress)
      open.set(key, { socket, peer, call: undefined })
      socket.once('close', () => {
        if (open.get(key)?.socket === socket) open.delete(key)
      })
      if (open.size > maxConnections) (whoGoes([...open.values()], peer) ?? { socket }).socket.destroy()
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
 * Of the connections that may be closed, the first one of the peer that holds the most; a peer that holds no more than the newcomer's is
 * spared. Undefined: it is the newcomer that goes.
 */
function whoGoes(connections: readonly Connection[], newcomer: string): Connection | undefined {
  const held = new Map<string, number>()
  for (const { peer } of connections) held.set(peer, (held.get(peer) ?? 0) + 1)
  const own = held.get(newcomer) ?? 0
  let chosen: Connection | undefined
  let most = 0
  for (const connection of connections) {
    const count = held.get(connection.peer) ?? 0
    const isSpared = connection.peer !== newcomer && count < own
    if (isBusy(connection) || isSpared || count <= most) continue
    chosen = connection
    most = count
  }
  return chosen
}

/** A call whose body is still to come may have been sent by somebody who never sends it. */
function isBusy({ call }: Connection): boolean {
  return call !== undefined && call.request.complete && !call.answered
}
