/**
 * The socket side of an answer: when it is sent, and when its client has left.
 */
import { type Context } from 'hono'
import type { ServerResponse } from 'node:http'

/** Undefined without a socket, as in a test that calls the app directly. */
export function outgoingOf(context: Context): ServerResponse | undefined {
  return ((context.env ?? {}) as { outgoing?: ServerResponse }).outgoing
}

/** Calls `done` when the last byte of an answer is sent or its connection is closed. */
export function whenSent(context: Context, left: AbortController, done: () => void): void {
  const outgoing = outgoingOf(context)
  if (outgoing === undefined) return done()
  const end = (): void => {
    left.abort(new Error('the answer has ended'))
    done()
  }
  if (outgoing.closed) end()
  else outgoing.once('close', end)
}
