/**
 * Lets work on the files of a mirror begin one after the other; work that fails holds up nobody.
 */
export type OneWriter = {
  /** Settles as the work does, which begins when all before it has ended. */
  run<Value>(work: () => Promise<Value>): Promise<Value>
  /** Nothing is under way or waits. */
  isIdle(): boolean
  /** Settles when all that was begun or waited at the call has ended. */
  settled(): Promise<void>
}

/** One for each folder. */
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
