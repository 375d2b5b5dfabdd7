/**
 * Remembers which deliveries were accepted, so that a host's repetition causes no second sync. Best effort: of the last ones, in memory.
 */
const kept = 10_000

export function createDeliveries() {
  const requests = new Map<string, string>()
  const keyOf = (namespace: string, name: string, delivery: string): string => JSON.stringify([namespace, name, delivery])
  return {
    /** The request that a delivery became. */
    find: (namespace: string, name: string, delivery: string): string | undefined => requests.get(keyOf(namespace, name, delivery)),
    remember(namespace: string, name: string, delivery: string, requestId: string): void {
      requests.set(keyOf(namespace, name, delivery), requestId)
      const [oldest] = requests.keys()
      if (requests.size > kept && oldest !== undefined) requests.delete(oldest)
    },
  }
}
