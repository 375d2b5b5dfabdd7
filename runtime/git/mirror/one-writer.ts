/**
 * Runs pieces of work on a mirror's files one after the other; one that fails does not stop the next.
 */
/** A queue of one worker. */
export type OneWriter = {
  /** Settles as `work` does, which begins when everything queued before it has ended. */
  run<Value>(work: () => Promise<Value>): Promise<Value>
  /** Whether no work is running or waiting. */
  isIdle(): boolean
  /** Settles when everything that was running or waiting at the call has ended. */
  settled(): Promise<void>
}

/** Create one for each folder. */
export function createOneWriter(): OneWriter {
  let last: Promise<unknown> = Promise.resolve()
  let pending = 0
  return {
    run(work) {
      pending += 1
      const run = last.then(work, work).finally(() => (pending -= 1))
      last = run.catch(() => undefined)
      return run
    },
    isIdle: () => pending === 0,
    async settled() {
      await last
    },
  }
}
