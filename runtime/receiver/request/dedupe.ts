/**
 * Which calls are one delivery: hosts repeat those that they are not sure of. Best effort: the last ones, in memory.
 */
export const keptDeliveries = 10_000

export type Deliveries = {
  /**
   * The request that a call became; `write` is called at most once for a delivery id that is accepted. `subject` tells apart what hosts
   * number alike. Throws what the write throws.
   */
  once(subject: string, delivery: string | undefined, write: () => Promise<string>): Promise<{ requestId: string; duplicate: boolean }>
}

export function createDeliveries(): Deliveries {
  const requests = new Map<string, Promise<string>>()

  return {
    async once(subject, delivery, write) {
      const key = delivery === undefined ? undefined : JSON.stringify([subject, delivery])
      const known = key === undefined ? undefined : requests.get(key)
      if (known !== undefined) return { requestId: await known, duplicate: true }
      const written = write()
      if (key !== undefined) {
        requests.set(key, written)
        const [oldest] = requests.keys()
        if (requests.size > keptDeliveries && oldest !== undefined) requests.delete(oldest)
        // A call that failed may come again.
        written.catch(() => requests.delete(key))
      }
      return { requestId: await written, duplicate: false }
    },
  }
}
