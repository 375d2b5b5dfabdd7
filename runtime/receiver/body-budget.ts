/**
 * How many bytes of large bodies are held at once. Who comes when all are taken waits in line.
 */
import { deadline } from '../clock.ts'

/** Node reads as much of each connection before anyone asks for the body: to count less would bound nothing. */
export const smallBytes = 64 * 1024
/** What 100 bodies of a megabyte at once cost, parsed one after another, stays below 128 MiB for the whole controller. */
export const maxHeldBytes = 8 * 1024 * 1024
/** Shorter than a request may take in all, so that the answer still arrives. */
export const patienceMs = 5_000

export type BodyBudget = {
  /** Runs the work while `bytes` are taken; undefined: no room came free in time. Rejects with what the work rejects with. */
  hold<Result>(bytes: number, work: () => Promise<Result>): Promise<Result | undefined>
}

type Waiting = { bytes: number; begin(): void }

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
  let free = maxBytes
  let left = 0

  const advance = (): void => {
    for (let [first] = line; first !== undefined && first.bytes <= free; [first] = line) {
      line.shift()
      free -= first.bytes
      first.begin()
    }
  }
  const take = (bytes: number): Promise<boolean> =>
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
    async hold(bytes, work) {
      const counted = Math.min(bytes, maxBytes)
      if (counted <= smallBytes) return await work()
      if (!(await take(counted))) return undefined
      try {
        return await work()
      } finally {
        free += counted
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
