/**
 * Shares one answer among agents that ask for the same at about the same time: git runs once, and each chunk is held once. A reader that
 * comes while the beginning is still held joins; one that falls behind the others continues with an answer of its own from its offset.
 */
import { type Clock, deadline } from '../clock.ts'
import { Fault } from '../fault.ts'

/** Makes the bytes of an answer, the same ones at every call; ends soon after its signal. */
export type Make = (signal: AbortSignal) => AsyncIterable<Uint8Array>

/** Answers by key, while they are made and for a while after. */
export type SharedAnswers = {
  /**
   * The chunks of the answer that `key` names. `fellows`: others are known to ask for the same now, so that a long answer waits for them a
   * moment. Throws what making it throws, and TooManyRequests when too many answers are being made.
   */
  read(key: string, make: Make, options: { fellows: boolean }): AsyncGenerator<Uint8Array>
}

/** Bounds of memory and time; the values in use are `sharedLimits`. */
export type SharedLimits = {
  /** Answers being made, each of which has a git child process. */
  made: number
  /** Bytes held for all of them together; each has an equal share, but at least two chunks. */
  windowBytes: number
  /** A finished answer up to `keptBytes` stays for `keptMs`, all of them together up to `allKeptBytes`. */
  keptBytes: number
  allKeptBytes: number
  keptMs: number
  /** How long an answer that fills its window waits for fellows to join, and then for its slowest readers. */
  gatherMs: number
  lagMs: number
}

/** Sized for a controller with 128 MiB; docs/performance.md tells what a fleet's first sync takes with them. */
export const sharedLimits: SharedLimits = {
  made: 24,
  windowBytes: 4 * 1024 * 1024,
  keptBytes: 512 * 1024,
  allKeptBytes: 4 * 1024 * 1024,
  keptMs: 10_000,
  gatherMs: 100,
  lagMs: 1_000,
}
const abandoned = new Error('all readers have left')
/** Two chunks of a pipe from git. */
const leastWindowBytes = 128 * 1024

const nothing = new Uint8Array()

type Reader = { offset: number }

/** An answer that is being made, or is made and kept. Offsets are bytes from its beginning. */
type Making = {
  chunks: { at: number; bytes: Uint8Array }[]
  /** Where the chunks that are held begin and end. */
  from: number
  to: number
  ended: boolean
  failure: unknown
  readers: Set<Reader>
  iterator: AsyncIterator<Uint8Array>
  cancel: AbortController
  startedMs: number
  fellows: boolean
  next: Promise<void> | undefined
  /** Called whenever a reader has moved. */
  moved: () => void
}

/** Holds at most `limits.windowBytes` of answers that are being made, and `limits.allKeptBytes` of those that are made. */
export function createSharedAnswers(clock: Clock, limits: SharedLimits = sharedLimits): SharedAnswers {
  const makings = new Map<string, Making>()
  let [beingMade, kept] = [0, 0]

  const windowBytes = (): number => Math.max(leastWindowBytes, limits.windowBytes / Math.max(8, beingMade))

  const begin = (make: Make, fellows: boolean): Making => {
    const cancel = new AbortController()
    beingMade += 1
    return {
      chunks: [],
      from: 0,
      to: 0,
      ended: false,
      failure: undefined,
      readers: new Set(),
      iterator: make(cancel.signal)[Symbol.asyncIterator](),
      cancel,
      startedMs: clock.monotonicMs(),
      fellows,
      next: undefined,
      moved: () => undefined,
    }
  }
  const forget = (key: string, making: Making): void => {
    if (makings.get(key) === making) makings.delete(key)
  }
  const end = (key: string, making: Making, failure?: unknown): void => {
    if (making.ended) return
    making.ended = true
    making.failure = failure
    beingMade -= 1
    const size = making.to
    if (failure !== undefined || making.from > 0 || size > limits.keptBytes || kept + size > limits.allKeptBytes) return forget(key, making)
    kept += size
    const drop = (): void => {
      kept -= size
      forget(key, making)
    }
    deadline(limits.keptMs).addEventListener('abort', drop, { once: true })
  }

  const makeMore = async (key: string, making: Making): Promise<void> => {
    if (making.to - making.from >= windowBytes()) await waitForReaders({ clock, limits, windowBytes }, making)
    try {
      const result = await making.iterator.next()
      if (result.done === true) return end(key, making)
      making.chunks.push({ at: making.to, bytes: result.value })
      making.to += result.value.byteLength
    } catch (error) {
      end(key, making, error)
    }
  }
  const leave = (key: string, making: Making, reader: Reader): void => {
    making.readers.delete(reader)
    making.moved()
    if (making.readers.size > 0 || making.ended) return
    forget(key, making)
    making.cancel.abort(abandoned)
    end(key, making, abandoned)
    // The generator ends with the signal, and any wait that it is in ends by itself.
    void making.iterator.return?.(undefined)?.then(undefined, () => undefined)
  }

  return {
    async *read(key, make, { fellows }) {
      let making = makings.get(key)
      if (making === undefined || making.from > 0) {
        if (beingMade >= limits.made) throw new Fault('TooManyRequests', 'too many answers are being made; try again')
        making = begin(make, fellows)
        makings.set(key, making)
      }
      const reader: Reader = { offset: 0 }
      try {
        for (;;) {
          if (reader.offset < making.from || making.failure === abandoned) return yield* alone(make, reader.offset)
          making.readers.add(reader)
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
          owner.next ??= makeMore(key, owner).finally(() => (owner.next = undefined))
          await owner.next
        }
      } finally {
        leave(key, making, reader)
      }
    },
  }
}

type Window = { clock: Clock; limits: SharedLimits; windowBytes(): number }

/** Waits until the slowest readers have moved; those that have not within `lagMs` continue alone. */
async function waitForReaders({ clock, limits, windowBytes }: Window, making: Making): Promise<void> {
  const isFull = (): boolean => {
    trim(making, windowBytes())
    return making.to - making.from >= windowBytes()
  }
  const gathering = making.fellows && making.from === 0 ? making.startedMs + limits.gatherMs - clock.monotonicMs() : 0
  if (gathering > 0) await clock.wait(gathering)
  if (!isFull()) return
  const over = deadline(limits.lagMs)
  while (isFull() && !over.aborted) {
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

/** Drops chunks that every reader has, once the window is full; until then new readers can still start at the beginning. */
function trim(making: Making, windowBytes: number): void {
  const slowest = Math.min(...[...making.readers].map(({ offset }) => offset))
  while (making.to - making.from >= windowBytes) {
    const [first] = making.chunks
    if (first === undefined || first.at + first.bytes.byteLength > slowest) return
    making.chunks.shift()
    making.from = first.at + first.bytes.byteLength
  }
}

/** An answer for one reader, without the first `skip` bytes, which it has. */
async function* alone(make: Make, skip: number): AsyncGenerator<Uint8Array> {
  const cancel = new AbortController()
  let at = 0
  try {
    for await (const bytes of make(cancel.signal)) {
      at += bytes.byteLength
      if (at > skip) yield at - bytes.byteLength >= skip ? bytes : bytes.subarray(bytes.byteLength - (at - skip))
    }
  } finally {
    cancel.abort(new Error('the reader has left'))
  }
}

/** The chunk that begins at `offset`; a reader's offset is always where a chunk begins. */
function chunkAt({ chunks }: Making, offset: number): Uint8Array | undefined {
  // Most readers are at the newest one.
  return chunks.findLast(({ at }) => at === offset)?.bytes
}
