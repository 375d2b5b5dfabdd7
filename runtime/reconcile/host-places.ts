/**
 * Limits how many lookups run at once, in all and at one git host, so that a host that hangs leaves room for the others.
 */
export type HostPlaces = {
  /** Waits for a place: urgent lookups first, then in order of arrival. */
  take(host: string, urgent: boolean): Promise<void>
  giveBack(host: string): void
}

/** `all` places at once, of which one host has at most `ofOneHost`. */
export function createHostPlaces(all: number, ofOneHost: number): HostPlaces {
  const taken = new Map<string, number>()
  const waiting: { host: string; urgent: boolean; start(): void }[] = []
  let free = all
  const count = (host: string, change: 1 | -1): void => {
    const left = (taken.get(host) ?? 0) + change
    if (left === 0) taken.delete(host)
    else taken.set(host, left)
    free -= change
  }
  const mayStart = (host: string): boolean => free > 0 && (taken.get(host) ?? 0) < ofOneHost
  return {
    async take(host, urgent) {
      if (mayStart(host)) count(host, 1)
      else await new Promise<void>((start) => waiting.push({ host, urgent, start }))
    },
    giveBack(host) {
      count(host, -1)
      const first = waiting.findIndex((one) => one.urgent && mayStart(one.host))
      const index = first >= 0 ? first : waiting.findIndex((one) => mayStart(one.host))
      const [next] = index < 0 ? [] : waiting.splice(index, 1)
      if (next === undefined) return
      count(next.host, 1)
      next.start()
    },
  }
}
