/**
 * Bounds the memory of the git processes that read the files of mirrors: for agents, validation, captures and pages. They do not wait for
 * their share, because few of them need more than 2 MiB. A file that git stores as a difference to a similar one takes both, up to the limit
 * of each process. They use what the processes that call hosts leave, which wait for their share (memory.ts).
 */
import { type StartGit, startGit } from './git.ts'
import { memoryLeft } from '../../platform/memory.ts'
import { anonymousBytes } from './process-memory.ts'

type Reader = { namespace: string; pid: number; end(): void }

type Options = {
  /** Maximum of all processes together, in bytes. */
  maxBytes?: number
  /** The share of the processes that call hosts, in bytes. */
  held?: () => number
  /** Bytes of the container beside this process. */
  left?: () => number
  measure?: (pid: number) => number
}

/** As much as the processes that call hosts may use. */
const defaultMaxBytes = 56 * 1024 * 1024
/** Always available, however much the processes that call hosts hold. */
const minBytes = 14 * 1024 * 1024
/** The container's memory for everything but this process and git. */
const spareBytes = 8 * 1024 * 1024
/** A process takes 8 MiB in this time when it reads from memory. */
const measureEveryMs = 40

/** One for each process. */
export class ReadingMemory {
  readonly #maxBytes: number
  readonly #held: () => number
  readonly #left: () => number
  readonly #measure: (pid: number) => number
  readonly #readers = new Set<Reader>()
  #timer: NodeJS.Timeout | undefined

  constructor({ maxBytes = defaultMaxBytes, held = () => 0, left = memoryLeft, measure = anonymousBytes }: Options = {}) {
    this.#maxBytes = maxBytes
    this.#held = held
    this.#left = left
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

  /** Ends the largest processes of the namespaces that use the most. If no host is called, one process may always run. */
  #endExcess(): void {
    const used = [...this.#readers].map((reader) => ({ reader, bytes: this.#measure(reader.pid) })).toSorted((a, b) => b.bytes - a.bytes)
    const held = this.#held()
    const minRunning = held > 0 ? 0 : 1
    const maxBytes = Math.min(this.#maxBytes, Math.max(minBytes, this.#left() - spareBytes - held))
    while (used.length > minRunning && sum(used) > maxBytes) {
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
