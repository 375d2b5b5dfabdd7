/**
 * Which calls are one request: a delivery that a host repeats, and a burst of calls for one ref while a write is under way. Best effort: of
 * the last deliveries, in memory.
 */
const kept = 10_000

export type Deliveries = {
  /**
   * The request that a call became; `write` is called at most once for a delivery id that is accepted. Of calls for one `subject` that come
   * while a write is under way, all share the next write: it begins after every one of them. Throws what the write throws.
   */
  once(subject: string, delivery: string | undefined, write: () => Promise<string>): Promise<{ requestId: string; duplicate: boolean }>
}

type Burst = { current: Promise<unknown>; next: Promise<string> | undefined }

export function createDeliveries(): Deliveries {
  const requests = new Map<string, Promise<string>>()
  const bursts = new Map<string, Burst>()

  const begin = (subject: string, write: () => Promise<string>): Promise<string> => {
    const burst: Burst = { current: Promise.resolve(), next: undefined }
    const written = write()
    bursts.set(subject, burst)
    burst.current = written
      .catch(() => undefined)
      .then(() => (bursts.get(subject) === burst && burst.next === undefined ? bursts.delete(subject) : false))
    return written
  }
  const join = (subject: string, write: () => Promise<string>): Promise<string> => {
    const burst = bursts.get(subject)
    if (burst === undefined) return begin(subject, write)
    burst.next ??= burst.current.then(() => begin(subject, write))
    return burst.next
  }

  return {
    async once(subject, delivery, write) {
      const key = delivery === undefined ? undefined : JSON.stringify([subject, delivery])
      const known = key === undefined ? undefined : requests.get(key)
      if (known !== undefined) return { requestId: await known, duplicate: true }
      const written = join(subject, write)
      if (key !== undefined) {
        requests.set(key, written)
        const [oldest] = requests.keys()
        if (requests.size > kept && oldest !== undefined) requests.delete(oldest)
        // A call that failed may come again.
        written.catch(() => requests.delete(key))
      }
      return { requestId: await written, duplicate: false }
    },
  }
}
