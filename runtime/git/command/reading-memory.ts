/**
 * Bounds the memory of the git processes that read mirrors for agents. They do not wait for their share, because few of them need more than
 * 2 MiB. A file that git stores as a difference to a similar one takes both, up to the limit of each process.
 */
import { type StartGit, startGit } from './git.ts'
import { anonymousBytes } from './process-memory.ts'

type Reader = { namespace: string; pid: number; end(): void }

type Options = {
  /** Maximum of all processes together, in bytes. */
  maxBytes?: number
  measure?: (pid: number) => number
}

/** As much as the processes that call hosts may use. */
const defaultMaxBytes = 56 * 1024 * 1024
const measureEveryMs = 100

/** One for each process. */
export class ReadingMemory {
  readonly #maxBytes: number
  readonly #measure: (pid: number) => number
  readonly #readers = new Set<Reader>()
  #timer: NodeJS.Timeout | undefined

  constructor({ maxBytes = defaultMaxBytes, measure = anonymousBytes }: Options = {}) {
    this.#maxBytes = maxBytes
    this.#measure = measure
  }

  /** Returns `startGit` for a namespace. The process is ended as from outside when it is the one that exceeds the bound. */
  startFor(namespace: string): StartGit {
    return (run, limits) => {
      const child = startGit(run, limits)
      if (child.pid !== undefined) {
        const reader = { namespace, pid: child.pid, end: () => child.signal('SIGTERM') }
        this.#readers.add(reader)
        this.#timer ??= setInterval(() => this.#endExcess(), measureEveryMs).unref()
        void child.ended.then(() => this.#forget(reader))
      }
      return child
    }
  }

  #forget(reader: Reader): void {
    this.#readers.delete(reader)
    if (this.#readers.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Ends the largest processes of the namespaces that use the most. One process may always run. */
  #endExcess(): void {
    const used = [...this.#readers].map((reader) => ({ reader, bytes: this.#measure(reader.pid) })).toSorted((a, b) => b.bytes - a.bytes)
    while (used.length > 1 && sum(used) > this.#maxBytes) {
      const byNamespace = [...Map.groupBy(used, ({ reader }) => reader.namespace).values()]
      const [largest] = byNamespace.toSorted((a, b) => sum(b) - sum(a))[0] ?? []
      if (largest === undefined) return
      used.splice(used.indexOf(largest), 1)
      largest.reader.end()
    }
  }
}

function sum(used: readonly { bytes: number }[]): number {
  return used.reduce((total, { bytes }) => total + bytes, 0)
}
