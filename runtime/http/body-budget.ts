/**
 * How many bytes of large bodies are held at once, in all and of one peer. Who comes when all are taken waits in line.
 */
import { deadline } from '../clock.ts'

/** Node reads as much of each connection before anyone asks for the body: to count less would bound nothing. */
export const smallBytes = 64 * 1024
/** What 100 bodies of a megabyte at once cost, parsed one after another, stays below 128 MiB for the whole controller. */
export const maxHeldBytes = 8 * 1024 * 1024
/** Shorter than a request may take in all, so that the answer still arrives. */
export const patienceMs = 5_000

/** Of all that is held: what one peer may hold, so that slow bodies of one leave room for everybody else's. */
export const peerShare = 0.75

export type BodyBudget = {
  /** Runs the work while `bytes` are taken; undefined: no room came free in time. Rejects with what the work rejects with. */
  hold<Result>(body: { bytes: number; peer: string }, work: () => Promise<Result>): Promise<Result | undefined>
}

type Waiting = { bytes: number; peer: string; begin(): void }

/**
 * `collect` gives back what parsed bodies have left behind; V8 by itself lets a hundred megabytes gather, which is all that a small container
 * has. Undefined where the process was started without `--expose-gc`, as the image is.
 */
export function createBodyBudget(
  maxBytes = maxHeldBytes,
  waitMs = patienceMs,
  collect: (() => unknown) | undefined = globalThis.gc,
): BodyBudget {
  const line: Waiting[] = []
  /** Peers that hold something, and how much. */
  const held = new Map<string, number>()
  let free = maxBytes
  let left = 0

  const change = (peer: string, bytes: number): void => {
    free -= bytes
    const now = (held.get(peer) ?? 0) + bytes
    if (now > 0) held.set(peer, now)
    else held.delete(peer)
  }
  /** A single body may be larger than a share. */
  const isOverShare = ({ peer, bytes }: Waiting): boolean => {
    const own = held.get(peer) ?? 0
    return own > 0 && own + bytes > maxBytes * peerShare
  }
  const advance = (): void => {
    for (;;) {
      const at = line.findIndex((waiting) => !isOverShare(waiting))
      const next = line[at]
      if (next === undefined || next.bytes > free) return
      line.splice(at, 1)
      change(next.peer, next.bytes)
      next.begin()
    }
  }
  const take = (bytes: number, peer: string): Promise<boolean> =>
    new Promise((resolve) => {
      const patience = deadline(waitMs)
      const giveUp = (): void => {
        const at = line.indexOf(waiting)
        if (at >= 0) line.splice(at, 1)
        resolve(false)
        advance()
      }
      const waiting: Waiting = {
        bytes,
        peer,
        begin() {
          patience.removeEventListener('abort', giveUp)
          resolve(true)
        },
      }
      patience.addEventListener('abort', giveUp, { once: true })
      line.push(waiting)
      advance()
    })

  return {
    async hold({ bytes, peer }, work) {
      const counted = Math.min(bytes, maxBytes)
      if (counted <= smallBytes) return await work()
      if (!(await take(counted, peer))) return undefined
      try {
        return await work()
      } finally {
        change(peer, -counted)
        left += counted
        if (left >= maxBytes / 2) {
          left = 0
          collect?.()
        }
        advance()
      }
    },
  }
}
