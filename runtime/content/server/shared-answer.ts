/**
 * Shares one answer among agents that request the same at about the same time: git runs once, and each chunk is held once. A reader that
 * arrives while the beginning is still held joins; one that falls behind continues with its own answer from its offset.
 */
import { type Clock, deadline } from '../../platform/clock.ts'
import { TenantSlots } from '../../platform/async/tenant-slots.ts'
import { Fault } from '../../platform/fault.ts'
import { FairCache } from '../../platform/async/fair-cache.ts'

/** Makes the bytes of an answer, identical for every call; ends soon after its signal. */
export type Make = (signal: AbortSignal) => AsyncIterable<Uint8Array>

type ReadOptions = { tenant: string; isBatched: boolean }

/** Bounds of memory and time; the values in use are `sharedLimits`. */
export type SharedLimits = {
  /** Answers in progress, also for one reader alone: each has one or two git processes. */
  made: number
  /** Bytes held for all of them together; each has an equal share, but at least two chunks. */
  windowBytes: number
  /** A finished answer up to `keptBytes` stays for `keptMs`, all of them together up to `allKeptBytes`. */
  keptBytes: number
  allKeptBytes: number
  keptMs: number
  /** How long an answer that fills its window waits for more readers to join, and then for its slowest readers. */
  gatherMs: number
  lagMs: number
}

/** Sized for a controller with 128 MiB; docs/development/benchmarks.md shows the cost of a fleet's first sync. */
export const sharedLimits: SharedLimits = {
  made: 16,
  windowBytes: 4 * 1024 * 1024,
  keptBytes: 512 * 1024,
  allKeptBytes: 4 * 1024 * 1024,
  keptMs: 10_000,
  gatherMs: 100,
  lagMs: 1_000,
}
const abandoned = new Error('all clients have disconnected')
/** Two chunks of a pipe from git. */
const minWindowBytes = 128 * 1024

const nothing = new Uint8Array()

type Reader = { offset: number }

/** An answer in progress, or finished and kept. Offsets are bytes from its beginning. */
type Making = {
  chunks: { at: number; bytes: Uint8Array }[]
  /** Offsets of the held chunks. */
  from: number
  to: number
  ended: boolean
  failure: unknown
  readers: Set<Reader>
  iterator: AsyncIterator<Uint8Array>
  cancel: AbortController
  startedMs: number
  /** Frees its place among the answers in progress. */
  release: () => void
  isBatched: boolean
  next: Promise<void> | undefined
  /** Called whenever a reader has advanced. */
  moved: () => void
}

/** Throws TooManyRequests. */
function takeSlot(beingMade: TenantSlots, tenant: string): () => void {
  const release = beingMade.take(tenant)
  if (release === undefined) throw new Fault('TooManyRequests', 'too many responses are being prepared; try again')
  return release
}

/**
 * Answers by key, while they are made and briefly cached afterwards. Holds at most `limits.windowBytes` of answers in progress, and
 * `limits.allKeptBytes` of finished ones.
 */
export class SharedAnswers {
  readonly #clock: Clock
  readonly #limits: SharedLimits
  readonly #makings = new Map<string, Making>()
  readonly #beingMade: TenantSlots
  #keptBytes = 0

  constructor(clock: Clock, limits: SharedLimits = sharedLimits) {
    this.#clock = clock
    this.#limits = limits
    this.#beingMade = new TenantSlots(limits.made)
  }

  /**
   * Returns the chunks of the answer for `key`. `isBatched`: others are requesting the same now, so that a long answer waits briefly for
   * them. Throws what making it throws, and TooManyRequests when too many answers are being made, or too many for `tenant`.
   */
  async *read(key: string, make: Make, options: ReadOptions): AsyncGenerator<Uint8Array> {
    let making = this.#makings.get(key)
    if (making === undefined || making.from > 0) {
      making = this.#begin(make, options)
      this.#makings.set(key, making)
    }
    const reader: Reader = { offset: 0 }
    try {
      for (;;) {
        if (reader.offset < making.from || making.failure === abandoned) {
          // Its git would wait until this reader has ended.
          this.#leave(key, making, reader)
          return yield* alone(make, reader.offset, this.#beingMade, options)
        }
        if (!making.readers.has(reader)) {
          making.readers.add(reader)
          making.moved()
        }
        const chunk = chunkAt(making, reader.offset)
        if (chunk !== undefined) {
          reader.offset += chunk.byteLength
          making.moved()
          yield chunk
          continue
        }
        if (making.failure !== undefined) throw making.failure
        if (making.ended) return undefined
        const owner = making
        owner.next ??= this.#makeMore(key, owner).finally(() => (owner.next = undefined))
        await owner.next
      }
    } finally {
      this.#leave(key, making, reader)
    }
  }

  #begin(make: Make, { tenant, isBatched }: ReadOptions): Making {
    const cancel = new AbortController()
    const release = takeSlot(this.#beingMade, tenant)
    const making: Making = {
      chunks: [],
      from: 0,
      to: 0,
      ended: false,
      failure: undefined,
      readers: new Set(),
      iterator: make(cancel.signal)[Symbol.asyncIterator](),
      cancel,
      startedMs: this.#clock.monotonicMs(),
      release,
      isBatched,
      next: undefined,
      moved: () => undefined,
    }
    return making
  }

  async #makeMore(key: string, making: Making): Promise<void> {
    const windowBytes = (): number => Math.max(minWindowBytes, this.#limits.windowBytes / Math.max(8, this.#beingMade.size))
    if (making.to - making.from >= windowBytes()) await waitForReaders({ clock: this.#clock, limits: this.#limits, windowBytes }, making)
    try {
      const result = await making.iterator.next()
      if (result.done === true) return this.#end(key, making)
      making.chunks.push({ at: making.to, bytes: result.value })
      making.to += result.value.byteLength
    } catch (error) {
      this.#end(key, making, error)
    }
  }

  #leave(key: string, making: Making, reader: Reader): void {
    making.readers.delete(reader)
    making.moved()
    if (making.readers.size > 0 || making.ended) return
    this.#forget(key, making)
    making.cancel.abort(abandoned)
    this.#end(key, making, abandoned)
    // The generator ends with the signal, which also ends any wait in it.
    void making.iterator.return?.(undefined)?.then(undefined, () => undefined)
  }

  #end(key: string, making: Making, failure?: unknown): void {
    if (making.ended) return
    making.ended = true
    making.failure = failure
    making.release()
    const { keptBytes, allKeptBytes, keptMs } = this.#limits
    const size = making.to
    if (failure !== undefined || making.from > 0 || size > keptBytes || this.#keptBytes + size > allKeptBytes)
      return this.#forget(key, making)
    this.#keptBytes += size
    const drop = (): void => {
      this.#keptBytes -= size
      this.#forget(key, making)
    }
    deadline(keptMs).addEventListener('abort', drop, { once: true })
  }

  #forget(key: string, making: Making): void {
    if (this.#makings.get(key) === making) this.#makings.delete(key)
  }
}

type Window = { clock: Clock; limits: SharedLimits; windowBytes(): number }

/** Waits until the slowest readers have advanced. If there are several, those that have not within `lagMs` continue alone. */
async function waitForReaders({ clock, limits, windowBytes }: Window, making: Making): Promise<void> {
  const isFull = (): boolean => {
    trim(making, windowBytes())
    return making.to - making.from >= windowBytes()
  }
  const gathering = making.isBatched && making.from === 0 ? making.startedMs + limits.gatherMs - clock.monotonicMs() : 0
  if (gathering > 0) await clock.wait(gathering)
  if (!isFull()) return
  let over = deadline(limits.lagMs)
  while (isFull() && (making.readers.size === 1 || !over.aborted)) {
    if (making.readers.size === 1) over = deadline(limits.lagMs)
    const { promise, resolve } = Promise.withResolvers<void>()
    making.moved = resolve
    over.addEventListener('abort', () => resolve(), { once: true })
    await promise
  }
  while (isFull()) {
    const [first = { at: 0, bytes: nothing }] = making.chunks
    const end = first.at + first.bytes.byteLength
    for (const reader of making.readers) if (reader.offset < end) making.readers.delete(reader)
  }
}

/** Drops chunks that every reader has read, once the window is full; until then new readers can still start at the beginning. */
function trim(making: Making, windowBytes: number): void {
  const slowest = Math.min(...[...making.readers].map(({ offset }) => offset))
  while (making.to - making.from >= windowBytes) {
    const [first] = making.chunks
    if (first === undefined || first.at + first.bytes.byteLength > slowest) return
    making.chunks.shift()
    making.from = first.at + first.bytes.byteLength
  }
}

/** Makes an answer for one reader, without the first `skip` bytes. Throws TooManyRequests. */
async function* alone(make: Make, skip: number, beingMade: TenantSlots, { tenant }: ReadOptions): AsyncGenerator<Uint8Array> {
  const cancel = new AbortController()
  const release = takeSlot(beingMade, tenant)
  let at = 0
  try {
    for await (const bytes of make(cancel.signal)) {
      at += bytes.byteLength
      if (at > skip) yield at - bytes.byteLength >= skip ? bytes : bytes.subarray(bytes.byteLength - (at - skip))
    }
  } finally {
    cancel.abort(new Error('the client has disconnected'))
    release()
  }
}

/** Returns the chunk that begins at `offset`; a reader's offset is always the beginning of a chunk. */
function chunkAt({ chunks }: Making, offset: number): Uint8Array | undefined {
  // Most readers are at the newest one.
  return chunks.findLast(({ at }) => at === offset)?.bytes
}

const batchWindowMs = 5_000
const maxSubjects = 1_000

/**
 * Decides whether an answer should wait briefly for other readers: the agents of one GatewaySync detect a commit at the same time and
 * request the same content. Records which subjects (a commit of a GatewaySync) several pods request within five seconds; keeps 1,000.
 */
export function createBatchWindow(clock: Pick<Clock, 'monotonicMs'>) {
  const last = new FairCache<{ pod: string; severalUntilMs: number }>({ max: maxSubjects })
  return {
    /** Records that `pod` requests `subject`. Returns whether several pods are requesting it now. */
    join(namespace: string, subject: string, pod: string): boolean {
      const nowMs = clock.monotonicMs()
      const before = last.get(subject)
      const severalUntilMs = before !== undefined && before.pod !== pod ? nowMs + batchWindowMs : (before?.severalUntilMs ?? 0)
      last.set(namespace, subject, { pod, severalUntilMs })
      return nowMs < severalUntilMs
    },
  }
}
