/**
 * Which calls are repeats: git hosts send a call again when they are not sure that it arrived. Best effort: the last calls, in memory.
 */
export const rememberedCalls = 10_000

export type Dedupe = {
  /**
   * The id of the request that a call became. `write` is called at most once for a call id, unless it rejects: then the call may come
   * again. `scope` tells apart calls that hosts number alike. Rejects with what `write` rejects with.
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
