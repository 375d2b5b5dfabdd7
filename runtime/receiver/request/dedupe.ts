/**
 * Recognises repeated calls: git hosts send a call again when they are not sure that it arrived. Best effort, for the latest calls, in memory.
 */
/** How many calls are remembered; docs/webhooks shows it. */
export const rememberedCalls = 10_000

/** One for each replica: a repeat that reaches another replica becomes a second request for the same ref, which costs one lookup more. */
export type Dedupe = {
  /**
   * The id of the request that a call became. `write` runs at most once for a call id, unless it rejects: then the call may be repeated.
   * `scope` separates calls of different hosts with the same id. Rejects with what `write` rejects with.
   */
  once(scope: string, callId: string | undefined, write: () => Promise<string>): Promise<{ requestId: string; duplicate: boolean }>
}

/** Remembers the last 10,000 calls. */
export function createDedupe(): Dedupe {
  const requests = new Map<string, Promise<string>>()

  return {
    async once(scope, callId, write) {
      const key = callId === undefined ? undefined : JSON.stringify([scope, callId])
      const known = key === undefined ? undefined : requests.get(key)
      if (known !== undefined) return { requestId: await known, duplicate: true }
      const written = write()
      if (key !== undefined) {
        requests.set(key, written)
        const [oldest] = requests.keys()
        if (requests.size > rememberedCalls && oldest !== undefined) requests.delete(oldest)
        written.catch(() => requests.delete(key))
      }
      return { requestId: await written, duplicate: false }
    },
  }
}
