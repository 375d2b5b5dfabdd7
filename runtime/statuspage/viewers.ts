/**
 * Who looks at the page and is told when something changes: so many at most, and not at every change.
 */
export type Viewers = {
  /** Undefined when there are as many as there may be. */
  join(tell: () => void): { leave(): void } | undefined
  /** Something has changed; viewers learn it together, at most once in `everyMs`. */
  changed(): void
  /** How many there are. */
  count(): number
}

type Wait = (ms: number) => Promise<void>

/** `wait` must not reject. `before` is called each time that viewers are about to be told, also when there is none. */
type ViewerSettings = { max: number; everyMs: number; wait: Wait; before?: () => void }

/** The people who watch: at most `max`, told of changes at most once in `everyMs`. */
export function createViewers({ max, everyMs, wait, before }: ViewerSettings): Viewers {
  const viewers = new Set<() => void>()
  /** Whether viewers were told less than `everyMs` ago, and whether something has changed since. */
  let resting = false
  let owed = false
  const tellAll = (): void => {
    resting = true
    owed = false
    before?.()
    for (const tell of viewers) tell()
    void wait(everyMs).then(() => {
      resting = false
      if (owed) tellAll()
    })
  }
  return {
    join(tell) {
      if (viewers.size >= max) return undefined
      viewers.add(tell)
      return { leave: () => void viewers.delete(tell) }
    },
    changed() {
      if (resting) owed = true
      else tellAll()
    },
    count: () => viewers.size,
  }
}
