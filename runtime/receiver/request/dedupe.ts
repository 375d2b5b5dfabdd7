/**
 * Recognizes repeated calls: git hosts repeat a call when they are not sure that it arrived. Best effort, for recent calls, in memory.
 */
import { FairCache } from '../../platform/async/fair-cache.ts'

/** Maximum number of recent calls; docs/how-to/webhooks shows it. */
export const maxRecentCalls = 10_000

/**
 * One per replica: a repeat that reaches another replica becomes a second request for the same ref, which costs one more source resolution.
 */
export type Dedupe = {
  /**
   * Returns the id of the request that a call became. `write` runs at most once for a call id, unless it rejects: then the call may be
   * repeated. `scope` separates calls with the same id for different GatewaySyncs of the namespace and refs. A call whose request is lost, for example refused, becomes a new
   * request when it is repeated. Rejects with what `write` rejects with.
   */
  once(
    namespace: string,
    scope: string,
    callId: string | undefined,
    write: () => Promise<string>,
    isLost?: (requestId: string) => boolean,
  ): Promise<{ requestId: string; duplicate: boolean }>
}

/** Keeps 10,000 calls. Beyond that, the namespace with the most loses its oldest one, so that it replaces no calls of others. */
export function createDedupe(): Dedupe {
  const requests = new FairCache<Promise<string>>({ max: maxRecentCalls })

  return {
    async once(namespace, scope, callId, write, isLost = () => false) {
      const key = callId === undefined ? undefined : JSON.stringify([namespace, scope, callId])
      const known = key === undefined ? undefined : requests.get(key)
      if (key !== undefined && known !== undefined) {
        const requestId = await known
        // The first of several repeats writes; the others share its request.
        if (requests.get(key) === known && isLost(requestId)) requests.delete(key)
        else return { requestId: await (requests.get(key) ?? known), duplicate: true }
      }
      const written = write()
      if (key !== undefined) {
        requests.set(namespace, key, written)
        written.catch(() => requests.delete(key))
      }
      return { requestId: await written, duplicate: false }
    },
  }
}
