/**
 * Shares one result between concurrent identical requests. The work is aborted when no caller waits for it anymore.
 */
/**
 * Settles with the answer for `key`; only one request per key runs at a time. Throws what `work` throws, or the caller's signal's reason.
 */
export type Coalesce<Answer> = (key: string, work: (signal: AbortSignal) => Promise<Answer>, signal: AbortSignal) => Promise<Answer>

type Entry<Answer> = { answer: Promise<Answer>; waiting: number; cancel: AbortController }

/** `stop` aborts all work in progress; its callers get the signal's reason. */
export function createCoalesce<Answer>(stop: AbortSignal): Coalesce<Answer> {
  const entries = new Map<string, Entry<Answer>>()
  return async (key, work, signal) => {
    signal.throwIfAborted()
    let entry = entries.get(key)
    if (entry === undefined) {
      const cancel = new AbortController()
      const answer = work(AbortSignal.any([stop, cancel.signal]))
      const fresh: Entry<Answer> = { answer, waiting: 0, cancel }
      const forget = (): void => {
        if (entries.get(key) === fresh) entries.delete(key)
      }
      answer.then(forget, forget)
      entries.set(key, fresh)
      entry = fresh
    }
    return await waitFor(entry, signal, () => {
      if (entries.get(key) === entry) entries.delete(key)
    })
  }
}

/** One caller's wait: its own signal ends the wait, and the last caller to leave aborts the work. */
async function waitFor<Answer>(entry: Entry<Answer>, signal: AbortSignal, abandoned: () => void): Promise<Answer> {
  entry.waiting += 1
  let leave: (() => void) | undefined
  try {
    const left = new Promise<never>((_resolve, reject) => {
      leave = () => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
      signal.addEventListener('abort', leave, { once: true })
    })
    return await Promise.race([entry.answer, left])
  } finally {
    if (leave !== undefined) signal.removeEventListener('abort', leave)
    entry.waiting -= 1
    if (entry.waiting === 0 && signal.aborted) {
      abandoned()
      entry.cancel.abort(signal.reason)
    }
  }
}
